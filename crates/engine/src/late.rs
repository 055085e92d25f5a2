//! Transactions that were due in the measured time and not answered in it.

use measure::{LatencyHistogram, Unfinished};
use net::Nanos;

/// Transactions that were due in the measured time and not answered in it.
#[derive(Default)]
pub(crate) struct LateTransactions {
    answered: LatencyHistogram,
    /// Intended starts of those without any answer, on the worker's clock.
    waiting: Vec<Nanos>,
}

impl LateTransactions {
    pub(crate) fn answered(&mut self, latency: Nanos) {
        self.answered.record(latency);
    }

    pub(crate) fn waits_since(&mut self, intended: Nanos) {
        self.waiting.push(intended);
    }

    /// The result at `now`, until which those without an answer have waited.
    pub(crate) fn until(mut self, now: Nanos) -> Unfinished {
        let unanswered = self.waiting.len() as u64;
        for since in self.waiting {
            self.answered.record(now.saturating_sub(since));
        }
        Unfinished { latencies: self.answered, unanswered }
    }
}
