//! Guards: clean-up that is done when dyno ends, however it ends.
//!
//! The kernel kills a child with its parent (`bound.rs`), but not the child's own children, and it does not remove files.
//! So a small shell waits at a pipe that only dyno holds open. When the pipe closes without the message
//! that all is over, dyno is gone, and the shell cleans up.
//!
//! The shell for a process group is the group's first member: it is there before any other, so there is no moment in
//! which a member could be left behind, and while it lives no other group can have its number.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use nix::unistd::Pid;
use procfs::process::{Stat, all_processes};

use super::command;

/// Ends the shell's own process group; the others have ten seconds to shut down cleanly. The fields of a `stat` file
/// behind the name are the state, the parent and the process group (proc_pid_stat(5)).
const END_GROUP: &str = r#"
trap '' TERM
echo ready
read -r over && exit 0
has_others() {
    for file in /proc/[0-9]*/stat; do
        read -r stat < "$file" || continue
        pid=${stat%% *}
        set -- ${stat##*) }
        if [ "$3" = $$ ] && [ "$pid" != $$ ] && [ "$1" != Z ]; then return 0; fi
    done
    return 1
}
kill -s TERM 0
looks=0
while [ $looks -lt 100 ] && has_others; do
    sleep 0.1
    looks=$((looks + 1))
done
kill -s KILL 0
"#;

/// Removes a folder; servers that still write to it have fifteen seconds to exit.
const REMOVE_FOLDER: &str = r#"
echo ready
read -r over && exit 0
looks=0
while [ $looks -lt 150 ]; do
    rm -rf -- "$1"
    sleep 0.1
    [ -e "$1" ] || exit 0
    looks=$((looks + 1))
done
"#;

/// The states of processes that have ended. Source: proc_pid_stat(5).
const ENDED: [char; 3] = ['Z', 'X', 'x'];

/// What a shell says when it watches.
const READY: &str = "ready\n";

/// The waiting shell. Dropping this sends it the message that all is over.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// A guard that will end the processes of the new process group [`Guard::group`], of which it is the first.
    ///
    /// # Errors
    /// When the shell does not start.
    pub(super) fn of_group() -> io::Result<Self> {
        Self::start(END_GROUP, OsStr::new(""))
    }

    /// A guard that will remove a folder with everything in it.
    ///
    /// # Errors
    /// When the shell does not start.
    pub(crate) fn of_folder(folder: &Path) -> io::Result<Self> {
        Self::start(REMOVE_FOLDER, folder.as_os_str())
    }

    fn start(script: &str, argument: &OsStr) -> io::Result<Self> {
        let mut shell = command("sh");
        shell.args(["-c", script, "sh"]).arg(argument).process_group(0);
        // So that it does not keep a folder of ours in use.
        shell.current_dir("/");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut guard = Self(shell.spawn()?);
        guard.wait_until_ready()?;
        Ok(guard)
    }

    /// Waits for the shell's first line: from then on it ignores a request to end that is meant for its group.
    fn wait_until_ready(&mut self) -> io::Result<()> {
        let mut line = [0; READY.len()];
        match self.0.stdout.take() {
            Some(mut output) => output.read_exact(&mut line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// The process group of which it is the first member. No other group has this number until the guard is dropped.
    pub(super) fn group(&self) -> Pid {
        Pid::from_raw(self.0.id().cast_signed())
    }

    /// Whether processes of the group are there that have not ended.
    pub(super) fn has_others(&self) -> bool {
        let group = self.group().as_raw();
        let is_other =
            |stat: Stat| stat.pgrp == group && stat.pid != group && !ENDED.contains(&stat.state);
        let Ok(processes) = all_processes() else { return false };
        processes.flatten().filter_map(|process| process.stat().ok()).any(is_other)
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        match &mut self.0.stdin {
            Some(pipe) => pipe.write_all(line.as_bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The shell may have exited already.
        let _ = self.say("over\n");
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use nix::sys::signal::{Signal, killpg};

    use super::*;

    /// A process in the group of a guard, without any connection to us.
    fn member(guard: &Guard, script: &str) -> Child {
        let mut shell = command("sh");
        let group = guard.group().as_raw();
        shell.args(["-c", script]).process_group(group).stdout(Stdio::piped());
        shell.spawn().unwrap()
    }

    #[test]
    fn the_process_group_is_killed_when_the_guard_pipe_closes() {
        let mut guard = Guard::of_group().unwrap();
        let mut group = member(&guard, "sleep 60 & sleep 60");
        // As when the kernel kills us.
        drop(guard.0.stdin.take());
        assert_eq!(group.wait().unwrap().signal(), Some(15));
        // The whole group had both ends of a pipe open; they are closed.
        let mut pipe = group.stdout.take().unwrap();
        assert_eq!(io::copy(&mut pipe, &mut io::sink()).unwrap(), 0);
    }

    #[test]
    fn the_guard_alone_ends_at_once_and_survives_a_request_to_its_group() {
        let mut guard = Guard::of_group().unwrap();
        killpg(guard.group(), Signal::SIGTERM).unwrap();
        let mut member = member(&guard, "exit 3");
        assert_eq!(member.wait().unwrap().code(), Some(3), "the group is still there");
        drop(guard.0.stdin.take());
        assert_eq!(guard.0.wait().unwrap().signal(), Some(9), "its own last signal");
    }

    #[test]
    fn the_folder_is_removed_on_a_crash_and_kept_after_a_normal_end() {
        let root = tempfile::tempdir().unwrap();
        let [left, kept] = ["it's left", "kept"].map(|name| root.path().join(name));
        for folder in [&left, &kept] {
            std::fs::create_dir_all(folder.join("data")).unwrap();
        }
        let mut guard = Guard::of_folder(&left).unwrap();
        drop(Guard::of_folder(&kept).unwrap());
        // As when the kernel kills us.
        drop(guard.0.stdin.take());
        guard.0.wait().unwrap();
        assert!(!left.exists() && kept.exists());
    }

    #[test]
    fn a_process_that_ignores_sigterm_is_killed() {
        let mut guard = Guard::of_group().unwrap();
        let mut group = member(&guard, "trap '' TERM; while :; do sleep 0.05; done");
        drop(guard.0.stdin.take());
        let status = group.wait().unwrap();
        // Until the shell has set its trap, TERM ends it as well.
        assert!(matches!(status.signal(), Some(9 | 15)), "{status}");
    }

    #[test]
    fn the_process_group_is_kept_after_a_normal_end() {
        let guard = Guard::of_group().unwrap();
        let mut group = member(&guard, "sleep 60");
        drop(guard);
        assert_eq!(group.try_wait().unwrap(), None);
        group.kill().unwrap();
        group.wait().unwrap();
    }
}
