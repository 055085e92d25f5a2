//! The variance of the logarithm of throughput, for each number of clients.

use statrs::function::gamma::digamma;

use crate::moments::standard_deviation;

/// A variance is taken for no less than this part of the mean of all: a few trials may be alike by chance.
const LEAST_PART: f64 = 1e-4;
/// An exponent this many standard errors from zero is shown: two-sided 5 % of the normal distribution.
const SHOWN: f64 = 1.96;
/// Between these factors of the mean squared error of points, a variance that all points share is looked for.
const SHARED_RANGE: (f64, f64) = (1e-6, 1e6);
const BISECTIONS: usize = 60;

/// The variance of one trial at each of several numbers of clients, from the logarithms of the trials at each. `None` where
/// no number of clients has two trials.
///
/// The variance of two or three trials is hardly known, and weights that follow chance make intervals too narrow. So
/// all have the mean of them, unless they are shown to change with a power of the clients. Source: R. J. Carroll and D.
/// Ruppert, Transformation and Weighting in Regression, 1988, sections 2.2 and 3.3.
pub(super) fn of_trials(levels: &[(f64, Vec<f64>)]) -> Option<Vec<f64>> {
    let known: Vec<Known> = levels.iter().filter_map(Known::of).collect();
    let degrees: f64 = known.iter().map(|it| it.degrees).sum();
    let mean = known.iter().map(|it| it.variance * it.degrees).sum::<f64>() / degrees;
    if known.is_empty() {
        return None;
    }
    let power = (mean > 0.0).then(|| Power::of(&known, LEAST_PART * mean)).flatten();
    let of_level =
        |(clients, _): &(f64, Vec<f64>)| power.as_ref().map_or(mean, |it| it.at(*clients));
    Some(levels.iter().map(of_level).collect())
}

/// What several trials with a number of clients say of their variance.
struct Known {
    log_clients: f64,
    variance: f64,
    degrees: f64,
}

impl Known {
    /// `None` for fewer than two trials.
    fn of((clients, values): &(f64, Vec<f64>)) -> Option<Self> {
        let deviation = standard_deviation(values)?;
        let degrees = values.len() as f64 - 1.0;
        Some(Self { log_clients: clients.ln(), variance: deviation * deviation, degrees })
    }
}

/// A variance in proportion to a power of the clients.
struct Power {
    exponent: f64,
    /// The means of the logarithms of the clients and of the variance.
    centre: (f64, f64),
}

impl Power {
    /// `None` when the variances are not shown to change with the clients. The logarithm of a variance from few values is
    /// too low by a known amount, and has a known variance.
    fn of(known: &[Known], least: f64) -> Option<Self> {
        let point = |it: &Known| {
            let half = it.degrees / 2.0;
            let log = it.variance.max(least).ln() - digamma(half) + half.ln();
            (it.log_clients, log, trigamma(half).recip())
        };
        let points: Vec<(f64, f64, f64)> = known.iter().map(point).collect();
        let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|it| it.2 * of(it)).sum::<f64>()
        };
        let weight = sum(&|_| 1.0);
        let centre = (sum(&|it| it.0) / weight, sum(&|it| it.1) / weight);
        let spread = sum(&|it| (it.0 - centre.0).powi(2));
        let exponent = sum(&|it| (it.0 - centre.0) * it.1) / spread;
        (exponent.abs() * spread.sqrt() > SHOWN).then_some(Self { exponent, centre })
    }

    fn at(&self, clients: f64) -> f64 {
        (self.centre.1 + self.exponent * (clients.ln() - self.centre.0)).exp()
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
    }

    fn level(clients: f64, variance: f64) -> (f64, Vec<f64>) {
        let away = (11.0 / 12.0 * variance).sqrt();
        (clients, (0..12).map(|at| if at % 2 == 0 { away } else { -away }).collect())
    }

    #[test]
    fn variances_that_are_alike_become_their_mean() {
        let alike =
            of_trials(&[level(1.0, 1e-4), level(8.0, 1.44e-4), level(64.0, 0.81e-4)]).unwrap();
        let mean = (1e-4 + 1.44e-4 + 0.81e-4) / 3.0;
        assert!(alike.iter().all(|it| (it / mean - 1.0).abs() < 1e-9), "{alike:?}");
        let with_single = of_trials(&[level(1.0, 1e-4), (2.0, vec![2.0])]).unwrap();
        assert!(with_single.iter().all(|it| (it - 1e-4).abs() < 1e-12), "{with_single:?}");
    }

    #[test]
    fn variances_that_grow_with_the_clients_follow_a_power_of_them() {
        let grows = [1.0, 4.0, 16.0, 64.0].map(|clients: f64| level(clients, 1e-4 * clients));
        let found = of_trials(&grows).unwrap();
        for ((clients, _), variance) in grows.iter().zip(&found) {
            // The logarithm of a variance of eleven degrees of freedom is too low by 0.093.
            assert!((variance / (1e-4 * clients)).ln().abs() < 0.094, "{found:?}");
        }
    }

    #[test]
    fn trials_without_spread_have_no_variance_and_single_ones_none_that_is_known() {
        let same = [(1.0, vec![1.0, 1.0]), (2.0, vec![2.0])];
        assert_eq!(of_trials(&same), Some(vec![0.0, 0.0]));
        assert_eq!(of_trials(&[(1.0, vec![1.0]), (2.0, vec![2.0])]), None);
        assert_eq!(of_trials(&[]), None);
    }

    #[test]
    fn the_shared_variance_makes_the_residuals_as_large_as_expected() {
        // Five points with variance 1 and residuals of 3: 5 x 9 / (1 + shared) = 2 at 21.5.
        let squares = |shared: f64| Some(45.0 / (1.0 + shared));
        assert!((shared(&[1.0; 5], 2, squares).unwrap() - 21.5).abs() < 1e-6);
        assert_eq!(shared(&[1.0; 5], 50, squares), Some(0.0));
    }
}
