//! The counters of one interval, of one worker or of all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Disposition, ErrorKey, LatencyHistogram, Nanos, Operation, OperationId, OperationKind,
};

/// The sum of counts. One that no load can reach, but a record of anybody may ask for, stays at the largest number.
pub fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationTally {
    pub succeeded: LatencyHistogram,
    /// Times after which requests timed out. The true latency is at least that, so time-outs count in every
    /// percentile.
    pub timed_out: LatencyHistogram,
    /// Latencies of other failures, kept apart so that fast failures do not lower a percentile.
    pub failed: LatencyHistogram,
    /// Service times of successes, from the actual start. Empty in a closed loop, where every start is as
    /// intended and the latency is the service time.
    pub service: LatencyHistogram,
}

impl OperationTally {
    /// The latencies that percentiles are computed from: successes, and time-outs at their bound.
    pub fn latencies(&self) -> LatencyHistogram {
        let mut latencies = self.succeeded.clone();
        latencies.merge(&self.timed_out);
        latencies
    }

    /// Number of operations that ended, in whatever way.
    pub fn count(&self) -> u64 {
        sum([self.succeeded.count(), self.timed_out.count(), self.failed.count()])
    }

    pub fn merge(&mut self, other: &Self) {
        self.succeeded.merge(&other.succeeded);
        self.timed_out.merge(&other.timed_out);
        self.failed.merge(&other.failed);
        self.service.merge(&other.service);
    }

    fn pack(&mut self) {
        self.succeeded.pack();
        self.timed_out.pack();
        self.failed.pack();
        self.service.pack();
    }

    /// Takes away all of `other`, which must be a part of it.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.succeeded.subtract(&other.succeeded);
        self.timed_out.subtract(&other.timed_out);
        self.failed.subtract(&other.failed);
        self.service.subtract(&other.service);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryCounts {
    pub read: u64,
    pub write: u64,
    /// Statements that do neither, such as BEGIN and COMMIT.
    pub other: u64,
}

impl QueryCounts {
    /// Counts one statement; a transaction is not a statement.
    #[inline]
    pub fn count(&mut self, kind: OperationKind) {
        match kind {
            OperationKind::Transaction | OperationKind::Wait => {}
            OperationKind::Read => self.read += 1,
            OperationKind::Write => self.write += 1,
            OperationKind::Other => self.other += 1,
        }
    }

    pub fn total(self) -> u64 {
        sum([self.read, self.write, self.other])
    }

    pub fn add(&mut self, other: Self) {
        self.read = sum([self.read, other.read]);
        self.write = sum([self.write, other.write]);
        self.other = sum([self.other, other.other]);
    }
}

/// Bytes that the client sent and received, without the headers of TCP and the layers below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

impl Traffic {
    fn add(&mut self, other: Self) {
        self.sent_bytes = sum([self.sent_bytes, other.sent_bytes]);
        self.received_bytes = sum([self.received_bytes, other.received_bytes]);
    }
}

/// Failures of one kind by how they were handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// The transaction was tried again.
    pub retried: u64,
    /// The transaction was given up, and the client went on.
    pub ignored: u64,
    /// The client could not go on.
    pub fatal: u64,
}

impl ErrorCounts {
    pub fn add(&mut self, other: Self) {
        self.retried = sum([self.retried, other.retried]);
        self.ignored = sum([self.ignored, other.ignored]);
        self.fatal = sum([self.fatal, other.fatal]);
    }

    pub fn total(self) -> u64 {
        sum([self.retried, self.ignored, self.fatal])
    }
}

/// Everything that is counted in one interval. Adding tallies is exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// One entry for each operation of the workload, in its order.
    pub operations: Vec<OperationTally>,
    /// Statements sent and answered.
    pub queries: QueryCounts,
    pub transactions: u64,
    pub failed_transactions: u64,
    /// Failures by class and code.
    pub errors: BTreeMap<ErrorKey, ErrorCounts>,
    /// Transactions that were due, whether or not a client was free for them; 0 in a closed loop.
    pub arrivals: u64,
    /// Connections that were re-established.
    pub reconnects: u64,
    /// Those of them that replaced one that the server had closed while no request was under way.
    pub idle_reconnects: u64,
    /// Those of them that are to another server than the connection before, because nothing listened there.
    pub moves: u64,
    /// Bytes both ways.
    pub traffic: Traffic,
    /// Time that clients were in a transaction, summed over clients, ns. Over the length of the
    /// interval it is the mean number in flight (Little's law, N = X R).
    pub busy_ns: u64,
}

