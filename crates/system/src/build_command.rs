//! The user's command that builds the program of a system.

use std::path::Path;

use crate::process::toolchain_command;
use crate::subprocess::run_to_end;
use crate::{ProgressEvent, ProgressListener};

/// Runs `command` in a shell in `folder`, with its output in `log`. The command ends when dyno ends.
///
/// # Errors
/// When the command cannot start, fails (with the last lines of its output), or a stop was requested.
pub fn build_by_command(
    command: &str,
    folder: &Path,
    log: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let mut shell = toolchain_command("sh");
    shell.args(["-c", command]).current_dir(folder);
    let name = format!("building by `{command}`");
    let look = || listener(ProgressEvent::stage(&name));
    run_to_end(shell, (&name, None), log, None, look)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn a_build_creates_its_file_and_a_failed_one_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("build.log");
        let mut go_on = |_: ProgressEvent<'_>| ControlFlow::Continue(());
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
        let mut once_started = |_: ProgressEvent<'_>| match pid.exists() {
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
