//! Watches hosts and servers while load runs, on threads separate from the event loops.

mod connections;
mod context;
mod generator_connections;
mod host;
mod hosts;
mod log;
mod other_host;
mod plan;
mod server;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use engine::Stop;
use measure::Server;
use net::{Clock, TcpDiagnosis};
use record::WatchWriter;
use system::watch::{HostWatch, ServerWatch};

pub use connections::ConnectionWatch;
pub use context::WatchCommand;
use context::WatchContext;
use hosts::DescribedHost;
pub(crate) use hosts::OtherHosts;
pub use log::Continue;
use log::WatchLog;
pub use plan::tcp_peers;
use plan::{Endpoint, Peers, Periods};
pub(crate) use plan::{WatchTargets, host_period, pages};

/// How long the end of a trial waits for readings in progress.
const END_BOUND: Duration = Duration::from_secs(2);
/// How long it does so once a stop is requested.
const STOP_BOUND: Duration = Duration::from_millis(500);
/// Time between two checks whether it is.
const POLL_PERIOD: Duration = Duration::from_millis(50);

/// Watches the hosts, connections and servers of one trial from the start of its load to the end.
pub(crate) struct TrialWatch {
    threads: Vec<WatchThread>,
    log: WatchLog,
    origin: Instant,
}

/// A thread that samples one source.
struct WatchThread {
    commands: Sender<WatchCommand>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl TrialWatch {
    /// Starts to watch, and writes all readings to `writer`; the trial's clock begins now.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(crate) fn begin(writer: WatchWriter, what: WatchTargets) -> Result<Self> {
        let log = WatchLog::new(writer);
        let mut trial_watch = Self { threads: Vec::new(), log, origin: net::origin() };
        trial_watch.host(what.host, what.periods.host)?;
        for host in what.others {
            trial_watch.other_host(host, what.periods.host)?;
        }
        trial_watch.connections(what.peers, what.periods.host)?;
        if !what.endpoints.is_empty() {
            trial_watch.log.write(|writer| writer.server_kinds(system::server_kinds()));
        }
        for endpoint in what.endpoints {
            trial_watch.server(endpoint, what.periods)?;
        }
        Ok(trial_watch)
    }

    /// A machine that reports nothing is not watched; the other sources still are.
    fn host(&mut self, host: HostWatch, period: Duration) -> Result<()> {
        let description = match host.describe() {
            Ok(description) => description,
            Err(cause) => {
                self.log.report_failure(format!("{cause:#}"));
                return Ok(());
            }
        };
        let (number, _) = self.log.write(|writer| writer.host(&description));
        self.spawn("host watcher", period, move |context| host::watch(number, host, context))
    }

    /// A host that is not reached is not watched; the other sources still are.
    fn other_host(&mut self, host: DescribedHost, period: Duration) -> Result<()> {
        let DescribedHost { name, described } = host;
        let (description, connection) = match described {
            Ok(described) => described,
            Err(cause) => {
                self.log.report_failure(format!("{name}: {cause}"));
                return Ok(());
            }
        };
        let (number, _) = self.log.write(|writer| writer.host(&description));
        self.spawn("other host watcher", period, move |context| {
            other_host::watch((number, &name), &connection, context)
        })
    }

    /// Where the kernel does not report connections, or there are none, the record gets the reason.
    fn connections(&mut self, peers: Peers, period: Duration) -> Result<()> {
        let addresses = match peers {
            Peers::Tcp(addresses) => addresses,
            Peers::OfGenerators(generators) => {
                return self.spawn(
                    "watcher of the generators' connections",
                    period,
                    move |context| generator_connections::watch(&generators, context),
                );
            }
            Peers::None(reason) => {
                self.log.write(|writer| writer.no_connections(&reason));
                return Ok(());
            }
        };
        match TcpDiagnosis::open() {
            Ok(diagnosis) => {
                let watch = ConnectionWatch::new(diagnosis, addresses);
                self.spawn("connection watcher", period, move |context| {
                    let WatchContext { clock, commands, log, period } = context;
                    watch.until_the_end((*clock, *period), commands, |reading| {
                        log.write(|writer| writer.connections(&reading)).1
                    })
                })
            }
            Err(cause) => {
                let reason = format!("the kernel does not report TCP connections: {cause}");
                self.log.write(|writer| writer.no_connections(&reason));
                Ok(())
            }
        }
    }

    /// Servers are declared before any is asked, so that they are in the order of the plan.
    fn server(&mut self, endpoint: Endpoint, periods: Periods) -> Result<()> {
        let Endpoint { name, url, database } = endpoint;
        let description = Server { name: name.clone(), url: url.clone(), ..Server::default() };
        let (number, _) = self.log.write(|writer| writer.server(&description));
        self.spawn("server watcher", periods.server, move |context| {
            let server = match database {
                None => ServerWatch::new(&url, periods.answer),
                Some((target, index)) => server::by_sql(&target, index, periods.answer)?,
            };
            server::watch((number, &name), server, context)
        })
    }

    fn spawn(
        &mut self,
        name: &str,
        period: Duration,
        watch: impl FnOnce(&WatchContext<'_>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (commands, inbox) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let (log, origin) = (self.log.clone(), self.origin);
        let work = move || {
            let clock = Clock::since(origin);
            let context = WatchContext { clock: &clock, commands: &inbox, log: &log, period };
            if let Err(cause) = watch(&context) {
                log.report_failure(format!("{cause:#}"));
            }
            // Signals the end by being dropped.
            drop::<Sender<()>>(ends);
        };
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(work).with_context(|| format!("cannot start a thread for the {name}"))?;
        self.threads.push(WatchThread { commands, ended });
        Ok(())
    }

    pub(crate) fn phase(&self) {
        self.send(WatchCommand::Read);
    }

    fn send(&self, command: WatchCommand) {
        for watch_thread in &self.threads {
            // A thread that has ended does not receive the command.
            let _ = watch_thread.commands.send(command);
        }
    }

    /// Takes the final readings after the load and reports which sources failed. Does not wait for sources that fail
    /// to answer in time.
    ///
    /// # Errors
    /// When a reading could not be written.
    pub(crate) fn end(self, stop: &Stop) -> Result<Vec<String>> {
        self.send(WatchCommand::End);
        let clock = Clock::monotonic();
        for watch_thread in &self.threads {
            loop {
                let bound = if stop.is_asked() { STOP_BOUND } else { END_BOUND };
                let left = bound.saturating_sub(Duration::from_nanos(clock.now()));
                // A thread that ends disconnects.
                let waited = watch_thread.ended.recv_timeout(left.min(POLL_PERIOD));
                if left.is_zero() || waited != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        }
        self.log.close()
    }
}

#[cfg(test)]
mod tests;
