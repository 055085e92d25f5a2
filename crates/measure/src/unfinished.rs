//! What was in flight when the measured time ended.

use crate::{LatencyHistogram, Nanos};

/// Transactions that were meant for the measured time and were not answered in it. They are no part of
/// the throughput, but of the percentiles: a stall at the end would not show without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// Latencies of those that were answered afterwards, and the ages of the others when they were no
    /// longer waited for: their latencies are those or above.
    pub latencies: LatencyHistogram,
    /// How many of them have no answer.
    pub unanswered: u64,
}

impl Unfinished {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.unanswered += other.unanswered;
    }

    /// The longest of them, ns.
    pub fn longest_ns(&self) -> Nanos {
        self.latencies.max_ns()
    }
}
