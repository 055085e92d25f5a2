//! One load, looked at from outside over a window in its middle.
//!
//! Setting up and ending are no part of the window. Queries are those that the server counted,
//! CPU time is what the kernel counted for the client's process: the same for every contestant,
//! whatever it says about itself.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;
use nix::sched::{sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::contestant::Contestant;
use super::process::{CpuTime, peak_bytes};
use super::results::Quantity;
use super::server::BenchServer;
use crate::interrupt::Interrupt;

const POLL_PERIOD: Duration = Duration::from_millis(50);
/// Looks before a load that does not begin is given up: two minutes.
const POLLS_MAX: usize = 2_400;
/// Between two looks whether a client whose time is taken has ended.
const END_POLL_PERIOD: Duration = Duration::from_millis(5);

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// Queries, or whatever else the server counts of this load.
    pub queries_per_s: f64,
    /// The client's CPU time for each of them, in the program and in the kernel.
    pub user_us: f64,
    pub system_us: f64,
    /// The client's memory at its peak.
    peak_bytes: u64,
    /// Standard deviation over clients as a share of the mean, where the client tells.
    unfairness: Option<f64>,
}

impl Seen {
    /// As it is kept.
    pub(super) fn values(&self) -> impl Iterator<Item = (Quantity, f64)> {
        let values = [
            (Quantity::QueriesPerS, self.queries_per_s),
            (Quantity::UserUs, self.user_us),
            (Quantity::SystemUs, self.system_us),
            (Quantity::CpuUs, self.user_us + self.system_us),
            (Quantity::PeakBytes, self.peak_bytes as f64),
        ];
        values.into_iter().chain(self.unfairness.map(|value| (Quantity::Unfairness, value)))
    }
}

/// When to look at a load, and at what.
pub(super) struct Window {
    /// What the server counts of the load.
    counted: fn(&BenchServer) -> anyhow::Result<u64>,
    /// So many show that the load has begun.
    begun: u64,
    /// Between the load's beginning and the window.
    settle: Duration,
    length: Duration,
    /// Load that is asked for beyond settling and window, so that it never ends inside.
    margin: Duration,
}

impl Window {
    pub(super) fn of_queries(length: Duration) -> Self {
        Self {
            counted: BenchServer::executions,
            begun: 1000,
            settle: Duration::from_millis(1200),
            length,
            margin: Duration::from_millis(1500),
        }
    }

    pub(super) fn of_transactions(length: Duration) -> Self {
        Self {
            counted: BenchServer::transactions,
            begun: 50,
            settle: Duration::from_secs(2),
            length,
            margin: Duration::from_secs(3),
        }
    }

    /// How long a load has to last so that the window lies within it.
    pub(super) fn load_time(&self) -> Duration {
        self.settle + self.length + self.margin
    }

