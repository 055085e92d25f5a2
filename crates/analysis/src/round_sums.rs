//! The value of a figure in one round: of the trials of a variant under one load, taken together.

use measure::{Edges, LatencyHistogram, Operation, PreciseFigure, Tally, transaction_latencies};

use crate::latency::{bounded_latency, per};

#[derive(Clone, Copy, Debug)]
pub struct RoundTrial<'a> {
    pub operations: &'a [Operation],
    /// All that ended in the measured window.
    pub total: &'a Tally,
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
    pub fn add(&mut self, trial: RoundTrial<'_>) {
        self.transactions += trial.total.transactions;
        self.seconds += trial.seconds;
        let due = trial.edges.due(trial.total);
        self.ended.merge(&transaction_latencies(trial.operations, &due));
        self.ages.merge(&trial.edges.ages());
    }

    /// The least and the most that the figure can be: transactions a second, or a latency in ns. `None` for a latency
    /// without an upper bound.
    pub fn within(&self, figure: PreciseFigure) -> Option<[f64; 2]> {
        let latency = |percentiles: &[f64]| bounded_latency(&self.ended, &self.ages, percentiles);
        match figure {
            PreciseFigure::Throughput => Some([per(self.transactions as f64, self.seconds); 2]),
            PreciseFigure::Mean => latency(&[]).mean_within(),
            PreciseFigure::Percentile(percent) => latency(&[percent]).percentile_within(percent),
        }
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
        let value = |figure| {
            let within = sums.within(figure).unwrap();
            assert_eq!(within[0], within[1], "{figure:?}");
            within[0]
        };
        assert_eq!(value(PreciseFigure::Throughput), 0.5, "four in 8 s");
        assert_eq!(value(PreciseFigure::Mean), 12.5);
        assert_eq!(value(PreciseFigure::Percentile(50.0)), 10.0);
        assert_eq!(value(PreciseFigure::Percentile(100.0)), 20.0);
    }

    #[test]
    fn a_latency_that_is_known_only_from_below_is_not_a_value() {
        let mut edges = Edges::default();
        edges.unanswered.record(5);
        let sums = sums(&[(tally(&[10, 20, 30]), 1.0)], &edges);
        assert_eq!(sums.within(PreciseFigure::Throughput), Some([3.0; 2]));
        assert_eq!(sums.within(PreciseFigure::Mean), None);
        assert_eq!(sums.within(PreciseFigure::Percentile(99.0)), None);
        // The second of four values: 10 if the age is the latency, 20 if it is longer than all.
        assert_eq!(sums.within(PreciseFigure::Percentile(50.0)), Some([10.0, 20.0]));
    }
}
