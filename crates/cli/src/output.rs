//! Text for people and programs on standard output and standard error.

use std::env;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use terminal_size::{Width, terminal_size_of};

/// Text is not laid out for narrower terminals; they break the lines themselves.
const WIDTH_MIN: usize = 60;

/// A line on standard error, without secrets and control characters. If the reader is gone (a closed terminal,
/// `2>&1 | head`), the run continues nevertheless.
pub(crate) fn print_error(line: &str) {
    let _ = writeln!(stderr(), "{}", report::visible(&plan::scrub(line)));
}

/// A message of sentences on standard error, in lines that fit the terminal.
pub(crate) fn print_message(text: &str) {
    // A secret that is broken over two lines would not be found.
    print_error(&report::fold(&plan::scrub(text), line_width(&stderr())));
}

/// The problems of a plan on standard error. Only their help is folded: marks below a line of the plan keep their place.
pub(crate) fn print_problems(text: &str) {
    for line in text.lines() {
        match line.trim_start().starts_with("= help: ") {
            true => print_message(line),
            false => print_error(line),
        }
    }
}

/// Prints to standard output; a closed pipe, as with `head`, is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Whether standard output shows colours: a terminal does, unless NO_COLOR or CLICOLOR forbid it.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never
}

/// The width of standard error, for a line that is redrawn there.
pub(crate) fn error_width() -> usize {
    let reported = terminal_size_of(stderr()).map(|(Width(columns), _)| usize::from(columns));
    reported.filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}

/// The width of the lines on standard output; `None` when lines may have any width.
pub(crate) fn output_width() -> Option<usize> {
    line_width(&stdout())
}

/// `COLUMNS` or the width that the terminal reports; `None` for a file or a pipe, where programs read whole lines.
fn line_width(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let set = env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    let reported = || terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns));
    let width = set.filter(|columns| *columns > 0).or_else(reported)?;
    Some(width.max(WIDTH_MIN))
}
