//! Summary of latencies, some of which may be known only from below.

use measure::{LatencyHistogram, Nanos};

/// Summary of latencies, ns. What was never answered is known only from below: its age is a lower bound of its latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Number of values, ages included.
    pub count: u64,
    /// How many of them are ages of what was never answered. With any, the maximum is a lower bound, and the mean unless
    /// they hardly move it.
    pub unanswered: u64,
    pub mean_ns: f64,
    pub min_ns: Nanos,
    pub max_ns: Nanos,
    pub percentiles: Vec<(f64, Bounds)>,
}

/// The bounds of a percentile: its value if every age were a latency, and if none of these transactions had ever ended.
///
/// A percentile is exact when both agree. No product-limit estimate (Kaplan and Meier, 1958) is made: it supposes that
/// what is not seen to its end does not differ from the rest, and an overload leaves the slowest unanswered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub least_ns: Nanos,
    /// The upper bound; `None` without one.
    pub most_ns: Option<Nanos>,
}

/// Bounds that differ by this part of the lower one tell the percentile.
const NEAR: f64 = 0.01;
/// What was never answered may move a mean by this part of it; beyond, the mean is a lower bound.
const MEAN_NEAR: f64 = 0.05;
/// What was never answered is supposed to take at most so many times as long as the longest latency or age.
const TIMES_LONGEST: f64 = 10.0;

impl Bounds {
    pub fn is_exact(self) -> bool {
        self.most_ns == Some(self.least_ns)
    }

    /// Whether what was never answered hardly moves it.
    pub(crate) fn is_near(self) -> bool {
        self.most_ns.is_some_and(|most_ns| most_ns as f64 <= self.least_ns as f64 * (1.0 + NEAR))
    }
}

impl Latency {
    /// Returns `None` without values: the figures are zeros then, and were not measured.
    pub fn known(&self) -> Option<&Self> {
        (self.count > 0).then_some(self)
    }

    /// The value of a requested percentile, or its lower bound.
    pub fn percentile_ns(&self, percent: f64) -> Option<Nanos> {
        self.bounds(percent).map(|bounds| bounds.least_ns)
    }

    /// The mean, and whether it is only a lower bound: what was never answered may move it by more than [`MEAN_NEAR`].
    pub fn mean(&self) -> (f64, bool) {
        (self.mean_ns, self.mean_widening().is_none())
    }

    /// The least and the most that the mean can be; `None` where it is only a lower bound.
    pub fn mean_within(&self) -> Option<[f64; 2]> {
        Some([self.mean_ns, self.mean_ns * (1.0 + self.mean_widening()?)])
    }

    /// By how much the mean grows, as a part of it, when each of what was never answered takes [`TIMES_LONGEST`] as long
    /// as the longest of all. `None` without a mean, and for more than [`MEAN_NEAR`].
    pub(crate) fn mean_widening(&self) -> Option<f64> {
        if self.unanswered == 0 {
            return Some(0.0);
        }
        let most_ns = self.unanswered as f64 * TIMES_LONGEST * self.max_ns as f64;
        Some(most_ns / (self.mean_ns * self.count as f64)).filter(|part| *part <= MEAN_NEAR)
    }

    /// The largest, and whether it is only a lower bound.
    pub fn max(&self) -> (f64, bool) {
        (self.max_ns as f64, self.unanswered > 0)
    }

    /// A requested percentile, 0 if it was not requested, and whether it is only a lower bound: what was never answered
    /// may move it by more than [`NEAR`].
    pub fn percentile(&self, percent: f64) -> (f64, bool) {
        let bounds = self.bounds(percent);
        bounds.map_or((0.0, false), |it| (it.least_ns as f64, !it.is_near()))
    }

    /// The least and the most that a requested percentile can be; `None` without an upper bound.
    pub fn percentile_within(&self, percent: f64) -> Option<[f64; 2]> {
        let Some(bounds) = self.bounds(percent) else { return Some([0.0; 2]) };
        Some([bounds.least_ns as f64, bounds.most_ns? as f64])
    }

    pub fn bounds(&self, percent: f64) -> Option<Bounds> {
        self.percentiles.iter().find(|(asked, _)| *asked == percent).map(|(_, bounds)| *bounds)
    }
}

/// The summary of latencies that are all known.
pub(crate) fn latency(histogram: &LatencyHistogram, percentiles: &[f64]) -> Latency {
    bounded_latency(histogram, &LatencyHistogram::new(), percentiles)
}

/// The summary of the latencies of what ended and the ages of what did not.
pub(crate) fn bounded_latency(
    ended: &LatencyHistogram,
    ages: &LatencyHistogram,
    percentiles: &[f64],
) -> Latency {
    let mut all = ended.clone();
    all.merge(ages);
    let bounds = |(percent, least_ns): (&f64, Nanos)| {
        let most_ns = if ages.is_empty() {
            Some(least_ns)
        } else {
            // The same rank among all values, of which the ages are the largest.
            let rank_percent = percent * all.count() as f64 / ended.count().max(1) as f64;
            (!ended.is_empty() && rank_percent <= 100.0)
                .then(|| ended.percentile_ns(rank_percent).max(least_ns))
        };
        (*percent, Bounds { least_ns, most_ns })
    };
    let least_ns = all.percentiles_ns(percentiles.iter().copied());
    Latency {
        count: all.count(),
        unanswered: ages.count(),
        mean_ns: all.mean_ns(),
        min_ns: if ended.is_empty() { all.min_ns() } else { ended.min_ns() },
        max_ns: all.max_ns(),
        percentiles: percentiles.iter().zip(least_ns).map(bounds).collect(),
    }
}

