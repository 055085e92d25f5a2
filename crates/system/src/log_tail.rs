//! The last lines of a server's log, for messages about its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// As far back as is looked.
const TAIL_BYTES: u64 = 16 * 1024;

/// The last `lines` lines that say something, or why there are none.
pub(crate) fn log_tail(log: &Path, lines: usize) -> String {
    match read_end(log) {
        Ok(text) => {
            let said: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            said[said.len().saturating_sub(lines)..].join("\n")
        }
        Err(error) => format!("(its log {} cannot be read: {error})", log.display()),
    }
}

fn read_end(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_empty_ones_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        std::fs::write(&log, "one\n\ntwo\nthree\n\n").unwrap();
        assert_eq!(log_tail(&log, 2), "two\nthree");
        assert_eq!(log_tail(&log, 9), "one\ntwo\nthree");
    }

    #[test]
    fn a_long_log_is_read_from_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        std::fs::write(&log, format!("{}last", "filling\n".repeat(10_000))).unwrap();
        assert_eq!(log_tail(&log, 1), "last");
    }

    #[test]
    fn a_missing_log_is_said_to_be_missing() {
        assert!(log_tail(Path::new("/no/such/log"), 3).contains("cannot be read"));
    }
}
