//! The share above a bound as a logistic curve over the load, through the probes near the capacity.

use crate::student::critical_t;

/// Fewer probes tell nothing.
pub(super) const PROBES_MIN: usize = 4;
/// Of the variance of a share at the bound, so much comes from what does not depend on the load: without it, one slow
/// transaction where the curve expects none would decide on the fit.
const NOISE: f64 = 0.1;
/// The farthest that a step of the fit moves the curve at any probe, in logits.
const STEP_MAX: f64 = 2.0;
/// A fit that has not come to rest after so many steps has no maximum.
const STEPS_MAX: usize = 100;
/// Student's quantile of this probability makes intervals that have the truth in 95 % of seeks: later loads depend on
/// earlier results, and shares do not vary alike on both sides of the bound. Found by simulation
/// (benchmarks/statistics.md).
pub(super) const CONFIDENCE: f64 = 0.98;

#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// The logarithm of the load.
    pub(super) x: f64,
    /// The share above the bound, 0 to 1.
    pub(super) share: f64,
    pub(super) weight: f64,
}

/// `logit(share) = height + slope (x - middle)`, fitted by quasi-likelihood: only the mean and the variance of a share
/// are assumed, so that shares may vary by more than chance, as those of neighbours in a queue do.
///
/// Source: McCullagh and Nelder, Generalized Linear Models, 2nd edition, 1989, sections 4.4.2 (the fit) and 9.2 (the
/// variance); for shares that are no counts, Papke and Wooldridge, Journal of Applied Econometrics 11 (1996).
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) count: usize,
    middle: f64,
    /// Above the logit of the share that is allowed.
    height: f64,
    pub(super) slope: f64,
    covariance: Symmetric,
    /// Standard deviation of the logit of one probe's share at the bound.
    pub(super) scatter: f64,
}

/// A symmetric matrix of two rows.
#[derive(Clone, Copy, Debug, Default)]
struct Symmetric {
    first: f64,
    both: f64,
    second: f64,
}

impl Symmetric {
    fn add(&mut self, weight: f64, away: f64) {
        self.first += weight;
        self.both += weight * away;
        self.second += weight * away * away;
    }

    /// `None` when it has none.
    fn inverse(self) -> Option<Self> {
        let determinant = self.first * self.second - self.both * self.both;
        let is_regular = determinant > 1e-12 * self.first * self.second;
        let [first, both, second] =
            [self.second, -self.both, self.first].map(|it| it / determinant);
        is_regular.then_some(Self { first, both, second })
    }

    fn times(self, (first, second): (f64, f64)) -> (f64, f64) {
        (self.first * first + self.both * second, self.both * first + self.second * second)
    }

    fn scaled(self, factor: f64) -> Self {
        let [first, both, second] = [self.first, self.both, self.second].map(|it| it * factor);
        Self { first, both, second }
    }
}

pub(super) fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

