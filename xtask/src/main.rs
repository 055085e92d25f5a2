//! Tasks of the repository: test, tidy, dist, fuzz, soak, statistics, bench.
#![expect(clippy::disallowed_macros, reason = "a task prints what it does")]
#![expect(clippy::disallowed_methods, reason = "a task's programs get the caller's environment")]

mod bench;
mod cluster;
mod dist;
mod fuzz;
mod go;
mod interrupt;
mod needs;
mod paths;
mod readers;
mod servers;
mod shell;
mod soak;
mod sql;
mod statistics;
mod test;
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
    /// Runs all checks: format, lints, tidy, and all tests against real servers
    Test(test::Arguments),
    /// Checks imports between rooms, opening lines of files, lengths, words and names
    Tidy,
    /// Builds archives and Debian packages for all processors, from the checked-out commit
    Dist(dist::Arguments),
    /// Looks for inputs that break a reader of outside input, guided by coverage
    Fuzz(fuzz::Arguments),
    /// Runs dyno for half an hour on servers that stall, crash and restart, and verifies every count
    Soak(soak::Arguments),
    /// Counts on simulated systems how often verdicts and warnings are wrong
    Statistics(statistics::Arguments),
    /// Provokes known limits, and counts how often their cause is named: the table of benchmarks/why.md
    Verdicts(test::Verdicts),
    /// Measures dyno against sysbench and against a bare loop in C
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test(arguments) => test::run(&arguments),
        Task::Tidy => tidy::run(),
        Task::Dist(arguments) => dist::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Statistics(arguments) => statistics::run(&arguments),
        Task::Verdicts(arguments) => test::verdicts(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        let interrupted = error.downcast_ref::<interrupt::Interrupted>();
        interrupted.map_or(ExitCode::FAILURE, |signal| ExitCode::from(signal.exit_code()))
    })
}
