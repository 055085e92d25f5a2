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

use std::process::ExitCode;

use anyhow::Result;
use plan::Problems;

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
#[expect(clippy::disallowed_macros, reason = "errors go to standard error")]
pub(crate) fn complain(cause: &anyhow::Error) -> ExitCode {
    if let Some(problems) = cause.downcast_ref::<Problems>() {
        eprintln!("{problems}");
        return ExitCode::from(USAGE);
    }
    eprintln!("error: {cause:#}");
    ExitCode::FAILURE
}

/// Prints to standard output; a reader that has left, as `head` does, is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write, stdout};
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
