//! Whether a load is steady, and from when on: the rule that ends a warm-up.
//!
//! Throughput and mean latency of the intervals are cut where what follows tells most of its own mean (the marginal
//! standard error rule, MSER). The load is steady when the cut is in the first half of what was seen, and what
//! follows it neither rises, falls nor swings. That nothing of this was seen does not mean that it is not there:
//! noise can hide a slow fall. So the rule also says how large a drift could be that was not seen.
//!
//! Sources: K. P. White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69
//! (1997), for the cut; K. Hoad, S. Robinson and R. Davies, Automating warm-up length estimation, Journal of the
//! Operational Research Society 61 (2010), for its use while a simulation runs, and for the first half; J. von
//! Neumann, Distribution of the ratio of the mean square successive difference to the variance, Annals of
//! Mathematical Statistics 12 (1941), for rises, falls and long swings; R. A. Fisher, Tests of significance in
//! harmonic analysis, Proceedings of the Royal Society A 125 (1929), for shorter swings; D. J. Schuirmann, A
//! comparison of the two one-sided tests procedure, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987), for
//! what it takes to show that there is no drift. MSER-5 joins five observations, because single ones are noisy; here
//! an interval has already joined its transactions.

use std::f64::consts::TAU;

use crate::drift::Drift;
use crate::measured::Slice;
use crate::moments::mean;
use crate::trend::with_ends;

/// With fewer intervals a rule cannot tell whether a load is steady.
pub const STEADY_INTERVALS_MIN: usize = 20;
/// How much more is seen at each look, as a part of what was seen before.
pub const STEADY_LOOKS_GROWTH: f64 = 0.1;
/// The largest drift that does not matter, as a part of the figure, in as long a time as was seen. A load is shown to
/// be steady when a larger one is excluded.
const DRIFT_MAX: f64 = 0.05;
/// The cut leaves so many points at least, because a few points at the end can be alike by chance.
const POINTS_MIN: usize = 5;
/// What follows the cut is looked at in so many parts of equal length.
const PARTS: usize = 16;
/// Standard deviations below this part of the mean do not matter.
const DEVIATION_MIN: f64 = 0.005;
/// How often each of the two tests may take noise without any swing for one.
const LEVEL: f64 = 0.05;
/// The number that a normally distributed value is above with that probability.
const NORMAL_LEVEL: f64 = 1.644_853_627;

/// A load in which nothing was seen to change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The first interval of those in which nothing changed until the last.
    pub from: usize,
    /// A larger drift than this would have been seen, with 95 %: a part of throughput or of mean latency, per minute.
    pub hidden_drift_per_minute: f64,
    /// Whether a drift that matters would have been seen: one of more than 5 % in as long a time as was seen. Where
    /// it would not, noise could hide one.
    pub is_shown: bool,
}

/// The part of a figure in which nothing changes.
#[derive(Clone, Copy, Debug)]
struct Level {
    from: usize,
    /// The largest drift over it that could hide, as a part of the figure.
    hidden_drift: f64,
}

/// What is known of a load that has not changed from some interval on until the last; `None` when it was seen to
/// change, or when there are too few intervals to tell.
pub fn steady(slices: &[Slice]) -> Option<Steady> {
    if slices.len() < STEADY_INTERVALS_MIN {
        return None;
    }
    let rate = |slice: &Slice| slice.transactions as f64 / slice.seconds;
    let rates: Vec<f64> = slices.iter().map(rate).collect();
    let level = mean(&rates[rates.len() / 2..]).filter(|level| *level > 0.0)?;
    let rates: Vec<f64> = rates.iter().map(|rate| rate / level).collect();
    // Latencies are skewed, and differences of logarithms are relative ones.
    let logs: Vec<f64> =
        with_ends(slices).iter().map(|(busy, ended)| (busy / ended).ln()).collect();
    let joined = slices.len() / logs.len().max(1);
    let (rates, logs) = (Level::of(&rates)?, Level::of(&logs)?);
    let logs = Level { from: logs.from * joined, ..logs };
    let minutes = |from: usize| -> f64 {
        slices[from..].iter().map(|slice| slice.seconds).sum::<f64>() / 60.0
    };
    let [one, other] = [rates, logs].map(|level| level.hidden_drift / minutes(level.from));
    let hidden_drift_per_minute = one.max(other);
    Some(Steady {
        from: rates.from.max(logs.from),
        hidden_drift_per_minute,
        is_shown: hidden_drift_per_minute * minutes(0) <= DRIFT_MAX,
    })
}

