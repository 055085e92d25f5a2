//! Whether a figure drifted during the measured time, in spite of noise that lasts.

use std::f64::consts::PI;

use crate::measured::Slice;
use crate::moments::mean;
use crate::student::p_value;

/// Fewer points than this show no trend.
pub(crate) const POINTS_MIN: usize = 5;
/// Waves used by the test: those with up to half as many periods in the series. Shorter noise has no effect.
const WAVES_MAX: usize = 32;
/// How often noise alone may make a trend significant. Strict, because every trial is tested twice.
const LEVEL: f64 = 0.002;
/// Odds of a random walk against white noise that the test considers, as natural logarithms: from one end to the
/// other, the noise of a series of any usual length changes from white to a walk.
const LOG_ODDS: [f64; 15] =
    [-3.2, -2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4, 3.2, 4.0, 4.8, 5.6, 6.4, 7.2, 8.0];

/// The drift of a series of points at equal distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Mean of the last third over the mean of the first third, less 1. Never below -1.
    pub change: f64,
    /// Whether noise alone would make such a drift in fewer than two of a thousand series.
    pub is_significant: bool,
}

/// The trend of values that are not negative; `None` for fewer than five, or when the first third has none but
/// zeros.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let (first, last) = outer_thirds(values)?;
    (first > 0.0)
        .then(|| Trend { change: last / first - 1.0, is_significant: is_significant(values) })
}

/// The trend of the mean latency. The test is on logarithms, because latencies under load are skewed, and
/// `change` is that of geometric means. Neighbouring intervals are joined until a transaction ended in each.
pub(crate) fn latency_trend(slices: &[Slice]) -> Option<Trend> {
    let logs: Vec<f64> =
        with_ends(slices).iter().map(|(busy, ended)| (busy / ended).ln()).collect();
    // A damaged record may have transactions that took no time.
    if !logs.iter().all(|value| value.is_finite()) {
        return None;
    }
    let (first, last) = outer_thirds(&logs)?;
    Some(Trend { change: (last - first).exp() - 1.0, is_significant: is_significant(&logs) })
}

/// Time in transactions, ns, and their number, over groups of as many intervals each. A rest at the end is left
/// out.
pub(crate) fn with_ends(slices: &[Slice]) -> Vec<(f64, f64)> {
    let mut size = 1;
    loop {
        let sum = |group: &[Slice]| {
            group.iter().fold((0.0, 0.0), |(busy, ended), slice| {
                (busy + slice.busy_ns as f64, ended + slice.ended as f64)
            })
        };
        let groups: Vec<(f64, f64)> = slices.chunks_exact(size).map(sum).collect();
        if groups.iter().all(|(_, ended)| *ended > 0.0) {
            return groups;
        }
        size *= 2;
    }
}

fn outer_thirds(values: &[f64]) -> Option<(f64, f64)> {
    let third = values.len() / 3;
    let ends = (mean(&values[..third])?, mean(&values[values.len() - third..])?);
    (values.len() >= POINTS_MIN).then_some(ends)
}

/// Whether a straight trend stands out of the noise, which may be white, a random walk or a sum of both: Harvey's
/// local level with a drift. Noise that lasts for a while, such as a queue's, lies between the two.
///
/// The cosine waves of a series with such noise are independent of each other. Wave k has a variance in proportion
/// to 1 - s + s (sin(pi / 2n) / sin(pi k / 2n))^2, where s is 0 for white noise and 1 for a random walk. For a given
/// s the trend is a weighted regression with Student's t. As s is not known, the p-value is the mean over s,
/// weighted with the likelihood of the series.
///
/// Sources: A. C. Harvey, Forecasting, Structural Time Series Models and the Kalman Filter, 1989, section 2.3, for
/// the model; U. K. Müller and M. W. Watson, Testing models of low-frequency variability, Econometrica 76 (2008), for
/// the waves; T. J. Vogelsang, Trend function hypothesis testing in the presence of serial correlation, Econometrica
/// 66 (1998), for the reason: a t-test that ignores autocorrelation finds trends in most random walks.
fn is_significant(values: &[f64]) -> bool {
    let line: Vec<f64> = (0..values.len()).map(|at| at as f64).collect();
    let waves: Vec<(f64, f64)> = cosine_waves(values).zip(cosine_waves(&line)).collect();
    let walk: Vec<f64> = waves_of_a_walk(values.len());
    let white = std::iter::once(0.0);
    let mixtures = LOG_ODDS.iter().map(|odds| odds.exp() / (1.0 + odds.exp()));
    let fits: Vec<Fit> = white
        .chain(mixtures)
        .chain([1.0])
        .map(|share| {
            let variances: Vec<f64> = walk.iter().map(|walk| 1.0 - share + share * walk).collect();
            Fit::of(&waves, &variances)
        })
        .collect();
    let best = fits.iter().map(|fit| fit.log_likelihood).fold(f64::NEG_INFINITY, f64::max);
    let weight = |fit: &Fit| (fit.log_likelihood - best).exp();
    let weights: f64 = fits.iter().map(weight).sum();
    let p: f64 = fits.iter().map(|fit| weight(fit) * p_value(fit.t(), waves.len() - 1)).sum();
    p < LEVEL * weights
}

