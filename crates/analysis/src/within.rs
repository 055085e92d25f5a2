//! The uncertainty of the figures of one trial: intervals of confidence from the intervals of its window, which depend
//! on each other.

mod level;
mod long_run;
mod share;

use measure::LatencyHistogram;

use crate::latency::{Bounds, Latency, latency};
use crate::measured::{Measured, Slice};
use crate::moments::mean;
use crate::student;
use level::Level;

/// Fewer intervals than this cannot show how long noise lasts, and get no interval of confidence. From here on one
/// covers the truth in 93 of 100 trials and more, when the noise lasts for four or five intervals (`long_run`).
pub const INTERVALS_MIN: usize = 8;
/// More intervals are joined into batches of equal length, so that there are at most so many. The waves that the
/// variance is taken from are longer.
const BATCHES_MAX: usize = 256;
/// The number below which a normally distributed value is in 97.5 % of all cases.
const NORMAL_95: f64 = 1.959_963_985;
/// A lower end alone tells something when it is at least this part of the figure.
const LOW_SHARE_MIN: f64 = 0.1;
/// A last interval that is shorter than this part of the first joins the one before.
const LENGTH_SHARE_MIN: f64 = 0.5;

/// A 95 % interval of a figure of one trial, for the figure over a window without end in the same state. It knows
/// nothing of what differs between trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithinInterval {
    /// Lower end; 0 where there are too few values for one, and an upper end tells something.
    pub low: f64,
    /// Upper end; `None` where there are too few values for one, and the lower end tells something.
    pub high: Option<f64>,
    /// So many independent samples would give an interval of this width: of rates and means intervals, of
    /// percentiles transactions.
    pub effective_samples: f64,
}

/// The intervals of the figures of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Within {
    pub transactions_per_s: Option<WithinInterval>,
    /// The part of the variance of that figure that the noise within the trial explains, as a part of the squared
    /// figure.
    pub throughput_variance: Option<f64>,
    pub queries_per_s: Option<WithinInterval>,
    /// Of the mean latency of transactions, ns; `None` when so many were never answered that they may move it.
    pub mean_ns: Option<WithinInterval>,
    /// Of each requested percentile of these latencies, ns; `None` where the percentile is only a bound.
    pub percentiles_ns: Vec<(f64, Option<WithinInterval>)>,
    pub absent: Option<NoInterval>,
}

/// The intervals of the figures of one operation of a trial; none where the trial has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationWithin {
    pub per_s: Option<WithinInterval>,
    /// Of its mean latency, ns; `None` when so many were never answered that they may move it.
    pub mean_ns: Option<WithinInterval>,
    /// Of each requested percentile of its latencies, ns; `None` where the percentile is only a bound.
    pub percentiles_ns: Vec<(f64, Option<WithinInterval>)>,
}

/// Why no figure of a trial has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// The window has so many intervals, fewer than [`INTERVALS_MIN`].
    FewIntervals(usize),
    /// The offered rate changes over the window, so that its parts are no samples of one state.
    ChangingRate,
    /// Each query of the load is planned, so that its parts are no samples of one state.
    PlannedQueries,
}

impl WithinInterval {
    /// Half its width, by the logarithm; `None` where it has no such.
    pub fn log_half_width(&self) -> Option<f64> {
        Some((self.high? / self.low).ln() / 2.0).filter(|half_width| half_width.is_finite())
    }
}

impl Within {
    pub fn percentile_ns(&self, percent: f64) -> Option<WithinInterval> {
        of_percent(&self.percentiles_ns, percent)
    }
}

impl OperationWithin {
    pub fn percentile_ns(&self, percent: f64) -> Option<WithinInterval> {
        of_percent(&self.percentiles_ns, percent)
    }
}

fn of_percent(
    percentiles: &[(f64, Option<WithinInterval>)],
    percent: f64,
) -> Option<WithinInterval> {
    percentiles.iter().find(|(of, _)| *of == percent).and_then(|(_, interval)| *interval)
}

