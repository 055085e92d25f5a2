//! What a probe shows of the bounds: each bounded figure, and the share of its transactions above the bound.

use measure::{
    BoundedFigure, LatencyHistogram, ProbeFacts, SeekBound, TrialStatus, of_transactions,
};

/// A percentile with fewer values above it than this depends mostly on chance.
const VALUES_ABOVE_MIN: f64 = 10.0;

#[derive(Clone, Debug, PartialEq)]
pub struct JudgedProbe {
    /// Its load: clients, or arrivals a second.
    pub load: f64,
    /// Whether it is a longer trial that confirms the capacity.
    pub is_confirming: bool,
    pub transactions_per_s: f64,
    /// The bounded figures in the order of the bounds: ns, or a part of 1. A latency is infinite when transactions
    /// that did not succeed reach it.
    pub figures: Vec<f64>,
    /// What lies above each bound, in the order of the bounds.
    pub shares: Vec<BoundShare>,
    /// Whether every bound was kept.
    pub is_kept: bool,
    /// Whether a bounded percentile has too few values above it, so that it depends mostly on chance.
    pub is_coarse: bool,
    pub is_crashed: bool,
}

/// How much of a probe is above a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundShare {
    /// The part of the transactions that are slower than the bound of a percentile, or that did not succeed, where this
    /// is bounded, 0 to 1. A mean and a maximum have no such part: theirs is `figure / (figure + bound)`, which is
    /// a half at the bound.
    pub above: f64,
    /// The part that may be above: 0.01 for a 99th percentile.
    pub allowed: f64,
    pub transactions: f64,
}

/// Assesses a probe by the bounds. A transaction that failed, timed out or was never answered counts as one of infinite
/// latency: it did not do its work in the time, and what it would have taken is not known. A trial that failed, such as
/// by overload, breaks the bounds whatever its figures are.
pub fn assess(bounds: &[SeekBound], probe: &ProbeFacts<'_>) -> JudgedProbe {
    let due = probe.edges.due(probe.total);
    let succeeded = of_transactions(probe.operations, &due, |tally| &tally.succeeded);
    let timed_out = of_transactions(probe.operations, &due, |tally| &tally.timed_out).count();
    let failed = of_transactions(probe.operations, &due, |tally| &tally.failed).count();
    let lost = timed_out + failed + probe.edges.ages().count();
    let figures: Vec<f64> =
        bounds.iter().map(|bound| figure(bound.figure, &succeeded, lost)).collect();
    let is_complete = *probe.status == TrialStatus::Complete;
    let is_kept = is_complete && bounds.iter().zip(&figures).all(|(it, figure)| *figure <= it.most);
    let shares = bounds.iter().zip(&figures).map(|(bound, figure)| {
        let share = share(bound, *figure, &succeeded, lost);
        if is_complete { share } else { BoundShare { above: 1.0, ..share } }
    });
    JudgedProbe {
        load: probe.load,
        is_confirming: probe.is_confirming,
        transactions_per_s: crate::latency::per(probe.total.transactions as f64, probe.seconds),
        shares: shares.collect(),
        figures,
        is_kept,
        is_coarse: is_complete && is_coarse(bounds, succeeded.count() + lost),
        is_crashed: matches!(probe.status, TrialStatus::Crashed(_)),
    }
}

/// `lost` transactions have an infinite latency.
fn figure(figure: BoundedFigure, succeeded: &LatencyHistogram, lost: u64) -> f64 {
    let all = succeeded.count() + lost;
    let unless_lost = |value: f64| if lost > 0 || all == 0 { f64::INFINITY } else { value };
    match figure {
        BoundedFigure::Percentile(percent) => {
            // The same rank among all transactions, of which the lost ones are the slowest.
            let rank_percent = percent * all as f64 / succeeded.count().max(1) as f64;
            let is_known = !succeeded.is_empty() && rank_percent <= 100.0 + 1e-9;
            if is_known { succeeded.percentile_ns(rank_percent) as f64 } else { f64::INFINITY }
        }
        BoundedFigure::Mean => unless_lost(succeeded.mean_ns()),
        BoundedFigure::Max => unless_lost(succeeded.max_ns() as f64),
        BoundedFigure::Errors if all == 0 => 1.0,
        BoundedFigure::Errors => lost as f64 / all as f64,
    }
}

/// The share above a bound with this figure; all of it when nothing was measured.
fn share(bound: &SeekBound, figure: f64, succeeded: &LatencyHistogram, lost: u64) -> BoundShare {
    let all = succeeded.count() + lost;
    let transactions = all.max(1) as f64;
    let (above, allowed) = match bound.figure {
        BoundedFigure::Percentile(percent) if all > 0 => {
            let above = succeeded.count_above_ns(bound.most) + lost;
            (above as f64 / transactions, (100.0 - percent) / 100.0)
        }
        BoundedFigure::Percentile(percent) => (1.0, (100.0 - percent) / 100.0),
        BoundedFigure::Errors => (figure, bound.most),
        BoundedFigure::Mean | BoundedFigure::Max if figure.is_finite() => {
            (figure / (figure + bound.most), 0.5)
        }
        BoundedFigure::Mean | BoundedFigure::Max => (1.0, 0.5),
    };
    BoundShare { above, allowed, transactions }
}

fn is_coarse(bounds: &[SeekBound], transactions: u64) -> bool {
    (transactions as f64) < transactions_needed(bounds) * (1.0 - 1e-9)
}

