//! The load of a trial: its size and its length.

use std::sync::Arc;
use std::time::Duration;

use plan::Limit;
use serde::{Deserialize, Serialize};

use crate::{Levers, Pacing};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// Concurrent clients, at least 1.
    pub clients: usize,
    /// How clients are spread over threads.
    pub workers: Workers,
    /// The CPUs that the threads may use; all when empty.
    pub cpus: Vec<usize>,
    pub pacing: Pacing,
    /// Length of the load before the measured load; the longest, if the observer may end it.
    pub warm_up: Duration,
    /// When the measured load ends at the latest.
    pub limit: Limit,
    /// What the observer may end before.
    pub ends: PhaseEnds,
    /// Whether each client has a fixed sequence of few transactions and runs it once. The times of each are kept, and
    /// they last so differently that a time without an end of one says nothing about the system: it is no stall, and
    /// the last of a limited number of transactions may take as long as it needs.
    pub runs_once: bool,
    pub interval: Duration,
    /// How long clients may take to connect and prepare.
    pub connect_timeout: Duration,
    /// How long a client that has lost its connection tries to reconnect; with `None` the first lost
    /// connection ends the trial.
    pub reconnect_limit: Option<Duration>,
    /// How long to wait at the end for requests in flight.
    pub drain_timeout: Duration,
    /// Slow-downs that are switched while it runs; none in a load that other processes share.
    #[serde(skip)]
    pub levers: Option<Arc<Levers>>,
}

impl OfferedLoad {
    /// A closed loop of one client in virtual time, for tests.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        Self {
            clients: 1,
            workers: Workers::Simulated(1),
            cpus: Vec::new(),
            pacing: Pacing::Closed { think_time_ns: 0 },
            warm_up: Duration::ZERO,
            limit: Limit::time(Duration::from_secs(10)),
            ends: PhaseEnds::default(),
            runs_once: false,
            interval: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(1),
            reconnect_limit: None,
            drain_timeout: Duration::from_secs(2),
            levers: None,
        }
    }

    pub(crate) fn is_virtual(&self) -> bool {
        matches!(self.workers, Workers::Simulated(_))
    }

    pub fn threads(&self) -> usize {
        match self.workers {
            Workers::PerClient => self.clients,
            Workers::EventLoops(loops) | Workers::Simulated(loops) => loops.clamp(1, self.clients),
        }
    }
}

/// The phases that the observer may end early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseEnds {
    pub warm_up_from: Option<Duration>,
    pub measured: bool,
}

impl PhaseEnds {
    /// Whether the observer may end a phase.
    pub(crate) fn any(self) -> bool {
        self.warm_up_from.is_some() || self.measured
    }
}

/// How clients are spread over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workers {
    /// A thread for each client, for drivers that block.
    PerClient,
    /// This many event loops, which share the clients evenly.
    EventLoops(usize),
    /// This many event loops in virtual time, each with a clock of its own. The simulated system has one queue for
    /// each, so that one loop has the whole of it.
    Simulated(usize),
}
