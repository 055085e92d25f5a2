//! The script that a shell in another place runs: it becomes dyno there.
//!
//! It says which processor the host has, reads a line with the hash of the program for it, and looks for a copy of that
//! program; without one it reads the program. Then it becomes the program. The copy has no name any more by then: the
//! kernel removes it when the program ends, however it ends. A copy that is kept has its name by its hash, and is checked
//! each time.
//!
//! The two sides take turns: this side sends nothing while a program there may read more than it needs, as some versions
//! of `head` do. A folder may refuse to run programs (`noexec`), so each is tried before the program is sent. Folders of
//! the host itself come first: a home on the network keeps a removed file that still runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use anyhow::Context;

const LINES: &str = include_str!("script.sh");
/// The program has been found.
pub(crate) const KEPT: &str = "dyno-kept";
/// The program is wanted.
pub(crate) const SEND: &str = "dyno-send";
/// Why the script has given up follows.
pub(crate) const REFUSED: &str = "dyno-refused ";
const MARK_BYTES: usize = 8;

/// The script in one line without `'`, `\` and `!`, so that every login shell takes it in single quotes: sh, csh, fish.
pub(crate) fn text() -> String {
    LINES.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A mark that no noise before the conversation has by chance.
///
/// # Errors
/// When the kernel gives no random bytes.
pub(crate) fn new_mark() -> anyhow::Result<String> {
    let mut bytes = [0; MARK_BYTES];
    let mut source = File::open("/dev/urandom").context("no random bytes from /dev/urandom")?;
    source.read_exact(&mut bytes).context("no random bytes from /dev/urandom")?;
    let mut mark = String::new();
    for byte in bytes {
        // Writing into a text does not fail.
        let _ = write!(mark, "{byte:02x}");
    }
    Ok(mark)
}

/// What the script says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The operating system, such as `Linux`.
    pub(crate) system: String,
    /// The processor as the kernel there names it, such as `x86_64`.
    pub(crate) machine: String,
    /// Which sum of a file the host can make.
    pub(crate) sum: Sum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Sha256,
    /// `cksum` of POSIX: a CRC, with the length.
    Cksum,
}

impl Opening {
    /// Reads a line, which may have something else before the mark; `None` when it has no mark.
    pub(crate) fn parse(line: &str, mark: &str) -> Option<Self> {
        let (_, rest) = line.split_once(&format!("dyno-shell-{mark} "))?;
        let mut words = rest.split(' ');
        let (system, machine, sum) = (words.next()?, words.next()?, words.next()?);
        let sum = match sum {
            "sha256" => Sum::Sha256,
            "cksum" => Sum::Cksum,
            _ => return None,
        };
        Some(Self { system: system.to_owned(), machine: machine.to_owned(), sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_login_shell_takes_the_script_in_single_quotes() {
        let text = text();
        assert!(!text.contains(['\'', '\\', '!', '\n', '\t']), "{text}");
        assert!(text.is_ascii() && text.len() < 4_096, "{}", text.len());
    }

    #[test]
    fn the_opening_is_found_behind_noise_and_an_echo_of_the_script_is_none() {
        let parse = |line: &str| Opening::parse(line, "0a1b");
        let opening =
            Opening { system: "Linux".to_owned(), machine: "aarch64".to_owned(), sum: Sum::Cksum };
        assert_eq!(parse("dyno-shell-0a1b Linux aarch64 cksum"), Some(opening.clone()));
        assert_eq!(parse("Welcome! dyno-shell-0a1b Linux aarch64 cksum"), Some(opening));
        assert_eq!(parse("dyno-shell-0a1c Linux aarch64 cksum"), None);
        assert_eq!(parse("dyno-shell-0a1b Linux"), None);
        assert_eq!(parse(&format!("+ {} dyno 0a1b", text())), None);
    }

    #[test]
    fn marks_differ() {
        let [one, other] = [new_mark().unwrap(), new_mark().unwrap()];
        assert!(one != other && one.len() == 2 * MARK_BYTES, "{one} {other}");
    }
}
