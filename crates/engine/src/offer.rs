//! The load of a trial: its size and its length.

use std::time::Duration;

use measure::nanos;
use net::Nanos;
use plan::Limit;

use crate::Pacing;

/// The load of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Concurrent clients, at least 1.
    pub clients: usize,
    /// How clients are spread over threads.
    pub workers: Workers,
    /// The CPUs that the threads may use; all when empty.
    pub cpus: Vec<usize>,
    /// The pacing of the clients' turns.
    pub pacing: Pacing,
    /// Length of the load before the measured load.
    pub warm_up: Duration,
    /// When the measured load ends.
    pub limit: Limit,
    /// Whether transactions last so differently that a time without an end of one says nothing about the system: it
    /// is no stall, and the last of a limited number of transactions may take as long as it needs.
    pub has_uneven_turns: bool,
    /// Whether the times of each transaction are kept: for loads with few of them.
    pub keeps_turns: bool,
    /// Length of one interval.
    pub interval: Duration,
    /// How long clients may take to connect and prepare.
    pub connect_timeout: Duration,
    /// How long a client that has lost its connection tries to reconnect; with `None` the first lost
    /// connection ends the trial.
    pub reconnect_limit: Option<Duration>,
    /// How long to wait at the end for requests in flight.
    pub drain_timeout: Duration,
}

impl OfferedLoad {
    /// The planned end of the measured window on the trial's clock; `None` when only a number of events ends it.
    pub(crate) fn planned_end(&self) -> Option<Nanos> {
        self.limit.time.map(|time| nanos(self.warm_up).saturating_add(nanos(time)))
    }

    /// Threads that offer this load.
    pub fn threads(&self) -> usize {
        match self.workers {
            Workers::PerClient => self.clients,
            Workers::EventLoops(loops) => loops.clamp(1, self.clients),
            Workers::Simulated => 1,
        }
    }
}

/// How clients are spread over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// A thread for each client, for drivers that block.
    PerClient,
    /// This many event loops, which share the clients evenly.
    EventLoops(usize),
    /// One event loop in virtual time, for the simulated system.
    Simulated,
}

/// Where the warm-up and intervals end on a trial's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timetable {
    pub(crate) warm_up_ns: Nanos,
    pub(crate) interval_ns: Nanos,
}

impl Timetable {
    pub(crate) fn of(offer: &OfferedLoad) -> Self {
        Self { warm_up_ns: nanos(offer.warm_up), interval_ns: nanos(offer.interval).max(1) }
    }

    /// The end of the interval that begins at `start`: the last one of the warm-up is shorter.
    pub(crate) fn interval_end(&self, start: Nanos) -> Nanos {
        let end = start.saturating_add(self.interval_ns);
        if start < self.warm_up_ns { end.min(self.warm_up_ns) } else { end }
    }

    pub(crate) fn is_warm_up(&self, at: Nanos) -> bool {
        at < self.warm_up_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stop_short_at_the_end_of_the_warm_up() {
        let table = Timetable { warm_up_ns: 15, interval_ns: 10 };
        assert_eq!([0, 10, 15, 25].map(|start| table.interval_end(start)), [10, 15, 25, 35]);
    }
}
