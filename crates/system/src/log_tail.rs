//! The end of a server's log, for messages about its exit. It begins at the line with the reason, when there is one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How far back the reason is searched: a Go program that panics lists all its goroutines after the reason.
const TAIL_BYTES: u64 = 4 * 1024 * 1024;
/// Lines that are shown when none of them holds the reason.
const LINES: usize = 12;
/// Lines that are shown from the line with the reason on.
const REASON_LINES: usize = 30;
/// Longer lines are cut: TiDB logs its whole configuration in one line.
const LINE_CHARACTERS: usize = 400;
/// The start of lines that hold the reason of an exit: those of Go's runtime, and of its package `flag`, which lists
/// every possible argument after the wrong one.
const REASONS: [&str; 7] = [
    "panic: ",
    "fatal error: ",
    "runtime: out of memory",
    "SIGSEGV: ",
    "SIGABRT: ",
    "flag provided but not defined: ",
    "invalid value \"",
];
/// Texts within other such lines: a Rust panic, and the fatal errors of TiDB, PD and TiKV.
const REASONS_WITHIN: [&str; 2] = ["panicked at ", "[FATAL]"];

/// The last lines that are not empty, from the reason of the exit on where one is found; or why there are none.
pub(crate) fn log_tail(log: &Path) -> String {
    match read_end(log) {
        Ok(text) => last_words(&text),
        Err(error) => format!("(its log {} cannot be read: {error})", log.display()),
    }
}

fn last_words(text: &str) -> String {
    let said: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = match said.iter().position(|line| is_reason(line)) {
        Some(reason) => &said[reason..said.len().min(reason + REASON_LINES)],
        None => &said[said.len().saturating_sub(LINES)..],
    };
    shown.iter().map(|line| cut(line)).collect::<Vec<_>>().join("\n")
}

fn is_reason(line: &str) -> bool {
    REASONS.iter().any(|reason| line.starts_with(reason))
        || REASONS_WITHIN.iter().any(|reason| line.contains(reason))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
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
        assert_eq!(last_words("one\n\ntwo\nthree\n\n"), "one\ntwo\nthree");
        let many: Vec<String> = (0..40).map(|number| format!("line {number}\n\n")).collect();
        let shown = last_words(&many.concat());
        assert!(shown.starts_with("line 28\n") && shown.ends_with("\nline 39"), "{shown}");
    }

    #[test]
    fn a_panic_is_shown_from_its_message_on() {
        let goroutines = "goroutine 7 [select]:\nmain.wait()\n".repeat(5_000);
        let log = format!(
            "[INFO] up\npanic: runtime error: index out of range [3] with length 3\n\n\
             goroutine 1 [running]:\nmain.main()\n{goroutines}"
        );
        let shown = last_words(&log);
        assert!(
            shown.starts_with("panic: runtime error: index out of range [3]"),
            "the reason comes first: {shown}"
        );
        assert_eq!(shown.lines().count(), REASON_LINES);
    }

    #[test]
    fn fatal_log_lines_of_other_programs_are_recognized() {
        for reason in ["thread 'x' panicked at src/a.rs:3:5:", "[2026/11/21] [FATAL] [main.go:7]"] {
            assert_eq!(last_words(&format!("before\n{reason}\nafter")), format!("{reason}\nafter"));
        }
    }

    #[test]
    fn a_wrong_argument_is_shown_instead_of_the_usage_text() {
        let usage =
            "Usage of tidb-server:\n".to_owned() + &"  -P string\n    \ttidb port\n".repeat(40);
        for wrong in
            ["flag provided but not defined: -foo", "invalid value \"x\" for flag -V: parse error"]
        {
            let shown = last_words(&format!("{wrong}\n{usage}"));
            assert!(shown.starts_with(wrong), "{shown}");
        }
    }

    #[test]
    fn a_long_log_is_read_from_its_end_and_long_lines_are_cut() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        std::fs::write(&log, format!("{}\nlast", "ä".repeat(3_000_000))).unwrap();
        let shown = log_tail(&log);
        assert!(shown.ends_with("...\nlast") && shown.chars().count() < 500, "{shown}");
    }

    #[test]
    fn a_missing_log_is_reported() {
        assert!(log_tail(Path::new("/no/such/log")).contains("cannot be read"));
    }
}
