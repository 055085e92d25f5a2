//! A server process that dyno has started: watched, stopped, and never left behind.

mod bound;
mod command;
mod cpus;
mod flush_gate;
mod guard;
mod piped;
mod process_reference;

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use net::Clock;
use nix::errno::Errno;
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::account::Account;
pub use command::{command, reaching_command, toolchain_command};
pub(crate) use cpus::cpu_set;
pub use cpus::{demand_cpus, parse as parse_cpus};
pub use flush_gate::FlushGate;
pub(crate) use guard::Guard;
pub use piped::{PipedProcess, Pipes};
pub use process_reference::ProcessReference;

/// How long a killed process may take to disappear.
const KILL_BOUND: Duration = Duration::from_secs(10);

/// How long a process that is asked may take, when it must end now.
const ASKED_BOUND: Duration = Duration::from_secs(2);

/// How a process ends that must end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Killed,
    /// It is asked first, because others that it has started may end with it only then.
    Asked,
    /// The same for a server whose processes have groups of their own: only it can end them, as PostgreSQL does. It waits
    /// for its clients when it is asked by the usual signal.
    Quit,
}

impl Ending {
    /// The signal that asks for a clean end.
    fn request(self) -> Signal {
        match self {
            Self::Killed | Self::Asked => Signal::SIGTERM,
            Self::Quit => Signal::SIGINT,
        }
    }

    /// The signal when dyno ends, which the kernel sends.
    fn at_death(self) -> Option<Signal> {
        match self {
            Self::Killed => Some(Signal::SIGKILL),
            Self::Asked => None,
            Self::Quit => Some(Signal::SIGQUIT),
        }
    }
}

/// How often a wait for the end of a child checks whether it goes on.
const PATIENCE_PERIOD: Duration = Duration::from_millis(100);

/// How often the keeper looks whether the processes that a child has left have ended.
const LEFT_PERIOD: Duration = Duration::from_millis(20);

/// Who can read the files that a child creates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NewFiles {
    /// The accounts that dyno's own umask permits.
    #[default]
    Usual,
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
    /// Holds its flushes of files; they are its own affair when `None`.
    pub(crate) flushes: Option<Arc<FlushGate>>,
}

/// A child process and its keeper thread. The thread starts the child and waits for its exit, because the kernel
/// binds a child's life to the thread that started it, not to the process.
///
/// The child has a process group of its own. Signals go to all processes of the group, and those that the child leaves
/// are killed.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    /// No other group has this number while the child's status is not collected.
    group: Pid,
    ending: Ending,
    end: Arc<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) status: ExitStatus,
    pub(crate) at: Instant,
}

/// The child's exit, once it has exited. While `status` is empty and locked, the numbers of the child and of its group
/// are not reused.
#[derive(Debug, Default)]
struct End {
    status: Mutex<Option<Exit>>,
    came: Condvar,
    /// Whether the processes that the child leaves may end by themselves: their end is waited for then.
    is_clean: AtomicBool,
}

impl End {
    fn status(&self) -> MutexGuard<'_, Option<Exit>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Starts `command` with the restrictions of `confinement`. The kernel kills it when dyno ends, and its guard ends the
    /// other processes of its group.
    pub(crate) fn start(command: Command, confinement: Confinement) -> anyhow::Result<Self> {
        Self::start_to_end(command, confinement, Ending::Killed)
    }