impl Tally {
    /// An empty tally for a workload's operations.
    pub fn new(operations: usize) -> Self {
        Self { operations: vec![OperationTally::default(); operations], ..Self::default() }
    }

    #[inline]
    pub fn success(&mut self, id: OperationId, kind: OperationKind, latency_ns: Nanos) {
        self.operations[usize::from(id.0)].succeeded.record(latency_ns);
        self.count(kind);
        if kind == OperationKind::Transaction {
            self.busy_ns += latency_ns;
        }
    }

    /// Adds the service time of a success of `id` that may have started later than intended.
    pub fn service(&mut self, id: OperationId, service_ns: Nanos) {
        self.operations[usize::from(id.0)].service.record(service_ns);
    }

    /// Counts a failure of `id`; a statement that failed was still sent and counts as a query.
    pub fn failure(&mut self, id: OperationId, kind: OperationKind, latency_ns: Nanos) {
        self.operations[usize::from(id.0)].failed.record(latency_ns);
        self.count_failure(kind, latency_ns);
    }

    /// Counts a request of `id` that timed out.
    pub fn timeout(&mut self, id: OperationId, kind: OperationKind, latency_ns: Nanos) {
        self.operations[usize::from(id.0)].timed_out.record(latency_ns);
        self.count_failure(kind, latency_ns);
    }

    fn count_failure(&mut self, kind: OperationKind, latency_ns: Nanos) {
        if kind == OperationKind::Transaction {
            self.failed_transactions += 1;
            self.busy_ns += latency_ns;
        } else {
            self.count(kind);
        }
    }

    /// Counts a statement or transaction without a latency of its own.
    pub fn count(&mut self, kind: OperationKind) {
        self.transactions += u64::from(kind == OperationKind::Transaction);
        self.queries.count(kind);
    }

    /// Counts an error by its kind and what was done about it.
    pub fn error(&mut self, key: &ErrorKey, disposition: Disposition) {
        let counts = match self.errors.get_mut(key) {
            Some(counts) => counts,
            None => self.errors.entry(key.clone()).or_default(),
        };
        match disposition {
            Disposition::Retried => counts.retried += 1,
            Disposition::Ignored => counts.ignored += 1,
            Disposition::Fatal => counts.fatal += 1,
        }
    }

    /// Transactions that were tried again.
    pub fn retries(&self) -> u64 {
        sum(self.errors.values().map(|counts| counts.retried))
    }

    /// Adds all of `other`.
    ///
    /// # Panics
    /// When the two do not count the same operations.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.operations.len(), other.operations.len(), "tallies of different workloads");
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.merge(theirs);
        }
        self.queries.add(other.queries);
        self.transactions = sum([self.transactions, other.transactions]);
        self.failed_transactions = sum([self.failed_transactions, other.failed_transactions]);
        self.arrivals = sum([self.arrivals, other.arrivals]);
        self.reconnects = sum([self.reconnects, other.reconnects]);
        self.idle_reconnects = sum([self.idle_reconnects, other.idle_reconnects]);
        self.moves = sum([self.moves, other.moves]);
        self.traffic.add(other.traffic);
        self.busy_ns = sum([self.busy_ns, other.busy_ns]);
        for (key, counts) in &other.errors {
            self.errors.entry(key.clone()).or_default().add(*counts);
        }
    }

    /// Packs its histograms, when no more is added to it.
    pub fn pack(&mut self) {
        self.operations.iter_mut().for_each(OperationTally::pack);
    }

    /// Latencies of every transaction operation together, time-outs at their bound included.
    pub fn transaction_latencies(&self, operations: &[Operation]) -> LatencyHistogram {
        transaction_latencies(operations, &self.operations)
    }
}

