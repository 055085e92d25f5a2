//! A command of the user's that makes what a system is started from.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::log_tail::log_tail;
use crate::process::Process;
use crate::{Onlooker, Step};

/// Between two looks whether it is done.
const LOOK: Duration = Duration::from_millis(200);
/// How long an interrupted build may take to end.
const STOP_BOUND: Duration = Duration::from_secs(10);

/// Has the shell run `command` in `folder`, with all that it says in `log`. It ends with us.
///
/// # Errors
/// When it cannot start, fails (with the last lines that it said), or the onlooker wants it to end.
pub fn build_by_command(
    command: &str,
    folder: &Path,
    log: &Path,
    onlooker: &mut Onlooker<'_>,
) -> anyhow::Result<()> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let errors = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder);
    shell.stdin(Stdio::null()).stdout(file).stderr(errors);
    let process = Process::start_tree(shell, None)?;
    let status = loop {
        if let Some(status) = process.wait(LOOK) {
            break status;
        }
        let step = Step::Progress { stage: command, done: 0, total: 0 };
        if onlooker(step) == ControlFlow::Break(()) {
            process.stop(STOP_BOUND)?;
            bail!("interrupted while building by `{command}`");
        }
    };
    if !status.success() {
        bail!(
            "building by `{command}` failed ({status}); the end of {}:\n{}",
            log.display(),
            log_tail(log)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_makes_its_file_and_a_failed_one_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("build.log");
        let mut go_on = |_: Step<'_>| ControlFlow::Continue(());
        build_by_command("echo made > it", folder.path(), &log, &mut go_on).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("it")).unwrap(), "made\n");
        let failing = "echo no compiler >&2; exit 3";
        let error = build_by_command(failing, folder.path(), &log, &mut go_on).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("exit status: 3") && text.ends_with("no compiler"), "{text}");
    }

    #[test]
    fn a_build_that_is_interrupted_leaves_nothing_running() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("build.log");
        let pid = folder.path().join("pid");
        let mut once_started = |_: Step<'_>| match pid.exists() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let command = "echo $$ > new; mv new pid; sleep 60";
        let error = build_by_command(command, folder.path(), &log, &mut once_started).unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
        let pid = std::fs::read_to_string(&pid).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "process {pid} is still there");
    }
}
