//! `dyno up --start SERVER`: starts a server again that has exited, of a cluster that `dyno up` keeps up.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{detached, signals, start_request};

/// Starts the server in each system that is up, has it and has lost it; of this kind of system, if one is given.
pub(super) fn run(server: &str, kind: Option<&str>) -> Result<ExitCode> {
    let stop = signals::listen().context("cannot listen for signals")?;
    let (mut started, mut refused) = (String::new(), Vec::new());
    for (entry, detached) in detached::all()? {
        if detached.keeper().is_none() || kind.is_some_and(|kind| kind != detached.kind) {
            continue;
        }
        match start_request::ask((&entry, &detached), server, &stop) {
            Ok(()) => started.push_str(&format!("started: {server} of {}\n", detached.title())),
            Err(_) if stop.is_asked() => return Ok(ExitCode::from(signals::INTERRUPTED)),
            Err(cause) => refused.push(format!("{}: {cause:#}", detached.title())),
        }
    }
    match (started.is_empty(), refused.is_empty()) {
        (false, _) => super::print(&started).map(|()| ExitCode::SUCCESS),
        (true, false) => bail!(refused.join("\n")),
        (true, true) => bail!("no system is up; `dyno up` starts one"),
    }
}
