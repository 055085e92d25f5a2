//! The command line as it was typed: kept out of the list of processes when it holds a password, and
//! written down without it for doing the run again.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Carries the real arguments past the list of processes; only this user can read it.
const HIDDEN: &str = "DYNO_HIDDEN_ARGUMENTS";
/// Between hidden arguments: the unit separator, which nobody types.
const SEPARATOR: u8 = 0x1f;

/// The arguments of this process, its name first.
///
/// When one of them holds a password, the process first replaces itself by one whose visible
/// arguments are scrubbed, because everyone on the machine can read those.
///
/// # Errors
/// When the process cannot be replaced.
pub(crate) fn arguments() -> io::Result<Vec<OsString>> {
    if let Some(hidden) = env::var_os(HIDDEN) {
        let words = hidden.as_bytes().split(|byte| *byte == SEPARATOR);
        return Ok(words.map(|word| OsString::from_vec(word.to_vec())).collect());
    }
    let typed: Vec<OsString> = env::args_os().collect();
    let shown: Vec<OsString> = typed.iter().map(|word| scrubbed(word)).collect();
    if typed == shown {
        return Ok(typed);
    }
    let hidden = typed.join(OsStr::from_bytes(&[SEPARATOR]));
    let program = env::current_exe()?;
    Err(Command::new(program).args(&shown[1..]).env(HIDDEN, hidden).exec())
}

fn scrubbed(word: &OsStr) -> OsString {
    match word.to_str() {
        Some(text) => plan::scrub(text).into(),
        None => word.to_owned(),
    }
}

/// The arguments quoted for a shell and without passwords.
pub(crate) fn again() -> String {
    let typed = arguments().unwrap_or_default();
    let words = typed.iter().skip(1).map(|word| quoted(&scrubbed(word).to_string_lossy()));
    std::iter::once("dyno".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