impl Level {
    /// Of relative values; `None` when they change, or are too few to tell.
    fn of(values: &[f64]) -> Option<Self> {
        let from = cut(values)?;
        let kept = &values[from..];
        if 2 * from > values.len() || has_swing(kept)? {
            return None;
        }
        let drift = Drift::of(kept)?;
        let hidden_drift = drift.largest();
        // A straight line from -1 to 1 has a standard deviation of 1 / sqrt 3.
        let matters = hidden_drift > DEVIATION_MIN * 12.0_f64.sqrt();
        (!(matters && drift.is_found())).then_some(Self { from, hidden_drift })
    }
}

/// How many values to leave out at the beginning, so that the mean of the others has the least standard error. A
/// deviation that does not matter counts as one that just does: otherwise a few equal values at the end would have
/// none.
fn cut(values: &[f64]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    // Welford's recursion from the end (Technometrics 4, 1962): it does not cancel.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (at, value) in values.iter().enumerate().rev() {
        count += 1.0;
        let difference = value - mean;
        mean += difference / count;
        squares += difference * (value - mean);
        let variance: f64 = (squares / count).max(DEVIATION_MIN * DEVIATION_MIN);
        let is_enough = values.len() - at >= POINTS_MIN;
        if is_enough && best.is_none_or(|(least, _)| variance / count <= least) {
            best = Some((variance / count, at));
        }
    }
    best.map(|(_, at)| at)
}

/// Whether values rise, fall or swing in a regular way that matters; `None` with too few values. Their last parts of
/// equal length are looked at, so swings that are shorter than two parts cancel out.
fn has_swing(values: &[f64]) -> Option<bool> {
    let length = values.len() / PARTS;
    let parts = values.rchunks_exact(length.max(1)).take(PARTS);
    let parts: Vec<f64> = parts.filter_map(mean).collect();
    if parts.len() < PARTS {
        return None;
    }
    let centre = mean(&parts)?;
    let variance = parts.iter().map(|part| (part - centre).powi(2)).sum::<f64>() / PARTS as f64;
    let matters = variance > DEVIATION_MIN * DEVIATION_MIN;
    Some(matters && (are_neighbours_alike(&parts) || fisher_p_value(&parts) < LEVEL))
}

/// Whether each value is nearer to the next one than in white noise: 1 - eta / 2 has mean 0 and variance
/// (n - 2) / (n^2 - 1) there, with von Neumann's ratio eta of the squared differences to the squared deviations.
fn are_neighbours_alike(series: &[f64]) -> bool {
    let n = series.len() as f64;
    let centre = mean(series).unwrap_or_default();
    let deviations: f64 = series.iter().map(|value| (value - centre).powi(2)).sum();
    let differences: f64 = series.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    1.0 - differences / deviations / 2.0 > NORMAL_LEVEL * ((n - 2.0) / (n * n - 1.0)).sqrt()
}

