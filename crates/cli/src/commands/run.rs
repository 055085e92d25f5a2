//! `dyno run PLAN`

use std::process::ExitCode;

use anyhow::Result;
use plan::Source;

use super::experiment;
use crate::args::RunArgs;

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    let RunArgs { plan, existing, mut output } = args;
    output.overrides.extend(existing.map(|existing| format!("existing={existing}")));
    experiment::run(Source::read(&plan)?, None, false, output)
}
