//! `dyno run PLAN`

use std::process::ExitCode;

use anyhow::Result;
use plan::Source;

use super::{built_in, experiment};
use crate::args::RunArgs;

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    let RunArgs { plan, existing, mut output } = args;
    output.overrides.extend(existing.map(|existing| format!("existing={existing}")));
    let source = match built_in::find(&plan).filter(|_| !plan.exists()) {
        Some(source) => source,
        None => Source::read(&plan)?,
    };
    experiment::run(source, None, false, output)
}
