//! Intervals of confidence on simulated series whose truth is known: how often they cover it.

use measure::LatencyHistogram;

use super::*;
use crate::draws::Draws;
use crate::summarize;
use crate::summary::tests::seconds_of;
use crate::{Measured, Offered, OperationSlice};

const SERIES: usize = 600;
/// Fewer than 93 in a hundred of so many.
const COVERED_MIN: usize = SERIES * 93 / 100;

/// A first-order autoregression with mean 100 and deviation 5, in its steady state.
fn autoregression(draws: &mut Draws, correlation: f64, count: usize) -> Vec<f64> {
    let mut value = draws.normal();
    let mut next = || {
        let seen = value;
        value = correlation * value + (1.0 - correlation * correlation).sqrt() * draws.normal();
        100.0 + 5.0 * seen
    };
    (0..count).map(|_| next()).collect()
}

fn covers(interval: WithinInterval, truth: f64) -> bool {
    interval.low <= truth && interval.high.is_none_or(|high| truth <= high)
}

#[test]
fn the_mean_of_correlated_figures_is_covered_as_often_as_promised() {
    let mut draws = Draws(1);
    for (correlation, count) in
        [0.0, 0.5, 0.8].into_iter().flat_map(|it| [8, 10, 20, 60].map(|count| (it, count)))
    {
        let mut covered = 0;
        for _ in 0..SERIES {
            let figures = autoregression(&mut draws, correlation, count);
            covered += usize::from(covers(interval_of_mean(&figures).unwrap(), 100.0));
        }
        assert!(covered >= COVERED_MIN, "{correlation}, {count} figures: {covered} of {SERIES}");
    }
}

/// What the test above would find if the figures were taken as independent: at 0.8 the variance of the mean is nine
/// times as large, so that a half width of 1.96 / 3 standard errors is left, which covers 49 %.
#[test]
fn an_interval_that_takes_correlated_figures_as_independent_misses_half_the_time() {
    let mut draws = Draws(1);
    let mut covered = 0;
    for _ in 0..SERIES {
        let figures = autoregression(&mut draws, 0.8, 60);
        let half = student::half_width(0.95, &figures).unwrap();
        covered += usize::from((mean(&figures).unwrap() - 100.0).abs() <= half);
    }
    assert!((0.43..0.58).contains(&(covered as f64 / SERIES as f64)), "{covered}");
}

/// Of n independent figures all count; of those with a correlation of r, n (1 - r) / (1 + r): at 0.8 one of nine.
#[test]
fn effective_samples_are_fewer_where_figures_depend_on_each_other() {
    let mut draws = Draws(3);
    let mut mean_of = |correlation| {
        let effective = |_| {
            let figures = autoregression(&mut draws, correlation, 240);
            interval_of_mean(&figures).unwrap().effective_samples / 240.0
        };
        (0..100).map(effective).sum::<f64>() / 100.0
    };
    let (independent, dependent) = (mean_of(0.0), mean_of(0.8));
    assert!((0.6..=1.0).contains(&independent), "{independent}");
    assert!((0.04..0.15).contains(&dependent), "{dependent}");
}

/// One server of 100 a second with exponential services and Poisson arrivals: response times are exponentially
/// distributed with the rate that the arrivals leave of the server's (M/M/1), and depend on each other.
struct Queue {
    draws: Draws,
    arrivals_per_s: f64,
    arrival_s: f64,
    free_s: f64,
    end_s: f64,
}

impl Queue {
    const SERVER_PER_S: f64 = 100.0;

    fn new(arrivals_per_s: f64) -> Self {
        Self { draws: Draws(5), arrivals_per_s, arrival_s: 0.0, free_s: 0.0, end_s: 0.0 }
    }

    /// The latencies of the next so many intervals of one second, in units of 10 us, so that histograms are small.
    fn intervals(&mut self, count: usize) -> Vec<LatencyHistogram> {
        let mut intervals = vec![LatencyHistogram::new(); count];
        let begin = self.end_s;
        self.end_s += count as f64;
        loop {
            let end =
                self.arrival_s.max(self.free_s) + self.draws.exponential() / Self::SERVER_PER_S;
            let (arrival, at) = (self.arrival_s, end - begin);
            self.free_s = end;
            self.arrival_s += self.draws.exponential() / self.arrivals_per_s;
            if at >= count as f64 {
                intervals.iter_mut().for_each(LatencyHistogram::pack);
                return intervals;
            }
            intervals[at as usize].record(((end - arrival) * 1e5) as u64);
        }
    }