/// The interval of a percentile of latencies, ns, from the latencies of each interval of the window so far. `None` with
/// fewer than [`INTERVALS_MIN`] intervals, or without latencies.
pub fn interval_of_percentile<'a>(
    of_intervals: impl IntoIterator<Item = &'a LatencyHistogram>,
    percent: f64,
) -> Option<WithinInterval> {
    let of_intervals: Vec<&LatencyHistogram> = of_intervals.into_iter().collect();
    let all = LatencyHistogram::sum(of_intervals.iter().copied());
    let latency = latency(&all, &[percent]);
    percentiles(&of_intervals, &latency, &all, Rest::None).pop()?.1
}

/// The interval of the mean of figures of successive intervals, such as their throughput. `None` with fewer than
/// [`INTERVALS_MIN`] of them, or when their mean is not positive.
pub fn interval_of_mean(figures: &[f64]) -> Option<WithinInterval> {
    let parts: Vec<(f64, f64)> = figures.iter().map(|figure| (*figure, 1.0)).collect();
    Some(Spread::of_quotient(&parts)?.around(mean(figures)?))
}

/// The interval of a rate: of sums over successive intervals, and the lengths of these. `None` as with
/// [`interval_of_mean`].
pub(crate) fn interval_of_rate(parts: &[(f64, f64)]) -> Option<WithinInterval> {
    let (sum, length) = sums(parts);
    Some(Spread::of_quotient(parts)?.around(sum / length))
}

/// The interval of a mean time: of sums of times over successive intervals, and their numbers. `None` as with
/// [`interval_of_mean`].
pub(crate) fn interval_of_mean_time(parts: &[(f64, f64)]) -> Option<WithinInterval> {
    let (sum, count) = sums(parts);
    Spread::of_quotient(parts)?.around_time(sum / count)
}

/// The variance of the mean of successive figures that depend on each other, as a part of the squared mean. `None` as with
/// [`interval_of_mean`].
#[cfg(test)]
pub(crate) fn variance_of_mean(figures: &[f64]) -> Option<f64> {
    let parts: Vec<(f64, f64)> = figures.iter().map(|figure| (*figure, 1.0)).collect();
    Some(Spread::of_quotient(&parts)?.variance)
}

/// The intervals of a trial; `due` are the latencies that `latency` summarizes.
pub(crate) fn within(measured: &Measured<'_>, due: &LatencyHistogram, latency: &Latency) -> Within {
    let of_intervals = match samples(measured) {
        Ok(of_intervals) => of_intervals,
        Err(absent) => return Within { absent: Some(absent), ..Within::default() },
    };
    let rest = Rest::of(measured.slices);
    let rate = |count: fn(&Slice) -> u64| rate(measured.slices, measured.slices.iter().map(count));
    let transactions = rate(|slice| slice.transactions);
    Within {
        transactions_per_s: transactions.map(|it| it.0),
        throughput_variance: transactions.map(|it| it.1),
        queries_per_s: rate(|slice| slice.queries).map(|it| it.0),
        mean_ns: mean_time(of_intervals, latency, rest),
        percentiles_ns: percentiles(of_intervals, latency, due, rest),
        absent: None,
    }
}

/// The intervals of operation `at` of a trial; `due` are the latencies that `latency` summarizes.
pub(crate) fn operation_within(
    measured: &Measured<'_>,
    at: usize,
    due: &LatencyHistogram,
    latency: &Latency,
) -> OperationWithin {
    let of = measured.operation_slices.get(at).filter(|of| of.len() == measured.slices.len());
    let Some(of) = of.filter(|_| samples(measured).is_ok()) else {
        return OperationWithin::default();
    };
    let rest = Rest::of(measured.slices);
    let of_intervals: Vec<&LatencyHistogram> = of.iter().map(|slice| slice.latencies).collect();
    OperationWithin {
        per_s: rate(measured.slices, of.iter().map(|slice| slice.succeeded)).map(|it| it.0),
        mean_ns: mean_time(&of_intervals, latency, rest),
        percentiles_ns: percentiles(&of_intervals, latency, due, rest),
    }
}