    /// Runs one contestant, on `cpus` only when they are given, and looks at it.
    ///
    /// # Errors
    /// When it fails, ends too early, or does not begin.
    pub(super) fn look(
        &self,
        server: &BenchServer,
        contestant: Contestant,
        mut command: Command,
        cpus: Option<&str>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Seen> {
        let before = (self.counted)(server)?;
        let mut client = Client::start(&mut command, cpus).context("cannot start it")?;
        let seen = self.watch(&mut client, server, before, interrupt);
        let printed = match &seen {
            Ok(_) if contestant.has_no_end() => client.stop(),
            _ => client.finish(seen.is_err()),
        };
        let mut seen = seen.map_err(|error| match &printed {
            Err(why) => error.context(format!("{why:#}")),
            Ok(_) => error,
        })?;
        seen.unfairness = contestant.unfairness(&printed?)?;
        Ok(seen)
    }

    fn watch(
        &self,
        client: &mut Client,
        server: &BenchServer,
        before: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Seen> {
        self.wait_for_load(client, server, before, interrupt)?;
        pause(self.settle, interrupt)?;
        let first = (self.counted)(server)?;
        let (clock, cpu) = (Clock::monotonic(), CpuTime::of(client.pid())?);
        pause(self.length, interrupt)?;
        let queries = ((self.counted)(server)? - first) as f64;
        let length_s = clock.now() as f64 / 1e9;
        let split = CpuTime::of(client.pid())?.since(&cpu);
        if let Some(status) = client.ended()? {
            bail!("its load ended inside the window ({status})");
        }
        if queries < 1.0 {
            bail!("it sent nothing during the window");
        }
        Ok(Seen {
            queries_per_s: queries / length_s,
            user_us: split.user.as_secs_f64() * 1e6 / queries,
            system_us: split.system.as_secs_f64() * 1e6 / queries,
            peak_bytes: peak_bytes(client.pid())?,
            unfairness: None,
        })
    }

    fn wait_for_load(
        &self,
        client: &mut Client,
        server: &BenchServer,
        before: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        for _ in 0..POLLS_MAX {
            if (self.counted)(server)? >= before + self.begun {
                return Ok(());
            }
            if let Some(status) = client.ended()? {
                bail!("it ended before its load began ({status})");
            }
            pause(POLL_PERIOD, interrupt)?;
        }
        bail!("its load does not begin")
    }
}

/// Waits, but not through an interruption.
pub(super) fn pause(length: Duration, interrupt: &Interrupt) -> anyhow::Result<()> {
    let clock = Clock::monotonic();
    loop {
        interrupt.check()?;
        let left = length.saturating_sub(Duration::from_nanos(clock.now()));
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(Duration::from_millis(100)));
    }
}

/// Runs a client to its end, and returns how long that took.
///
/// # Errors
/// When it fails.
pub(super) fn run_to_end(command: &mut Command, interrupt: &Interrupt) -> anyhow::Result<Duration> {
    let clock = Clock::monotonic();
    let mut client = Client::start(command, None)?;
    while client.ended()?.is_none() {
        pause(END_POLL_PERIOD, interrupt)?;
    }
    let wall = Duration::from_nanos(clock.now());
    client.finish(false)?;
    Ok(wall)
}

/// A client at work. Dropping it kills it.
pub(super) struct Client {
    child: Child,
    /// Read by threads, so that a client that says much is not held up.
    said: Option<thread::JoinHandle<String>>,
    complained: Option<thread::JoinHandle<String>>,
}

impl Client {
    /// Starts it, on `cpus` only when they are given.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(command: &mut Command, cpus: Option<&str>) -> anyhow::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = on_cpus(cpus, || Ok(command.spawn()?))?;
        let said = child.stdout.take().map(reader);
        let complained = child.stderr.take().map(reader);
        Ok(Self { child, said, complained })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn ended(&mut self) -> anyhow::Result<Option<std::process::ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Tells it to end, and returns what it printed until then, however it ended.
    ///
    /// # Errors
    /// When it cannot be told.
    fn stop(mut self) -> anyhow::Result<String> {
        let pid = i32::try_from(self.pid()).context("a process id is that small")?;
        kill(Pid::from_raw(pid), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(text_of(self.said.take()))
    }

    /// Waits for its end and returns what it printed; `is_lost` does not wait but kills.
    ///
    /// # Errors
    /// When it failed, with its complaint.
    pub(super) fn finish(mut self, is_lost: bool) -> anyhow::Result<String> {
        if is_lost {
            self.child.kill()?;
        }
        let status = self.child.wait()?;
        let said = text_of(self.said.take());
        let complained = text_of(self.complained.take());
        if !status.success() {
            bail!("{status}: {}", if complained.is_empty() { said } else { complained }.trim());
        }
        Ok(said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It has mostly ended, and then there is nobody to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until a pipe breaks is all that there is.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text_of(reader: Option<thread::JoinHandle<String>>) -> String {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}

/// Does something on some CPUs only: a process that is started there stays there.
fn on_cpus<T>(cpus: Option<&str>, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let Some(cpus) = cpus else { return work() };
    let us = Pid::from_raw(0);
    let cpus = system::mariadb::parse_cpus(cpus).map_err(|why| anyhow::anyhow!(why))?;
    let before = sched_getaffinity(us)?;
    sched_setaffinity(us, &cpus).context("the machine does not have this core")?;
    let done = work();
    sched_setaffinity(us, &before)?;
    done
}
