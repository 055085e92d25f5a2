//! The interval of a percentile from its values in the intervals of the window, where each of these is known. When the
//! level of all latencies drifts by little, the percentile drifts with it, as throughput does.

use measure::LatencyHistogram;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{INTERVALS_MIN, batched, long_run};
use crate::moments::{mean, standard_deviation};

/// Each interval has at least so many values on both sides of its percentile. With fewer, chance moves the percentile
/// farther than the level does.
const VALUES_MIN: f64 = 10.0;
/// The largest standard deviation of the logarithms of the intervals' percentiles. Farther apart, they are those of bursts or
/// of a queue near its capacity, and not of one level.
const SPREAD_MAX: f64 = 0.3;

/// A percentile by those of the intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// The geometric mean of the intervals' percentiles, ns.
    pub(super) middle_ns: f64,
    /// Half the width of its 95 % interval, as a logarithm.
    pub(super) half_width: f64,
}

/// `None` where intervals have too few values, or percentiles that are too far apart. `median_ns` and `figure_ns` are
/// those of the whole window.
///
/// The series of logarithms has the long-run variance of [`long_run`]. The percentile of all values depends on how far the
/// level drifts too, and all the more the larger the drift is against the spread of values at one level. For normally
/// distributed logarithms with the deviations s of the level and w at one level, the percentile with the normal quantile z
/// is the middle + z sqrt(s^2 + w^2). Of n values, the middle has the variance s^2 / n and s has s^2 / 2n, which together
/// make s^2 / n (1 + z^2 / 2 s^2 / (s^2 + w^2)): the half width is wider by the root of the bracket. Source: the delta
/// method, and the variance of a normal sample's deviation (Stuart and Ord, Kendall's Advanced Theory of Statistics 1,
/// section 10.9).
pub(super) fn level(
    of_intervals: &[&LatencyHistogram],
    percent: f64,
    [median_ns, figure_ns]: [f64; 2],
) -> Option<Level> {
    let share = percent / 100.0;
    let values_min = VALUES_MIN / share.min(1.0 - share);
    let is_known = |it: &&LatencyHistogram| it.count() as f64 >= values_min;
    if of_intervals.len() < INTERVALS_MIN || !of_intervals.iter().all(is_known) {
        return None;
    }
    let logarithm = |it: &&LatencyHistogram| (it.percentile_ns(percent) as f64 / figure_ns).ln();
    let logarithms: Vec<f64> = of_intervals.iter().map(logarithm).collect();
    let spread = standard_deviation(&logarithms).filter(|spread| *spread <= SPREAD_MAX)?;
    let quantile = Normal::standard().inverse_cdf(share);
    // The median has neither a quantile nor a distance; more than the whole spread is not drift.
    let drift = (spread * quantile / (figure_ns / median_ns).ln()).abs().min(1.0);
    let widening = (1.0 + (quantile * drift).powi(2) / 2.0).sqrt();
    Some(Level {
        middle_ns: figure_ns * mean(&logarithms)?.exp(),
        half_width: long_run::half_width(&batched(&logarithms)) * widening,
    })
}
