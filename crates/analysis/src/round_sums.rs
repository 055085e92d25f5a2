//! The value of a figure in one round: of the trials of a variant under one load, taken together.

use measure::{Edges, LatencyHistogram, Operation, PreciseFigure, Tally, transaction_latencies};

use crate::latency::{bounded_latency, per};

/// What a trial adds to its round.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrial<'a> {
    /// The operations of its workload.
    pub operations: &'a [Operation],
    /// All that ended in the measured window.
    pub total: &'a Tally,
    /// What crosses the edges of the window.
    pub edges: &'a Edges,
    /// Length of the window, s.
    pub seconds: f64,
}

/// The sums over the trials of a round; of a single trial, its own figures.
#[derive(Clone, Debug, Default)]
pub struct RoundSums {
    transactions: u64,
    seconds: f64,
    ended: LatencyHistogram,
    ages: LatencyHistogram,
}

impl RoundSums {
    /// Adds a trial.
    pub fn add(&mut self, trial: RoundTrial<'_>) {
        self.transactions += trial.total.transactions;
        self.seconds += trial.seconds;
        let due = trial.edges.due(trial.total);
        self.ended.merge(&transaction_latencies(trial.operations, &due));
        self.ages.merge(&trial.edges.ages());
    }

    /// The figure: transactions a second, or a latency in ns. `None` for a latency that is known only from below.
    pub fn value(&self, figure: PreciseFigure) -> Option<f64> {
        let latency = |percentiles: &[f64]| bounded_latency(&self.ended, &self.ages, percentiles);
        let (value, is_bound) = match figure {
            PreciseFigure::Throughput => (per(self.transactions as f64, self.seconds), false),
            PreciseFigure::Mean => latency(&[]).mean(),
            PreciseFigure::Percentile(percent) => latency(&[percent]).percentile(percent),
        };
        (!is_bound).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use measure::{OperationId, OperationKind};

    use super::*;

    fn tally(latencies_ns: &[u64]) -> Tally {
        let mut tally = Tally::new(1);
        for latency_ns in latencies_ns {
            tally.success(OperationId(0), OperationKind::Transaction, *latency_ns);
        }
        tally
    }

    fn sums(trials: &[(Tally, f64)], edges: &Edges) -> RoundSums {
        let operations = [Operation { name: "event".to_owned(), kind: OperationKind::Transaction }];
        let mut sums = RoundSums::default();
        for (total, seconds) in trials {
            let seconds = *seconds;
            sums.add(RoundTrial { operations: &operations, total, edges, seconds });
        }
        sums
    }

    #[test]
    fn the_trials_of_a_round_are_taken_together() {
        let trials = [(tally(&[10, 10, 10]), 2.0), (tally(&[20]), 6.0)];
        let sums = sums(&trials, &Edges::default());
        assert_eq!(sums.value(PreciseFigure::Throughput), Some(0.5), "four in 8 s");
        assert_eq!(sums.value(PreciseFigure::Mean), Some(12.5));
        assert_eq!(sums.value(PreciseFigure::Percentile(50.0)), Some(10.0));
        assert_eq!(sums.value(PreciseFigure::Percentile(100.0)), Some(20.0));
    }

    #[test]
    fn a_latency_that_is_known_only_from_below_is_no_value() {
        let mut edges = Edges::default();
        edges.unanswered.record(5);
        let sums = sums(&[(tally(&[10, 10]), 1.0)], &edges);
        assert_eq!(sums.value(PreciseFigure::Throughput), Some(2.0));
        assert_eq!(sums.value(PreciseFigure::Mean), None);
        assert_eq!(sums.value(PreciseFigure::Percentile(99.0)), None);
    }
}