/// The latencies of the intervals of a trial, if these are samples of one state and enough.
fn samples<'a>(measured: &Measured<'a>) -> Result<&'a [&'a LatencyHistogram], NoInterval> {
    let of_intervals = measured.latencies.ok_or(NoInterval::PlannedQueries)?;
    if measured.open.is_some_and(|open| !open.is_constant) {
        return Err(NoInterval::ChangingRate);
    }
    match measured.slices.len() {
        few @ ..INTERVALS_MIN => Err(NoInterval::FewIntervals(few)),
        _ => Ok(of_intervals),
    }
}

/// The interval of a rate, and its variance as a part of its square.
fn rate(slices: &[Slice], counts: impl Iterator<Item = u64>) -> Option<(WithinInterval, f64)> {
    let parts = counts.zip(slices).map(|(count, slice)| (count as f64, slice.seconds));
    let parts: Vec<(f64, f64)> = parts.collect();
    let (sum, seconds) = sums(&parts);
    let spread = Spread::of_quotient(&Rest::of(slices).joined(parts))?;
    Some((spread.around(sum / seconds), spread.variance))
}

/// The interval of the mean latency. The mean is that of what was due in the window; nearly the same ended in it.
fn mean_time(
    of_intervals: &[&LatencyHistogram],
    latency: &Latency,
    rest: Rest,
) -> Option<WithinInterval> {
    let more = latency.mean_widening()?;
    let times = of_intervals.iter().map(|it| (it.mean_ns() * it.count() as f64, it.count() as f64));
    let interval =
        Spread::of_quotient(&rest.joined(times.collect()))?.around_time(latency.mean_ns)?;
    Some(WithinInterval { high: interval.high.map(|high| high * (1.0 + more)), ..interval })
}

/// Whether the window ends with a rest of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    None,
    Short,
}

impl Rest {
    fn of(slices: &[Slice]) -> Self {
        let [first, .., last] = slices else { return Self::None };
        if last.seconds < LENGTH_SHARE_MIN * first.seconds { Self::Short } else { Self::None }
    }

    /// The intervals without a short rest.
    fn left_out<T>(self, parts: &[T]) -> &[T] {
        match (self, parts) {
            (Self::Short, [before @ .., _]) => before,
            _ => parts,
        }
    }

    /// Sums over intervals, in which a short rest is a part of the one before, and over batches when there are too many.
    fn joined(self, mut parts: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
        if self == Self::Short
            && let [.., before, rest] = &mut parts[..]
        {
            *before = (before.0 + rest.0, before.1 + rest.1);
            parts.pop();
        }
        parts
    }
}

/// The spread of a quotient of sums over successive intervals: of a rate, a mean, or a share of all values.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// Half the width of its 95 % interval.
    half_width: f64,
    /// The same as a part of the quotient.
    relative: f64,
    effective_samples: f64,
    /// Of the quotient, as a part of its square.
    variance: f64,
}

impl Spread {
    /// Of the first sums over the second. The deviations of the parts from the quotient have the quotient's error as
    /// their mean, to first order.
    ///
    /// Source: W. G. Cochran, Sampling Techniques, 3rd edition 1977, section 2.11 (the ratio estimate).
    fn of_quotient(parts: &[(f64, f64)]) -> Option<Self> {
        let (sum, weight) = sums(parts);
        if parts.len() < INTERVALS_MIN || !(sum > 0.0 && weight > 0.0) {
            return None;
        }
        let (quotient, each) = (sum / weight, weight / parts.len() as f64);
        let deviations: Vec<f64> =
            parts.iter().map(|(part, weight)| (part - quotient * weight) / each).collect();
        let batches = batched(&deviations);
        let half_width = long_run::half_width(&batches);
        let variance = long_run::variance_of_mean(&batches) / (quotient * quotient);
        let independent = student::half_width(0.95, &deviations)?;
        let share =
            if half_width > 0.0 { (independent / half_width).powi(2).min(1.0) } else { 1.0 };
        let effective_samples = parts.len() as f64 * share;
        let relative = half_width / quotient;
        Some(Self { half_width, relative, effective_samples, variance })
    }

