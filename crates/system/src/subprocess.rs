//! Subprocesses that run to their end. Their output is logged, and they are stopped when the caller requests it.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;

use crate::log_tail::log_tail;
use crate::private_file;
use crate::process::{Confinement, Process};
use crate::{ProgressEvent, ProgressListener};

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
    let status = wait_for_end(command, name, &mut poll)?;
    if !status.success() {
        bail!("{name} failed ({status}); the end of {}:\n{}", log.display(), log_tail(log));
    }
    Ok(())
}

/// Runs `command`, called `name` in messages, for at most `bound`, and returns its standard output.
///
/// # Errors
/// When it cannot start, fails (with its other output), takes longer, or was stopped by the listener.
pub(crate) fn output_of(
    mut command: Command,
    name: &str,
    bound: Duration,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<String> {
    let folder = tempfile::tempdir().context("no folder for the output of a program")?;
    let [output, said] = ["output", "said"].map(|file| folder.path().join(file));
    command.stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&said)?);
    let (clock, mut is_late) = (Clock::monotonic(), false);
    let status = wait_for_end(command, name, &mut || {
        is_late = Duration::from_nanos(clock.now()) >= bound;
        if is_late { ControlFlow::Break(()) } else { listener(ProgressEvent::stage(name)) }
    });
    if is_late {
        bail!("{name} takes longer than {}", plan::show_duration(bound));
    }
    let status = status?;
    if !status.success() {
        bail!("{name} failed ({status}); it said:\n{}", log_tail(&said));
    }
    let read = fs::read(&output).with_context(|| format!("cannot read what {name} wrote"))?;
    Ok(String::from_utf8_lossy(&read).trim().to_owned())
}

/// Waits until a subprocess has exited, for as long as `poll` returns that it should continue.
fn wait_for_end(
    command: Command,
    name: &str,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> anyhow::Result<ExitStatus> {
    let process = Process::start_tree(command, Confinement::default())?;
    loop {
        if let Some(status) = process.wait(POLL_PERIOD) {
            return Ok(status);
        }
        if poll().is_break() {
            process.stop(STOP_BOUND)?;
            bail!("interrupted while {name}");
        }
    }
}

/// An empty file that only its owner can read.
///
/// # Errors
/// When the file cannot be written, with its name.
pub(crate) fn create(path: &Path) -> anyhow::Result<File> {
    private_file::create(path).with_context(|| format!("cannot write {}", path.display()))
}