    /// The value of this percentile in the long run, in the same units.
    fn truth(&self, percent: f64) -> f64 {
        -(1.0 - percent / 100.0).ln() / (Self::SERVER_PER_S - self.arrivals_per_s) * 1e5
    }
}

#[test]
fn percentiles_of_a_queue_are_covered_as_often_as_promised() {
    const TRIALS: usize = 200;
    // A minute of the queue at half and at 0.7 of its capacity.
    for arrivals_per_s in [50.0, 70.0] {
        let mut queue = Queue::new(arrivals_per_s);
        queue.intervals(60);
        let mut covered = [0; 3];
        for _ in 0..TRIALS {
            let intervals = queue.intervals(60);
            for (covered, percent) in covered.iter_mut().zip([50.0, 95.0, 99.0]) {
                let interval = interval_of_percentile(&intervals, percent).unwrap();
                *covered += usize::from(covers(interval, queue.truth(percent)));
            }
        }
        assert!(
            covered.iter().all(|covered| *covered >= TRIALS * 93 / 100),
            "{arrivals_per_s}/s: {covered:?} of {TRIALS}"
        );
    }
}

/// Latencies of intervals whose level is an autoregression with the deviation 0.1 of its logarithm, in units of 100 to a
/// level of 1; the logarithms have the other deviation around it.
fn drifting(draws: &mut Draws, correlation: f64, spread: f64) -> Vec<LatencyHistogram> {
    let levels = autoregression(draws, correlation, 10);
    let interval = |level: f64| {
        let level = (level - 100.0) / 50.0;
        (0..250).map(|_| (1e4 * (level + spread * draws.normal()).exp()) as u64).collect()
    };
    levels.into_iter().map(interval).collect()
}

/// The deviations of the level and around it add as squares; 1.6449 deviations are below the 95th percentile.
#[test]
fn percentiles_of_a_drifting_level_are_covered_and_have_two_ends() {
    const TRIALS: usize = 300;
    let mut draws = Draws(11);
    for (correlation, spread) in [(0.0, 0.02), (0.6, 0.02), (0.8, 0.02), (0.8, 0.3)] {
        let mut covered = [0; 2];
        for _ in 0..TRIALS {
            let intervals = drifting(&mut draws, correlation, spread);
            for (covered, (percent, quantile)) in
                covered.iter_mut().zip([(50.0, 0.0), (95.0, 1.6449)])
            {
                let interval = interval_of_percentile(&intervals, percent).unwrap();
                let truth = 1e4 * (quantile * spread.hypot(0.1)).exp();
                *covered += usize::from(covers(interval, truth));
                let high = interval.high.expect("each interval knows its percentile");
                assert!(interval.low > 0.0 && high < 6.0 * truth, "{percent}: {interval:?}");
            }
        }
        assert!(
            covered.iter().all(|covered| *covered >= TRIALS * 93 / 100),
            "{correlation}, {spread}: {covered:?} of {TRIALS}"
        );
    }
}

/// Medians of 50 that move up and down by 4 % at most, with hardly any spread in an interval: the share of values below the
/// median of all is 0 or 1 in each.
#[test]
fn a_median_that_drifts_narrowly_is_known() {
    let medians = [45_700, 51_100, 47_000, 50_200, 48_800, 46_500, 49_900, 48_100, 50_700, 47_600];
    let of = |median: u64| -> LatencyHistogram { (0..100).map(|at| median + 2 * at).collect() };
    let intervals: Vec<LatencyHistogram> = medians.into_iter().map(of).collect();
    let median = interval_of_percentile(&intervals, 50.0).unwrap();
    assert!(median.low > 40_000.0 && median.high.unwrap() < 57_000.0, "{median:?}");
    assert!((1.0..100.0).contains(&median.effective_samples), "{median:?}");
}

