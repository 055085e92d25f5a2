//! `dyno down`: stops systems that `dyno up --detach` has started.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::DownArgs;
use crate::detached;

pub(crate) fn run(args: &DownArgs) -> Result<ExitCode> {
    let mut text = String::new();
    for (entry, detached) in detached::all()? {
        if args.system.as_ref().is_some_and(|system| *system != detached.kind) {
            continue;
        }
        if detached.stop()? {
            text.push_str(&format!("stopped: {}\n", detached.title()));
        } else {
            text.push_str(&format!("had already ended: {}\n", detached.title()));
            text.push_str(&detached::log_of(&entry));
        }
        detached::remove(&entry);
    }
    if text.is_empty() {
        text.push_str("no system is up\n");
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