/// The probability that the strongest of all waves in white noise has as large a share of the variance as in this
/// series, or a larger one.
fn fisher_p_value(series: &[f64]) -> f64 {
    let (n, centre) = (series.len(), mean(series).unwrap_or_default());
    let power = |wave: usize| {
        let angle = |at: usize| TAU * (wave * at) as f64 / n as f64;
        let sum = |part: fn(f64) -> f64| -> f64 {
            let terms = series.iter().enumerate();
            terms.map(|(at, value)| (value - centre) * part(angle(at))).sum()
        };
        sum(f64::cos).powi(2) + sum(f64::sin).powi(2)
    };
    let powers: Vec<f64> = (1..=(n - 1) / 2).map(power).collect();
    let all: f64 = powers.iter().sum();
    let strongest = powers.iter().copied().fold(0.0, f64::max);
    if all <= 0.0 {
        return 1.0;
    }
    let (share, waves) = (strongest / all, powers.len() as i32);
    let mut p = 0.0;
    let mut choices = 1.0;
    for k in 1..=waves {
        choices *= f64::from(waves - k + 1) / f64::from(k);
        let rest = 1.0 - f64::from(k) * share;
        if rest <= 0.0 {
            break;
        }
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        p += sign * choices * rest.powi(waves - 1);
    }
    p.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    /// Intervals of a second in a closed loop of ten clients, with these rates.
    fn slices(rates: impl IntoIterator<Item = f64>) -> Vec<Slice> {
        let slice = |rate: f64| Slice {
            seconds: 1.0,
            transactions: rate as u64,
            ended: rate as u64,
            busy_ns: 10_000_000_000,
            ..Slice::default()
        };
        rates.into_iter().map(slice).collect()
    }

    /// After how many intervals nothing is seen to change, and since which.
    fn level(slices: &[Slice], first: usize) -> Option<(usize, usize)> {
        first_look(slices, first, |_| true)
    }

    /// After how many intervals a load is shown to be steady, and since which it is.
    fn ended(slices: &[Slice], first: usize) -> Option<(usize, usize)> {
        first_look(slices, first, |steady| steady.is_shown)
    }

    fn first_look(
        slices: &[Slice],
        first: usize,
        is_enough: fn(&Steady) -> bool,
    ) -> Option<(usize, usize)> {
        let looks = crate::looks(first, slices.len(), STEADY_LOOKS_GROWTH);
        let seen = |count: usize| Some((count, steady(&slices[..count]).filter(is_enough)?.from));
        looks.into_iter().find_map(seen)
    }

    /// So many intervals with noise of this deviation, of which each keeps a part of that of the one before; the rate
    /// is `level` at each.
    fn noisy(
        seed: u64,
        (count, deviation, kept): (usize, f64, f64),
        level: impl Fn(f64) -> f64,
    ) -> Vec<Slice> {
        let (mut noise, mut state) = (Draws(seed), 0.0);
        let rates = (0..count).map(|at| {
            state = kept * state + (1.0 - kept * kept).sqrt() * noise.normal();
            1_000.0 * level(at as f64) * (1.0 + deviation * state)
        });
        slices(rates)
    }

    #[test]
    fn the_cut_is_where_the_mean_of_the_rest_has_the_least_standard_error() {
        // Of (9, 1, 3, 1, 3, 1, 3): the variance of the last 6 is 1, so the least is 1/6; that of the last 5 is 0.96.
        assert_eq!(cut(&[9.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]), Some(1));
        assert_eq!(cut(&[1.0; 8]), Some(0), "equal values are all kept");
        assert_eq!(cut(&[1.0; 4]), None);
        // A deviation of 0.3 % does not matter, and five equal values at the end are no steady part of their own.
        let small = [1.003, 0.997, 1.003, 0.997, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(cut(&small), Some(0));
    }

    #[test]
    fn the_p_value_of_a_share_is_that_of_fishers_formula() {
        // One wave alone has all of the variance; of seven waves that is impossible in noise.
        let wave = |at: usize| (TAU * 2.0 * at as f64 / 16.0).sin();
        let pure: Vec<f64> = (0..16).map(wave).collect();
        assert!(fisher_p_value(&pure) < 1e-60);
        // A line: shares in proportion to 1 / sin^2(pi j / 16), of which the first has 26.27 of 42.00.
        let line: Vec<f64> = (0..16).map(|at| at as f64).collect();
        let power = |wave: f64| (TAU * wave / 32.0).sin().powi(-2);
        let share = power(1.0) / (1..=7).map(|wave| power(f64::from(wave))).sum::<f64>();
        assert!((fisher_p_value(&line) - 7.0 * (1.0 - share).powi(6)).abs() < 1e-12);
        assert_eq!(fisher_p_value(&[1.0; 16]), 1.0);
    }

    #[test]
    fn von_neumanns_ratio_tells_neighbours_that_are_alike() {
        // A line of n values: squared differences n - 1, squared deviations n (n^2 - 1) / 12, so 1 - eta / 2 is near
        // 1.
        let line: Vec<f64> = (0..16).map(f64::from).collect();
        assert!(are_neighbours_alike(&line));
        // For 16 values the bound is 1.645 sqrt (14 / 255) = 0.385. Pairs of equal values: 7 differences of 2,
        // squared deviations 16, so 1 - 28 / 32 = 0.125; runs of four: 3 differences, 1 - 12 / 32 = 0.625.
        let runs = |length: usize| -> Vec<f64> {
            (0..16).map(|at| if (at / length).is_multiple_of(2) { 1.0 } else { -1.0 }).collect()
        };
        let alike = [1, 2, 4, 8].map(|length| are_neighbours_alike(&runs(length)));
        assert_eq!(alike, [false, false, true, true]);
    }

    #[test]
    fn a_constant_load_is_steady_at_the_first_look() {
        assert_eq!(ended(&slices([200.0; 60]), 30), Some((30, 0)));
        assert_eq!(steady(&slices([200.0; 19])), None, "too few intervals");
        assert_eq!(steady(&slices([0.0; 60])), None, "nothing succeeds");
        // Rounding to whole transactions swings in a regular way that does not matter.
        let rounded = (0..60).map(|at| if at % 7 == 0 { 143.0 } else { 142.0 });
        assert_eq!(ended(&slices(rounded), 30), Some((30, 0)));
    }

    #[test]
    fn a_step_is_not_passed_over() {
        // The load doubles after 20 intervals: 40 are needed to have the cut in the first half, and the look is at
        // 42.
        let step = |at: usize| if at < 20 { 100.0 } else { 200.0 };
        assert_eq!(ended(&slices((0..90).map(step)), 30), Some((42, 20)));
        let mut noise = Draws(7);
        let noisy = (0..90).map(|at| step(at) * (1.0 + 0.05 * noise.normal()));
        let (count, from) = ended(&slices(noisy), 30).unwrap();
        assert!(count >= 40 && (19..=24).contains(&from), "{count} {from}");
    }

    #[test]
    fn a_rise_is_not_steady_before_it_is_over() {
        // From a third to the whole over 60 intervals, then level; noise of 3 %.
        for seed in 0..50 {
            let mut noise = Draws(seed);
            let rise = |at: usize| (1.0 + 2.0 * (at as f64 / 60.0).min(1.0)) * 300.0;
            let rates = (0..300).map(|at| rise(at) * (1.0 + 0.03 * noise.normal()));
            let (count, from) = ended(&slices(rates), 30).unwrap();
            assert!(count > 60 && from > 40, "{seed}: {count} {from}");
        }
    }

    #[test]
    fn in_noise_nothing_is_soon_seen_to_change_even_if_it_lasts() {
        // Noise of 10 %; at 0.5 and 0.8 each interval keeps that part of the deviation of the one before.
        for (kept, most) in [(0.0, 45), (0.5, 75), (0.8, 180)] {
            let of = |seed: u64| {
                let noisy = noisy(1_000 + seed, (1_000, 0.1, kept), |_| 1.0);
                level(&noisy, 30).map_or(1_000, |(count, _)| count)
            };
            let mut counts: Vec<usize> = (0..200).map(of).collect();
            counts.sort_unstable();
            assert!(counts[180] <= most, "{kept}: nine of ten within {}", counts[180]);
        }
    }

    /// A drift of d over n intervals with noise of s has a standard error of s x sqrt (12 / n). One of 5 % is
    /// excluded at 5 % when 1.645 of these are less than 5 %, at the earliest: after 130 intervals with noise of 10
    /// %, 33 with 5 %, 12 with 3 %; and in half of all cases when twice as many are, four times as late.
    #[test]
    fn noise_is_waited_out_until_it_hides_no_drift_of_five_percent() {
        for (deviation, least, most) in [(0.02, 30, 40), (0.05, 33, 160), (0.1, 130, 640)] {
            let of = |seed| ended(&noisy(seed, (1_000, deviation, 0.0), |_| 1.0), 30);
            let mut counts: Vec<usize> = (0..40).map(|seed| of(seed).unwrap().0).collect();
            counts.sort_unstable();
            assert!(counts[4] >= least && counts[20] <= most, "{deviation}: {counts:?}");
        }
    }

    #[test]
    fn a_slow_fall_is_not_taken_for_steady_because_noise_hides_it() {
        // A sixth slower at first, to the full rate in 60 s. It is 5 % below after 46 s.
        let rise = |at: f64| 1.0 / (1.0 + 0.2 * (1.0 - at / 60.0).max(0.0));
        for (deviation, kept) in [(0.01, 0.0), (0.03, 0.0), (0.05, 0.0), (0.07, 0.5), (0.1, 0.0)] {
            let early = |seed: &u64| {
                let noisy = noisy(*seed, (400, deviation, kept), rise);
                ended(&noisy, 30).is_some_and(|(count, _)| count < 46)
            };
            let early = (0..60).filter(early).count();
            assert!(early <= 3, "{deviation} {kept}: {early} of 60");
        }
    }

    /// The half width of two one-sided tests of 5 % is 1.7 standard errors of 5 % x sqrt (12 / 100), over 100 s: 2.9
    /// %, and 1.8 % a minute. What was seen comes to it: 1.0 % a minute is its standard error.
    #[test]
    fn what_could_hide_is_told_per_minute() {
        let of = |seed| {
            let steady = steady(&noisy(seed, (100, 0.05, 0.0), |_| 1.0)).filter(|it| it.from < 10);
            steady.map(|it| it.hidden_drift_per_minute)
        };
        let mut all: Vec<f64> = (0..200).filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        let median = all[all.len() / 2];
        assert!(all.len() > 100 && (0.018..0.032).contains(&median), "{} {median}", all.len());
        // Intervals of a tenth of a second are ten times as short.
        let short = |slice: Slice| Slice { seconds: 0.1, ..slice };
        let long = noisy(1, (100, 0.05, 0.0), |_| 1.0);
        let short: Vec<Slice> = long.iter().copied().map(short).collect();
        let [long, short] = [steady(&long), steady(&short)].map(|it| it.unwrap());
        let ratio = short.hidden_drift_per_minute / long.hidden_drift_per_minute;
        assert!((ratio - 10.0).abs() < 1e-6, "{ratio}");
        assert_eq!(short.is_shown, long.is_shown);
    }

    #[test]
    fn a_regular_swing_is_not_steady_until_its_periods_cancel() {
        let swing = |period: f64, noise_part: f64| {
            let mut noise = Draws(3);
            let rates = (0..300).map(|at| {
                let wave = (TAU * f64::from(at) / period).sin();
                10_000.0 * (1.0 + 0.2 * wave + noise_part * noise.normal())
            });
            ended(&slices(rates.collect::<Vec<_>>()), 30)
        };
        for (period, noise_part) in
            [(20.0, 0.0), (20.0, 0.01), (20.0, 0.05), (45.0, 0.0), (45.0, 0.05), (60.0, 0.01)]
        {
            let seen = swing(period, noise_part);
            assert!(
                seen.is_none_or(|(count, _)| f64::from(count as u32) >= 3.0 * period),
                "{period} {noise_part}: {seen:?}"
            );
        }
        assert_eq!([swing(100.0, 0.0), swing(250.0, 0.0)], [None; 2]);
        // One that is short against what is seen is part of the noise.
        assert!(swing(3.0, 0.05).is_some());
    }

    #[test]
    fn latency_that_grows_under_a_constant_rate_is_not_steady() {
        let slice = |at: u64| Slice {
            seconds: 1.0,
            transactions: 1_000,
            ended: 1_000,
            busy_ns: 1_000_000_000 + at * 300_000_000,
            ..Slice::default()
        };
        assert_eq!(ended(&(0..300).map(slice).collect::<Vec<_>>(), 30), None);
        assert_eq!(ended(&(0..300).map(|_| slice(0)).collect::<Vec<_>>(), 30), Some((30, 0)));
    }
}
