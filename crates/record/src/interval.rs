//! An interval in memory after it was read back.
//!
//! A long run has tens of thousands of them. An interval therefore keeps one packed histogram, of its transactions.
//! Operations are added up over the trial.

use measure::{Interval, LatencyHistogram, Nanos, Operation, Phase, Tally};

/// The results of all clients between two points of a trial's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRecord {
    /// [`Phase::WarmUp`] or [`Phase::Measure`].
    pub phase: Phase,
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// The counters, without operations: their histograms are in [`crate::TrialRecord::total`].
    pub tally: Tally,
    /// Latencies of its transactions, all kinds together: of those that succeeded, and of those that timed out
    /// at their time limit.
    pub latencies: LatencyHistogram,
    /// Transactions of each of several generators that succeeded, in their order; empty when they are not told apart.
    pub generators: Vec<u64>,
}

impl IntervalRecord {
    /// Keeps the necessary parts of an interval.
    pub fn new(interval: &Interval, operations: &[Operation]) -> Self {
        let tally = &interval.tally;
        let mut latencies = tally.transaction_latencies(operations);
        latencies.pack();
        let tally = Tally {
            operations: Vec::new(),
            errors: tally.errors.clone(),
            queries: tally.queries,
            transactions: tally.transactions,
            failed_transactions: tally.failed_transactions,
            arrivals: tally.arrivals,
            reconnects: tally.reconnects,
            moves: tally.moves,
            traffic: tally.traffic,
            busy_ns: tally.busy_ns,
        };
        let Interval { phase, start_ns, end_ns, .. } = *interval;
        Self { phase, start_ns, end_ns, tally, latencies, generators: Vec::new() }
    }

    /// Adds another part of the same interval.
    pub(crate) fn merge(&mut self, part: &Self) {
        self.end_ns = self.end_ns.max(part.end_ns);
        self.tally.merge(&part.tally);
        self.latencies.merge(&part.latencies);
        add_counts(&mut self.generators, &part.generators);
    }

    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }
}

/// Adds the counts of each generator.
pub fn add_counts(counts: &mut Vec<u64>, more: &[u64]) {
    counts.resize(counts.len().max(more.len()), 0);
    for (count, more) in counts.iter_mut().zip(more) {
        *count = count.saturating_add(*more);
    }
}
