//! Watches hosts and servers while load runs, on threads of their own, far from the event loops.

mod connections;
mod host;
mod notes;
mod plan;
mod server;

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use measure::{Nanos, Server, nanos};
use net::{Clock, TcpDiagnosis};
use record::WatchWriter;
use system::watch::{HostWatch, ServerWatch};

use connections::Watch;
use notes::Notes;
pub(crate) use plan::{Endpoint, Peers, Periods, ToWatch};

/// How long the end of a trial waits for what is being read then.
const END_BOUND: Duration = Duration::from_secs(2);

/// What is watched in a trial, from the beginning of its load to the end.
pub(crate) struct Watching {
    watchers: Vec<Watcher>,
    notes: Notes,
    origin: Instant,
}

/// A thread that watches something.
struct Watcher {
    commands: Sender<Command>,
    /// Hears nothing but that the thread has ended.
    ended: Receiver<()>,
}

/// What a thread that watches works with.
struct Post<'a> {
    clock: &'a Clock,
    commands: &'a Receiver<Command>,
    notes: &'a Notes,
    period: Duration,
}

impl Post<'_> {
    /// The next whole period, so that readings keep to the rhythm of the intervals; the one after it
    /// when it comes at once. What was missed meanwhile is not made up for.
    fn next(&self) -> Nanos {
        next(self.clock.now(), self.period)
    }
}

/// What a watching thread is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// A phase begins: figures at its edge are wanted.
    Read,
    /// The load is over: a last reading, and no more.
    End,
}

impl Watching {
    /// Begins to watch, and to keep in `writer` what is seen; the trial's clock begins now.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub(crate) fn begin(writer: WatchWriter, what: ToWatch) -> Result<Self> {
        let notes = Notes::new(writer);
        let mut watching = Self { watchers: Vec::new(), notes, origin: net::origin() };
        watching.host(what.host, what.periods.host)?;
        watching.connections(what.peers, what.periods.host)?;
        if !what.endpoints.is_empty() {
            watching.notes.write(|writer| writer.server_kinds(system::server_kinds()));
        }
        for endpoint in what.endpoints {
            watching.server(endpoint, what.periods)?;
        }
        Ok(watching)
    }

    /// A machine that does not tell is not watched, and the rest is.
    fn host(&mut self, host: HostWatch, period: Duration) -> Result<()> {
        let description = match host.describe() {
            Ok(description) => description,
            Err(cause) => {
                self.notes.complain(format!("{cause:#}"));
                return Ok(());
            }
        };
        let (number, _) = self.notes.write(|writer| writer.host(&description));
        self.spawn("host watcher", period, move |post| host::watch(number, host, post))
    }

    /// Where the kernel does not tell of connections, or there are none, it says why.
    fn connections(&mut self, peers: Peers, period: Duration) -> Result<()> {
        let addresses = match peers {
            Peers::Tcp(addresses) => addresses,
            Peers::None(reason) => {
                self.notes.write(|writer| writer.no_connections(reason));
                return Ok(());
            }
        };
        match TcpDiagnosis::open() {
            Ok(diagnosis) => {
                let watch = Watch::new(diagnosis, addresses);
                self.spawn("connection watcher", period, move |post| watch.until_the_end(post))
            }
            Err(cause) => {
                let reason = format!("the kernel does not tell of TCP connections: {cause}");
                self.notes.write(|writer| writer.no_connections(&reason));
                Ok(())
            }
        }
    }

    /// Servers are declared before any is asked, so that they stand in the order of the plan.
    fn server(&mut self, endpoint: Endpoint, periods: Periods) -> Result<()> {
        let Endpoint { name, url } = endpoint;
        let server = ServerWatch::new(&url, periods.answer);
        let description = Server { name, url, ..Server::default() };
        let (number, _) = self.notes.write(|writer| writer.server(&description));
        self.spawn("server watcher", periods.server, move |post| {
            server::watch(number, server, post)
        })
    }

    fn spawn(
        &mut self,
        name: &str,
        period: Duration,
        watch: impl FnOnce(&Post<'_>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (commands, inbox) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let (notes, origin) = (self.notes.clone(), self.origin);
        let work = move || {
            let clock = Clock::since(origin);
            let post = Post { clock: &clock, commands: &inbox, notes: &notes, period };
            if let Err(cause) = watch(&post) {
                notes.complain(format!("{cause:#}"));
            }
            // Tells by its end alone.
            drop::<Sender<()>>(ends);
        };
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(work).with_context(|| format!("no thread for the {name}"))?;
        self.watchers.push(Watcher { commands, ended });
        Ok(())
    }

    /// A phase of the load begins.
    pub(crate) fn phase(&self) {
        self.tell(Command::Read);
    }

    fn tell(&self, command: Command) {
        for watcher in &self.watchers {
            // Who has ended need not be told.
            let _ = watcher.commands.send(command);
        }
    }

    /// The load is over: reads everything a last time, and says what could not be watched. Who does not
    /// answer in time is left behind.
    ///
    /// # Errors
    /// When what was seen could not be written.
    pub(crate) fn end(self) -> Result<Vec<String>> {
        self.tell(Command::End);
        let clock = Clock::monotonic();
        for watcher in &self.watchers {
            let passed = Duration::from_nanos(clock.now());
            let _ = watcher.ended.recv_timeout(END_BOUND.saturating_sub(passed));
        }
        self.notes.close()
    }
}

fn next(now: Nanos, period: Duration) -> Nanos {
    let period = nanos(period).max(1);
    (now.saturating_add(period / 2) / period + 1).saturating_mul(period)
}

#[cfg(test)]
mod tests;
