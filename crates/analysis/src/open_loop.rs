//! What is different when load comes by a schedule: offered beside achieved rate, service beside response
//! times, and whether the load generator kept to its schedule.

use std::f64::consts::FRAC_1_SQRT_2;

use measure::{LatencyHistogram, Nanos, OperationKind};

use crate::summary::{latency, per};
use crate::{Ended, Finding, Latency, Measured, Summary};

/// An achieved rate that is lower than the offered one by more than this part was not what was asked for.
const MISSED_MAX: f64 = 0.1;
/// What is missing may be chance up to so many standard deviations of a Poisson process.
const CHANCE_DEVIATIONS: f64 = 3.0;
/// A generator that starts one in a hundred transactions later than this adds to what it measures.
const LATENESS_MAX_NS: Nanos = 2_000_000;

/// What was offered in an open loop.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Mean over the measured time, arrivals a second.
    pub rate_per_s: f64,
    /// Whether the rate is the same all the time.
    pub is_constant: bool,
    /// Whether arrivals are spread at random around the rate (a Poisson process).
    pub is_random: bool,
    /// How late transactions started that a free client waited for.
    pub lateness: &'a LatencyHistogram,
}

/// An open loop in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSummary {
    /// Arrivals a second, the mean over the measured time as planned.
    pub offered_per_s: f64,
    /// Service times of the transactions that succeeded, from their actual start.
    pub service: Latency,
    /// Transactions that were in the system on average, those that waited for a client included: L of
    /// Little's law.
    pub in_system: f64,
    /// How late transactions started that a free client waited for.
    pub lateness: Latency,
}

pub(crate) fn summarize(measured: &Measured<'_>, seconds: f64) -> Option<OpenSummary> {
    let offered = measured.open?;
    let mut service = LatencyHistogram::new();
    for (operation, tally) in measured.operations.iter().zip(&measured.total.operations) {
        if operation.kind == OperationKind::Transaction {
            service.merge(&tally.service);
        }
    }
    let mut lateness = latency(offered.lateness, measured.percentiles);
    lateness.percentiles = vec![(99.0, offered.lateness.percentile_ns(99.0))];
    Some(OpenSummary {
        offered_per_s: offered.rate_per_s,
        service: latency(&service, measured.percentiles),
        in_system: per(measured.total.busy_ns as f64 / 1e9, seconds),
        lateness,
    })
}

/// Less came out than was put in. What failed was answered too; it is a finding of its own.
pub(crate) fn rate_missed(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let offered_per_s = summary.open.as_ref()?.offered_per_s;
    let expected = offered_per_s * summary.seconds;
    let ended = (summary.transactions + summary.failed_transactions) as f64;
    let is_random = measured.open.is_some_and(|offered| offered.is_random);
    let chance = if is_random { CHANCE_DEVIATIONS * expected.sqrt() } else { 0.0 };
    let is_missed = ended < expected * (1.0 - MISSED_MAX) && ended < expected - chance;
    // The mean rate of one that was broken off is not the planned one.
    let is_known = measured.ended == Ended::Complete;
    (is_missed && is_known)
        .then(|| Finding::RateMissed { offered_per_s, achieved_per_s: per(ended, summary.seconds) })
}

pub(crate) fn lateness(summary: &Summary) -> Option<Finding> {
    let p99_ns = summary.open.as_ref()?.lateness.percentile_ns(99.0)?;
    (p99_ns > LATENESS_MAX_NS).then_some(Finding::GeneratorLate { p99_ns })
}

/// The part of the intervals' variation that is the schedule's own: all of it when the rate changes, and
/// of a Poisson process one over the root of its mean count. Even arrivals put into an interval one more
/// or one less, whose standard deviation is the root of a half at most (of two intervals).
pub(crate) fn variation_of_schedule(measured: &Measured<'_>) -> f64 {
    let Some(offered) = measured.open else { return 0.0 };
    if !offered.is_constant {
        return f64::INFINITY;
    }
    let longest = measured.slices.iter().map(|slice| slice.seconds).fold(0.0, f64::max);
    let count = offered.rate_per_s * longest;
    if count <= 0.0 {
        return 0.0;
    }
    if offered.is_random { count.sqrt().recip() } else { FRAC_1_SQRT_2 / count }
}

