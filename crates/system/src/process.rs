//! A server process that dyno has started: watched, stopped, and never left behind.

mod bound;
mod command;
mod cpus;
mod guard;

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::account::Account;
use bound::OnParentExit;
pub use command::{command, toolchain_command};
pub(crate) use cpus::cpu_set;
pub use cpus::{demand_cpus, parse as parse_cpus};
pub(crate) use guard::Guard;

/// How long a killed process may take to disappear.
const KILL_BOUND: Duration = Duration::from_secs(10);

/// How long a process may take to end the processes that it has started, when it must end at once.
const TREE_BOUND: Duration = Duration::from_secs(2);

/// Whether a process starts other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// It starts none.
    Single,
    /// It is the leader of a process group.
    Tree,
}

/// Who can read the files that a child creates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NewFiles {
    /// The accounts that dyno's own umask permits.
    #[default]
    Usual,
    /// The owner alone.
    OwnerOnly,
}

/// Restrictions of a child process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Confinement {
    /// The CPUs that it may use; all of them when `None`.
    pub(crate) cpus: Option<CpuSet>,
    /// The account that it runs as; dyno's own when `None`.
    pub(crate) account: Option<Account>,
    /// Who can read the files that it creates.
    pub(crate) files: NewFiles,
}

/// A child process and its keeper thread. The thread starts the child and waits for its exit, because the kernel
/// binds a child's life to the thread that started it, not to the process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    family: Family,
    end: Arc<End>,
}

/// How and when a child has exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) status: ExitStatus,
    pub(crate) at: Instant,
}

/// The child's exit, once it has exited. While `status` is empty and locked, the child's pid is not reused.
#[derive(Debug, Default)]
struct End {
    status: Mutex<Option<Exit>>,
    came: Condvar,
}

impl End {
    fn status(&self) -> MutexGuard<'_, Option<Exit>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Starts `command` with the restrictions of `confinement`. The kernel kills it when dyno ends.
    pub(crate) fn start(command: Command, confinement: Confinement) -> anyhow::Result<Self> {
        Self::start_in(command, confinement, Family::Single)
    }

    /// Starts a `command` that starts other processes: all processes that stay in its process group end with it, and
    /// are killed when dyno ends.
    pub(crate) fn start_tree(command: Command, confinement: Confinement) -> anyhow::Result<Self> {
        Self::start_in(command, confinement, Family::Tree)
    }

    fn start_in(
        command: Command,
        confinement: Confinement,
        family: Family,
    ) -> anyhow::Result<Self> {
        let program = command.get_program().to_owned();
        if let Some(cpus) = &confinement.cpus {
            cpus::demand(cpus).with_context(|| format!("cannot start {}", program.display()))?;
        }
        let (started, is_started) = mpsc::channel();
        let end = Arc::new(End::default());
        let ending = Arc::clone(&end);
        thread::Builder::new()
            .name("server keeper".to_owned())
            .spawn(move || keep(command, &confinement, family, &started, &ending))
            .context("no thread to keep the server with")?;
        let pid = is_started
            .recv()
            .context("the thread that starts the server ended early")?
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { pid, family, end })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw().unsigned_abs()
    }

    /// The exit status, when it has exited.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        Some(self.exit()?.status)
    }

    /// How and when it has exited, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.end.status()
    }

    /// Asks the child to exit; kills it when it still runs after `bound`.
    ///
    /// # Errors
    /// When the child survives that as well.
    pub(crate) fn stop(&self, bound: Duration) -> anyhow::Result<ExitStatus> {
        self.end_by(&[(Signal::SIGTERM, bound), (Signal::SIGKILL, KILL_BOUND)])
    }

    /// Kills the child at once; a child that has started other processes gets a moment to end them.
    ///
    /// # Errors
    /// When the child survives that.
    pub(crate) fn end(&self) -> anyhow::Result<ExitStatus> {
        match self.family {
            Family::Single => self.end_by(&[(Signal::SIGKILL, KILL_BOUND)]),
            Family::Tree => self.stop(TREE_BOUND),
        }
    }

    /// Sends these signals in turn until the child has exited, and waits for the given time after each.
    fn end_by(&self, signals: &[(Signal, Duration)]) -> anyhow::Result<ExitStatus> {
        for &(signal, bound) in signals {
            self.signal(signal)?;
            if let Some(status) = self.wait(bound) {
                return Ok(status);
            }
        }
        bail!("process {} is still there {KILL_BOUND:?} after it was killed", self.pid)
    }

    /// Sends a signal, unless the child has exited: its pid may belong to another process by then.
    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let status = self.end.status();
        if status.is_none() {
            let sent = match self.family {
                Family::Single => kill(self.pid, signal),
                Family::Tree => killpg(self.pid, signal),
            };
            sent.with_context(|| format!("cannot send {signal} to process {}", self.pid))?;
        }
        Ok(())
    }

    /// The exit status as soon as the child exits, or `None` after `bound`.
    pub(crate) fn wait(&self, bound: Duration) -> Option<ExitStatus> {
        let status = self.end.status();
        let (status, _) = self
            .end
            .came
            .wait_timeout_while(status, bound, |status| status.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        status.map(|exit| exit.status)
    }
}

/// The keeper thread: starts the child, reports its pid, waits for its exit and stores the status.
fn keep(
    command: Command,
    confinement: &Confinement,
    family: Family,
    started: &mpsc::Sender<io::Result<Pid>>,
    end: &End,
) {
    let (mut child, guard) = match spawn(command, confinement, family) {
        Ok(spawned) => spawned,
        Err(error) => {
            // The receiver is gone only when the starting thread is gone; then the error is not needed.
            let _ = started.send(Err(error));
            return;
        }
    };
    let pid = Pid::from_raw(child.id().cast_signed());
    let _ = started.send(Ok(pid));
    // Waits without collecting the status, so that the pid stays in use until the lock is held.
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
        == Err(nix::errno::Errno::EINTR)
    {}
    let at = net::origin();
    if family == Family::Tree {
        // Kills the processes that are left of its group.
        let _ = killpg(pid, Signal::SIGKILL);
    }
    drop(guard);
    let mut status = end.status();
    *status = child.wait().ok().map(|status| Exit { status, at });
    end.came.notify_all();
}

fn spawn(
    command: Command,
    confinement: &Confinement,
    family: Family,
) -> io::Result<(Child, Option<Guard>)> {
    match family {
        Family::Single => Ok((bound::spawn(command, confinement, OnParentExit::Killed)?, None)),
        Family::Tree => {
            let mut guard = Guard::of_group()?;
            let child = bound::spawn(command, confinement, OnParentExit::Left)?;
            guard.watch(child.id())?;
            Ok((child, Some(guard)))
        }
    }
}

#[cfg(test)]
mod tests;
