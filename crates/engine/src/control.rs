//! The state that the coordinator and the workers of a trial share, and the messages between them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use measure::{Failure, Interval, LatencyHistogram, QueryCounts, Unfinished};
use net::{Nanos, Remote};

use crate::outages::ConnectionEvent;
use crate::{ClientOutcome, Stop, StopLevel};

/// The trial has not started yet.
const NOT_STARTED: Nanos = Nanos::MAX;

/// The state that the coordinator and all workers of a trial share.
pub(crate) struct Control {
    /// Time 0 of the trial on the workers' clock.
    start: AtomicU64,
    /// Transactions that may still start, if their number limits the load.
    budget: Option<AtomicI64>,
    pub(crate) stop: Stop,
    /// Ends this trial alone: gently when it is overloaded, at once when a client cannot connect.
    ending: Stop,
}

impl Control {
    pub(crate) fn new(events: Option<u64>, stop: Stop) -> Self {
        let budget = events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX)));
        Self { start: AtomicU64::new(NOT_STARTED), budget, stop, ending: Stop::new() }
    }

    pub(crate) fn start_at(&self, at: Nanos) {
        self.start.store(at, Ordering::Release);
    }

    /// Ends this trial at once.
    pub(crate) fn abandon(&self) {
        while self.ending.ask() < StopLevel::AtOnce {}
    }

    /// Stops giving turns in this trial.
    pub(crate) fn end_gently(&self) {
        if !self.ending.is_asked() {
            self.ending.ask();
        }
    }

    /// Whether the run or this trial is to end.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.stop.is_asked() || self.ending.is_asked()
    }

    /// Takes one transaction from the budget; false when it is spent.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        self.budget.as_ref().is_none_or(|budget| budget.fetch_sub(1, Ordering::Relaxed) > 0)
    }

    /// Whether the number of transactions limits the load.
    #[inline]
    pub(crate) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }

    pub(crate) fn started(&self) -> Option<Nanos> {
        let at = self.start.load(Ordering::Acquire);
        (at != NOT_STARTED).then_some(at)
    }

    pub(crate) fn is_cut_short(&self) -> bool {
        self.stop.level() == StopLevel::AtOnce
            || self.ending.level() == StopLevel::AtOnce
            || (self.stop.is_asked() && self.started().is_none())
    }
}

/// A message of a worker to the coordinator.
pub(crate) enum Message {
    /// The worker's loop is up and can be woken.
    Up { worker: usize, remote: Remote },
    /// All its clients are connected and wait for the start.
    Ready,
    /// A client has failed.
    Failed { client: usize, failure: Failure, before_start: bool },
    /// Something happened to a client's connection, on the trial's clock.
    Connection { at: Nanos, event: ConnectionEvent },
    /// A connection broke, and reconnecting is off.
    Disconnected { failure: Failure },
    /// The backlog limit was reached.
    Overloaded { backlog: u64 },
    /// How many arrivals waited for a client of this worker when the trial ended early.
    Backlog { backlog: u64 },
    /// Interval `index` is closed.
    Closed { worker: usize, index: usize, interval: Box<Interval> },
    /// The worker is done.
    Done {
        worker: usize,
        /// The first of the worker's clients, of all.
        first_client: usize,
        clients: Vec<ClientOutcome>,
        unfinished: Unfinished,
        lateness: Box<LatencyHistogram>,
        late_queries: QueryCounts,
    },
}
