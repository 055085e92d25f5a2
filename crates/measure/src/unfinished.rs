//! Transactions without an answer at the end of the measured time.

use crate::{LatencyHistogram, Nanos};

/// Transactions that were due in the measured time and were not answered in it. They do not count in the
/// throughput. They count in the percentiles, because otherwise a stall at the end would not show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// The latencies of those that were answered later, and for the others the time until the client stopped
    /// waiting, which is a lower bound of their latency.
    pub latencies: LatencyHistogram,
    /// How many were never answered.
    pub unanswered: u64,
}

impl Unfinished {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.unanswered += other.unanswered;
    }

    /// The longest latency, ns.
    pub fn longest_ns(&self) -> Nanos {
        self.latencies.max_ns()
    }
}
