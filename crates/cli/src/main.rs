//! The `dyno` binary: one command line over the whole house.

mod args;
mod command_line;
mod commands;
mod progress;
mod signals;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::dispatch(args) {
        Ok(code) => code,
        Err(cause) => commands::complain(&cause),
    }
}
