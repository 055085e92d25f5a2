//! The dyno in another place, from the process that has started it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use measure::{ClockComparison, HostFacts, ProcessIdentity};
use plan::Place;
use system::PipedProcess;

use crate::hello::OWN_PROGRAM;
use crate::link::{Link, Receiver, Sender};
use crate::problem::LinkError;
use crate::start;

/// How long a step of the start may take without any progress: a host that does not answer, a login that takes long.
const STEP_BOUND: Duration = Duration::from_secs(60);
/// How long a dyno may take to end by itself once the connection is closed.
const END_BOUND: Duration = Duration::from_millis(1_500);

/// How a dyno is started in another place.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// What it is to do there: the command of dyno's command line that speaks on its standard input and output.
    pub command: &'static str,
    /// Whether a copy of the program stays there for later runs.
    pub keep_copies: bool,
    pub program: PathBuf,
    /// How long a step of the start may take without any progress.
    pub bound: Duration,
}

impl StartOptions {
    /// The running program with this command; no copy stays.
    pub fn new(command: &'static str) -> Self {
        let program = PathBuf::from(OWN_PROGRAM);
        Self { command, keep_copies: false, program, bound: STEP_BOUND }
    }
}

/// A dyno in another place. It ends when this is dropped, and by itself when this process is gone.
pub struct Peer {
    facts: HostFacts,
    identity: Option<ProcessIdentity>,
    link: Link,
    process: Arc<PipedProcess>,
}

impl Peer {
    /// Starts a dyno. `stop` says whether to give up; it is asked ten times a second.
    ///
    /// # Errors
    /// When the place cannot be reached, the program does not run there, or is another version; with the last words of the
    /// program that reaches it.
    pub fn start(
        place: &Place,
        options: &StartOptions,
        stop: &dyn Fn() -> bool,
    ) -> anyhow::Result<Self> {
        start::start(place, options, stop)
    }

    /// One that has not said yet what it is.
    pub(crate) fn new(link: Link, process: Arc<PipedProcess>) -> Self {
        Self { facts: HostFacts::default(), identity: None, link, process }
    }

    pub(crate) fn introduced(
        mut self,
        facts: HostFacts,
        identity: Option<ProcessIdentity>,
    ) -> Self {
        (self.facts, self.identity) = (facts, identity);
        self
    }

    pub fn hello(&self) -> &HostFacts {
        &self.facts
    }

    /// Its process, for those who watch its host; `None` when not known.
    pub fn identity(&self) -> Option<&ProcessIdentity> {
        self.identity.as_ref()
    }

    /// How far its monotonic clock is from ours. May be called at any time, also during a load.
    ///
    /// # Errors
    /// When the connection has ended, or its answers cannot be of a clock.
    pub fn compare_clocks(&self) -> Result<ClockComparison, LinkError> {
        self.link.compare_clocks()
    }

    /// The two directions of the connection. Whoever has them need not have the peer, but the peer has to stay.
    pub fn split(&self) -> (Sender, Receiver) {
        (self.link.sender(), self.link.receiver())
    }

    /// Whether messages can still be sent and received.
    pub fn is_connected(&self) -> bool {
        self.link.is_connected()
    }

    /// The number of the process here that makes the connection; for a dyno on this machine it is that dyno.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.link.close();
        if self.process.wait(END_BOUND).is_none() {
            // Without regard to how: it is killed with this process at the latest.
            let _ = self.process.end();
        }
        self.link.break_off();
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("facts", &self.facts).finish_non_exhaustive()
    }
}
