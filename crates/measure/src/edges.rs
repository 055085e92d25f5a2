//! What crosses the edges of the measured window.

use serde::{Deserialize, Serialize};

use crate::{LatencyHistogram, Nanos, OperationTally, StuckClients, Tally, sum};

/// What crosses the edges of the measured window, so that each operation counts once.
///
/// The intervals count an operation in the interval in which it *ended*: this is the throughput. A latency belongs to the
/// window in which the operation was *due*. So the latencies of a trial are those of the intervals without
/// [`Edges::before`], with the operations of [`Edges::drain`], and those of [`Edges::unanswered`] and
/// [`Edges::unsent`] are only known to be at least as long as these ages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edges {
    /// Operations that were due before the window and ended in it, in the workload's order. Empty when this was not
    /// recorded.
    pub before: Vec<OperationTally>,
    /// What ended after the window: operations that were due in it with their latencies, and all statements and errors.
    pub drain: Tally,
    /// For each transaction that was sent and never answered, how long its client had waited when it gave up.
    pub unanswered: LatencyHistogram,
    /// For each transaction that was due in the window and never sent, because no client was free: how long it had
    /// waited at the window's end.
    pub unsent: LatencyHistogram,
    /// Time before the window of the transactions that ended in it, from when they were due, summed, ns.
    pub busy_before_ns: Nanos,
    /// Time in the window of the transactions that had not ended at its end, from when they were due, summed, ns.
    pub busy_after_ns: Nanos,
    /// Clients that had waited long for an answer when the load gave them up.
    pub stuck: StuckClients,
}

impl Edges {
    /// The edges of a workload with this many operations.
    pub fn new(operations: usize) -> Self {
        Self {
            before: vec![OperationTally::default(); operations],
            drain: Tally::new(operations),
            ..Self::default()
        }
    }

    /// Adds those of another worker.
    ///
    /// # Panics
    /// When the two do not count the same operations.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.before.len(), other.before.len(), "edges of different workloads");
        for (mine, theirs) in self.before.iter_mut().zip(&other.before) {
            mine.merge(theirs);
        }
        self.drain.merge(&other.drain);
        self.unanswered.merge(&other.unanswered);
        self.unsent.merge(&other.unsent);
        self.busy_before_ns = sum([self.busy_before_ns, other.busy_before_ns]);
        self.busy_after_ns = sum([self.busy_after_ns, other.busy_after_ns]);
        self.stuck.merge(&other.stuck);
    }

    /// The ages of all transactions without an answer, which are lower bounds of their latencies.
    pub fn ages(&self) -> LatencyHistogram {
        let mut ages = self.unanswered.clone();
        ages.merge(&self.unsent);
        ages
    }

    /// Operations that were due in the window, in the workload's order, of those that ended in it and after it;
    /// `total` are all that ended in it.
    pub fn due(&self, total: &Tally) -> Vec<OperationTally> {
        let mut due = total.operations.clone();
        for (operation, before) in due.iter_mut().zip(&self.before) {
            operation.subtract(before);
        }
        for (operation, after) in due.iter_mut().zip(&self.drain.operations) {
            operation.merge(after);
        }
        due
    }

    /// Transactions that ended in the window and were due before it.
    pub fn transactions_before(&self, operations: &[crate::Operation]) -> u64 {
        let of_transactions = operations.iter().zip(&self.before);
        let of_transactions = of_transactions
            .filter(|(operation, _)| operation.kind == crate::OperationKind::Transaction);
        sum(of_transactions.map(|(_, tally)| tally.count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperationId, OperationKind};

    const EVENT: OperationId = OperationId(0);

    #[test]
    fn latencies_are_of_what_was_due_in_the_window() {
        let mut total = Tally::new(1);
        for latency_ns in [900, 10, 20] {
            total.success(EVENT, OperationKind::Transaction, latency_ns);
        }
        let mut edges = Edges::new(1);
        edges.before[0].succeeded.record(900);
        edges.drain.success(EVENT, OperationKind::Transaction, 30);
        edges.drain.timeout(EVENT, OperationKind::Transaction, 500);
        let due = edges.due(&total);
        let succeeded = &due[0].succeeded;
        assert_eq!((succeeded.count(), succeeded.min_ns(), succeeded.max_ns()), (3, 10, 30));
        assert_eq!(due[0].timed_out.count(), 1);
    }

    #[test]
    fn merging_adds_every_part() {
        let mut one = Edges::new(1);
        one.before[0].failed.record(1);
        one.drain.queries.read = 2;
        one.unanswered.record(3);
        one.unsent.record(4);
        (one.busy_before_ns, one.busy_after_ns) = (5, 6);
        one.stuck.add(7, true, "");
        let mut both = one.clone();
        both.merge(&one);
        assert_eq!(both.before[0].failed.count(), 2);
        assert_eq!(both.drain.queries.read, 4);
        assert_eq!((both.unanswered.count(), both.unsent.count(), both.ages().count()), (2, 2, 4));
        assert_eq!((both.busy_before_ns, both.busy_after_ns), (10, 12));
        assert_eq!(both.stuck.clients, 2);
    }
}
