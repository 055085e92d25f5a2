//! `dyno down`: stops what `dyno up --detach` has started.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::DownArgs;
use crate::standing;

pub(crate) fn run(args: &DownArgs) -> Result<ExitCode> {
    let mut text = String::new();
    for (entry, standing) in standing::all()? {
        if args.system.as_ref().is_some_and(|system| *system != standing.kind) {
            continue;
        }
        let head = standing.text.lines().next().unwrap_or_default();
        if standing.is_alive() {
            standing.stop()?;
            text.push_str(&format!("stopped: {head}\n"));
        } else {
            text.push_str(&format!("had ended before: {head}\n"));
            text.push_str(&standing::log_of(&entry));
        }
        standing::remove(&entry);
    }
    if text.is_empty() {
        text.push_str("nothing is up\n");
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
