//! `dyno generator`: a generator of another dyno's run, which starts it by itself.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::signals;

pub(crate) fn run() -> Result<ExitCode> {
    signals::leave_to_the_run().context("cannot listen for signals")?;
    generators::run_generator(signals::end_now)?;
    Ok(ExitCode::SUCCESS)
}
