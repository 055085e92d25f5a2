//! One of the generators of a trial's load.

use std::ops::Range;

use measure::{
    Edges, Generator, GeneratorClock, GeneratorLoss, HostFacts, LatencyHistogram, Operation, Tally,
    transaction_latencies,
};

use crate::ClientUsage;

/// More generators than this are refused.
pub(crate) const GENERATORS_MAX: usize = 1_024;
/// The name of the generator where the process of the run offers the whole load.
const LONE: &str = "dyno";

/// A process that offered the load of a trial, or a part of it.
///
/// Where the process of the run offered the whole load, its figures are those of the trial: then everything here but
/// the name and [`GeneratorRecord::generator`] has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorRecord {
    /// Its name: the text of its place in the plan.
    pub name: String,
    /// Its host and program; `None` for the process of the run.
    pub host: Option<HostFacts>,
    /// Its clock; `None` where it is the coordinator's.
    pub clock: Option<GeneratorClock>,
    pub clients: Range<usize>,
    pub workers: usize,
    /// Its transactions that succeeded in the measured time.
    pub transactions: u64,
    /// Its transactions that failed for good in the measured time.
    pub failed_transactions: u64,
    /// Latencies of its transactions that were due in the measured time: of those that succeeded, and of those that
    /// timed out at their time limit.
    pub latencies: LatencyHistogram,
    /// Its part of `TrialEnd::lateness`.
    pub lateness: LatencyHistogram,
    /// Its part of `TrialEnd::start_delays`.
    pub start_delays: LatencyHistogram,
    /// Whether its own threads ran when they had work to do, on the trial's clock; `None` when not known.
    pub generator: Option<Generator>,
    /// Its CPU and memory use during the measured load; `None` when not known.
    pub usage: Option<ClientUsage>,
    /// Its loss before the end of the load.
    pub lost: Option<GeneratorLoss>,
}

impl GeneratorRecord {
    /// The process of the run, which offered the whole load.
    pub fn lone(generator: Generator) -> Self {
        Self { name: LONE.to_owned(), generator: Some(generator), ..Self::default() }
    }

    /// Whether it is the process of the run, which offered the whole load.
    pub(crate) fn is_lone(&self) -> bool {
        self.name == LONE
    }

    /// Counts its transactions: the sum of its measured intervals, and what crosses the edges of the window.
    pub fn count(&mut self, operations: &[Operation], total: &Tally, edges: &Edges) {
        self.transactions = total.transactions;
        self.failed_transactions = total.failed_transactions;
        self.latencies = transaction_latencies(operations, &edges.due(total));
    }
}

#[cfg(test)]
mod tests {
    use measure::{OperationId, OperationKind};

    use super::*;

    #[test]
    fn a_generator_counts_what_ended_and_times_what_was_due() {
        let operations = [Operation::new("event", OperationKind::Transaction)];
        let (event, kind) = (OperationId(0), OperationKind::Transaction);
        let (mut total, mut edges) = (Tally::new(1), Edges::new(1));
        [900, 10, 20].into_iter().for_each(|latency| total.success(event, kind, latency));
        total.failure(event, kind, 5);
        edges.before[0].succeeded.record(900);
        edges.drain.success(event, kind, 30);
        let mut one = GeneratorRecord::default();
        one.count(&operations, &total, &edges);
        assert_eq!((one.transactions, one.failed_transactions), (3, 1));
        let latencies = (one.latencies.count(), one.latencies.min_ns(), one.latencies.max_ns());
        assert_eq!(latencies, (3, 10, 30));
    }
}