#[cfg(test)]
mod tests {
    use measure::OperationId;

    use super::*;
    use crate::check;
    use crate::summary::tests::seconds_of;

    fn found(transactions: &[u64], offered: Offered<'_>) -> (Summary, Vec<Finding>) {
        let mut trial = seconds_of(transactions);
        for _ in 0..transactions.iter().sum() {
            trial.total.service(OperationId(0), 25_000_000);
        }
        let percentiles = &[50.0];
        let measured = Measured { open: Some(offered), percentiles, ..trial.measured() };
        let summary = crate::summarize(&measured);
        let findings = check(&measured, &summary);
        (summary, findings)
    }

    fn offered(rate_per_s: f64, lateness: &LatencyHistogram) -> Offered<'_> {
        Offered { rate_per_s, is_constant: true, is_random: false, lateness }
    }

    #[test]
    fn service_and_response_times_stand_side_by_side() {
        let (summary, findings) = found(&[200, 200], offered(200.0, &LatencyHistogram::new()));
        assert_eq!(findings, []);
        assert_eq!(summary.littles_law, None);
        let open = summary.open.unwrap();
        // 200 a second of 100 ms each: 20 in the system.
        assert!((open.in_system - 20.0).abs() < 1e-9, "{}", open.in_system);
        assert!((summary.latency.mean_ns / 1e8 - 1.0).abs() < 1e-3);
        assert!((open.service.mean_ns / 25e6 - 1.0).abs() < 1e-3);
        let service = summary.operations[0].service.as_ref().unwrap();
        assert_eq!(service.count, 400);
        assert_eq!(summary.operations[1].service, None);
    }

    #[test]
    fn a_rate_that_is_missed_by_more_than_a_tenth_is_found() {
        let none = LatencyHistogram::new();
        assert_eq!(found(&[190, 170], offered(200.0, &none)).1, []);
        let missed = Finding::RateMissed { offered_per_s: 200.0, achieved_per_s: 170.0 };
        assert_eq!(found(&[170, 170], offered(200.0, &none)).1, [missed]);
        // 7 of 10 may be chance.
        let random = Offered { is_random: true, ..offered(10.0, &none) };
        let few = found(&[7], random).1;
        assert!(!few.iter().any(|finding| matches!(finding, Finding::RateMissed { .. })));
    }

    #[test]
    fn a_generator_that_is_late_by_itself_is_found() {
        let mut lateness = LatencyHistogram::new();
        (0..98).for_each(|_| lateness.record(50_000));
        assert_eq!(found(&[200], offered(200.0, &lateness)).1, []);
        (0..2).for_each(|_| lateness.record(7_000_000));
        let found = found(&[200], offered(200.0, &lateness)).1;
        assert!(
            matches!(found[..], [Finding::GeneratorLate { p99_ns }] if p99_ns >= 7_000_000),
            "{found:?}"
        );
    }

    #[test]
    fn what_the_schedule_itself_does_is_no_drift_and_no_unsteadiness() {
        let none = LatencyHistogram::new();
        let ramp: Vec<u64> = (1..=10).map(|second| second * 100).collect();
        let changing = Offered { is_constant: false, ..offered(550.0, &none) };
        assert_eq!(found(&ramp, changing).1, []);
        assert_ne!(found(&ramp, offered(550.0, &none)).1, []);
        // 16 a second vary by a quarter by themselves.
        let noisy = [20, 11, 16, 22, 13, 18, 10, 19];
        let random = Offered { is_random: true, ..offered(16.0, &none) };
        assert_eq!(found(&noisy, random).1, []);
        assert_ne!(found(&noisy, offered(16.0, &none)).1, []);
        // Every other second has one.
        let is_unsteady = |transactions: &[u64], rate_per_s| {
            let found = found(transactions, offered(rate_per_s, &none)).1;
            found.iter().any(|finding| matches!(finding, Finding::Unsteady { .. }))
        };
        assert!(!is_unsteady(&[1, 0, 1, 0], 0.5));
        assert!(!is_unsteady(&[0, 1], 0.5));
        assert!(is_unsteady(&[4, 0, 0, 0], 1.0));
    }
}