/// A quotient; 0 when the divisor is 0.
pub(crate) fn per(count: f64, of: f64) -> f64 {
    if of > 0.0 { count / of } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_exact_where_ages_do_not_matter() {
        // 80 known values and 20 ages, all of them longer than the 70th value.
        let seen = bounded_latency(
            &LatencyHistogram::from_iter(1..=80),
            &LatencyHistogram::from_iter((0..20).map(|_| 75)),
            &[50.0, 70.0, 76.0, 99.0],
        );
        let bounds = |percent| seen.bounds(percent).unwrap();
        assert_eq!(bounds(50.0), Bounds { least_ns: 50, most_ns: Some(50) });
        assert!(bounds(70.0).is_exact() && bounds(70.0).is_near() && !bounds(76.0).is_near());
        assert_eq!(bounds(76.0), Bounds { least_ns: 75, most_ns: Some(76) });
        assert_eq!(bounds(99.0).most_ns, None);
        assert_eq!(seen.percentile_within(76.0), Some([75.0, 76.0]));
        assert_eq!(seen.percentile_within(99.0), None);
        assert_eq!((seen.count, seen.unanswered, seen.min_ns, seen.max_ns), (100, 20, 1, 80));
    }

    /// One of 1,001 moves the 99th percentile by less than a rank of 1,000, which is 1 of 990.
    #[test]
    fn one_that_waits_at_the_end_leaves_a_percentile_near() {
        let ended = LatencyHistogram::from_iter(1..=1_000);
        let seen = bounded_latency(&ended, &LatencyHistogram::from_iter([1]), &[99.0, 99.99]);
        let [p99, highest] = [99.0, 99.99].map(|percent| seen.bounds(percent).unwrap());
        assert_eq!(p99, Bounds { least_ns: 990, most_ns: Some(991) });
        assert!(p99.is_near() && !p99.is_exact());
        assert!(!seen.percentile(99.0).1 && seen.percentile(99.99).1);
        assert!(highest.most_ns.is_none() && !highest.is_near());
    }

    /// 778,898 values that take 0.3 ms but for one of 9 ms: their sum is 233.7 s. One that takes ten times the longest adds
    /// 90 ms, which is 0.039 %; 130 of them add 5.006 %, and 129 add 4.97 %.
    #[test]
    fn a_mean_is_a_bound_where_what_waits_may_move_it() {
        let ended = [9_000_000].into_iter().chain(std::iter::repeat_n(300_000, 778_897));
        let ended = LatencyHistogram::from_iter(ended);
        let with = |waiting: usize| {
            let ages = LatencyHistogram::from_iter(vec![1_000; waiting]);
            bounded_latency(&ended, &ages, &[50.0, 99.0])
        };
        let one = with(1);
        let [least, most] = one.mean_within().unwrap();
        assert!(
            least == one.mean_ns && (most / least - 1.000_385).abs() < 1e-5,
            "{}",
            most / least
        );
        assert_eq!(one.mean(), (one.mean_ns, false));
        assert!(!one.percentile(50.0).1 && !one.percentile(99.0).1 && one.max().1);
        assert_eq!(with(0).mean_within(), Some([with(0).mean_ns; 2]));
        assert!(!with(129).mean().1 && with(130).mean().1);
        assert_eq!(with(130).mean_within(), None);
    }

    #[test]
    fn ages_of_an_overload_give_bounds() {
        // 20/s against 10/s for 10 s: the request k / 20 s is answered (k + 1) / 10 s, the others wait.
        let ms = 1_000_000;
        let answered = LatencyHistogram::from_iter((0..100).map(|k| (100 + 50 * k) * ms));
        let ages = LatencyHistogram::from_iter((100..200).map(|k| (10_000 - 50 * k) * ms));
        let seen = bounded_latency(&answered, &ages, &[50.0, 99.0]);
        let near = |ns: Nanos, seconds: f64| (ns as f64 / 1e9 / seconds - 1.0).abs() < 0.02;
        let half = seen.bounds(50.0).unwrap();
        assert!(near(half.least_ns, 2.55) && near(half.most_ns.unwrap(), 5.05), "{half:?}");
        let tail = seen.bounds(99.0).unwrap();
        assert!(near(tail.least_ns, 5.0) && tail.most_ns.is_none(), "{tail:?}");
        assert!(near(seen.min_ns, 0.1), "the least latency is one that was measured");
    }

    #[test]
    fn with_ages_alone_nothing_has_an_upper_bound() {
        let seen = bounded_latency(
            &LatencyHistogram::from_iter([]),
            &LatencyHistogram::from_iter([7, 9]),
            &[50.0],
        );
        assert_eq!(seen.bounds(50.0), Some(Bounds { least_ns: 7, most_ns: None }));
        assert_eq!((seen.count, seen.min_ns), (2, 7));
    }
}
