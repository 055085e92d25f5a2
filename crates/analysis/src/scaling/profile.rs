//! Intervals by profile likelihood: a value is in the interval of a quantity when the best curve that has it there is not
//! much worse than the best of all.

use crate::scaling::curve::{Coefficients, Fit, Point, Space, fit, squares_of_highest};
use crate::student::critical_t;

/// A search for the end of an interval begins with this step, and doubles it.
const FIRST_STEP: f64 = 1e-3;
const BISECTIONS: usize = 50;
/// Residuals of logarithms this small, squared, are rounding.
const ROUNDING: f64 = 1e-20;
/// How far from the points a quantity is looked for, as a factor, in either direction.
pub(super) const FAR: f64 = 1e6;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranged {
    pub value: f64,
    pub low: f64,
    /// The upper end; `None` when the data show none.
    pub high: Option<f64>,
}

/// Points, and the curves that are not shown to be wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    points: Vec<Point>,
    /// The largest sum of squares of a curve in the interval.
    squares_max: f64,
    /// The most clients that were measured.
    pub(super) clients_max: f64,
}

impl Profile {
    /// With the scatter of the points around the best curve as the measure of chance. `None` without degrees of freedom
    /// for it.
    ///
    /// Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications, 1988, section 6.1.2:
    /// the profile t is Student's with the degrees of freedom of the residuals.
    pub(super) fn of(points: &[Point], best: &Fit) -> Option<Self> {
        let degrees = points.len().checked_sub(3).filter(|degrees| *degrees > 0)?;
        let t = critical_t(0.95, degrees)?;
        let weights: f64 = points.iter().map(|point| point.weight).sum();
        let squares_max = best.squares * (1.0 + t * t / degrees as f64) + weights * ROUNDING;
        let clients_max = points.iter().map(|point| point.clients).fold(1.0, f64::max);
        Some(Self { points: points.to_vec(), squares_max, clients_max })
    }

    fn has(&self, space: &Space) -> bool {
        fit(&self.points, space).is_some_and(|fit| fit.squares <= self.squares_max)
    }

    pub(super) fn contention(&self, alpha: f64) -> (f64, Option<f64>) {
        self.linear(alpha, 1.0 / self.clients_max, Space::of_contention)
    }

    pub(super) fn coherency(&self, beta: f64) -> (f64, Option<f64>) {
        self.linear(beta, self.clients_max.powi(-2), Space::of_coherency)
    }

    fn linear(&self, value: f64, scale: f64, space: fn(f64) -> Space) -> (f64, Option<f64>) {
        let ends = [-1.0, 1.0].map(|sign| {
            let is_within = |away: f64| self.has(&space(value + sign * away * scale));
            farthest(FAR, is_within).map(|away| value + sign * away * scale)
        });
        (ends[0].unwrap_or(f64::NEG_INFINITY), ends[1])
    }

    pub(super) fn positive(&self, value: f64, space: impl Fn(f64) -> Space) -> Ranged {
        self.by_factor(value, |value| self.has(&space(value)))
    }

    fn by_factor(&self, value: f64, is_within: impl Fn(f64) -> bool) -> Ranged {
        let end = |sign: f64| farthest(FAR.ln(), |away| is_within(value * (sign * away).exp()));
        let low = end(-1.0).map_or(0.0, |away| value * (-away).exp());
        Ranged { value, low, high: end(1.0).map(|away| value * away.exp()) }
    }

    /// The interval of the number of clients at which throughput is highest, at least 1; without an upper end the curve
    /// may have no peak at all. `clients` is where the best curve has its peak; `None` if it has none.
    pub(super) fn peak(&self, clients: Option<f64>) -> (f64, Option<f64>) {
        let most = (FAR * self.clients_max).ln();
        let is_within = |log: f64| self.peaks_at(log.exp());
        let from = clients.map_or(most, |clients| clients.max(1.0).ln());
        let down = farthest(from, |away| is_within(from - away));
        let low = down.map_or(1.0, |away| (from - away).exp());
        let up = clients.and_then(|_| farthest(most - from, |away| is_within(from + away)));
        (low, up.map(|away| (from + away).exp()))
    }

    fn peaks_at(&self, clients: f64) -> bool {
        let with_peak = fit(&self.points, &Space::of_peak(clients));
        let is_peak = with_peak.filter(|fit| fit.coefficients[2] >= 0.0);
        let constant = || fit(&self.points, &Space::constant());
        is_peak.or_else(constant).is_some_and(|fit| fit.squares <= self.squares_max)
    }

    /// The highest throughput with its interval, of a best curve with this peak.
    pub(super) fn highest(&self, per_s: f64, coefficients: &Coefficients) -> Ranged {
        let [c0, c1, c2] = *coefficients;
        let roots = [c2.max(0.0).sqrt(), (c0 - c1).max(0.0).sqrt()];
        self.by_factor(per_s, |per_s| {
            let squares = squares_of_highest(&self.points, per_s, roots);
            squares.is_some_and(|squares| squares <= self.squares_max)
        })
    }
}

/// How far from 0 a property holds, up to a limit; `None` when it still holds there. It holds up to a place and not beyond.
fn farthest(limit: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = (0.0, FIRST_STEP.min(limit));
    while holds(high) {
        if high >= limit {
            return None;
        }
        (low, high) = (high, (2.0 * high).min(limit));
    }
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        (low, high) = if holds(middle) { (middle, high) } else { (low, middle) };
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_found_wherever_it_is() {
        for end in [1e-6, 0.3, 7.0, 1_234.5] {
            let found = farthest(1e4, |away| away <= end).unwrap();
            assert!((found / end - 1.0).abs() < 1e-6, "{end}: {found}");
        }
        assert_eq!(farthest(1e4, |_| true), None);
        assert!(farthest(1e4, |away| away <= 0.0).unwrap() < 1e-12);
    }
}
