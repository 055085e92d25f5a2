//! Latency histograms, whose merging is exact.

mod bin;
#[cfg(test)]
mod fuzz;
mod packed;
mod wire;

use std::borrow::Cow;
use std::sync::LazyLock;

use hdrhistogram::Histogram;

use crate::{Nanos, sum};
use packed::{Counters, Packed};

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
/// While values are added, there is a counter for each bin. What is kept is packed: a few bytes for each bin that
/// has values, less than a tenth of the memory. All figures are the same to the bit.
///
/// Source: Gil Tene, HdrHistogram.
#[derive(Clone, Debug, Default)]
pub struct LatencyHistogram {
    counts: Option<Histogram<u64>>,
    /// The values, when they are packed; `counts` is none then.
    packed: Option<Box<Packed>>,
}

/// Histograms are equal when the same values were recorded, whatever their capacity.
impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count() && self.bins().eq(other.bins())
    }
}

impl FromIterator<Nanos> for LatencyHistogram {
    fn from_iter<T: IntoIterator<Item = Nanos>>(latencies: T) -> Self {
        let mut histogram = Self::new();
        latencies.into_iter().for_each(|latency_ns| histogram.record(latency_ns));
        histogram
    }
}

fn growing() -> Histogram<u64> {
    let mut counts = Histogram::new(SIGNIFICANT_DIGITS)
        .expect("three significant digits are within the library's range of 0 to 5");
    counts.auto(true);
    counts
}

/// A counter for each bin, with the values of a packed histogram.
#[cold]
fn unpacked(packed: Option<&Packed>) -> Histogram<u64> {
    let mut counts = growing();
    packed.into_iter().for_each(|packed| add(&mut counts, packed));
    counts
}

fn add(counts: &mut Histogram<u64>, packed: &Packed) {
    // The highest first, so that it grows once.
    counts.record_n(bin::highest(packed.highest), 0).expect(TAKES_ALL);
    for (bin, count) in packed.bins() {
        counts.record_n(bin::highest(bin), count).expect(TAKES_ALL);
    }
}

const TAKES_ALL: &str = "an automatically resized histogram takes every value of its like";

impl LatencyHistogram {
    pub fn new() -> Self {
        Self::default()
    }

    /// Wraps a histogram that was read from a log.
    pub fn from_hdr(counts: Histogram<u64>) -> Self {
        Self { counts: Some(counts), packed: None }
    }

    /// A packed histogram of counts in HdrHistogram's V2 encoding, without its header: of a histogram with
    /// [`SIGNIFICANT_DIGITS`] whose values begin at 1 and end at `most`. `None` when they are no such counts, or
    /// there are none.
    pub fn from_encoded(counts: &[u8], most: Nanos) -> Option<Self> {
        let packed = Packed::read(counts, bin::of(most))?;
        Some(Self { counts: None, packed: Some(Box::new(packed)) })
    }

