//! The capacity from a straight line through the probes near it.

use measure::SeekRange;

use crate::seek::JudgedProbe;
use crate::student::critical_t;

/// Probes count whose load is within so many spreads of the centre, by the logarithm.
const WINDOW: f64 = 1.5;
/// The spread is chosen so that the excess at its ends is about this far from 0.
const EXCESS_AT_SPREAD: f64 = 0.4;
const SPREAD_MIN: f64 = 0.02;
const SPREAD_MAX: f64 = 0.25;
/// The curve is not quite a line, so an interval is never narrower than this part of the load in either direction.
const HALF_WIDTH_MIN: f64 = 0.01;
/// Student's quantile of this probability makes intervals that have the truth in 95 % of seeks: later loads depend on
/// earlier results, and the excess does not vary alike on both sides of the bound. Found by simulation
/// (benchmarks/statistics.md).
const CONFIDENCE: f64 = 0.97;
/// Fewer probes make no interval.
const PROBES_MIN: usize = 4;

/// The highest load that keeps the bounds, and the throughput at that load, each with a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Clients, or arrivals a second; a whole number of clients.
    pub load: f64,
    /// Lower end of its interval.
    pub load_low: f64,
    /// Upper end of its interval.
    pub load_high: f64,
    /// Transactions that succeed, per second. In an open loop this is the rate.
    pub per_s: f64,
    /// Lower end of its interval.
    pub per_s_low: f64,
    /// Upper end of its interval.
    pub per_s_high: f64,
    /// Number of probes that the line goes through.
    pub probes: usize,
}

/// Where probes gather: around the estimate of the capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Focus {
    /// The logarithm of the load in the middle.
    pub(super) centre: f64,
    /// How far from it probes go, by the logarithm.
    pub(super) spread: f64,
}

impl Focus {
    pub(super) fn at(centre: f64) -> Self {
        Self { centre, spread: 0.12 }
    }

    /// A place nearer to where the fit through the probes crosses the bound, and a spread that suits its slope and its
    /// scatter.
    pub(super) fn refined(self, range: &SeekRange, probes: &[JudgedProbe]) -> Self {
        let mut focus = self;
        for _ in 0..3 {
            let Some(line) = focus.line(range, probes, |probe| probe.excess) else { break };
            if line.slope <= 0.0 {
                // The scatter hides the slope: the crossing lies where the bounds are kept less, or more, often.
                let step = if line.mean_y > 0.0 { -focus.spread } else { focus.spread };
                focus = Self { centre: focus.centre + step, spread: SPREAD_MAX };
                break;
            }
            let far = 2.0 * focus.spread;
            let scatter = line.scatter / line.slope;
            let spread = (EXCESS_AT_SPREAD / line.slope).max(scatter);
            focus = Self {
                centre: line.crossing().max(focus.centre - far).min(focus.centre + far),
                spread: spread.clamp(SPREAD_MIN, SPREAD_MAX).max(focus.spread / 2.0),
            };
        }
        let ends = [range.from, range.to].map(f64::ln);
        Self { centre: focus.centre.max(ends[0]).min(ends[1]), ..focus }
    }

    /// The capacity by the probes around the focus; `None` when they do not show that the excess rises with the load,
    /// or cross the bound outside of the range.
    pub(super) fn capacity(self, range: &SeekRange, probes: &[JudgedProbe]) -> Option<Capacity> {
        let line = self.line(range, probes, |probe| probe.excess)?;
        let (low, high) = line.interval_of_crossing()?;
        let estimate = line.crossing();
        let within = range.from.ln() - HALF_WIDTH_MIN..=range.to.ln() + HALF_WIDTH_MIN;
        if !within.contains(&estimate) {
            return None;
        }
        let ends =
            [estimate, low.min(estimate - HALF_WIDTH_MIN), high.max(estimate + HALF_WIDTH_MIN)];
        let [load, load_low, load_high] = ends.map(|log| range.load(log.exp()));
        let (per_s, per_s_low, per_s_high) = if range.is_whole() {
            let rates =
                self.line(range, probes, |probe| probe.transactions_per_s.max(1e-9).ln())?;
            let at = |load: f64| rates.at(load.ln());
            let half = rates.half_width_at(load.ln())?;
            let all = [load, load_low, load_high].map(at);
            let least = all.into_iter().fold(f64::INFINITY, f64::min) - half;
            let most = all.into_iter().fold(f64::NEG_INFINITY, f64::max) + half;
            (all[0].exp(), least.exp(), most.exp())
        } else {
            (load, load_low, load_high)
        };
        Some(Capacity {
            load,
            load_low,
            load_high,
            per_s,
            per_s_low,
            per_s_high,
            probes: line.count,
        })
    }