    /// The interval around a figure that is positive, with logarithms, so that it does not reach zero.
    fn around(self, figure: f64) -> WithinInterval {
        let Self { relative, effective_samples, .. } = self;
        let [low, high] = [-relative, relative].map(|it| figure * it.exp());
        WithinInterval { low, high: Some(high), effective_samples }
    }

    /// The interval around a mean time, which is skewed: a trial without a burst of long times does not show how long they
    /// can be. The mean time of a queue is the reciprocal of the capacity that is left (M/M/1), and this varies evenly:
    /// the upper end is taken from it. There is none where nothing of the capacity may be left.
    fn around_time(self, figure: f64) -> Option<WithinInterval> {
        let high = (self.relative < 1.0).then(|| figure / (1.0 - self.relative));
        WithinInterval { high, ..self.around(figure) }.if_telling(figure)
    }
}

impl WithinInterval {
    /// `None` for an interval that says nothing of a figure: without an upper end, and with the lower end far below it.
    fn if_telling(self, figure: f64) -> Option<Self> {
        (self.high.is_some() || self.low >= LOW_SHARE_MIN * figure).then_some(self)
    }
}

fn sums(parts: &[(f64, f64)]) -> (f64, f64) {
    parts.iter().fold((0.0, 0.0), |sums, part| (sums.0 + part.0, sums.1 + part.1))
}

/// Means of batches of as many values each. A rest at the end joins the last batch.
fn batched(values: &[f64]) -> Vec<f64> {
    let size = values.len().div_ceil(BATCHES_MAX).max(1);
    let count = values.len() / size;
    let of = |batch: usize| {
        let end = if batch + 1 == count { values.len() } else { (batch + 1) * size };
        values[batch * size..end].iter().sum::<f64>() / size as f64
    };
    (0..count).map(of).collect()
}

/// The interval of each percentile of `latency`, which summarizes `all`: by the level of the intervals where these have one
/// (`level`), else by the share of values below it.
fn percentiles(
    of_intervals: &[&LatencyHistogram],
    latency: &Latency,
    all: &LatencyHistogram,
    rest: Rest,
) -> Vec<(f64, Option<WithinInterval>)> {
    let limits: Vec<u64> = latency.percentiles.iter().map(|(_, it)| it.least_ns).collect();
    let counts: Vec<Vec<u64>> = of_intervals.iter().map(|it| it.counts_up_to_ns(&limits)).collect();
    let interval = |(at, (percent, bounds)): (usize, &(f64, Bounds))| {
        let most = bounds.most_ns.unwrap_or(limits[at]) as f64;
        let ranked = Ranked { percent: *percent, figure: limits[at] as f64, most, latency, all };
        let is_inner = *percent > 0.0 && *percent < 100.0 && bounds.is_near();
        let by_level = || ranked.by_level(rest.left_out(of_intervals));
        let by_share = || {
            let parts = counts.iter().zip(of_intervals);
            let parts = parts.map(|(counts, of)| (counts[at] as f64, of.count() as f64)).collect();
            ranked.by_share(&rest.joined(parts))
        };
        (*percent, if is_inner { by_level().or_else(by_share) } else { None })
    };
    latency.percentiles.iter().enumerate().map(interval).collect()
}