/// How many transactions the bounded percentiles need so that they do not depend mostly on chance.
pub fn transactions_needed(bounds: &[SeekBound]) -> f64 {
    let needed = bounds.iter().map(|bound| match bound.figure {
        BoundedFigure::Percentile(percent) => VALUES_ABOVE_MIN / (1.0 - percent / 100.0),
        BoundedFigure::Mean | BoundedFigure::Max | BoundedFigure::Errors => 0.0,
    });
    needed.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use measure::{Edges, Operation, OperationId, OperationKind, Tally};

    use super::*;

    const MS: f64 = 1e6;
    const P99: SeekBound = SeekBound { figure: BoundedFigure::Percentile(99.0), most: 10.0 * MS };
    const ERRORS: SeekBound = SeekBound { figure: BoundedFigure::Errors, most: 0.001 };

    /// A probe of 10 s with 2,000 transactions of 5 ms, some of which failed after 1 ms, and some of which were never
    /// answered.
    fn judged(
        bounds: &[SeekBound],
        failed: u64,
        unanswered: u64,
        status: &TrialStatus,
    ) -> JudgedProbe {
        let kind = OperationKind::Transaction;
        let operations = [Operation::new("transaction", kind)];
        let mut total = Tally::new(1);
        (0..2_000 - failed).for_each(|_| total.success(OperationId(0), kind, 5_000_000));
        (0..failed).for_each(|_| total.failure(OperationId(0), kind, 1_000_000));
        let mut edges = Edges::new(1);
        (0..unanswered).for_each(|_| edges.unanswered.record(7));
        let (load, is_confirming, seconds) = (200.0, false, 10.0);
        let operations = &operations;
        let (total, edges) = (&total, &edges);
        assess(
            bounds,
            &ProbeFacts { load, is_confirming, operations, total, edges, seconds, status },
        )
    }

    #[test]
    fn a_probe_within_its_bounds_keeps_them_by_the_nearest() {
        let probe = judged(&[P99, ERRORS], 0, 0, &TrialStatus::Complete);
        assert!(probe.is_kept && !probe.is_coarse);
        assert!((probe.figures[0] / (5.0 * MS) - 1.0).abs() < 1e-3, "{probe:?}");
        assert_eq!((probe.figures[1], probe.transactions_per_s), (0.0, 200.0));
        let share = |allowed| BoundShare { above: 0.0, allowed, transactions: 2_000.0 };
        assert_eq!(probe.shares, [share(0.01), share(0.001)]);
    }

    #[test]
    fn failures_and_what_is_never_answered_count_as_infinitely_slow() {
        // 20 of 2,000 are just the one in a hundred that may be slower.
        let complete = TrialStatus::Complete;
        assert!(judged(&[P99], 20, 0, &complete).is_kept);
        for (failed, unanswered) in [(21, 0), (0, 21)] {
            let probe = judged(&[P99], failed, unanswered, &complete);
            let all = 2_000 + unanswered;
            assert_eq!(probe.figures, [f64::INFINITY]);
            assert_eq!(probe.shares[0].above, 21.0 / all as f64);
            assert!(!probe.is_kept, "{probe:?}");
        }
        let mean = SeekBound { figure: BoundedFigure::Mean, most: 10.0 * MS };
        let probe = judged(&[mean], 1, 0, &complete);
        assert_eq!((probe.is_kept, probe.shares[0].above), (false, 1.0));
        let probe = judged(&[ERRORS], 4, 0, &complete);
        assert_eq!((probe.figures[0], probe.is_kept), (0.002, false));
        assert_eq!((probe.shares[0].above, probe.shares[0].allowed), (0.002, 0.001));
    }

    #[test]
    fn a_failed_trial_breaks_the_bounds_whatever_its_figures() {
        let probe = judged(&[P99], 0, 0, &TrialStatus::Failed("overloaded".to_owned()));
        assert_eq!((probe.is_kept, probe.is_crashed), (false, false));
        assert_eq!((probe.shares[0].above, probe.shares[0].transactions), (1.0, 2_000.0));
        assert!(judged(&[P99], 0, 0, &TrialStatus::Crashed(String::new())).is_crashed);
    }

    #[test]
    fn transactions_slower_than_the_bound_are_counted() {
        // All 1,990 that succeeded took 5 ms, and 10 failed.
        for (most_ms, above) in [(4.0, 1.0), (6.0, 0.005)] {
            let bound = SeekBound { most: most_ms * MS, ..P99 };
            let share = judged(&[bound], 10, 0, &TrialStatus::Complete).shares[0];
            assert_eq!((share.above, share.transactions), (above, 2_000.0));
        }
    }

    #[test]
    fn the_share_of_a_mean_or_a_maximum_is_a_half_at_the_bound() {
        for figure in [BoundedFigure::Mean, BoundedFigure::Max] {
            for (most_ms, above) in [(5.0, 0.5), (15.0, 0.25), (1.25, 0.8)] {
                let bound = SeekBound { figure, most: most_ms * MS };
                let share = judged(&[bound], 0, 0, &TrialStatus::Complete).shares[0];
                assert!((share.above - above).abs() < 1e-3, "{bound:?}: {share:?}");
                assert_eq!(share.allowed, 0.5);
            }
        }
    }

    #[test]
    fn a_percentile_of_few_transactions_is_coarse() {
        let p999 = SeekBound { figure: BoundedFigure::Percentile(99.9), ..P99 };
        let complete = TrialStatus::Complete;
        assert!(judged(&[p999], 0, 0, &complete).is_coarse);
        assert!(!judged(&[P99], 0, 0, &complete).is_coarse);
        assert!(!judged(&[ERRORS], 0, 0, &complete).is_coarse);
    }
}
