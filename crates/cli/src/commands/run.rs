//! `dyno run PLAN`

use std::process::ExitCode;

use anyhow::Result;
use plan::Source;

use super::experiment;
use crate::args::RunArgs;

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    experiment::run(Source::read(&args.plan)?, None, args.output)
}
