//! One load, measured from outside over a window in its middle.
//!
//! Set-up and end are not part of the window. The server counts the queries, and the kernel counts the CPU time of
//! the client's process. Both are the same for every contestant, whatever it reports itself.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;
use nix::sched::{sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Bench;
use super::contestant::Contestant;
use super::process::{CpuTime, memory_bytes};
use super::server::BenchServer;
use crate::interrupt::Interrupt;

/// The number of executions that shows that the load has begun.
const BEGUN: u64 = 1000;
/// Time between the start of the load and the window.
const SETTLE: Duration = Duration::from_millis(1200);
/// Length of the load in addition to settling and window, so that it never ends within the window.
const MARGIN: Duration = Duration::from_millis(1500);
const POLL_PERIOD: Duration = Duration::from_millis(50);
/// The number of checks before a load that does not begin fails: a minute.
const POLLS_MAX: usize = 1200;

/// The measured values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub queries_per_s: f64,
    /// The client's CPU time for each query, in the program and in the kernel.
    pub user_us: f64,
    pub system_us: f64,
    /// The client's peak memory.
    pub peak_bytes: u64,
    /// Standard deviation over clients as a share of the mean, if the client reports it.
    pub unfairness: Option<f64>,
}

/// Runs one contestant and measures it.
///
/// # Errors
/// When it fails, ends too early, or does not begin.
pub(super) fn look(
    bench: &Bench,
    server: &BenchServer,
    contestant: Contestant,
    connections: usize,
    cpus: Option<&str>,
) -> anyhow::Result<Seen> {
    let command = contestant.point_selects(&bench.programs, server, connections, time(bench))?;
    let load = Load { command, end: End::Own };
    look_at(bench, server, contestant, load, connections, cpus)
}

/// How long a load has to last so that it contains the window.
pub(super) fn time(bench: &Bench) -> Duration {
    SETTLE + bench.window + MARGIN
}

/// A load to measure.
pub(super) struct Load {
    pub command: Command,
    pub end: End,
}

/// How a load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, soon after the window.
    Own,
    /// When it is stopped.
    Stopped,
}

/// Runs a load and measures it.
///
/// # Errors
/// When it fails, ends too early, or does not begin.
pub(super) fn look_at(
    bench: &Bench,
    server: &BenchServer,
    contestant: Contestant,
    load: Load,
    connections: usize,
    cpus: Option<&str>,
) -> anyhow::Result<Seen> {
    let before = server.executions()?;
    let mut client = Client::start(load.command, cpus)
        .with_context(|| format!("cannot start {}", contestant.name()))?;
    let seen = watch(&mut client, server, before, bench)
        .with_context(|| format!("{} with {connections} connections", contestant.name()));
    let printed = match load.end {
        End::Stopped if seen.is_ok() => client.stop(),
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
    client: &mut Client,
    server: &BenchServer,
    before: u64,
    bench: &Bench,
) -> anyhow::Result<Seen> {
    wait_for_load(client, server, before, &bench.interrupt)?;
    pause(SETTLE, &bench.interrupt)?;
    let clock = Clock::monotonic();
    let first = Snapshot::take(client.pid(), server, &clock)?;
    pause(bench.window, &bench.interrupt)?;
    let last = Snapshot::take(client.pid(), server, &clock)?;
    if let Some(status) = client.ended()? {
        bail!("its load ended inside the window ({status})");
    }
    let peak_bytes = memory_bytes(client.pid(), "VmHWM")?;
    Ok(Seen { peak_bytes, ..last.since(&first)? })
}

/// All counters at one time.
struct Snapshot {
    at_ns: u64,
    executions: u64,
    cpu: CpuTime,
}

impl Snapshot {
    fn take(pid: u32, server: &BenchServer, clock: &Clock) -> anyhow::Result<Self> {
        let executions = server.executions()?;
        Ok(Self { executions, at_ns: clock.now(), cpu: CpuTime::of(pid)? })
    }

    fn since(&self, earlier: &Self) -> anyhow::Result<Seen> {
        let queries = (self.executions - earlier.executions) as f64;
        if queries < 1.0 {
            bail!("it sent nothing during the window");
        }
        let split = self.cpu.since(&earlier.cpu);
        Ok(Seen {
            queries_per_s: queries * 1e9 / (self.at_ns - earlier.at_ns) as f64,
            user_us: split.user.as_secs_f64() * 1e6 / queries,
            system_us: split.system.as_secs_f64() * 1e6 / queries,
            peak_bytes: 0,
            unfairness: None,
        })
    }
}

fn wait_for_load(
    client: &mut Client,
    server: &BenchServer,
    before: u64,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    for _ in 0..POLLS_MAX {
        if server.executions()? >= before + BEGUN {
            return Ok(());
        }
        if let Some(status) = client.ended()? {
            bail!("it ended before its load began ({status})");
        }
        pause(POLL_PERIOD, interrupt)?;
    }
    bail!("its load does not begin")
}

/// Waits; fails when a signal arrives.
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

/// A running client. Dropping it kills it.
pub(super) struct Client {
    child: Child,
    /// Its output. Threads read it, so that a client with much output does not block.
    said: Option<thread::JoinHandle<String>>,
    complained: Option<thread::JoinHandle<String>>,
}

impl Client {
    /// Starts the client, on `cpus` only when they are given.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(mut command: Command, cpus: Option<&str>) -> anyhow::Result<Self> {
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

    /// Stops the client, and returns its output until then, whatever its exit status.
    ///
    /// # Errors
    /// When it cannot be signalled.
    fn stop(mut self) -> anyhow::Result<String> {
        let pid = i32::try_from(self.pid()).context("a process id is that small")?;
        kill(Pid::from_raw(pid), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(text_of(self.said.take()))
    }

    /// Waits for its exit and returns its output; with `is_lost`, kills it instead of waiting.
    ///
    /// # Errors
    /// When it failed, with its error output.
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
        // Usually it has exited already, and there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // When the pipe breaks, the output ends there.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text_of(reader: Option<thread::JoinHandle<String>>) -> String {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}

/// Runs `work` on these CPUs only: a process that is started there stays there.
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
