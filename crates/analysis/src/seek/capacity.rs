//! The capacity from the probes near it.

use measure::SeekRange;

use crate::seek::JudgedProbe;
use crate::seek::crossing::{Crossing, Shown};
use crate::seek::curve::{CONFIDENCE, PROBES_MIN};
use crate::student::critical_t;

/// Probes count whose load is within so many spreads of the centre, by the logarithm.
const WINDOW: f64 = 1.5;
const SPREAD_MIN: f64 = 0.02;
pub(super) const SPREAD_MAX: f64 = 0.25;
/// An estimate may lie this far beyond the range, by the logarithm.
const BEYOND_RANGE: f64 = 0.01;

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
    /// Number of probes near the capacity, from which it is.
    pub probes: usize,
    pub basis: CapacityBasis,
}

/// What an interval of a capacity rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityBasis {
    /// The curve through what the probes show.
    Curve,
    /// No probe below its lower end broke the bounds, and none above its upper end kept them; the estimate is in between.
    Probes,
}

/// The interval of a state of a system that changed is wider by this factor: its probes are few, and where it begins and
/// ends follows from them. Found by simulation (benchmarks/statistics.md).
const WIDER: f64 = 1.6;

impl Capacity {
    pub(super) fn widened(self, range: &SeekRange) -> Self {
        let end = |of: f64, end: f64| of * (end / of.max(1e-9)).max(1e-9).powf(WIDER);
        Self {
            load_low: range.load(end(self.load, self.load_low)),
            load_high: range.load(end(self.load, self.load_high)).max(self.load),
            per_s_low: end(self.per_s, self.per_s_low),
            per_s_high: end(self.per_s, self.per_s_high),
            ..self
        }
    }
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

    /// A place nearer to where the probes cross the bounds, and a spread that suits their rise and their scatter.
    pub(super) fn refined(self, range: &SeekRange, probes: &[JudgedProbe]) -> Self {
        let mut focus = self;
        for _ in 0..3 {
            let near = focus.near(range, probes);
            if near.len() < PROBES_MIN {
                break;
            }
            let shown = shown(&near);
            let Some(crossing) = lowest(&shown) else {
                // The scatter hides the rise: the crossing lies where the bounds are kept less, or more, often.
                let is_kept = shown.iter().all(|it| it.is_kept);
                let step = if is_kept { focus.spread } else { -focus.spread };
                focus = Self { centre: focus.centre + step, spread: SPREAD_MAX };
                break;
            };
            let far = 2.0 * focus.spread;
            focus = Self {
                centre: crossing.x.max(focus.centre - far).min(focus.centre + far),
                spread: crossing.spread.clamp(SPREAD_MIN, SPREAD_MAX).max(focus.spread / 2.0),
            };
        }
        let ends = [range.from, range.to].map(f64::ln);
        Self { centre: focus.centre.max(ends[0]).min(ends[1]), ..focus }
    }

    /// The capacity by the probes around the focus; `None` when they do not show that the share above a bound rises
    /// with the load, or cross it outside of the range.
    pub(super) fn capacity(self, range: &SeekRange, probes: &[JudgedProbe]) -> Option<Capacity> {
        let near = self.near(range, probes);
        let (estimate, low, high) = crossing(&shown(&near))?;
        let within = range.from.ln() - BEYOND_RANGE..=range.to.ln() + BEYOND_RANGE;
        if !within.contains(&estimate) {
            return None;
        }
        let [load, load_low, load_high] = [estimate, low, high].map(|log| range.load(log.exp()));
        let (per_s, per_s_low, per_s_high) = if range.is_whole() {
            throughput(&near, [load, load_low, load_high])?
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
            probes: near.len(),
            basis: CapacityBasis::Curve,
        })
    }

    /// This place, or if it shows no capacity, the first wider one that does.
    pub(super) fn wide_enough(self, range: &SeekRange, probes: &[JudgedProbe]) -> Self {
        let widths = std::iter::successors(Some(self.spread), |spread| Some(spread * 1.5));
        let wider = widths.take_while(|spread| *spread <= SPREAD_MAX);
        let mut wider = wider.map(|spread| Self { spread, ..self });
        wider.find(|focus| focus.capacity(range, probes).is_some()).unwrap_or(self)
    }

    fn near<'a>(self, range: &SeekRange, probes: &'a [JudgedProbe]) -> Vec<&'a JudgedProbe> {
        // Whole numbers may be farther apart than the window.
        let next = if range.is_whole() { 1.01 / self.centre.exp() } else { 0.0 };
        let window = (WINDOW * self.spread).max(next.ln_1p()) + 1e-9;
        let short = probes.iter().filter(|probe| !probe.is_confirming && !probe.is_coarse);
        short.filter(|probe| (probe.load.ln() - self.centre).abs() <= window).collect()
    }
}

/// What the probes show without a curve: the capacity lies between the highest load below which none broke the bounds and
/// the lowest above which none kept them. `None` unless some kept them and some broke them.
pub(super) fn bracketed(range: &SeekRange, probes: &[JudgedProbe]) -> Option<Capacity> {
    let short = || probes.iter().filter(|it| !it.is_confirming && !it.is_coarse);
    let loads = |is_kept: bool| short().filter(move |it| it.is_kept == is_kept).map(|it| it.load);
    let first_broken = loads(false).fold(f64::INFINITY, f64::min);
    let last_kept = loads(true).fold(f64::NEG_INFINITY, f64::max);
    if !first_broken.is_finite() || !last_kept.is_finite() {
        return None;
    }
    let load_low = loads(true).filter(|load| *load < first_broken).fold(range.from, f64::max);
    let load_high = loads(false).filter(|load| *load > last_kept).fold(range.to, f64::min);
    let load = range.load((load_low * load_high).sqrt());
    let within = || short().filter(|it| (load_low..=load_high).contains(&it.load));
    let (per_s, per_s_low, per_s_high) = if range.is_whole() {
        let rates = || within().map(|it| it.transactions_per_s.max(1e-9));
        let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(1e-9, f64::max));
        ((low.min(high) * high).sqrt(), low.min(high), high)
    } else {
        (load, load_low, load_high)
    };
    let (probes, basis) = (within().count(), CapacityBasis::Probes);
    Some(Capacity { load, load_low, load_high, per_s, per_s_low, per_s_high, probes, basis })
}