/// Of the logarithms of two percentiles -d and d in turn, the deviation of ten is d sqrt(10 / 9).
#[test]
fn percentiles_that_are_far_apart_have_no_level() {
    let of = |deviation: f64| {
        let interval = |at: usize| {
            let sign = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
            let latency = 1e6 * f64::exp(sign * deviation);
            LatencyHistogram::from_iter([latency as u64; 100])
        };
        let intervals: Vec<LatencyHistogram> = (0..10).map(interval).collect();
        let intervals: Vec<&LatencyHistogram> = intervals.iter().collect();
        level::level(&intervals, 50.0, [1e6, 1e6])
    };
    assert!(of(0.28).is_some_and(|level| (level.middle_ns / 1e6 - 1.0).abs() < 1e-3));
    assert_eq!(of(0.29), None);
}

/// Ten intervals with one value each: the ends of a percentile have no rank, and there is no interval.
#[test]
fn an_interval_that_says_nothing_is_none() {
    let alone = |at: u64| LatencyHistogram::from_iter([if at < 5 { 1_000 } else { 2_000 }]);
    let intervals: Vec<LatencyHistogram> = (0..10).map(alone).collect();
    assert_eq!(interval_of_percentile(&intervals, 50.0), None);
    // Half of all values are 1, the others a thousand: the lower end is far below the 95th percentile.
    let low = WithinInterval { low: 9.0, high: None, effective_samples: 5.0 };
    assert_eq!((low.if_telling(100.0), low.if_telling(90.0)), (None, Some(low)));
}

/// Ten intervals with a hundred of 100 ms: the sum is 100 s. One that takes ten times the longest, 1 s, adds 1 %, and ten
/// add 10 %.
#[test]
fn what_waits_at_the_end_widens_the_interval_of_the_mean() {
    let one = LatencyHistogram::from_iter([100_000_000; 100]);
    let intervals = vec![&one; 10];
    let all = LatencyHistogram::sum(intervals.iter().copied());
    let of = |unsent: usize| {
        let ages = LatencyHistogram::from_iter(vec![1_000; unsent]);
        let latency = crate::latency::bounded_latency(&all, &ages, &[50.0]);
        let percentiles = percentiles(&intervals, &latency, &all, Rest::None);
        (mean_time(&intervals, &latency, Rest::None), percentiles[0].1)
    };
    let (mean, median) = of(1);
    let more = mean.unwrap().high.unwrap() / of(0).0.unwrap().high.unwrap();
    assert!((more - 1.01).abs() < 2e-3 && median.is_some(), "{more} {median:?}");
    assert_eq!(of(10).0, None);
    assert!(of(10).1.is_some(), "the median is that of equal values");
}

#[test]
fn equal_latencies_have_an_interval_of_one_value() {
    let intervals: Vec<LatencyHistogram> =
        (0..20).map(|_| LatencyHistogram::from_iter([700; 50])).collect();
    let interval = interval_of_percentile(&intervals, 50.0).unwrap();
    assert_eq!((interval.low, interval.high), (700.0, Some(700.0)));
    assert_eq!(interval.effective_samples, 1_000.0);
}

/// 1 to 100 in each of ten intervals: the share below a percentile is the same in all, so that all values count, as if
/// they were independent. Then the ends are ranks of the binomial distribution: of 1,000 values the median has a
/// deviation of 15.8 ranks, 31 with 1.96 of them, and ten values of each.
#[test]
fn independent_latencies_have_the_interval_of_their_ranks() {
    let intervals: Vec<LatencyHistogram> =
        (0..10).map(|_| LatencyHistogram::from_iter(1..=100)).collect();
    let of = |percent| interval_of_percentile(&intervals, percent).unwrap();
    assert_eq!((of(50.0).low, of(50.0).high), (47.0, Some(54.0)));
    // All values are at or below the largest: P(B = 1,000) is 0.999 ^ 1,000, 37 %.
    assert_eq!(of(99.9).high, None);
    assert_eq!(interval_of_percentile(&intervals, 100.0), None);
    assert_eq!(interval_of_percentile(&intervals, 0.0), None);
}

#[test]
fn few_intervals_and_intervals_without_latencies_have_no_interval() {
    let one = LatencyHistogram::from_iter(1..=100);
    assert_eq!(interval_of_percentile(std::iter::repeat_n(&one, 7), 50.0), None);
    assert!(interval_of_percentile(std::iter::repeat_n(&one, 8), 50.0).is_some());
    let none = LatencyHistogram::new();
    assert_eq!(interval_of_percentile(std::iter::repeat_n(&none, 20), 50.0), None);
    assert_eq!(interval_of_mean(&[0.0; 20]), None);
    assert_eq!(interval_of_mean(&[5.0; 7]), None);
}

