//! Text for people and programs on standard output and standard error.

use anyhow::{Context, Result};

/// A line on standard error, without secrets. If the reader is gone (a closed terminal, `2>&1 | head`), the run
/// continues nevertheless.
pub(crate) fn print_error(line: &str) {
    use std::io::{Write, stderr};
    let _ = writeln!(stderr(), "{}", plan::scrub(line));
}

/// Prints to standard output; a closed pipe, as with `head`, is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write, stdout};
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
