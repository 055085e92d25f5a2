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
    /// The pacing of the clients' turns.
    pub pacing: Pacing,
    /// Length of the load before the measured load.
    pub warm_up: Duration,
    /// When the measured load ends.
    pub limit: Limit,
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

/// Where phases and intervals begin and end on a trial's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timetable {
    pub(crate) warm_up_ns: Nanos,
    /// Where the measured load ends, when time limits it.
    pub(crate) end_ns: Option<Nanos>,
    pub(crate) interval_ns: Nanos,
}

impl Timetable {
    pub(crate) fn of(offer: &OfferedLoad) -> Self {
        let warm_up_ns = nanos(offer.warm_up);
        let end_ns = match offer.limit {
            Limit::Time(time) => Some(warm_up_ns + nanos(time)),
            Limit::Events(_) => None,
        };
        Self { warm_up_ns, end_ns, interval_ns: nanos(offer.interval).max(1) }
    }

    /// The end of the interval that begins at `start`: at the end of a phase, intervals are shorter.
    pub(crate) fn interval_end(&self, start: Nanos) -> Nanos {
        let end = start.saturating_add(self.interval_ns);
        if start < self.warm_up_ns {
            return end.min(self.warm_up_ns);
        }
        self.end_ns.map_or(end, |last| end.min(last))
    }

    pub(crate) fn is_warm_up(&self, at: Nanos) -> bool {
        at < self.warm_up_ns
    }

    pub(crate) fn is_over(&self, at: Nanos) -> bool {
        self.end_ns.is_some_and(|end| at >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stop_short_at_the_end_of_a_phase() {
        let table = Timetable { warm_up_ns: 15, end_ns: Some(38), interval_ns: 10 };
        let mut ends = vec![];
        let mut start = 0;
        while !table.is_over(start) {
            start = table.interval_end(start);
            ends.push(start);
        }
        assert_eq!(ends, [10, 15, 25, 35, 38]);
    }
}
