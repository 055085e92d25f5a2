//! The `dyno` binary: the command line of the whole project.

mod args;
mod command_line;
mod commands;
mod detached;
mod environment;
mod foreign_options;
mod metrics;
mod output;
mod progress;
mod signals;
mod stages;
mod start_request;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match command_line::arguments() {
        Ok(arguments) => arguments,
        Err(cause) => return commands::report_error(&cause.into()),
    };
    environment::take_passwords();
    let args =
        args::parse(arguments).unwrap_or_else(|wrong| foreign_options::explain(wrong).exit());
    match commands::dispatch(args) {
        Ok(code) => code,
        Err(cause) => commands::report_error(&cause),
    }
}
