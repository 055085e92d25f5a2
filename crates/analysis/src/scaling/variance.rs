//! The variance of the logarithm of throughput: of each number of clients, as far as few trials show it.

use statrs::function::gamma::digamma;

use crate::moments::standard_deviation;

/// A variance is taken for no less than this part of the mean of all: a few trials may be alike by chance.
const LEAST_PART: f64 = 1e-4;
/// Steps of Newton's method for the inverse of the trigamma function.
const STEPS_MAX: usize = 50;
/// Between these factors of the mean squared error of points, a variance that all points share is looked for.
const SHARED_RANGE: (f64, f64) = (1e-6, 1e6);
const BISECTIONS: usize = 60;

/// The variance of one trial at each of several numbers of clients, from the logarithms of the trials at each. `None` where
/// no number of clients has two trials.
///
/// The variance of two or three trials is hardly known. So each is moved towards those of the others, by as much as they
/// are alike: with few trials, or when they are all alike, it is the mean. Source: G. K. Smyth, Linear models and empirical
/// Bayes methods for assessing differential expression in microarray experiments, Statistical Applications in Genetics
/// and Molecular Biology 3 (2004), section 6.2.
pub(super) fn moderated(levels: &[Vec<f64>]) -> Option<Vec<f64>> {
    let known: Vec<(f64, f64)> = levels.iter().filter_map(|level| variance(level)).collect();
    let degrees: f64 = known.iter().map(|it| it.1).sum();
    let mean = known.iter().map(|it| it.0 * it.1).sum::<f64>() / degrees;
    if known.is_empty() || mean <= 0.0 {
        return (!known.is_empty()).then(|| vec![0.0; levels.len()]);
    }
    let floored = known.iter().map(|it| (it.0.max(LEAST_PART * mean), it.1));
    let prior = Prior::of(&floored.collect::<Vec<_>>(), mean);
    let of_level = |level: &Vec<f64>| {
        let (own, own_degrees) = variance(level).unwrap_or((0.0, 0.0));
        match prior.degrees {
            None => prior.variance,
            Some(degrees) => {
                (degrees * prior.variance + own_degrees * own) / (degrees + own_degrees)
            }
        }
    };
    Some(levels.iter().map(of_level).collect())
}

/// The variance of some values, with its degrees of freedom; `None` for fewer than two.
fn variance(values: &[f64]) -> Option<(f64, f64)> {
    let deviation = standard_deviation(values)?;
    Some((deviation * deviation, values.len() as f64 - 1.0))
}

/// What all variances have in common.
struct Prior {
    variance: f64,
    /// So many degrees of freedom it is worth; `None`: they do not differ by more than chance.
    degrees: Option<f64>,
}

impl Prior {
    fn of(known: &[(f64, f64)], mean: f64) -> Self {
        let alike = Self { variance: mean, degrees: None };
        let count = known.len() as f64;
        let centred = |(variance, degrees): &(f64, f64)| {
            variance.ln() - digamma(degrees / 2.0) + (degrees / 2.0).ln()
        };
        let logs: Vec<f64> = known.iter().map(centred).collect();
        let Some(spread) = standard_deviation(&logs) else { return alike };
        let by_chance: f64 = known.iter().map(|it| trigamma(it.1 / 2.0)).sum::<f64>() / count;
        let beyond = spread * spread - by_chance;
        if beyond <= 0.0 {
            return alike;
        }
        let half = inverse_trigamma(beyond);
        let log_mean = logs.iter().sum::<f64>() / count;
        let variance = (log_mean + digamma(half) - half.ln()).exp();
        Self { variance, degrees: Some(2.0 * half) }
    }
}

/// The derivative of the digamma function. Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.4.6 and
/// 6.4.12.
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    sum + 1.0 / x + square / 2.0 + square / x * series
}

/// Source: Smyth, as above, appendix.
fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..STEPS_MAX {
        let here = trigamma(x);
        // The slope, by a difference: the steps get smaller in any case.
        let slope = (trigamma(x * 1.000_01) - here) / (x * 0.000_01);
        let step = here * (1.0 - here / value) / slope;
        x += step;
        if (step / x).abs() < 1e-8 {
            break;
        }
    }
    x
}

/// The variance that single trials have beyond those within them: the least one with which a curve of three coefficients
/// leaves residuals as large as they are expected. `squares` is the weighted sum of its squared residuals with that
/// variance added to those of all points.
///
/// Source: R. C. Paule and J. Mandel, Consensus values and weighting factors, Journal of Research of the National Bureau
/// of Standards 87 (1982).
pub(super) fn shared(
    within: &[f64],
    degrees: usize,
    squares: impl Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let expected = degrees as f64;
    if squares(0.0)? <= expected {
        return Some(0.0);
    }
    let mean = within.iter().sum::<f64>() / within.len() as f64;
    let (mut low, mut high) = ((mean * SHARED_RANGE.0).ln(), (mean * SHARED_RANGE.1).ln());
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        let is_below = squares(middle.exp())? > expected;
        (low, high) = if is_below { (middle, high) } else { (low, middle) };
    }
    Some(high.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_is_that_of_the_handbook() {
        // Abramowitz and Stegun, 6.4: trigamma(1) is pi squared over 6, trigamma(1/2) three times as much.
        let at_one = std::f64::consts::PI.powi(2) / 6.0;
        assert!((trigamma(1.0) - at_one).abs() < 1e-12, "{}", trigamma(1.0));
        assert!((trigamma(0.5) - 3.0 * at_one).abs() < 1e-11);
        for x in [0.3, 1.0, 4.5, 60.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn variances_that_are_alike_become_their_mean() {
        let level = |centre: f64, half: f64| vec![centre - half, centre, centre + half];
        let alike = moderated(&[level(1.0, 0.01), level(2.0, 0.012), level(3.0, 0.009)]).unwrap();
        // The variances are the squares of the halves.
        let mean = (1e-4 + 1.44e-4 + 0.81e-4) / 3.0;
        assert!(alike.iter().all(|it| (it / mean - 1.0).abs() < 1e-9), "{alike:?}");
        let with_single = moderated(&[level(1.0, 0.01), vec![2.0]]).unwrap();
        assert!(with_single.iter().all(|it| (it - 1e-4).abs() < 1e-12), "{with_single:?}");
    }

    #[test]
    fn variances_that_differ_keep_their_order() {
        let level = |half: f64| {
            (0..12).map(|at| if at % 2 == 0 { half } else { -half }).collect::<Vec<f64>>()
        };
        let levels = [level(0.001), level(0.01), level(0.1), level(1.0)];
        let found = moderated(&levels).unwrap();
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
        // Eleven degrees of freedom say more than what variances a thousand times apart have in common.
        let own = 12.0 / 11.0;
        assert!((found[3] / own).ln().abs() < 0.4, "{found:?}");
    }

    #[test]
    fn trials_without_spread_have_no_variance_and_single_ones_none_that_is_known() {
        assert_eq!(moderated(&[vec![1.0, 1.0], vec![2.0]]), Some(vec![0.0, 0.0]));
        assert_eq!(moderated(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(moderated(&[]), None);
    }

    #[test]
    fn the_shared_variance_makes_the_residuals_as_large_as_expected() {
        // Five points with variance 1 and residuals of 3: 5 x 9 / (1 + shared) = 2 at 21.5.
        let squares = |shared: f64| Some(45.0 / (1.0 + shared));
        assert!((shared(&[1.0; 5], 2, squares).unwrap() - 21.5).abs() < 1e-6);
        assert_eq!(shared(&[1.0; 5], 50, squares), Some(0.0));
    }
}
