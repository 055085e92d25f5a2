//! What loaders count: rows, and the time of each INSERT.

use measure::{LatencyHistogram, Nanos};
use net::Clock;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Added {
    pub rows: u64,
    /// Time of each INSERT, from its sending to its answer.
    pub inserts: LatencyHistogram,
    /// Why the server would not write the rows frozen, where that was tried.
    pub not_frozen: Option<String>,
}

#[derive(Debug)]
pub(crate) struct InsertTimer {
    clock: Clock,
    inserts: LatencyHistogram,
}

impl InsertTimer {
    pub(crate) fn new() -> Self {
        Self { clock: Clock::monotonic(), inserts: LatencyHistogram::new() }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Counts an INSERT that was sent at `sent` and has been answered.
    pub(crate) fn answered(&mut self, sent: Nanos) {
        self.inserts.record(self.clock.now().saturating_sub(sent));
    }

    pub(crate) fn added(&mut self, rows: u64) -> Added {
        Added { rows, inserts: std::mem::take(&mut self.inserts), not_frozen: None }
    }
}
