//! Latency histograms, whose merging is exact.

use std::sync::LazyLock;

use hdrhistogram::Histogram;

use crate::Nanos;

/// Significant decimal digits that a histogram keeps of every value (0.1 %).
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// The largest latency that is kept, one hour; longer ones are recorded as one hour.
const MAX_NS: u64 = 3_600_000_000_000;

/// An empty histogram, for writing one in a file.
static EMPTY: LazyLock<Histogram<u64>> = LazyLock::new(growing);

/// A High Dynamic Range histogram of latencies in nanoseconds, three significant digits, 1 ns to one
/// hour. It starts small and grows with the largest value seen. An empty one takes no memory, because
/// every interval has one for each operation, and most of them stay empty.
///
/// Source: Gil Tene, HdrHistogram.
#[derive(Clone, Debug, Default)]
pub struct LatencyHistogram {
    counts: Option<Histogram<u64>>,
}

/// Histograms are equal when the same values were recorded, whatever their capacity.
impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.as_hdr() == other.as_hdr()
    }
}

fn growing() -> Histogram<u64> {
    let mut counts = Histogram::new(SIGNIFICANT_DIGITS)
        .expect("three significant digits are within the library's range of 0 to 5");
    counts.auto(true);
    counts
}

impl LatencyHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wraps a histogram that was read from a log.
    pub fn from_hdr(counts: Histogram<u64>) -> Self {
        Self { counts: Some(counts) }
    }

    /// The library's own histogram, for writing it in a format that other tools read.
    pub fn as_hdr(&self) -> &Histogram<u64> {
        self.counts.as_ref().unwrap_or(&EMPTY)
    }

    /// Adds one latency; one over an hour counts as an hour.
    #[inline]
    pub fn record(&mut self, latency_ns: Nanos) {
        self.counts
            .get_or_insert_with(growing)
            .record(latency_ns.min(MAX_NS))
            .expect("an automatically resized histogram takes every value up to its bound");
    }

    /// Adds every value of `other`, exactly.
    pub fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.counts {
            self.counts
                .get_or_insert_with(growing)
                .add(theirs)
                .expect("an automatically resized histogram takes every value of its like");
        }
    }

    /// Takes away every value of `other`. What was not recorded here cannot be taken away: then nothing changes.
    pub fn subtract(&mut self, other: &Self) {
        let Some(theirs) = &other.counts else { return };
        let mut rest = self.as_hdr().clone();
        if rest.subtract(theirs).is_ok() {
            self.counts = Some(rest);
        }
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.counts.as_ref().map_or(0, Histogram::len)
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The value at or below which `percent` (0 to 100) of the recorded values lie, in nanoseconds,
    /// to three digits; 0 when empty.
    pub fn percentile_ns(&self, percent: f64) -> Nanos {
        let counts = self.as_hdr();
        if counts.is_empty() {
            return 0;
        }
        // The rank is computed here: in floating point 99.9 / 100 x 10,000 is slightly more than 9,990, so
        // the library would return the next value. Half a rank less is safely within the right one.
        let rank = (percent * counts.len() as f64 / 100.0 - 1e-6).ceil().max(1.0);
        let quantile = (rank - 0.5) / counts.len() as f64;
        counts.value_at_quantile(quantile).min(counts.max())
    }

    /// How many values are above a limit. A bin of the histogram that reaches beyond the limit counts whole, as it
    /// does for [`LatencyHistogram::percentile_ns`]: the percentile is within a limit just when no more values are
    /// above that limit than may be above the percentile.
    pub fn count_above_ns(&self, limit_ns: f64) -> u64 {
        let bins = self.as_hdr().iter_recorded();
        let above = bins.filter(|bin| bin.value_iterated_to() as f64 > limit_ns);
        above.map(|bin| bin.count_at_value()).sum()
    }

    /// The arithmetic mean in nanoseconds; 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        self.as_hdr().mean()
    }

    /// The smallest value in nanoseconds, to three digits; 0 when empty.
    pub fn min_ns(&self) -> Nanos {
        if self.is_empty() { 0 } else { self.as_hdr().min() }
    }

    /// The largest value in nanoseconds, to three digits; 0 when empty.
    pub fn max_ns(&self) -> Nanos {
        self.as_hdr().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn percentiles_keep_three_digits() {
        let histogram = of((1..=10_000).map(|i| i * 1_000));
        for (percent, exact) in [(50.0, 5_000_000.0), (99.0, 9_900_000.0), (100.0, 10_000_000.0)] {
            let seen = histogram.percentile_ns(percent) as f64;
            assert!((seen / exact - 1.0).abs() < 0.001, "p{percent}: {seen} against {exact}");
        }
    }

    #[test]
    fn a_percentile_on_a_rank_is_the_value_of_that_rank() {
        // 1 to 1,000 are exact at three digits.
        let histogram = of(1..=1_000);
        for (percent, exact) in [(0.0, 1), (0.1, 1), (50.0, 500), (99.9, 999), (100.0, 1_000)] {
            assert_eq!(histogram.percentile_ns(percent), exact, "p{percent}");
        }
    }

    #[test]
    fn values_above_a_limit_are_counted() {
        // 1 to 1,000 are exact at three digits.
        let histogram = of(1..=1_000);
        for (limit_ns, above) in [(0.0, 1_000), (1.0, 999), (990.5, 10), (999.0, 1), (1_000.0, 0)] {
            assert_eq!(histogram.count_above_ns(limit_ns), above, "above {limit_ns}");
        }
        assert_eq!(LatencyHistogram::new().count_above_ns(0.0), 0);
    }

    #[test]
    fn a_percentile_is_within_a_limit_just_when_few_enough_values_are_above_it() {
        let histogram = of((1..=2_000_u64).map(|i| i * i * 7_919));
        for step in (1..400_u64).step_by(13) {
            let limit_ns = (step * step * 197_969) as f64 + 0.5;
            for (percent, most_above) in [(50.0, 1_000), (90.0, 200), (99.0, 20), (99.9, 2)] {
                let is_within = histogram.percentile_ns(percent) as f64 <= limit_ns;
                let is_few = histogram.count_above_ns(limit_ns) <= most_above;
                assert_eq!(is_within, is_few, "p{percent} and {limit_ns} ns");
            }
        }
    }

    #[test]
    fn merging_is_the_same_as_recording_all_in_one() {
        let mut left = of([5, 70_000, 3]);
        left.merge(&of([9_000_000_000, 70_000]));
        assert_eq!(left, of([5, 70_000, 3, 9_000_000_000, 70_000]));
    }

    #[test]
    fn what_was_taken_away_is_in_no_figure() {
        let mut rest = of([5, 70_000, 3, 9_000_000_000, 70_000]);
        rest.subtract(&of([9_000_000_000, 3, 70_000]));
        let left = of([5, 70_000]);
        let figures =
            |it: &LatencyHistogram| (it.count(), it.min_ns(), it.max_ns(), it.percentile_ns(50.0));
        assert_eq!(figures(&rest), figures(&left));
        rest.subtract(&of([6]));
        assert_eq!(figures(&rest), figures(&left), "6 was never recorded");
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour() {
        let histogram = of([u64::MAX]);
        assert_eq!(histogram.count(), 1);
        assert!((histogram.max_ns() as f64 / MAX_NS as f64 - 1.0).abs() < 0.001);
    }

    #[test]
    fn empty_is_zero_everywhere() {
        let empty = LatencyHistogram::new();
        assert_eq!((empty.count(), empty.percentile_ns(99.0), empty.max_ns()), (0, 0, 0));
    }
}