/// A percentile of latencies, of which `all` does not have what was never answered.
#[derive(Clone, Copy)]
struct Ranked<'a> {
    percent: f64,
    /// The least that it can be, ns: its value, but for what was never answered.
    figure: f64,
    /// The most that it can be.
    most: f64,
    latency: &'a Latency,
    all: &'a LatencyHistogram,
}

impl Ranked<'_> {
    /// The least that the value of a rank can be, which is a part of all values: what was never answered is shorter.
    fn least_value(&self, part: f64) -> Option<f64> {
        let rank = part * self.latency.count as f64 - self.latency.unanswered as f64;
        let rank_percent = 100.0 * rank / self.all.count() as f64;
        (rank_percent > 0.0).then(|| self.all.percentile_ns(rank_percent) as f64)
    }

    /// The most that it can be: what was never answered is longer; `None` among that.
    fn most_value(&self, part: f64) -> Option<f64> {
        let rank_percent = 100.0 * part * self.latency.count as f64 / self.all.count() as f64;
        (rank_percent <= 100.0).then(|| self.all.percentile_ns(rank_percent) as f64)
    }

    /// The interval around the level of the intervals' percentiles, and around that of all values, which differ where
    /// the level jumps. It is nowhere narrower than that of as many independent values.
    fn by_level(&self, of_intervals: &[&LatencyHistogram]) -> Option<WithinInterval> {
        let Self { percent, figure, latency, all, .. } = *self;
        let median_ns = all.percentile_ns(50.0) as f64;
        let Level { middle_ns, half_width } =
            level::level(of_intervals, percent, [median_ns, figure])?;
        let [least, most] = share::ends(latency.count, percent / 100.0);
        let least = least.and_then(|part| self.least_value(part)).unwrap_or(figure);
        let most = most.and_then(|part| self.most_value(part)).unwrap_or(self.most);
        let low = least.min(figure.min(middle_ns) * (-half_width).exp());
        let high = most.max(self.most.max(middle_ns) * half_width.exp());
        // The share of values within, of a share's 95 % interval.
        let within = all.count_above_ns(low).saturating_sub(all.count_above_ns(high));
        let deviation = within as f64 / latency.count as f64 / 2.0 / NORMAL_95;
        let effective_samples = self.worth(deviation.powi(2));
        Some(WithinInterval { low, high: Some(high), effective_samples })
    }

    /// The share of all values at or below a percentile is a quotient, whose spread says how many independent values are
    /// worth as much. The percentile's interval has the ends that the same share has among so many: the exact ones of the
    /// binomial distribution, or those by the logarithm of the odds where they are wider. Values come in bursts, of which
    /// a trial has few, so that exact ends alone are too narrow towards the side with more values.
    ///
    /// `parts` are the numbers of values at or below the percentile and of all, in each interval.
    ///
    /// Sources: R. S. Woodruff, Confidence intervals for medians and other position measures, Journal of the American
    /// Statistical Association 47 (1952); E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small
    /// expected number of positive counts estimated from survey data, Survey Methodology 24 (1998), for the effective
    /// number with exact ends, which hold for the last values too.
    fn by_share(&self, parts: &[(f64, f64)]) -> Option<WithinInterval> {
        let spread = Spread::of_quotient(parts)?;
        let effective_samples = self.worth((spread.half_width / NORMAL_95).powi(2));
        let [low, high] = share::ends(effective_samples as u64, self.percent / 100.0);
        let interval = WithinInterval {
            low: low.and_then(|part| self.least_value(part)).unwrap_or(0.0),
            high: high.and_then(|part| self.most_value(part)),
            effective_samples,
        };
        interval.if_telling(self.figure)
    }

    /// So many independent values give the share of values below the percentile this variance.
    fn worth(&self, variance: f64) -> f64 {
        let share = self.percent / 100.0;
        let worth = if variance > 0.0 { share * (1.0 - share) / variance } else { f64::INFINITY };
        worth.min(self.latency.count as f64)
    }
}

#[cfg(test)]
mod tests;