    /// The same for a `command` that has another ending.
    pub(crate) fn start_to_end(
        command: Command,
        confinement: Confinement,
        ending: Ending,
    ) -> anyhow::Result<Self> {
        let program = command.get_program().to_owned();
        if let Some(cpus) = &confinement.cpus {
            cpus::demand(cpus).with_context(|| format!("cannot start {}", program.display()))?;
        }
        let (started, is_started) = mpsc::channel();
        let end = Arc::new(End::default());
        let to_come = Arc::clone(&end);
        thread::Builder::new()
            .name("server keeper".to_owned())
            .spawn(move || keep(command, &confinement, ending, &started, &to_come))
            .context("no thread to keep the server with")?;
        let (pid, group) = is_started
            .recv()
            .context("the thread that starts the server ended early")?
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { pid, group, ending, end })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw().unsigned_abs()
    }

    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        Some(self.exit()?.status)
    }

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

    /// The same for a child and all processes of its group, which are waited for only as long as `goes_on` returns true:
    /// then they are killed.
    ///
    /// # Errors
    /// When one survives that as well.
    pub(crate) fn stop_while(
        &self,
        bound: Duration,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> anyhow::Result<()> {
        self.end.is_clean.store(true, Ordering::Relaxed);
        self.signal(self.ending.request())?;
        let clock = Clock::monotonic();
        loop {
            let left = bound.saturating_sub(Duration::from_nanos(clock.now()));
            if !goes_on() || left.is_zero() {
                return match self.ending {
                    Ending::Quit => self.end().map(drop),
                    _ => self.end_by(&[(Signal::SIGKILL, KILL_BOUND)]).map(drop),
                };
            }
            if self.wait(left.min(PATIENCE_PERIOD)).is_some() {
                return Ok(());
            }
        }
    }

    /// Kills the child at once; one that was started as a launcher gets a moment to end the others.
    ///
    /// # Errors
    /// When the child survives that.
    pub(crate) fn end(&self) -> anyhow::Result<ExitStatus> {
        match self.ending {
            Ending::Killed => self.end_by(&[(Signal::SIGKILL, KILL_BOUND)]),
            Ending::Asked => self.stop(ASKED_BOUND),
            Ending::Quit => {
                self.end_by(&[(Signal::SIGQUIT, ASKED_BOUND), (Signal::SIGKILL, KILL_BOUND)])
            }
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

    /// Sends a signal to the group, unless the child has exited: its number may belong to another group by then.
    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let status = self.end.status();
        if status.is_some() {
            return Ok(());
        }
        let sent = match (self.ending, signal) {
            // The guard of the group would end by it, and no other process of the server is in the group.
            (Ending::Quit, Signal::SIGINT | Signal::SIGQUIT) => kill(self.pid, signal),
            _ => killpg(self.group, signal),
        };
        match sent {
            // All have ended, and the status is about to be collected.
            Err(Errno::ESRCH) => Ok(()),
            sent => sent.with_context(|| format!("cannot send {signal} to process {}", self.pid)),
        }
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
    ending: Ending,
    started: &mpsc::Sender<io::Result<(Pid, Pid)>>,
    end: &End,
) {
    let (mut child, guard) = match spawn(command, confinement, ending) {
        Ok(spawned) => spawned,
        Err(error) => {
            // The receiver is gone only when the starting thread is gone; then the error is not needed.
            let _ = started.send(Err(error));
            return;
        }
    };
    let pid = Pid::from_raw(child.id().cast_signed());
    let _ = started.send(Ok((pid, guard.group())));
    // Waits without collecting the status, so that the pid stays in use until the lock is held.
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
    let at = net::origin();
    // Whoever asked for a clean end kills the group when that takes too long.
    while end.is_clean.load(Ordering::Relaxed) && guard.has_others() {
        thread::sleep(LEFT_PERIOD);
    }
    let mut status = end.status();
    // Kills the processes that are left of its group, the guard included.
    let _ = killpg(guard.group(), Signal::SIGKILL);
    drop(guard);
    *status = child.wait().ok().map(|status| Exit { status, at });
    end.came.notify_all();
}

fn spawn(
    command: Command,
    confinement: &Confinement,
    ending: Ending,
) -> io::Result<(Child, Guard)> {
    // The guard first: it watches its group, whatever is in it.
    let guard = Guard::of_group()?;
    let child = bound::spawn(command, confinement, ending, guard.group())?;
    Ok((child, guard))
}

#[cfg(test)]
mod tests;
