//! Subprocesses that run to their end. Their output is logged, and they are stopped when the caller requests it.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::log_tail::log_tail;
use crate::private_file;
use crate::process::{Confinement, Process};

/// Time between two checks whether the subprocess has exited.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// How long a subprocess may take to exit once it is no longer needed.
const STOP_BOUND: Duration = Duration::from_secs(1);

/// Runs `command`, called `name` in messages, for as long as `poll` returns that it should continue. Its output goes
/// to `log`; its standard output goes to `output` when that is given. It ends when dyno ends.
///
/// # Errors
/// When it cannot start, fails (with the last lines of its output), or was stopped.
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

/// An empty file that only its owner can read.
///
/// # Errors
/// When the file cannot be written, with its name.
pub(crate) fn create(path: &Path) -> anyhow::Result<File> {
    private_file::create(path).with_context(|| format!("cannot write {}", path.display()))
}