/// The regression of a series' waves on those of a straight line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    /// The rise from one value to the next.
    pub(crate) slope: f64,
    /// Its standard error, with as many degrees of freedom as there are waves less one.
    pub(crate) standard_error: f64,
    /// Up to a constant, with slope and scale integrated out.
    pub(crate) log_likelihood: f64,
}

impl Fit {
    /// `waves` are those of the series and of the line, `variances` those of the noise up to a factor.
    pub(crate) fn of(waves: &[(f64, f64)], variances: &[f64]) -> Self {
        let weighted = |part: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            waves.iter().zip(variances).map(|(wave, variance)| part(wave) / variance).sum()
        };
        let line = weighted(&|(_, line)| line * line);
        let slope = weighted(&|(series, line)| series * line) / line;
        let residual = weighted(&|(series, line)| (series - slope * line).powi(2));
        // A straight line has no residual.
        let residual = residual.max(f64::MIN_POSITIVE);
        let freedom = waves.len() as f64 - 1.0;
        let logs: f64 = variances.iter().map(|variance| variance.ln()).sum();
        Self {
            slope,
            standard_error: (residual / freedom / line).sqrt(),
            log_likelihood: -0.5 * (logs + line.ln() + freedom * residual.ln()),
        }
    }

    /// The slope over its standard error.
    fn t(&self) -> f64 {
        self.slope / self.standard_error
    }
}

/// The coefficients of the cosine transform (DCT-II) after the mean, the longest wave first.
pub(crate) fn cosine_waves(values: &[f64]) -> impl Iterator<Item = f64> {
    let n = values.len() as f64;
    let centre = mean(values).unwrap_or_default();
    (1..=WAVES_MAX.min(values.len() - 1)).map(move |wave| {
        let cosine = |at: usize| (PI * wave as f64 * (at as f64 + 0.5) / n).cos();
        values.iter().enumerate().map(|(at, value)| (value - centre) * cosine(at)).sum()
    })
}

/// The variances of a random walk's waves, as a part of the first one's.
fn waves_of_a_walk(points: usize) -> Vec<f64> {
    let sine = |wave: usize| (PI * wave as f64 / (2.0 * points as f64)).sin();
    (1..=WAVES_MAX.min(points - 1)).map(|wave| (sine(1) / sine(wave)).powi(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_rise_is_a_trend() {
        let seen = trend(&[90.0, 95.0, 100.0, 105.0, 110.0, 115.0]).unwrap();
        assert!((seen.change - (112.5 / 92.5 - 1.0)).abs() < 1e-12);
        assert!(seen.is_significant);
    }

    #[test]
    fn noise_around_a_constant_is_not_a_trend() {
        let seen = trend(&[100.0, 104.0, 97.0, 103.0, 98.0, 101.0]).unwrap();
        assert!(!seen.is_significant, "{seen:?}");
        let level = trend(&[7.0; 6]).unwrap();
        assert_eq!(level, Trend { change: 0.0, is_significant: false });
    }

    #[test]
    fn too_few_points_have_no_trend() {
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(trend(&[0.0; 9]), None);
        assert_eq!(trend(&[]), None);
    }

    #[test]
    fn a_drift_is_never_below_minus_a_hundred_percent() {
        let stalled = [100.0, 100.0, 100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(trend(&stalled).unwrap().change, -1.0);
    }

    #[test]
    fn a_straight_line_and_a_walk_have_the_waves_of_the_definition() {
        // Of (-1, 0, 1): -cos(pi/6) + cos(5 pi/6) = -sqrt 3, and -cos(pi/3) + cos(5 pi/3) = 0.
        let waves: Vec<f64> = cosine_waves(&[3.0, 4.0, 5.0]).collect();
        assert!((waves[0] + 3.0_f64.sqrt()).abs() < 1e-12 && waves[1].abs() < 1e-12, "{waves:?}");
        // sin^2(pi/6) / sin^2(pi/3) = (1/4) / (3/4).
        let walk = waves_of_a_walk(3);
        assert!((walk[1] - 1.0 / 3.0).abs() < 1e-12, "{walk:?}");
    }

    #[test]
    fn intervals_without_an_answer_are_joined_with_their_neighbours() {
        let slice = |ended, busy_ns| Slice { ended, busy_ns, ..Slice::default() };
        let slices = [slice(1, 10), slice(0, 0), slice(2, 40), slice(1, 30), slice(1, 7)];
        assert_eq!(with_ends(&slices), [(10.0, 1.0), (70.0, 3.0)]);
        assert_eq!(latency_trend(&[slice(0, 0); 7]), None);
        let timeless = [slice(10, 1), slice(10, 1), slice(0, 1), slice(10, 1), slice(10, 1)];
        assert_eq!(latency_trend(&timeless), None, "only a damaged record has them");
        let doubling = [1, 2, 4, 8, 16, 32].map(|busy_ns| slice(1, busy_ns));
        let seen = latency_trend(&doubling).unwrap();
        // Geometric means: sqrt (16 x 32) over sqrt (1 x 2).
        assert!((seen.change - 15.0).abs() < 1e-9 && seen.is_significant, "{seen:?}");
    }
}
