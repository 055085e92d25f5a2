//! Comparisons of a system with itself by each method, and with one that differs by exactly the margin.

use analysis::{Comparison, Significance, compare};

use super::methods::{Method, Trials, three_in_rounds};
use super::share::Share;

/// The head of the table of methods.
pub(super) const HEAD: &str = "\
| method | noise | alarms % | equal at the margin % | half width of the 95 % interval, % |
|---|---|---|---|---|";

/// The head of the table of noise floors.
pub(super) const FLOORS: &str = "\
| noise | noise floor, median % | warnings % | equal variants beyond it % | a verdict on 3 % is within it % |
|---|---|---|---|---|";

/// What a method says under a kind of noise.
#[derive(Debug)]
pub(super) struct Equals {
    pub(super) method: Method,
    pub(super) noise: &'static str,
    /// Of equal systems: the 95 % interval does not have 1.
    pub(super) alarms: Share,
    /// Of systems that differ by the margin: they are called equal.
    pub(super) equal_at_margin: Share,
    half_widths: f64,
}

impl Equals {
    pub(super) fn of(method: Method, noise: &'static str, trials: &Trials) -> Self {
        let (alarms, equal_at_margin, half_widths) = (Share::default(), Share::default(), 0.0);
        let mut all = Self { method, noise, alarms, equal_at_margin, half_widths };
        for number in 0..trials.comparisons() {
            let of = |factor| method.compare(trials, number, factor);
            if let Some(Comparison { ratio, .. }) = of(1.0) {
                all.alarms.add(ratio.low > 1.0 || ratio.high < 1.0);
                all.half_widths += (ratio.high / ratio.low).ln() / 2.0;
            }
            if let Some(found) = of(1.0 + method.margin()).filter(|_| method != Method::NoiseFloor)
            {
                all.equal_at_margin.add(found.verdict == Significance::Equal);
            }
        }
        all
    }

    /// The row of the table.
    pub(super) fn row(&self) -> String {
        format!(
            "| {} | {} | {} | {} | {:.1} |",
            self.method.name(),
            self.noise,
            self.alarms,
            self.equal_at_margin,
            100.0 * self.half_widths / self.alarms.of as f64,
        )
    }
}

/// Noise floors under a kind of noise.
#[derive(Debug)]
pub(super) struct Floors {
    noise: &'static str,
    floors: Vec<f64>,
    /// A baseline that is called faster or slower than itself.
    pub(super) warnings: Share,
    /// A variant without a difference whose ratio is farther from 1 than the floor.
    pub(super) beyond: Share,
    /// Of the verdicts on a variant that is 3 % faster: marked as within the floor.
    within: Share,
}

impl Floors {
    pub(super) fn of(noise: &'static str, trials: &Trials) -> Self {
        let [warnings, beyond, within] = [Share::default(); 3];
        let mut all = Self { noise, floors: Vec::new(), warnings, beyond, within };
        let margin = Method::NoiseFloor.margin();
        for number in 0..trials.comparisons() {
            let of = |factor| {
                let figures = three_in_rounds(trials, number, factor);
                let [other, again] = [1, 2].map(|at| compare(&figures[0], &figures[at], margin));
                Some((other?, again?))
            };
            let (Some((equal, again)), Some((faster, _))) = (of(1.0), of(1.03)) else { continue };
            let Some(floor) = again.ratio.logs.noise_floor() else { continue };
            let size = |it: &Comparison| it.ratio.logs.difference.abs();
            let is_difference =
                |it: &Comparison| matches!(it.verdict, Significance::Higher | Significance::Lower);
            all.floors.push(floor.exp_m1());
            all.warnings.add(is_difference(&again));
            all.beyond.add(size(&equal) > floor);
            if is_difference(&faster) {
                all.within.add(size(&faster) <= floor);
            }
        }
        all.floors.sort_by(f64::total_cmp);
        all
    }

    /// The row of the table.
    pub(super) fn row(&self) -> String {
        let median = self.floors.get(self.floors.len() / 2).copied().unwrap_or(f64::NAN);
        format!(
            "| {} | {:.1} | {} | {} | {} |",
            self.noise,
            100.0 * median,
            self.warnings,
            self.beyond,
            self.within
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::noises::Kind;

    /// 48 comparisons: with a level of 5 %, more than 9 alarms have a probability of less than 0.1 %.
    #[test]
    fn no_method_raises_alarms_for_equal_systems_beyond_chance() {
        for noise in ["none", "drift of 20 %"] {
            let kind = Kind::all().into_iter().find(|kind| kind.name == noise).unwrap();
            let trials = Trials::simulated(&kind, 48, 1).unwrap();
            for method in [Method::Rounds, Method::NoiseFloor, Method::Trials, Method::Runs] {
                let found = Equals::of(method, kind.name, &trials);
                assert_eq!(found.alarms.of, 48);
                assert!(found.alarms.count <= 9, "{found:?}");
                assert!(found.equal_at_margin.count <= 9, "{found:?}");
            }
            // A drift is no spread of rounds: with it the intervals would be half as wide again.
            let found = Equals::of(Method::Rounds, kind.name, &trials);
            assert!(found.half_widths / 48.0 < 0.022, "{found:?}");
            let floors = Floors::of(kind.name, &trials);
            assert!(floors.warnings.count <= 9, "{floors:?}");
            assert!((0.005..0.05).contains(&floors.floors[24]), "{floors:?}");
        }
    }
}
