//! An interval in memory after it was read back.
//!
//! A long run has tens of thousands of them. An interval therefore keeps packed histograms: one of its transactions and,
//! where a workload has several operations, one of each.

use measure::{Interval, LatencyHistogram, Nanos, Operation, OperationTally, Phase, Tally};

/// The results of all clients between two points of a trial's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRecord {
    /// [`Phase::WarmUp`] or [`Phase::Measure`].
    pub phase: Phase,
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// The counters, without operations.
    pub tally: Tally,
    /// Latencies of its transactions, all kinds together: of those that succeeded, and of those that timed out
    /// at their time limit.
    pub latencies: LatencyHistogram,
    /// Each operation, in the order of every tally; empty with a single one, which is the transaction.
    pub operations: Vec<OperationInterval>,
    /// Transactions of each of several generators that succeeded, in their order; empty when they are not told apart.
    pub generators: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OperationInterval {
    pub succeeded: u64,
    /// Latencies of those, and of those that timed out at their time limit.
    pub latencies: LatencyHistogram,
}

impl OperationInterval {
    fn new(tally: &OperationTally) -> Self {
        let mut latencies = tally.latencies();
        latencies.pack();
        Self { succeeded: tally.succeeded.count(), latencies }
    }
}

impl IntervalRecord {
    /// Keeps the necessary parts of an interval.
    pub fn new(interval: &Interval, operations: &[Operation]) -> Self {
        let tally = &interval.tally;
        let mut latencies = tally.transaction_latencies(operations);
        latencies.pack();
        let of_each = match &tally.operations[..] {
            [_] => Vec::new(),
            several => several.iter().map(OperationInterval::new).collect(),
        };
        let tally = Tally {
            operations: Vec::new(),
            errors: tally.errors.clone(),
            queries: tally.queries,
            transactions: tally.transactions,
            failed_transactions: tally.failed_transactions,
            arrivals: tally.arrivals,
            reconnects: tally.reconnects,
            idle_reconnects: tally.idle_reconnects,
            moves: tally.moves,
            traffic: tally.traffic,
            busy_ns: tally.busy_ns,
        };
        let Interval { phase, start_ns, end_ns, .. } = *interval;
        let generators = Vec::new();
        Self { phase, start_ns, end_ns, tally, latencies, operations: of_each, generators }
    }

    /// Successes of an operation, and its latencies: of those that succeeded, and of those that timed out at their time
    /// limit. `None` when there is no such operation.
    pub fn operation(&self, at: usize) -> Option<(u64, &LatencyHistogram)> {
        if self.operations.is_empty() && at == 0 {
            return Some((self.tally.transactions, &self.latencies));
        }
        self.operations.get(at).map(|of| (of.succeeded, &of.latencies))
    }

    /// Adds another part of the same interval.
    pub(crate) fn merge(&mut self, part: &Self) {
        self.end_ns = self.end_ns.max(part.end_ns);
        self.tally.merge(&part.tally);
        self.latencies.merge(&part.latencies);
        for (operation, part) in self.operations.iter_mut().zip(&part.operations) {
            operation.succeeded = operation.succeeded.saturating_add(part.succeeded);
            operation.latencies.merge(&part.latencies);
        }
        add_counts(&mut self.generators, &part.generators);
    }

    pub fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }
}

pub fn add_counts(counts: &mut Vec<u64>, more: &[u64]) {
    counts.resize(counts.len().max(more.len()), 0);
    for (count, more) in counts.iter_mut().zip(more) {
        *count = count.saturating_add(*more);
    }
}
