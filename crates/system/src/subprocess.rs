//! Subprocesses that run to their end: their output is logged, and they are stopped when the caller gives
//! up.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::log_tail::log_tail;
use crate::private_file;
use crate::process::{Confinement, Process};

/// Time between two checks whether it is done.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// How long it may take to end when it is not wanted any more.
const STOP_BOUND: Duration = Duration::from_secs(1);

/// Runs `command`, which does what `name` says, as long as `poll` wants it to go on. What it says goes to
/// `log`; its standard output goes to `output` when that is given. It ends with us.
///
/// # Errors
/// When it cannot start, fails (with the last lines that it said), or was ended.
pub(crate) fn run_to_end(
    mut command: Command,
    name: &str,
    log: &Path,
    output: Option<File>,
    mut poll: impl FnMut() -> ControlFlow<()>,
) -> anyhow::Result<()> {
    let said = create(log)?;
    let output = match output {
        Some(output) => output,
        None => said.try_clone().with_context(|| format!("cannot write {}", log.display()))?,
    };
    command.stdin(Stdio::null()).stdout(output).stderr(said);
    let process = Process::start_tree(command, Confinement::default())?;
    let status = loop {
        if let Some(status) = process.wait(POLL_PERIOD) {
            break status;
        }
        if poll().is_break() {
            process.stop(STOP_BOUND)?;
            bail!("interrupted while {name}");
        }
    };
    if !status.success() {
        bail!("{name} failed ({status}); the end of {}:\n{}", log.display(), log_tail(log));
    }
    Ok(())
}

/// An empty file that nobody else can read.
///
/// # Errors
/// When it cannot be written, with its name.
pub(crate) fn create(path: &Path) -> anyhow::Result<File> {
    private_file::create(path).with_context(|| format!("cannot write {}", path.display()))
}
