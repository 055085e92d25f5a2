//! A server that was started here: watched, stopped, and never left behind.

mod bound;
mod cpus;

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

pub use cpus::parse as parse_cpus;

/// How long a killed process may take to be gone.
const KILL_BOUND: Duration = Duration::from_secs(10);

/// A child process and the thread that keeps it. The thread starts the child and waits for its end,
/// because the kernel binds a child's life to the thread that made it, not to the process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    end: Arc<End>,
}

/// The child's end, once it came. While `status` is empty and locked, the child's pid is its own.
#[derive(Debug, Default)]
struct End {
    status: Mutex<Option<ExitStatus>>,
    came: Condvar,
}

impl End {
    fn status(&self) -> MutexGuard<'_, Option<ExitStatus>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Starts `command`, on `cpus` only when some are given.
    pub(crate) fn start(command: Command, cpus: Option<CpuSet>) -> anyhow::Result<Self> {
        let program = command.get_program().to_owned();
        let (started, is_started) = mpsc::channel();
        let end = Arc::new(End::default());
        let ending = Arc::clone(&end);
        thread::Builder::new()
            .name("server keeper".to_owned())
            .spawn(move || keep(command, cpus, &started, &ending))
            .context("no thread to keep the server with")?;
        let pid = is_started
            .recv()
            .context("the thread that starts the server ended early")?
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { pid, end })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw().unsigned_abs()
    }

    /// How it ended, when it has.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        *self.end.status()
    }

    /// Asks it to end; kills it when it has not after `bound`.
    ///
    /// # Errors
    /// When it survives even that.
    pub(crate) fn stop(&self, bound: Duration) -> anyhow::Result<ExitStatus> {
        for (signal, bound) in [(Signal::SIGTERM, bound), (Signal::SIGKILL, KILL_BOUND)] {
            self.signal(signal)?;
            if let Some(status) = self.wait(bound) {
                return Ok(status);
            }
        }
        bail!("process {} is still there {KILL_BOUND:?} after it was killed", self.pid)
    }

    /// Sends a signal, unless the child has ended: its pid may be someone else's by then.
    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let status = self.end.status();
        if status.is_none() {
            kill(self.pid, signal)
                .with_context(|| format!("cannot send {signal} to process {}", self.pid))?;
        }
        Ok(())
    }

    /// Its exit status as soon as it ends, or `None` after `bound`.
    pub(crate) fn wait(&self, bound: Duration) -> Option<ExitStatus> {
        let status = self.end.status();
        let (status, _) = self
            .end
            .came
            .wait_timeout_while(status, bound, |status| status.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        *status
    }
}

/// The keeper thread: starts the child, reports its pid, waits for its end and notes it.
fn keep(
    command: Command,
    cpus: Option<CpuSet>,
    started: &mpsc::Sender<io::Result<Pid>>,
    end: &End,
) {
    let mut child = match bound::spawn(command, cpus) {
        Ok(child) => child,
        Err(error) => {
            // Nobody listens only when the starter is gone, and then nobody wants to know.
            let _ = started.send(Err(error));
            return;
        }
    };
    let pid = Pid::from_raw(child.id().cast_signed());
    let _ = started.send(Ok(pid));
    // Waits without taking the status, so that the pid stays taken until the lock is held.
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
        == Err(nix::errno::Errno::EINTR)
    {}
    let mut status = end.status();
    *status = child.wait().ok();
    end.came.notify_all();
}

#[cfg(test)]
mod tests;