    fn line(
        self,
        range: &SeekRange,
        probes: &[JudgedProbe],
        y: impl Fn(&JudgedProbe) -> f64,
    ) -> Option<Line> {
        // Whole numbers may be farther apart than the window.
        let next = if range.is_whole() { 1.01 / self.centre.exp() } else { 0.0 };
        let window = (WINDOW * self.spread).max(next.ln_1p()) + 1e-9;
        let near = probes.iter().filter(|probe| !probe.is_confirming && !probe.is_coarse);
        let near = near.filter(|probe| (probe.load.ln() - self.centre).abs() <= window);
        let points: Vec<(f64, f64)> = near.map(|probe| (probe.load.ln(), y(probe))).collect();
        Line::through(&points)
    }
}

/// A line by least squares.
#[derive(Clone, Copy, Debug)]
struct Line {
    count: usize,
    mean_x: f64,
    mean_y: f64,
    /// Sum of squared deviations of x from its mean.
    squares_x: f64,
    slope: f64,
    /// Standard deviation of y around the line.
    scatter: f64,
}

impl Line {
    /// `None` for too few points, and when all have the same x.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len();
        if count < PROBES_MIN {
            return None;
        }
        let n = count as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let squares_x: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let products: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        if squares_x <= 1e-12 {
            return None;
        }
        let slope = products / squares_x;
        let off = |(x, y): &(f64, f64)| (y - mean_y - slope * (x - mean_x)).powi(2);
        let scatter = (points.iter().map(off).sum::<f64>() / (n - 2.0)).sqrt();
        Some(Self { count, mean_x, mean_y, squares_x, slope, scatter })
    }

    fn at(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }

    /// Where the line is 0.
    fn crossing(&self) -> f64 {
        self.mean_x - self.mean_y / self.slope
    }

    fn t(&self) -> Option<f64> {
        critical_t(CONFIDENCE, self.count - 2)
    }

    /// Half the width of the interval of the line's height at x.
    fn half_width_at(&self, x: f64) -> Option<f64> {
        let away = (x - self.mean_x).powi(2) / self.squares_x;
        Some(self.t()? * self.scatter * (1.0 / self.count as f64 + away).sqrt())
    }

    /// The interval of the x at which the line is 0; `None` when the slope may be 0, so that it has no ends.
    ///
    /// Source: E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B 16
    /// (1954).
    fn interval_of_crossing(&self) -> Option<(f64, f64)> {
        let t = self.t()?;
        let variance = self.scatter * self.scatter;
        let g = t * t * variance / (self.slope * self.slope * self.squares_x);
        if self.slope <= 0.0 || g >= 0.99 {
            return None;
        }
        let away = self.crossing() - self.mean_x;
        let under = variance * ((1.0 - g) / self.count as f64 + away * away / self.squares_x);
        let half = t / self.slope * under.sqrt() / (1.0 - g);
        let middle = self.mean_x + away / (1.0 - g);
        Some((middle - half, middle + half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the condition that Fieller's ends solve, (y(x))^2 = t^2 s^2 (1/n + (x - mean)^2 / Sxx), with
    /// t(0.97, 2) = 5.643 (from the distribution function of two degrees of freedom, 1/2 + t / (2 sqrt(2 + t^2))).
    #[test]
    fn fiellers_ends_are_where_the_interval_of_the_line_touches_zero() {
        let line = Line::through(&[(0.0, -1.0), (1.0, -0.45), (2.0, 0.55), (3.0, 1.0)]).unwrap();
        assert!((line.slope - 0.7).abs() < 1e-12);
        assert!((line.t().unwrap() - 5.643).abs() < 0.001);
        assert!((line.crossing() - (1.5 - 0.025 / 0.7)).abs() < 1e-12);
        let (low, high) = line.interval_of_crossing().unwrap();
        assert!(low < line.crossing() && line.crossing() < high);
        for end in [low, high] {
            assert!((line.at(end).abs() - line.half_width_at(end).unwrap()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_line_that_may_be_level_has_no_interval() {
        let level = Line::through(&[(0.0, 0.1), (1.0, -0.2), (2.0, 0.2), (3.0, -0.05)]).unwrap();
        assert_eq!(level.interval_of_crossing(), None);
        assert!(Line::through(&[(0.0, 0.0); 5]).is_none());
        assert!(Line::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).is_none());
    }
}