#[test]
fn constant_figures_have_an_interval_without_width() {
    let interval = interval_of_mean(&[5.0; 8]).unwrap();
    assert_eq!((interval.low, interval.high, interval.effective_samples), (5.0, Some(5.0), 8.0));
}

#[test]
fn a_summary_has_the_intervals_of_its_figures_or_the_reason_why_not() {
    let trial = seconds_of(&[20, 22, 18, 21, 19, 20, 20, 24, 16, 20]);
    let of_interval =
        |slice: &Slice| (0..slice.transactions).map(|_| 100_000_000).collect::<LatencyHistogram>();
    let histograms: Vec<LatencyHistogram> = trial.slices.iter().map(of_interval).collect();
    let latencies: Vec<&LatencyHistogram> = histograms.iter().collect();
    let measured = Measured { latencies: Some(&latencies), ..trial.measured() };
    let within = summarize(&measured).within;
    assert_eq!(within.absent, None);
    let rate = within.transactions_per_s.unwrap();
    // Around 20, by the same factor in both directions; there are two statements for each transaction.
    assert!((rate.low * rate.high.unwrap() - 400.0).abs() < 1e-6, "{rate:?}");
    assert!((1.0..4.0).contains(&(rate.high.unwrap() - 20.0)), "{rate:?}");
    let queries = within.queries_per_s.unwrap();
    assert!((queries.low - 2.0 * rate.low).abs() < 1e-9);
    let p99 = within.percentile_ns(99.0).unwrap();
    assert!((p99.low / 1e8 - 1.0).abs() < 1e-3, "{p99:?}");
    assert_eq!(within.percentile_ns(12.0), None, "it was not asked for");

    // The operation `transaction` is counted as the transactions are; `select` was not counted by interval.
    let of = trial.slices.iter().zip(&histograms);
    let of =
        of.map(|(slice, latencies)| OperationSlice { succeeded: slice.transactions, latencies });
    let operations =
        summarize(&Measured { operation_slices: &[of.collect()], ..measured }).operations;
    assert_eq!(operations[0].within.per_s, Some(rate));
    assert_eq!(operations[0].within.mean_ns, within.mean_ns);
    assert_eq!(operations[0].within.percentiles_ns, within.percentiles_ns);
    assert_eq!(operations[1].within, OperationWithin::default());

    let absent = |measured: &Measured<'_>| summarize(measured).within.absent;
    assert_eq!(absent(&trial.measured()), Some(NoInterval::PlannedQueries));
    let few = Measured { slices: &trial.slices[..7], ..measured };
    assert_eq!(absent(&few), Some(NoInterval::FewIntervals(7)));
    let none = LatencyHistogram::new();
    let changing = Offered {
        rate_per_s: 20.0,
        is_constant: false,
        is_random: false,
        lateness: &none,
        start_delays: &none,
    };
    let changing = Measured { open: Some(changing), ..measured };
    assert_eq!(absent(&changing), Some(NoInterval::ChangingRate));
}

#[test]
fn a_short_rest_of_the_window_joins_the_interval_before() {
    let slice = |seconds| Slice { seconds, ..Slice::default() };
    let rest = Rest::of(&[slice(1.0), slice(1.0), slice(0.4)]);
    assert_eq!(rest.joined(vec![(1.0, 1.0), (2.0, 1.0), (3.0, 0.4)]), [(1.0, 1.0), (5.0, 1.4)]);
    assert_eq!(Rest::of(&[slice(1.0), slice(0.5)]), Rest::None);
    assert_eq!(Rest::of(&[slice(1.0)]), Rest::None);
}

#[test]
fn many_intervals_are_joined_into_batches() {
    let values: Vec<f64> = (0..600).map(f64::from).collect();
    let batches = batched(&values);
    assert_eq!((batches.len(), batches[0], batches[199]), (200, 1.0, 598.0));
    assert_eq!(batched(&[1.0, 2.0]), [1.0, 2.0]);
}
