//! Guards: clean-up that is done when dyno ends, however it ends.
//!
//! The kernel kills a single child with its parent (`bound.rs`), but not the child's own children, and it does not
//! remove files. So a small shell waits at a pipe that only dyno holds open. When the pipe closes without the message
//! that all is over, dyno is gone, and the shell cleans up.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use super::command;

/// Ends a process group; the group has ten seconds to shut down cleanly.
const END_GROUP: &str = r#"
read -r group || exit 0
read -r over && exit 0
kill -s TERM -- "-$group" || exit 0
looks=0
while [ $looks -lt 100 ] && kill -s 0 -- "-$group"; do
    sleep 0.1
    looks=$((looks + 1))
done
kill -s KILL -- "-$group"
"#;

/// Removes a folder; servers that still write to it have fifteen seconds to exit.
const REMOVE_FOLDER: &str = r#"
read -r over && exit 0
looks=0
while [ $looks -lt 150 ]; do
    rm -rf -- "$1"
    sleep 0.1
    [ -e "$1" ] || exit 0
    looks=$((looks + 1))
done
"#;

/// The waiting shell. Dropping this sends it the message that all is over.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// A guard that will end the process group that [`Guard::watch`] names.
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
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().map(Self)
    }

    /// Names the process group that must end with dyno.
    ///
    /// # Errors
    /// When the shell does not read any more.
    pub(super) fn watch(&mut self, group: u32) -> io::Result<()> {
        self.say(&format!("{group}\n"))
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

    use super::*;

    /// A separate process group, without any connection to us.
    fn group(script: &str) -> Child {
        let mut shell = command("sh");
        shell.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        shell.spawn().unwrap()
    }

    #[test]
    fn the_process_group_is_killed_when_the_guard_pipe_closes() {
        let mut group = group("sleep 60 & sleep 60");
        let mut guard = Guard::of_group().unwrap();
        guard.watch(group.id()).unwrap();
        // As when the kernel kills us.
        drop(guard.0.stdin.take());
        assert_eq!(group.wait().unwrap().signal(), Some(15));
        // The whole group had both ends of a pipe open; they are closed.
        let mut pipe = group.stdout.take().unwrap();
        assert_eq!(io::copy(&mut pipe, &mut io::sink()).unwrap(), 0);
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
        let mut group = group("trap '' TERM; while :; do sleep 0.05; done");
        let mut guard = Guard::of_group().unwrap();
        guard.watch(group.id()).unwrap();
        drop(guard.0.stdin.take());
        let status = group.wait().unwrap();
        // Until the shell has set its trap, TERM ends it as well.
        assert!(matches!(status.signal(), Some(9 | 15)), "{status}");
    }

    #[test]
    fn the_process_group_is_kept_after_a_normal_end() {
        let mut group = group("sleep 60");
        let mut guard = Guard::of_group().unwrap();
        guard.watch(group.id()).unwrap();
        drop(guard);
        assert_eq!(group.try_wait().unwrap(), None);
        group.kill().unwrap();
        group.wait().unwrap();
    }
}
