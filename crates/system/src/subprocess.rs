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

/// Runs `command`, called `name` in messages, for as long as `poll` returns that it should continue, and for at most
/// `bound` if there is one. Its output goes to `log`; its standard output goes to `output` when that is given. It ends
/// when dyno ends.
///
/// # Errors
/// When it cannot start, fails (with the last lines of its output), takes longer, or was stopped.
pub(crate) fn run_to_end(
    mut command: Command,
    (name, bound): (&str, Option<Duration>),
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
    let end_of_log = || format!("the end of {}:\n{}", log.display(), log_tail(log));
    let Some(status) = wait_for_end(command, (name, bound), &mut poll)? else {
        bail!("{}; {}", takes_longer(name, bound), end_of_log());
    };
    if !status.success() {
        bail!("{name} failed ({status}); {}", end_of_log());
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
    let bound = Some(bound);
    let mut poll = || listener(ProgressEvent::stage(name));
    let Some(status) = wait_for_end(command, (name, bound), &mut poll)? else {
        bail!(takes_longer(name, bound));
    };
    if !status.success() {
        bail!("{name} failed ({status}); it said:\n{}", log_tail(&said));
    }
    let read = fs::read(&output).with_context(|| format!("cannot read what {name} wrote"))?;
    Ok(String::from_utf8_lossy(&read).trim().to_owned())
}

/// Waits until a subprocess has exited, for as long as `poll` returns that it should continue. `None` when it took
/// longer than `bound`; it has been ended then.
fn wait_for_end(
    command: Command,
    (name, bound): (&str, Option<Duration>),
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> anyhow::Result<Option<ExitStatus>> {
    let process = Process::start(command, Confinement::default())?;
    let clock = Clock::monotonic();
    loop {
        if let Some(status) = process.wait(POLL_PERIOD) {
            return Ok(Some(status));
        }
        if bound.is_some_and(|bound| Duration::from_nanos(clock.now()) >= bound) {
            process.stop(STOP_BOUND)?;
            return Ok(None);
        }
        if poll().is_break() {
            process.stop(STOP_BOUND)?;
            bail!("interrupted while {name}");
        }
    }
}

fn takes_longer(name: &str, bound: Option<Duration>) -> String {
    format!("{name} takes longer than {}", plan::show_duration(bound.unwrap_or_default()))
}

/// An empty file that only its owner can read.
///
/// # Errors
/// When the file cannot be written, with its name.
pub(crate) fn create(path: &Path) -> anyhow::Result<File> {
    private_file::create(path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::command;

    #[test]
    fn a_program_without_end_is_ended_at_its_bound_with_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let [log, pid] = ["log", "pid"].map(|name| folder.path().join(name));
        let mut hanging = command("sh");
        hanging.args(["-c", "echo $$ > new; mv new pid; echo waiting for ever; exec sleep 600"]);
        hanging.current_dir(folder.path());
        let bound = Some(Duration::from_millis(300));
        let go_on = || ControlFlow::Continue(());
        let error = run_to_end(hanging, ("hanging", bound), &log, None, go_on).unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with("hanging takes longer than 300ms; the end of "), "{told}");
        assert!(told.ends_with("\nwaiting for ever"), "{told}");
        let pid = fs::read_to_string(pid).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "process {pid} is still there");
    }
}
