//! One load, measured from outside over a window in its middle.
//!
//! Set-up and end are not part of the window. The server counts the queries, and the kernel counts the CPU time of
//! the client's process. Both are the same for every contestant, whatever it reports itself.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use net::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::parts::Kind;
use super::process::{CpuTime, peak_bytes};
use super::results::{Quantity, Values};
use super::server::Server;
use crate::interrupt::Interrupt;

const POLL_PERIOD: Duration = Duration::from_millis(50);
/// Looks before a load that does not begin is given up: two minutes.
const POLLS_MAX: usize = 2_400;
/// Load that is asked for beyond settling and window, so that it never ends inside.
const MARGIN: Duration = Duration::from_secs(3);

/// When to look at a load, and at what.
pub(super) struct Window<'a> {
    server: &'a Server,
    /// What the server has counted of the load until now.
    counted: fn(&Server) -> anyhow::Result<u64>,
    /// So many show that the load has begun.
    begun: u64,
    /// Between the load's beginning and the window.
    settle: Duration,
    length: Duration,
}

impl<'a> Window<'a> {
    pub(super) fn new(length: Duration, kind: Kind, server: &'a Server) -> Self {
        let of = |counted, begun, settle_ms, length| Self {
            server,
            counted,
            begun,
            settle: Duration::from_millis(settle_ms),
            length,
        };
        match kind {
            // Transactions are few: the window is three times as long as for queries.
            Kind::Transactions => of(Server::transactions, 50, 2_000, length * 3),
            _ => of(Server::queries, 1_000, 1_200, length),
        }
    }

    /// How long a load has to last so that the window lies within it.
    pub(super) fn load_time(&self) -> Duration {
        self.settle + self.length + MARGIN
    }

    /// Runs one contestant, and looks at it. Returns what was measured, and what the contestant printed.
    ///
    /// # Errors
    /// When it fails, ends too early, or does not begin.
    pub(super) fn look(
        &self,
        mut command: Command,
        is_endless: bool,
        interrupt: &Interrupt,
    ) -> anyhow::Result<(Values, String)> {
        let before = (self.counted)(self.server)?;
        let mut client = Client::start(&mut command).context("cannot start it")?;
        let values = self.watch(&mut client, before, interrupt);
        let printed = client.finish(match &values {
            Ok(_) if is_endless => End::Told,
            Ok(_) => End::Own,
            Err(_) => End::Killed,
        });
        let values = values.map_err(|error| match &printed {
            Err(why) => error.context(format!("{why:#}")),
            Ok(_) => error,
        })?;
        Ok((values, printed?))
    }

    fn watch(
        &self,
        client: &mut Client,
        before: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Values> {
        self.wait_for_load(client, before, interrupt)?;
        pause(self.settle, interrupt)?;
        let first = (self.counted)(self.server)?;
        let watching = self.server.watching()?;
        let server_before = (self.server.cpu()?, cpu_of_all(&watching)?);
        let (clock, cpu) = (Clock::monotonic(), CpuTime::of(client.pid())?);
        pause(self.length, interrupt)?;
        let queries = ((self.counted)(self.server)? - first) as f64;
        let length_s = clock.now() as f64 / 1e9;
        let cpu = CpuTime::of(client.pid())?.since(&cpu)?;
        let server_cpu = (self.server.cpu()? - server_before.0).as_secs_f64();
        let watching_cpu = (cpu_of_all(&watching)? - server_before.1).as_secs_f64();
        if let Some(status) = client.ended()? {
            bail!("its load ended inside the window ({status})");
        }
        if queries < 1.0 {
            bail!("it sent nothing during the window");
        }
        let [user_us, system_us] = cpu.map(|time| time.as_secs_f64() * 1e6 / queries);
        let mut values = vec![
            (Quantity::QueriesPerS, queries / length_s),
            (Quantity::UserUsPerQuery, user_us),
            (Quantity::SystemUsPerQuery, system_us),
            (Quantity::CpuUsPerQuery, user_us + system_us),
            (Quantity::ClientCores, (user_us + system_us) * queries / length_s / 1e6),
            (Quantity::PeakBytes, peak_bytes(client.pid())? as f64),
            (Quantity::ServerCpuUsPerQuery, server_cpu * 1e6 / queries),
        ];
        if !watching.is_empty() {
            values.push((Quantity::WatchingShare, watching_cpu / server_cpu));
        }
        Ok(values)
    }

    fn wait_for_load(
        &self,
        client: &mut Client,
        before: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        for _ in 0..POLLS_MAX {
            if (self.counted)(self.server)? >= before + self.begun {
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

/// Exact CPU time of several processes together.
fn cpu_of_all(pids: &[u32]) -> anyhow::Result<Duration> {
    pids.iter().map(|pid| Ok(CpuTime::of(*pid)?.total)).sum()
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

/// How a client comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with success.
    Own,
    /// When it is told to, however it then ends.
    Told,
    /// Killed, and it has failed.
    Killed,
}

/// A client at work. Dropping it kills it.
pub(super) struct Client {
    child: Child,
    /// What it prints and its complaints, in files without a name: so it is never held up.
    said: File,
    complained: File,
}

impl Client {
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let (said, complained) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(complained.try_clone()?);
        let child = command.spawn()?;
        Ok(Self { child, said, complained })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed until now.
    pub(super) fn said(&self) -> anyhow::Result<String> {
        text_of(&self.said)
    }

    pub(super) fn ended(&mut self) -> anyhow::Result<Option<std::process::ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Returns what it printed until its end.
    ///
    /// # Errors
    /// When it failed, with its complaint.
    pub(super) fn finish(mut self, end: End) -> anyhow::Result<String> {
        match end {
            End::Own => {}
            End::Told => kill(Pid::from_raw(self.pid().cast_signed()), Signal::SIGTERM)?,
            End::Killed => self.child.kill()?,
        }
        let status = self.child.wait()?;
        let (said, complained) = (text_of(&self.said)?, text_of(&self.complained)?);
        if !status.success() && end != End::Told {
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

/// The process writes on at the file's own position.
fn text_of(file: &File) -> anyhow::Result<String> {
    let mut bytes = vec![0; file.metadata()?.len() as usize];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_a_client_is_returned_and_its_complaint_is_the_error() {
        let shell = |script: &str, end| {
            let client = Client::start(Command::new("sh").args(["-c", script])).unwrap();
            client.finish(end).map_err(|error| error.to_string())
        };
        assert_eq!(shell("echo said; echo noise >&2", End::Own).unwrap(), "said\n");
        assert_eq!(
            shell("echo said; echo why >&2; exit 3", End::Own).unwrap_err(),
            "exit status: 3: why"
        );
        assert!(shell("sleep 600", End::Told).is_ok());
        assert!(shell("sleep 600", End::Killed).unwrap_err().starts_with("signal: 9"));
    }
}
