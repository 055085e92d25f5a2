//! Tasks of the repository: test, tidy, dist, fuzz, soak, bench.
#![expect(clippy::disallowed_macros, reason = "a task prints what it does")]
#![expect(clippy::disallowed_methods, reason = "a task's programs get the caller's environment")]

mod bench;
mod cluster;
mod dist;
mod fuzz;
mod go_server;
mod interrupt;
mod needs;
mod paths;
mod peers;
mod shell;
mod soak;
mod sql;
mod test;
mod tidb;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of the repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs everything that must hold: format, lints, tidy, and all tests against a real server
    Test(test::Arguments),
    /// Checks what no compiler checks: imports between rooms, opening lines, lengths, words
    Tidy,
    /// Builds the binary that is handed out
    Dist,
    /// Runs everything that reads what comes from outside on random and on changed real inputs
    Fuzz(fuzz::Arguments),
    /// Runs dyno for half an hour on servers that stall, die and come back, and checks every count
    Soak(soak::Arguments),
    /// Measures dyno against sysbench and against a bare loop in C
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test(arguments) => test::run(&arguments),
        Task::Tidy => tidy::run(),
        Task::Dist => dist::run(),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        let interrupted = error.downcast_ref::<interrupt::Interrupted>();
        interrupted.map_or(ExitCode::FAILURE, |signal| ExitCode::from(signal.exit_code()))
    })
}