fn share_at(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// The variance of a share, but for a factor that is the same for all probes. By chance alone it is
/// `share (1 - share)`; it grows faster with the share, because slow transactions come in groups that are larger under
/// more load. With this power simulated seeks erred least.
fn variance(share: f64, allowed: f64) -> f64 {
    let by_chance = |share: f64| share * (1.0 - share);
    let at_bound = by_chance(allowed);
    by_chance(share) * (by_chance(share) / at_bound).sqrt() + NOISE * at_bound
}

impl Curve {
    /// `None` for too few points, and when the points have no best curve, such as a step.
    pub(super) fn through(points: &[Point], allowed: f64) -> Option<Self> {
        let count = points.len();
        let weight: f64 = points.iter().map(|it| it.weight).sum();
        if count < PROBES_MIN || weight <= 0.0 {
            return None;
        }
        let mean = |of: fn(&Point) -> f64| {
            points.iter().map(|it| it.weight * of(it)).sum::<f64>() / weight
        };
        let (middle, share) = (mean(|it| it.x), mean(|it| it.share));
        if share <= 0.0 || share >= 1.0 {
            return None;
        }
        let (mut level, mut slope) = (logit(share), 0.0);
        let mut steps = 0;
        let information = loop {
            let (inverse, step) = step(points, allowed, (middle, level, slope))?;
            let moved = |it: &Point| (step.0 + step.1 * (it.x - middle)).abs();
            let farthest = points.iter().map(moved).fold(0.0, f64::max);
            let part = (STEP_MAX / farthest).min(1.0);
            (level, slope) = (level + part * step.0, slope + part * step.1);
            if farthest < 1e-9 {
                break inverse;
            }
            steps += 1;
            if steps >= STEPS_MAX {
                return None;
            }
        };
        let residual = |it: &Point| {
            let share = share_at(level + slope * (it.x - middle));
            it.weight * (it.share - share).powi(2) / variance(share, allowed)
        };
        let dispersion = points.iter().map(residual).sum::<f64>() / (count as f64 - 2.0);
        let one = dispersion * variance(allowed, allowed) * count as f64 / weight;
        Some(Self {
            count,
            middle,
            height: level - logit(allowed),
            slope,
            covariance: information.scaled(dispersion),
            scatter: one.sqrt() / (allowed * (1.0 - allowed)),
        })
    }

    /// The x at which the share is the allowed one.
    pub(super) fn crossing(&self) -> f64 {
        self.middle - self.height / self.slope
    }

    /// The interval of the crossing; `None` when the slope may be 0, so that it has no ends.
    ///
    /// Source: E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B 16
    /// (1954).
    pub(super) fn interval_of_crossing(&self) -> Option<(f64, f64)> {
        let t = critical_t(CONFIDENCE, self.count - 2)?;
        let limit = self.covariance.scaled(t * t);
        let square = self.slope * self.slope - limit.second;
        if self.slope <= 0.0 || square < 0.01 * self.slope * self.slope {
            return None;
        }
        let half = self.height * self.slope - limit.both;
        let rest = self.height * self.height - limit.first;
        let root = (half * half - square * rest).max(0.0).sqrt();
        Some((self.middle + (-half - root) / square, self.middle + (-half + root) / square))
    }
}

/// A step of Fisher's scoring from a curve, and the inverse of the information there.
fn step(
    points: &[Point],
    allowed: f64,
    (middle, level, slope): (f64, f64, f64),
) -> Option<(Symmetric, (f64, f64))> {
    let mut information = Symmetric::default();
    let mut score = (0.0, 0.0);
    for point in points {
        let away = point.x - middle;
        let share = share_at(level + slope * away);
        let steepness = share * (1.0 - share);
        let weight = point.weight * steepness / variance(share, allowed);
        information.add(weight * steepness, away);
        score.0 += weight * (point.share - share);
        score.1 += weight * (point.share - share) * away;
    }
    let inverse = information.inverse()?;
    Some((inverse, inverse.times(score)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(shares: &[(f64, f64)]) -> Vec<Point> {
        shares.iter().map(|(x, share)| Point { x: *x, share: *share, weight: 1_000.0 }).collect()
    }

    #[test]
    fn shares_on_a_curve_give_that_curve() {
        // logit(share) = -4 + 3 x, which is logit(0.01) = -ln 99 at (4 - ln 99) / 3.
        let on = [0.0, 0.2, 0.5, 0.7, 1.0].map(|x| (x, share_at(-4.0 + 3.0 * x)));
        let curve = Curve::through(&points(&on), 0.01).unwrap();
        let crossing = (4.0 - 99_f64.ln()) / 3.0;
        assert!((curve.slope - 3.0).abs() < 1e-6, "{curve:?}");
        assert!((curve.crossing() - crossing).abs() < 1e-6, "{curve:?}");
        let (low, high) = curve.interval_of_crossing().unwrap();
        assert!(high - low < 1e-5 && low <= crossing + 1e-6 && crossing <= high + 1e-6);
    }

    /// The score of quasi-likelihood is 0 at the best curve. Source: McCullagh and Nelder, section 9.2.2.
    #[test]
    fn residuals_balance_at_the_best_curve() {
        let off = points(&[(0.0, 0.004), (0.0, 0.01), (0.3, 0.002), (0.3, 0.05), (0.6, 0.08)]);
        let curve = Curve::through(&off, 0.01).unwrap();
        let mut score = (0.0, 0.0);
        for it in &off {
            let share = share_at(curve.slope * (it.x - curve.crossing()) + logit(0.01));
            let steepness = share * (1.0 - share);
            let term = (it.share - share) * steepness / variance(share, 0.01);
            score = (score.0 + term, score.1 + term * it.x);
        }
        assert!(score.0.abs() < 1e-9 && score.1.abs() < 1e-9, "{score:?}: {curve:?}");
    }

    /// Source: the condition that Fieller's ends solve: the curve's height there is `t` of its standard errors.
    #[test]
    fn fiellers_ends_are_where_the_interval_of_the_curve_touches_the_bound() {
        let off = [(0.0, 0.002), (0.1, 0.005), (0.2, 0.006), (0.3, 0.02), (0.4, 0.03)];
        let curve = Curve::through(&points(&off), 0.01).unwrap();
        let (low, high) = curve.interval_of_crossing().unwrap();
        assert!(low < curve.crossing() && curve.crossing() < high);
        let t = critical_t(CONFIDENCE, 3).unwrap();
        for end in [low, high] {
            let away = end - curve.middle;
            let Symmetric { first, both, second } = curve.covariance;
            let error = (first + 2.0 * away * both + away * away * second).sqrt();
            assert!(((curve.height + curve.slope * away).abs() - t * error).abs() < 1e-9);
        }
    }

    #[test]
    fn points_without_a_rise_or_with_a_step_have_no_interval() {
        let level = [(0.0, 0.01), (0.1, 0.02), (0.2, 0.015), (0.3, 0.01)];
        let level = Curve::through(&points(&level), 0.01);
        assert_eq!(level.and_then(|curve| curve.interval_of_crossing()), None);
        let step = [(0.0, 0.0), (0.1, 0.0), (0.2, 1.0), (0.3, 1.0)];
        assert!(Curve::through(&points(&step), 0.1).is_none());
        assert!(Curve::through(&points(&[(0.0, 0.0); 5]), 0.1).is_none());
        assert!(Curve::through(&points(&[(0.0, 0.1); 5]), 0.1).is_none());
        assert!(Curve::through(&points(&[(0.0, 0.1), (1.0, 0.2), (2.0, 0.3)]), 0.1).is_none());
    }

    #[test]
    fn one_slow_transaction_where_none_is_expected_does_not_decide() {
        let mut shares = vec![(-2.0, 0.001)];
        shares.extend([-1.0, -0.5].map(|x| (x, 0.0)));
        shares.extend(
            [0.0, 0.05, 0.1, 0.15].map(|x| (x, share_at(40.0 * (x - 0.075) - 99_f64.ln()))),
        );
        let curve = Curve::through(&points(&shares), 0.01).unwrap();
        assert!((curve.crossing() - 0.075).abs() < 0.005, "{curve:?}");
    }
}
