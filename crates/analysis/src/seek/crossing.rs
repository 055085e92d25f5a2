//! The load at which one bound begins to break: on a curve through the probes, or within a jump between two of them.

use crate::seek::curve::{Curve, PROBES_MIN, Point};
use crate::seek::judged::BoundShare;

/// The curve is not quite logistic, so an interval on it is never narrower than this in either direction, by the
/// logarithm of the load.
const HALF_WIDTH_MIN: f64 = 0.01;
/// A share jumps when no probe is within this factor of the allowed one, in either direction.
const JUMP: f64 = 4.0;

/// Where a bound begins to break, by the logarithm of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    pub(super) x: f64,
    /// The ends of its interval; `None` when the probes do not tell them.
    pub(super) ends: Option<(f64, f64)>,
    /// How far from it probes tell most.
    pub(super) spread: f64,
}

/// What the probes near the capacity show of one bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shown {
    /// Where it begins to break; `None` when the share above it does not rise with the load.
    pub(super) crossing: Option<Crossing>,
    /// Whether it is kept over all these probes together.
    pub(super) is_kept: bool,
}

impl Shown {
    /// By these probes: the logarithm of the load of each, and its share above the bound.
    pub(super) fn of(probes: &[(f64, BoundShare)]) -> Self {
        let of =
            |share: fn(&BoundShare) -> f64| probes.iter().map(|(_, it)| share(it)).sum::<f64>();
        let is_kept = of(|it| it.above * it.transactions) <= of(|it| it.allowed * it.transactions);
        // All probes have the same bound; one of 100 % is never broken.
        let allowed = probes.first().map_or(1.0, |(_, it)| it.allowed);
        if !(allowed > 0.0 && allowed < 1.0) {
            return Self { crossing: None, is_kept };
        }
        let point =
            |(x, it): &(f64, BoundShare)| Point { x: *x, share: it.above, weight: it.transactions };
        let points: Vec<Point> = probes.iter().map(point).collect();
        let curve = Curve::through(&points, allowed);
        let jump = jump(probes, allowed, curve.is_none());
        Self { crossing: jump.or_else(|| curve.and_then(|curve| on(&curve))), is_kept }
    }
}

fn on(curve: &Curve) -> Option<Crossing> {
    if curve.slope <= 0.0 {
        return None;
    }
    let x = curve.crossing();
    let ends = curve.interval_of_crossing();
    let ends = ends.map(|(low, high)| (low.min(x - HALF_WIDTH_MIN), high.max(x + HALF_WIDTH_MIN)));
    Some(Crossing { x, ends, spread: curve.scatter.max(1.0) / curve.slope })
}

/// The capacity between the highest load below which no probe broke the bound and the lowest above which none kept it,
/// where no slope can be seen: the share jumps between two loads, or there is no curve, as when probes of one load in
/// between contradict each other.
fn jump(probes: &[(f64, BoundShare)], allowed: f64, is_without_curve: bool) -> Option<Crossing> {
    let is_kept = |it: &BoundShare| it.above <= allowed * (1.0 + 1e-9);
    let kept = || probes.iter().filter(|(_, it)| is_kept(it));
    let broken = || probes.iter().filter(|(_, it)| !is_kept(it));
    let last_kept = kept().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max);
    let first_broken = broken().map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
    let low = kept().map(|(x, _)| *x).filter(|x| *x < first_broken);
    let low = low.fold(f64::NEG_INFINITY, f64::max);
    let high = broken().map(|(x, _)| *x).filter(|x| *x > last_kept);
    let high = high.fold(f64::INFINITY, f64::min);
    if probes.len() < PROBES_MIN || !low.is_finite() || !high.is_finite() {
        return None;
    }
    let most = kept().map(|(_, it)| it.above).fold(0.0, f64::max);
    let least = broken().map(|(_, it)| it.above).fold(1.0, f64::min);
    let is_far = most <= allowed / JUMP && least >= (allowed * JUMP).min((1.0 + allowed) / 2.0);
    let is_step = last_kept < first_broken && is_far;
    // The load at the upper end is known to break the bound.
    let ends = Some((low, high - 1e-6));
    let spread = (high - low) / 2.0;
    (is_step || is_without_curve).then(|| Crossing { x: f64::midpoint(low, high), ends, spread })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(allowed: f64, probes: &[(f64, f64)]) -> Shown {
        let share = |above| BoundShare { above, allowed, transactions: 5_000.0 };
        let probes: Vec<_> =
            probes.iter().map(|(load, above)| (f64::ln(*load), share(*above))).collect();
        Shown::of(&probes)
    }

    fn clients(shown: Shown) -> [f64; 2] {
        let (low, high) = shown.crossing.unwrap().ends.unwrap();
        [low, high].map(|x| (x.exp() + 1e-9).floor())
    }

    /// A service of 10 ms and a p90 of 75 ms: seven clients never wait for longer, eight always do.
    #[test]
    fn a_step_lies_between_the_highest_kept_and_the_lowest_broken_load() {
        let step = [(1.0, 0.0), (4.0, 0.0), (7.0, 0.0), (7.0, 0.0), (8.0, 1.0), (9.0, 1.0)];
        assert_eq!(clients(shown(0.1, &step)), [7.0, 7.0]);
        // The first transactions of a probe may be faster than the others.
        let late = [(6.0, 0.0), (7.0, 0.0), (7.0, 0.02), (8.0, 0.93), (8.0, 0.94), (9.0, 1.0)];
        assert_eq!(clients(shown(0.1, &late)), [7.0, 7.0]);
        // A step in which one load has a share in between has no slope either.
        let between = [(6.0, 0.0), (7.0, 0.0), (8.0, 0.3), (8.0, 0.3), (9.0, 1.0), (10.0, 1.0)];
        assert_eq!(clients(shown(0.1, &between)), [7.0, 7.0]);
    }

    #[test]
    fn one_contradicting_probe_at_a_step_makes_the_interval_wider() {
        let step = [(6.0, 0.0), (7.0, 0.0), (7.0, 0.0), (7.0, 1.0), (8.0, 1.0), (9.0, 1.0)];
        assert_eq!(clients(shown(0.1, &step)), [6.0, 7.0]);
    }

    #[test]
    fn a_bound_that_is_kept_everywhere_is_not_crossed_nearby() {
        let errors = [(4.0, 0.0), (5.0, 0.0), (6.0, 0.0), (7.0, 0.0)];
        assert_eq!(shown(0.001, &errors), Shown { crossing: None, is_kept: true });
        let broken = [(4.0, 0.5), (5.0, 0.5), (6.0, 0.5), (7.0, 0.5)];
        let shown = shown(0.001, &broken);
        assert!(!shown.is_kept && shown.crossing.is_none_or(|it| it.ends.is_none()), "{shown:?}");
    }
}
