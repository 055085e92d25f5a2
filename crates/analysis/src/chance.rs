//! How much counts vary by chance: the variation that neither intervals nor clients are to blame for.

use measure::{LatencyHistogram, OperationTally, of_transactions};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::measured::Measured;

/// A time counts as at most this many mean times. A longer one is what the checks look for, and no chance.
const LONGEST: f64 = 20.0;
/// How often chance may exceed the bound.
const LEVEL: f64 = 0.001;

/// The variance of a client's count of transactions over its mean, in a closed loop: that of a renewal process, the
/// squared coefficient of variation of the times between its events, latencies and think times.
///
/// Source: D. R. Cox, Renewal Theory, 1962, section 4.2 (the asymptotic variance of a renewal count).
pub(crate) fn client_dispersion(measured: &Measured<'_>) -> f64 {
    let latencies = transaction_times(measured, |tally| &tally.succeeded);
    squared_variation(&latencies, measured.think_time_ns as f64)
}

/// The variance of an interval's count of transactions over its mean. The answers of an open loop vary with its
/// arrivals or with its services, whichever vary more. The clients of a closed loop may all wait for the same
/// service: then all counts vary as one client's does.
pub(crate) fn dispersion(measured: &Measured<'_>) -> f64 {
    match measured.open {
        Some(offered) => {
            let services = transaction_times(measured, |tally| &tally.service);
            squared_variation(&services, 0.0).max(if offered.is_random { 1.0 } else { 0.0 })
        }
        None => client_dispersion(measured) * measured.clients as f64,
    }
}

fn transaction_times(
    measured: &Measured<'_>,
    times: impl Fn(&OperationTally) -> &LatencyHistogram,
) -> LatencyHistogram {
    of_transactions(measured.operations, &measured.total.operations, times)
}

/// The squared coefficient of variation of times with a constant added to each; 0 without times.
fn squared_variation(times: &LatencyHistogram, constant_ns: f64) -> f64 {
    if times.is_empty() {
        return 0.0;
    }
    let most = LONGEST * times.mean_ns();
    let (mut sum, mut squares) = (0.0, 0.0);
    for (time, count) in times.values() {
        let (count, time) = (count as f64, (time as f64).min(most));
        sum += count * time;
        squares += count * time * time;
    }
    let mean = sum / times.count() as f64;
    let variance = (squares / times.count() as f64 - mean * mean).max(0.0);
    let cycle = mean + constant_ns;
    if cycle > 0.0 { variance / (cycle * cycle) } else { 0.0 }
}

/// The sum of squared deviations of `values` values from their mean, in variances, that chance exceeds in one of a
/// thousand cases; 0 for fewer than two values.
pub(crate) fn squares_max(values: usize) -> f64 {
    let distribution = ChiSquared::new(values.saturating_sub(1) as f64);
    distribution.map_or(0.0, |distribution| distribution.inverse_cdf(1.0 - LEVEL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_of_latencies_and_think_times_is_that_of_the_cycle() {
        let mut times = LatencyHistogram::new();
        (0..50).for_each(|_| times.record(10_000));
        (0..50).for_each(|_| times.record(30_000));
        // Mean 20, deviation 10.
        assert!((squared_variation(&times, 0.0) - 0.25).abs() < 1e-3);
        assert!((squared_variation(&times, 20_000.0) - 0.0625).abs() < 1e-3);
        assert_eq!(squared_variation(&LatencyHistogram::new(), 5.0), 0.0);
    }

    #[test]
    fn a_single_stall_is_not_explained_by_itself() {
        let mut times = LatencyHistogram::new();
        (0..9_000).for_each(|_| times.record(1_000_000));
        times.record(1_000_000_000);
        assert!(squared_variation(&times, 0.0) < 0.05);
    }

    /// Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.4.
    #[test]
    fn bounds_are_those_of_the_chi_square_table() {
        assert!((squares_max(2) - 10.828).abs() < 0.001, "{}", squares_max(2));
        assert!((squares_max(11) - 29.588).abs() < 0.001);
        assert_eq!(squares_max(1), 0.0);
    }
}