/// Latencies of every transaction among `operations` together, time-outs at their bound included.
pub fn transaction_latencies(
    operations: &[Operation],
    tallies: &[OperationTally],
) -> LatencyHistogram {
    let transactions = transactions(operations, tallies);
    LatencyHistogram::sum(transactions.flat_map(|tally| [&tally.succeeded, &tally.timed_out]))
}

/// One histogram of every transaction among `operations`, together.
pub fn of_transactions(
    operations: &[Operation],
    tallies: &[OperationTally],
    histogram: impl Fn(&OperationTally) -> &LatencyHistogram,
) -> LatencyHistogram {
    LatencyHistogram::sum(transactions(operations, tallies).map(histogram))
}

fn transactions<'a>(
    operations: &'a [Operation],
    tallies: &'a [OperationTally],
) -> impl Iterator<Item = &'a OperationTally> {
    let pairs = operations.iter().zip(tallies);
    pairs
        .filter(|(operation, _)| operation.kind == OperationKind::Transaction)
        .map(|(_, tally)| tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;

    const EVENT: OperationId = OperationId(0);
    const SELECT: OperationId = OperationId(1);

    fn sample(latency_ns: Nanos) -> Tally {
        let mut tally = Tally::new(2);
        tally.success(SELECT, OperationKind::Read, latency_ns);
        tally.success(EVENT, OperationKind::Transaction, latency_ns);
        tally
    }

    #[test]
    fn a_failure_stays_out_of_the_percentiles() {
        let mut tally = sample(1_000);
        tally.failure(EVENT, OperationKind::Transaction, 1);
        assert_eq!(tally.operations[0].succeeded.count(), 1);
        assert_eq!(tally.operations[0].failed.count(), 1);
        assert_eq!((tally.transactions, tally.failed_transactions), (1, 1));
    }

    #[test]
    fn a_time_out_counts_at_its_bound_in_the_percentiles() {
        let mut tally = sample(1_000);
        tally.timeout(EVENT, OperationKind::Transaction, 5_000_000);
        let operations = [Operation::new("event", OperationKind::Transaction)];
        let latencies = tally.transaction_latencies(&operations);
        assert_eq!(latencies.count(), 2);
        assert!(latencies.percentile_ns(99.0) >= 5_000_000);
        assert_eq!((tally.transactions, tally.failed_transactions), (1, 1));
    }

    #[test]
    fn sums_that_do_not_fit_stay_at_the_largest_number() {
        let mut left = sample(1_000);
        left.queries = QueryCounts { read: u64::MAX, write: 1, other: 2 };
        let mut right = sample(1_000);
        (right.transactions, right.traffic.sent_bytes) = (u64::MAX, 7);
        left.merge(&right);
        // `right` has read one row.
        assert_eq!((left.queries.read, left.queries.total()), (u64::MAX, u64::MAX));
        assert_eq!((left.transactions, left.traffic.sent_bytes), (u64::MAX, 7));
        assert_eq!(left.queries.write, 1);
    }

    #[test]
    fn merge_adds_every_field() {
        let deadlock = ErrorKey::new(ErrorClass::Deadlock, "1213");
        let mut left = sample(1_000);
        left.error(&deadlock, Disposition::Retried);
        let mut right = sample(2_000);
        right.error(&deadlock, Disposition::Ignored);
        right.traffic = Traffic { sent_bytes: 3, received_bytes: 4 };
        (right.reconnects, right.idle_reconnects, right.moves) = (5, 2, 3);
        (left.arrivals, right.arrivals) = (2, 6);
        left.merge(&right);
        assert_eq!(left.transactions, 2);
        assert_eq!(left.queries, QueryCounts { read: 2, write: 0, other: 0 });
        assert_eq!(left.errors[&deadlock], ErrorCounts { retried: 1, ignored: 1, fatal: 0 });
        assert_eq!(left.retries(), 1);
        assert_eq!(left.traffic, Traffic { sent_bytes: 3, received_bytes: 4 });
        assert_eq!(left.busy_ns, 3_000);
        assert_eq!((left.reconnects, left.moves, left.arrivals), (5, 3, 8));
        assert_eq!(left.idle_reconnects, 2);
        assert_eq!(left.operations[1].succeeded.count(), 2);
    }
}
