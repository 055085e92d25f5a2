//! The subcommands, one file each.

mod bench;
mod catalogue;
mod completions;
mod down;
mod experiment;
mod generate;
mod list;
mod report;
mod run;
mod up;

use std::env;
use std::fmt;
use std::process::ExitCode;

use anyhow::{Context, Result};
use plan::{Problems, Source};

use crate::args::{Args, Command};

/// The exit code of a wrong plan or command line.
const USAGE: u8 = 2;

/// Runs what was asked for.
pub(crate) fn dispatch(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Run(args) => run::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Up(args) => up::run(&args),
        Command::Down(args) => down::run(&args),
        Command::Report(args) => report::run(&args),
        Command::List(args) => list::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Workloads(args) => catalogue::workloads(args.name.as_deref()),
        Command::Systems(args) => catalogue::systems(args.name.as_deref()),
        Command::Completions { shell } => completions::run(shell),
    }
}

/// Says what went wrong, and how the process ends.
pub(crate) fn complain(cause: &anyhow::Error) -> ExitCode {
    if let Some(problems) = cause.downcast_ref::<Problems>() {
        tell(&problems.to_string());
        return ExitCode::from(USAGE);
    }
    tell(&format!("error: {cause:#}"));
    if cause.is::<WrongArgument>() { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

/// An argument that cannot be understood, and what it should be.
#[derive(Debug)]
pub(crate) struct WrongArgument(String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongArgument {}

/// From now on the secrets of a plan, and those that the environment holds, are blanked in all that is told and
/// recorded.
fn hide_secrets(source: &Source) {
    source.secrets().iter().for_each(|secret| plan::hide(secret));
    let given = ["DYNO_PASSWORD", "MYSQL_PWD"].into_iter().filter_map(|name| env::var(name).ok());
    given.for_each(|secret| plan::hide(&secret));
}

/// A line on standard error, without secrets. When nobody reads it any more (a closed terminal, `2>&1 | head`), the run
/// that it tells of goes on all the same.
pub(crate) fn tell(line: &str) {
    use std::io::{Write, stderr};
    let _ = writeln!(stderr(), "{}", plan::scrub(line));
}

/// Prints to standard output; a reader that has left, as `head` does, is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write, stdout};
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
