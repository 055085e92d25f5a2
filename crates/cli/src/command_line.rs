//! The command line as typed. If it contains a password, it is hidden from the list of processes, and it is recorded
//! without the password so that the run can be repeated.
//!
//! Every user of the machine can read the arguments of a process. If dyno's arguments contain a secret, dyno
//! therefore passes them to itself in a file in memory, which only it has open, and its visible arguments lack the
//! secret. The first argument has the number of that file. The environment is not used, so children inherit nothing,
//! and no variable can change the command that was typed.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Error, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// Prefix of the first argument of a process whose real arguments are in an inherited open file; the number of the
/// file's descriptor follows.
const MARK: &str = "--arguments-in-descriptor=";
const NAME: &str = "dyno-arguments";
const STANDARD_INPUT: i32 = 0;

/// The arguments of this process, beginning with its name.
///
/// If one of them contains a password, the process first replaces itself by one whose visible arguments are scrubbed.
///
/// # Errors
/// If the process cannot be replaced, or the file with its arguments cannot be read.
pub(crate) fn arguments() -> io::Result<Vec<OsString>> {
    let typed: Vec<OsString> = env::args_os().collect();
    if let Some(descriptor) = descriptor(&typed) {
        return take(descriptor);
    }
    let shown = scrubbed(&typed);
    if typed == shown {
        return Ok(typed);
    }
    // It stays open across the replacement, and is closed after it has been read.
    let file = in_memory(&typed, MFdFlags::empty())?;
    let mut command = system::command(env::current_exe()?);
    command.arg(format!("{MARK}{}", file.as_raw_fd())).args(&shown[1..]);
    // It is the same process, so it keeps its whole environment.
    Err(command.envs(env::vars_os()).exec())
}

/// A command that runs this program with other arguments, which are hidden: it reads them from standard input.
///
/// # Errors
/// If there is no memory for them, or this program cannot be found.
pub(crate) fn hidden(arguments: &[OsString]) -> io::Result<std::process::Command> {
    let mut words = vec![OsString::from("dyno")];
    words.extend_from_slice(arguments);
    let mut command = system::toolchain_command(env::current_exe()?);
    command.stdin(in_memory(&words, MFdFlags::MFD_CLOEXEC)?);
    command.arg(format!("{MARK}{STANDARD_INPUT}")).args(&scrubbed(&words)[1..]);
    Ok(command)
}

/// The place of the real arguments, if the visible ones refer to it.
fn descriptor(typed: &[OsString]) -> Option<i32> {
    typed.get(1)?.to_str()?.strip_prefix(MARK)?.parse().ok()
}

/// A file in memory with these words, each followed by a zero byte, which no argument contains.
fn in_memory(words: &[OsString], flags: MFdFlags) -> io::Result<File> {
    let mut file = File::from(memfd_create(NAME, flags)?);
    for word in words {
        file.write_all(word.as_bytes())?;
        file.write_all(&[0])?;
    }
    Ok(file)
}

/// Reads the words of such a file and closes it, so that no child inherits it.
fn take(descriptor: i32) -> io::Result<Vec<OsString>> {
    let path = Path::new("/proc/self/fd").join(descriptor.to_string());
    let is_ours = fs::read_link(&path).is_ok_and(|target| {
        target.as_os_str().as_bytes().starts_with(format!("/memfd:{NAME}").as_bytes())
    });
    if !is_ours {
        let message = format!("`{MARK}{descriptor}` is internal to dyno; remove it");
        return Err(Error::new(io::ErrorKind::InvalidInput, message));
    }
    // A newly opened file is read from its beginning.
    let bytes = fs::read(&path)?;
    if descriptor == STANDARD_INPUT {
        nix::unistd::dup2_stdin(File::open("/dev/null")?)?;
    } else {
        nix::unistd::close(descriptor)?;
    }
    let words = bytes.strip_suffix(&[0]).unwrap_or_default().split(|byte| *byte == 0);
    Ok(words.map(|word| OsString::from_vec(word.to_vec())).collect())
}

/// The words without secrets; a word without any is unchanged, even if it is not UTF-8.
fn scrubbed(words: &[OsString]) -> Vec<OsString> {
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let clean = plan::scrub_words(&texts).into_iter().zip(&texts).zip(words);
    clean
        .map(|((clean, text), word)| if clean == *text { word.clone() } else { clean.into() })
        .collect()
}

/// The arguments quoted for a shell and without passwords.
pub(crate) fn again() -> String {
    // The visible arguments already have no passwords.
    let visible: Vec<OsString> = env::args_os().collect();
    let typed = visible.iter().skip(if descriptor(&visible).is_some() { 2 } else { 1 });
    let words = typed.map(|word| quoted(&OsStr::to_string_lossy(word)));
    std::iter::once("dyno".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn words_are_quoted_only_when_a_shell_would_change_them() {
        for (word, shell) in [
            ("--clients=1,4", "--clients=1,4"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }

    #[test]
    fn hidden_arguments_are_read_once_and_their_file_is_closed() {
        let typed = words(&["dyno", "", "a\nb", "--set=x.password=p q", ""]);
        let file = in_memory(&typed, MFdFlags::MFD_CLOEXEC).unwrap();
        let inode = file.metadata().unwrap().ino();
        let number = file.into_raw_fd();
        assert_eq!(take(number).unwrap(), typed);
        // Another test may have opened a file with the same number since.
        let now = fs::metadata(format!("/proc/self/fd/{number}"));
        assert!(now.is_err() || now.unwrap().ino() != inode);
    }

    #[test]
    fn an_open_file_that_dyno_did_not_make_is_not_read_for_arguments() {
        let file = File::open("/dev/null").unwrap();
        let error = take(file.as_raw_fd()).unwrap_err().to_string();
        assert!(error.contains("is internal to dyno; remove it"), "{error}");
        assert!(take(9_999).is_err());
    }

    #[test]
    fn a_command_with_hidden_arguments_shows_none_of_their_secrets() {
        let command = hidden(&words(&["up", "tidb", "--option", "env.A_PASSWORD=p q"])).unwrap();
        let shown: Vec<&OsStr> = command.get_args().collect();
        let mark = format!("{MARK}0");
        assert_eq!(shown, [mark.as_str(), "up", "tidb", "--option", "env.A_PASSWORD=***"]);
        assert!(command.get_envs().all(|(name, _)| !name.to_string_lossy().starts_with("DYNO")));
    }
}
