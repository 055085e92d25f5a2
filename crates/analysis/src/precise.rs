//! How precise a figure of a trial is, when it is looked at several times while it is measured: the rule that ends
//! the measuring.

use measure::{LatencyHistogram, PreciseFigure};

use crate::measured::Slice;
use crate::student::critical_t;
use crate::within::{
    INTERVALS_MIN, interval_of_mean_time, interval_of_percentile, interval_of_rate,
};

/// The measuring does not end with fewer intervals.
pub const PRECISE_INTERVALS_MIN: usize = 10;
/// How much more is seen at each look, as a part of what was seen before.
pub const PRECISE_LOOKS_GROWTH: f64 = 0.25;
/// How sure it is that none of the looks ends the measuring although the figure is farther off.
const CONFIDENCE: f64 = 0.95;

const _: () = assert!(PRECISE_INTERVALS_MIN >= INTERVALS_MIN);

/// What was measured so far, an entry of both for each interval.
#[derive(Clone, Copy, Debug)]
pub struct SoFar<'a> {
    pub slices: &'a [Slice],
    pub latencies: &'a [LatencyHistogram],
}

/// Half the width of a figure's interval within the trial, as a part of the figure, at one of so many looks. `None`
/// where there are too few intervals or values for an interval.
///
/// The more often a figure is looked at, the likelier one of the looks finds it precise by chance. So each look has
/// the part 1 / `looks` of the 5 % by which all of them may err: Bonferroni's inequality, which holds however the
/// looks depend on each other. The 95 % interval is widened by the ratio of Student's quantiles.
pub fn half_width(figure: PreciseFigure, so_far: SoFar<'_>, looks: usize) -> Option<f64> {
    let SoFar { slices, latencies } = so_far;
    let quotient = |parts: &[(f64, f64)]| {
        let sum = |of: fn(&(f64, f64)) -> f64| parts.iter().map(of).sum::<f64>();
        sum(|part| part.0) / sum(|part| part.1)
    };
    let (interval, value) = match figure {
        PreciseFigure::Throughput => {
            let parts = slices.iter().map(|it| (it.transactions as f64, it.seconds));
            let parts: Vec<(f64, f64)> = parts.collect();
            (interval_of_rate(&parts)?, quotient(&parts))
        }
        PreciseFigure::Mean => {
            let counts = latencies.iter().map(|it| (it.mean_ns(), it.count() as f64));
            let parts: Vec<(f64, f64)> =
                counts.map(|(mean, count)| (mean * count, count)).collect();
            (interval_of_mean_time(&parts)?, quotient(&parts))
        }
        PreciseFigure::Percentile(percent) => {
            let value = LatencyHistogram::sum(latencies).percentile_ns(percent);
            (interval_of_percentile(latencies, percent)?, value as f64)
        }
    };
    let width = interval.high? - interval.low;
    let half = width * widening(slices.len(), looks)? / 2.0 / value;
    half.is_finite().then_some(half)
}

/// How much wider the interval of one of so many looks is than one of 95 %.
fn widening(intervals: usize, looks: usize) -> Option<f64> {
    let freedom = intervals.checked_sub(1)?;
    let at_look = 1.0 - (1.0 - CONFIDENCE) / looks.max(1) as f64;
    Some(critical_t(at_look, freedom)? / critical_t(CONFIDENCE, freedom)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_look_is_widened_as_bonferroni_and_student_say() {
        // Source: NIST/SEMATECH e-Handbook, section 1.3.6.7.2: t(0.975, 9) = 2.262 and t(0.995, 9) = 3.250.
        assert!((widening(10, 5).unwrap() - 3.250 / 2.262).abs() < 1e-3);
        assert_eq!(widening(10, 1), Some(1.0));
        assert_eq!((widening(1, 3), widening(0, 3)), (None, None));
    }

    #[test]
    fn the_half_width_is_a_part_of_the_figure() {
        let rates = [90, 110, 100, 95, 105, 100, 92, 108, 99, 101];
        let slices =
            rates.map(|transactions| Slice { seconds: 1.0, transactions, ..Slice::default() });
        let latencies: Vec<LatencyHistogram> = rates
            .map(|latency_ns| {
                let mut histogram = LatencyHistogram::new();
                histogram.record(latency_ns);
                histogram
            })
            .to_vec();
        let so_far = SoFar { slices: &slices, latencies: &latencies };
        let of = |figure, looks| half_width(figure, so_far, looks).unwrap();
        let throughput = of(PreciseFigure::Throughput, 1);
        // One transaction in each interval, and its latency is the rate: both means have the same relative deviation
        // r. The interval of a rate is from exp -r to exp r, that of a mean time from exp -r to 1 / (1 - r).
        let r = throughput.asinh();
        let mean = ((1.0 - r).recip() - (-r).exp()) / 2.0;
        assert!((of(PreciseFigure::Mean, 1) - mean).abs() < 1e-9, "{throughput}");
        // The interval of the mean of ten independent values: 2.262 s / sqrt 10 / mean, and more, as they may depend
        // on each other.
        let independent = 2.262 * (410.0_f64 / 9.0).sqrt() / 10.0_f64.sqrt() / 100.0;
        assert!((0.8 * independent..3.0 * independent).contains(&throughput), "{throughput}");
        let ratio = of(PreciseFigure::Throughput, 5) / throughput;
        assert!((ratio - 3.250 / 2.262).abs() < 1e-3, "{ratio}");
        let empty = SoFar { slices: &slices[..5], latencies: &latencies[..5] };
        assert_eq!(half_width(PreciseFigure::Throughput, empty, 1), None);
    }

    #[test]
    fn a_percentile_with_too_few_values_above_it_has_no_precision() {
        let mut few = LatencyHistogram::new();
        (1..=10).for_each(|latency_ns| few.record(latency_ns));
        let latencies = vec![few; 12];
        let slices = [Slice { seconds: 1.0, transactions: 10, ..Slice::default() }; 12];
        let so_far = SoFar { slices: &slices, latencies: &latencies };
        assert_eq!(half_width(PreciseFigure::Percentile(99.9), so_far, 10), None);
        assert!(half_width(PreciseFigure::Percentile(50.0), so_far, 10).is_some());
    }
}