    /// All values of several histograms.
    pub fn sum<'a>(of: impl IntoIterator<Item = &'a Self>) -> Self {
        let of: Vec<&Self> = of.into_iter().filter(|one| !one.is_empty()).collect();
        if let [only] = of[..] {
            return only.clone();
        }
        let (mut all, mut counters) = (Self::new(), Counters::default());
        for one in of {
            match &one.packed {
                Some(packed) => counters.add(packed),
                None => all.merge(one),
            }
        }
        let packed = Self::of_packed(counters.packed());
        if all.is_empty() {
            return packed;
        }
        all.merge(&packed);
        all
    }

    fn of_packed(packed: Option<Packed>) -> Self {
        Self { counts: None, packed: packed.map(Box::new) }
    }

    /// The library's own histogram, for writing it in a format that other tools read.
    pub fn as_hdr(&self) -> Cow<'_, Histogram<u64>> {
        match (&self.counts, &self.packed) {
            (Some(counts), _) => Cow::Borrowed(counts),
            (None, Some(packed)) => Cow::Owned(unpacked(Some(packed))),
            (None, None) => Cow::Borrowed(&EMPTY),
        }
    }

    /// Frees the counters of bins without values. To add a value later takes their memory again.
    pub fn pack(&mut self) {
        if self.counts.is_some() {
            *self = Self::of_packed(Packed::of(self.bins()));
        }
    }

    pub fn bytes(&self) -> usize {
        let counters = self.counts.as_ref().map_or(0, Histogram::distinct_values);
        let packed = self.packed.as_ref().map_or(0, |packed| packed.bytes.len());
        counters * size_of::<u64>() + packed
    }

    /// Adds one latency; one over an hour counts as an hour.
    #[inline]
    pub fn record(&mut self, latency_ns: Nanos) {
        self.counters()
            .record(latency_ns.min(MAX_NS))
            .expect("an automatically resized histogram takes every value up to its bound");
    }

    #[inline]
    fn counters(&mut self) -> &mut Histogram<u64> {
        self.counts.get_or_insert_with(|| unpacked(self.packed.take().as_deref()))
    }

    /// Adds every value of `other`, exactly.
    pub fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.counts {
            self.counters().add(theirs).expect(TAKES_ALL);
        }
        let Some(theirs) = &other.packed else { return };
        if self.packed.is_some() {
            *self = Self::sum([&*self, other]);
        } else {
            // One that begins empty is mostly the sum of many.
            add(self.counters(), theirs);
        }
    }

    /// Takes away every value of `other`. What was not recorded here cannot be taken away: then nothing changes.
    pub fn subtract(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if let Some(packed) = &self.packed {
            let mut rest = Counters::default();
            rest.add(packed);
            if rest.subtract(other.bins()).is_some() {
                *self = Self::of_packed(rest.packed());
            }
            return;
        }
        let mut rest = self.as_hdr().into_owned();
        if rest.subtract(&*other.as_hdr()).is_ok() {
            self.counts = Some(rest);
        }
    }

    pub fn count(&self) -> u64 {
        match &self.packed {
            Some(packed) => packed.total,
            None => self.counts.as_ref().map_or(0, Histogram::len),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The bins that have values, ascending, each with its count.
    fn bins(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.counts.iter().flat_map(Histogram::iter_recorded);
        let counts = counts.map(|it| (bin::of(it.value_iterated_to()), it.count_at_value()));
        counts.chain(self.packed.iter().flat_map(|packed| packed.bins()))
    }

    /// The values that occurred, to three digits (the upper ends of their bins), ascending, each with its count.
    pub fn values(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.bins().map(|(bin, count)| (bin::highest(bin), count))
    }

    /// The value at or below which `percent` (0 to 100) of the recorded values lie, in nanoseconds,
    /// to three digits; 0 when empty.
    pub fn percentile_ns(&self, percent: f64) -> Nanos {
        self.percentiles_ns([percent]).first().copied().unwrap_or_default()
    }

    /// Several percentiles, each as [`LatencyHistogram::percentile_ns`]; one pass over the values for all of them
    /// when they ascend.
    pub fn percentiles_ns(&self, percents: impl IntoIterator<Item = f64>) -> Vec<Nanos> {
        let count = self.count();
        let mut values = self.values();
        let (mut value, mut seen, mut last) = (0, 0, 0);
        let at = |percent: f64| {
            // In floating point 99.9 / 100 x 10,000 is slightly more than 9,990, which would be the next rank.
            let rank = (percent * count as f64 / 100.0 - 1e-6).ceil().max(1.0);
            let rank = (rank as u64).min(count);
            if rank < last {
                (values, seen) = (self.values(), 0);
            }
            last = rank;
            while seen < rank {
                let Some((next, count)) = values.next() else { break };
                (value, seen) = (next, seen.saturating_add(count));
            }
            value
        };
        percents.into_iter().map(at).collect()
    }

    /// How many values are above a limit. A bin of the histogram that reaches beyond the limit counts whole, as it
    /// does for [`LatencyHistogram::percentile_ns`]: the percentile is within a limit just when no more values are
    /// above that limit than may be above the percentile.
    pub fn count_above_ns(&self, limit_ns: f64) -> u64 {
        let above = self.values().filter(|(value, _)| *value as f64 > limit_ns);
        sum(above.map(|(_, count)| count))
    }

    /// How many values are at or below each of several limits, as [`LatencyHistogram::count_above_ns`] counts the others;
    /// one pass over the values for all of them.
    pub fn counts_up_to_ns(&self, limits: &[Nanos]) -> Vec<u64> {
        let mut counts = vec![0; limits.len()];
        let most = limits.iter().copied().max().unwrap_or_default();
        for (value, count) in self.values().take_while(|(value, _)| *value <= most) {
            for (up_to, limit) in counts.iter_mut().zip(limits) {
                *up_to = sum([*up_to, if value <= *limit { count } else { 0 }]);
            }
        }
        counts
    }

    /// The arithmetic mean in nanoseconds; 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        let count = self.count() as f64;
        self.bins()
            .fold(0.0, |sum, (bin, of_bin)| sum + bin::middle(bin) as f64 * of_bin as f64 / count)
    }

    /// The smallest value in nanoseconds, to three digits; 0 when empty.
    pub fn min_ns(&self) -> Nanos {
        self.bins().next().map_or(0, |(bin, _)| bin::lowest(bin))
    }

    /// The largest value in nanoseconds, to three digits; 0 when empty.
    pub fn max_ns(&self) -> Nanos {
        match &self.packed {
            Some(packed) => bin::highest(packed.highest),
            None => self.counts.as_ref().map_or(0, Histogram::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_keep_three_digits() {
        let histogram = LatencyHistogram::from_iter((1..=10_000).map(|i| i * 1_000));
        for (percent, exact) in [(50.0, 5_000_000.0), (99.0, 9_900_000.0), (100.0, 10_000_000.0)] {
            let seen = histogram.percentile_ns(percent) as f64;
            assert!((seen / exact - 1.0).abs() < 0.001, "p{percent}: {seen} against {exact}");
        }
    }

    #[test]
    fn a_percentile_on_a_rank_is_the_value_of_that_rank() {
        // 1 to 1,000 are exact at three digits.
        let histogram = LatencyHistogram::from_iter(1..=1_000);
        for (percent, exact) in [(0.0, 1), (0.1, 1), (50.0, 500), (99.9, 999), (100.0, 1_000)] {
            assert_eq!(histogram.percentile_ns(percent), exact, "p{percent}");
        }
    }

    #[test]
    fn values_above_a_limit_are_counted() {
        // 1 to 1,000 are exact at three digits.
        let histogram = LatencyHistogram::from_iter(1..=1_000);
        for (limit_ns, above) in [(0.0, 1_000), (1.0, 999), (990.5, 10), (999.0, 1), (1_000.0, 0)] {
            assert_eq!(histogram.count_above_ns(limit_ns), above, "above {limit_ns}");
        }
        assert_eq!(LatencyHistogram::new().count_above_ns(0.0), 0);
        assert_eq!(histogram.counts_up_to_ns(&[990, 0, 1_000, 1]), [990, 0, 1_000, 1]);
        assert_eq!(LatencyHistogram::new().counts_up_to_ns(&[5]), [0]);
    }

    #[test]
    fn a_percentile_is_within_a_limit_just_when_few_enough_values_are_above_it() {
        let histogram = LatencyHistogram::from_iter((1..=2_000_u64).map(|i| i * i * 7_919));
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
        let mut left = LatencyHistogram::from_iter([5, 70_000, 3]);
        left.merge(&LatencyHistogram::from_iter([9_000_000_000, 70_000]));
        assert_eq!(left, LatencyHistogram::from_iter([5, 70_000, 3, 9_000_000_000, 70_000]));
    }

    #[test]
    fn what_was_taken_away_is_in_no_figure() {
        let mut rest = LatencyHistogram::from_iter([5, 70_000, 3, 9_000_000_000, 70_000]);
        rest.subtract(&LatencyHistogram::from_iter([9_000_000_000, 3, 70_000]));
        let left = LatencyHistogram::from_iter([5, 70_000]);
        let figures =
            |it: &LatencyHistogram| (it.count(), it.min_ns(), it.max_ns(), it.percentile_ns(50.0));
        assert_eq!(figures(&rest), figures(&left));
        rest.subtract(&LatencyHistogram::from_iter([6]));
        assert_eq!(figures(&rest), figures(&left), "6 was never recorded");
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour() {
        let histogram = LatencyHistogram::from_iter([u64::MAX]);
        assert_eq!(histogram.count(), 1);
        assert!((histogram.max_ns() as f64 / MAX_NS as f64 - 1.0).abs() < 0.001);
    }

    /// Histograms of one to three values, of thousands, and with bins on every scale up to an hour.
    fn kinds() -> Vec<LatencyHistogram> {
        vec![
            LatencyHistogram::from_iter([0]),
            LatencyHistogram::from_iter([5, 70_000, 3]),
            LatencyHistogram::from_iter((1..5_000_u64).map(|step| step * step * 997)),
            LatencyHistogram::from_iter(
                (0..45).flat_map(|power| [1 << power, (1 << power) + 1, u64::MAX]),
            ),
            LatencyHistogram::from_iter(
                (0..30_000_u64).map(|step| 1_000_000 + step * 7_919 % 1_000_003),
            ),
        ]
    }

    fn packed(histogram: &LatencyHistogram) -> LatencyHistogram {
        let mut packed = histogram.clone();
        packed.pack();
        assert!(packed.counts.is_none() && !packed.is_empty());
        packed
    }

    #[test]
    fn a_packed_histogram_has_every_figure_of_the_library() {
        for histogram in kinds() {
            let (it, packed) = (histogram.as_hdr().into_owned(), packed(&histogram));
            assert_eq!(packed, histogram);
            assert_eq!(*packed.as_hdr(), it);
            let figures = (packed.count(), packed.min_ns(), packed.max_ns());
            assert_eq!(figures, (it.len(), it.min(), it.max()));
            assert_eq!(packed.mean_ns().to_bits(), it.mean().to_bits());
            let values = it.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value()));
            assert!(packed.values().eq(values));
            // Half a rank less is safely within the right one.
            let quantile = |rank: u64| (rank as f64 - 0.5) / it.len() as f64;
            let library = |rank: u64| it.value_at_quantile(quantile(rank)).min(it.max());
            let ranks = || (1..=it.len()).step_by(1 + it.len() as usize / 500);
            let percents = ranks().map(|rank| 100.0 * rank as f64 / it.len() as f64);
            let expected: Vec<u64> = ranks().map(library).collect();
            assert_eq!(packed.percentiles_ns(percents.clone()), expected);
            assert_eq!(histogram.percentiles_ns(percents), expected);
        }
    }

    #[test]
    fn percentiles_in_any_order_are_those_of_one_each() {
        for histogram in kinds().iter().chain(&kinds().iter().map(packed).collect::<Vec<_>>()) {
            let percents = [99.9, 0.0, 50.0, 50.0, 100.0, 101.0, 25.0];
            let each = percents.map(|percent| histogram.percentile_ns(percent));
            assert_eq!(histogram.percentiles_ns(percents), each);
        }
    }

    #[test]
    fn packed_histograms_are_added_and_taken_away_as_others_are() {
        for one in kinds() {
            for other in kinds() {
                let both = LatencyHistogram::sum([&one, &other]);
                let mut added = one.clone();
                added.merge(&other);
                assert_eq!(added, both);
                for (mut mine, theirs) in [
                    (packed(&one), other.clone()),
                    (one.clone(), packed(&other)),
                    (packed(&one), packed(&other)),
                ] {
                    assert_eq!(LatencyHistogram::sum([&mine, &theirs]), both);
                    mine.merge(&theirs);
                    assert_eq!(mine, both);
                    mine.subtract(&theirs);
                    assert_eq!(mine, one);
                    let (mut less, mut rest) = (one.clone(), mine.clone());
                    less.subtract(&theirs);
                    rest.subtract(&theirs);
                    assert_eq!(rest, less);
                }
            }
        }
    }

    #[test]
    fn a_value_is_added_to_a_packed_histogram() {
        let mut packed = packed(&LatencyHistogram::from_iter([5, 70_000]));
        packed.record(9_000_000_000);
        assert_eq!(packed, LatencyHistogram::from_iter([5, 70_000, 9_000_000_000]));
        let mut empty = LatencyHistogram::from_iter([7]);
        empty.subtract(&LatencyHistogram::from_iter([7]));
        empty.pack();
        empty.record(7);
        assert_eq!(empty, LatencyHistogram::from_iter([7]));
    }

    #[test]
    fn packed_histograms_take_a_tenth_of_the_memory() {
        // A lognormal spread of response times around a millisecond, as 60,000 transactions have.
        let histogram = LatencyHistogram::from_iter((1..60_000_u32).map(|at| {
            let part = f64::from(at) / 60_000.0;
            ((part / (1.0 - part)).ln() * 0.5).exp().mul_add(1e6, 1.0) as u64
        }));
        let (bytes, counters) = (packed(&histogram).bytes(), histogram.bytes());
        assert!(bytes * 10 < counters, "{bytes} of {counters} bytes");
    }

    #[test]
    fn counts_that_are_cut_off_or_out_of_range_are_refused() {
        let histogram = packed(&LatencyHistogram::from_iter([5, 70_000, 3, 9_000_000_000]));
        let bytes = histogram.packed.as_ref().unwrap().bytes.to_vec();
        let read = |bytes: &[u8], most| LatencyHistogram::from_encoded(bytes, most);
        assert_eq!(read(&bytes, MAX_NS), Some(histogram.clone()));
        assert_eq!(read(&bytes, 8_000_000_000), None, "a value above the largest");
        assert_eq!(read(&[], MAX_NS), None);
        assert_eq!(read(&[0, 0, 9], MAX_NS), None, "no values");
        for end in 0..bytes.len() {
            assert_ne!(read(&bytes[..end], MAX_NS), Some(histogram.clone()), "cut at {end}");
        }
        assert_eq!(read(&[0x80], MAX_NS), None);
        assert_eq!(read(&[0xff; 9], MAX_NS), None, "a gap beyond the last bin");
        let many = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(read(&many, MAX_NS).unwrap().count(), 1 << 63);
    }

    #[test]
    fn empty_is_zero_everywhere() {
        let empty = LatencyHistogram::new();
        assert_eq!((empty.count(), empty.percentile_ns(99.0), empty.max_ns()), (0, 0, 0));
    }
}