/// What the probes show of each bound.
fn shown(near: &[&JudgedProbe]) -> Vec<Shown> {
    let bounds = near.first().map_or(0, |probe| probe.shares.len());
    let of_bound = |at: usize| {
        let shares = near.iter().filter_map(|it| Some((it.load.ln(), *it.shares.get(at)?)));
        Shown::of(&shares.collect::<Vec<_>>())
    };
    (0..bounds).map(of_bound).collect()
}

fn lowest(shown: &[Shown]) -> Option<Crossing> {
    let crossings = shown.iter().filter_map(|it| it.crossing);
    crossings.min_by(|one, other| one.x.total_cmp(&other.x))
}

/// The load at which the first of the bounds begins to break, and its interval: all bounds are kept below the lowest
/// of their crossings. Where several are near to each other, the interval has the lowest of both ends. `None` when a
/// bound that may be the first has no interval.
fn crossing(shown: &[Shown]) -> Option<(f64, f64, f64)> {
    let told = || shown.iter().filter_map(|it| it.crossing.and_then(|at| Some((at.x, at.ends?))));
    let least =
        |of: fn(&(f64, (f64, f64))) -> f64| told().map(|it| of(&it)).fold(f64::INFINITY, f64::min);
    let (x, low, high) = (least(|it| it.0), least(|it| it.1.0), least(|it| it.1.1));
    let is_behind = |it: &Shown| match it.crossing {
        Some(Crossing { ends: Some(_), .. }) => true,
        Some(crossing) => it.is_kept && crossing.x > x,
        None => it.is_kept,
    };
    (x.is_finite() && shown.iter().all(is_behind)).then_some((x, low, high))
}

/// The throughput at the first of these loads, and the ends of its interval over all of them.
fn throughput(near: &[&JudgedProbe], loads: [f64; 3]) -> Option<(f64, f64, f64)> {
    let point = |it: &&JudgedProbe| (it.load.ln(), it.transactions_per_s.max(1e-9).ln());
    let line = Line::through(&near.iter().map(point).collect::<Vec<_>>())?;
    let half = line.half_width_at(loads[0].ln())?;
    let all = loads.map(|load| line.at(load.ln()));
    let least = all.into_iter().fold(f64::INFINITY, f64::min) - half;
    let most = all.into_iter().fold(f64::NEG_INFINITY, f64::max) + half;
    Some((all[0].exp(), least.exp(), most.exp()))
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

    /// Half the width of the interval of the line's height at x.
    fn half_width_at(&self, x: f64) -> Option<f64> {
        let away = (x - self.mean_x).powi(2) / self.squares_x;
        let t = critical_t(CONFIDENCE, self.count - 2)?;
        Some(t * self.scatter * (1.0 / self.count as f64 + away).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(x: f64, ends: Option<(f64, f64)>, is_kept: bool) -> Shown {
        Shown { crossing: Some(Crossing { x, ends, spread: 0.1 }), is_kept }
    }

    #[test]
    fn the_first_bound_that_breaks_is_the_capacity() {
        let latency = shown(5.0, Some((4.9, 5.1)), true);
        let never = Shown { crossing: None, is_kept: true };
        assert_eq!(crossing(&[latency, never]), Some((5.0, 4.9, 5.1)));
        let errors = shown(5.05, Some((4.8, 5.3)), true);
        assert_eq!(crossing(&[latency, errors]), Some((5.0, 4.8, 5.1)));
        let far = shown(6.0, None, true);
        assert_eq!(crossing(&[far, latency]), Some((5.0, 4.9, 5.1)));
        assert_eq!(crossing(&[never, far]), None);
    }

    #[test]
    fn a_bound_that_may_break_first_hides_the_capacity() {
        let latency = shown(5.0, Some((4.9, 5.1)), true);
        let broken = Shown { crossing: None, is_kept: false };
        assert_eq!(crossing(&[latency, broken]), None);
        assert_eq!(crossing(&[latency, shown(4.95, None, true)]), None);
        assert_eq!(crossing(&[latency, shown(5.5, None, false)]), None);
    }

    /// With t(0.98, 2) = 6.965 (from the distribution function of two degrees of freedom, 1/2 + t / (2 sqrt(2 + t^2)))
    /// and residuals of 0.025, -0.125, 0.175 and -0.075, whose squares add up to 0.0525.
    #[test]
    fn a_line_has_the_interval_of_least_squares() {
        let line = Line::through(&[(0.0, -1.0), (1.0, -0.45), (2.0, 0.55), (3.0, 1.0)]).unwrap();
        assert!((line.slope - 0.7).abs() < 1e-12 && (line.at(1.5) - 0.025).abs() < 1e-12);
        let scatter = (0.0525_f64 / 2.0).sqrt();
        assert!((line.scatter - scatter).abs() < 1e-12, "{line:?}");
        assert!((line.half_width_at(1.5).unwrap() - 6.965 * scatter / 2.0).abs() < 0.001);
        assert!(Line::through(&[(0.0, 0.0); 5]).is_none());
        assert!(Line::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).is_none());
    }
}
