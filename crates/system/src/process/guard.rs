//! A guard for a process that starts others: when we go, however we go, it ends them all.
//!
//! The kernel binds a single child to us (`bound.rs`); its own children it would leave. So a small
//! shell waits at a pipe that only we hold open: it is told the process group, and when the pipe
//! closes without a word that all is over, we are gone, and it asks the group to end and then kills it.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// What the shell does; ten seconds are what the group has to end in good order.
const SCRIPT: &str = r#"
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

/// The shell that waits. Dropping it tells it that all is over.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Starts it, with nothing to guard yet.
    ///
    /// # Errors
    /// When there is no shell.
    pub(super) fn start() -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().map(Self)
    }

    /// Tells it which process group to end with us.
    ///
    /// # Errors
    /// When it does not listen any more.
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
        // One that is gone already needs no telling.
        let _ = self.say("over\n");
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// A process group of its own that knows nothing of us.
    fn group(script: &str) -> Child {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        shell.spawn().unwrap()
    }

    #[test]
    fn the_group_is_ended_when_the_pipe_closes_without_a_word() {
        let mut group = group("sleep 60 & sleep 60");
        let mut guard = Guard::start().unwrap();
        guard.watch(group.id()).unwrap();
        // As the kernel does when we are killed.
        drop(guard.0.stdin.take());
        assert_eq!(group.wait().unwrap().signal(), Some(15));
        // Both ends of a pipe that the whole group had open are closed.
        let mut pipe = group.stdout.take().unwrap();
        assert_eq!(io::copy(&mut pipe, &mut io::sink()).unwrap(), 0);
    }

    #[test]
    fn who_does_not_listen_is_killed() {
        let mut group = group("trap '' TERM; while :; do sleep 0.05; done");
        let mut guard = Guard::start().unwrap();
        guard.watch(group.id()).unwrap();
        drop(guard.0.stdin.take());
        let status = group.wait().unwrap();
        // Until the shell has set its trap, TERM ends it as well.
        assert!(matches!(status.signal(), Some(9 | 15)), "{status}");
    }

    #[test]
    fn when_all_is_over_the_group_is_left_alone() {
        let mut group = group("sleep 60");
        let mut guard = Guard::start().unwrap();
        guard.watch(group.id()).unwrap();
        drop(guard);
        assert_eq!(group.try_wait().unwrap(), None);
        group.kill().unwrap();
        group.wait().unwrap();
    }
}
