//! Where throughput stops growing with the load.

mod together;

use crate::Ratio;
use crate::WithinInterval;
use crate::compare::{Comparison, Significance, compare_independent, geometric_mean};
use together::Together;

/// Where throughput stops growing, as indices of the levels of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The level after the last one whose throughput is shown to be below that of a higher load by the least difference or
    /// more.
    pub stops_at: usize,
    pub highest: usize,
    /// A level above `stops_at` that may be higher by the least difference or more, and its ratio to that one. Of several
    /// it is the one with the highest throughput.
    pub undecided: Option<(usize, Ratio)>,
}

/// The throughput at a level of load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLevel {
    /// Of each trial.
    pub per_s: Vec<f64>,
    /// The interval of a single trial, from within it.
    pub within: Option<WithinInterval>,
}

/// Of levels with one trial each, a difference that is so many times as large as the half width within the trials is shown
/// whatever the other levels are. Noise that lasts longer than a trial moves it by more than the trial can know.
const FAR: f64 = 3.0;

/// `levels` are the levels of load, from the lowest load on. `None` when no level has throughput.
///
/// A level is below another when the comparison of these two says so, by their trials or, with a single one, by the
/// intervals within (see [`Alone`]). Or when all levels up to there rise by more than they scatter (see [`Together`]): then the
/// scatter of repeated trials decides; of single ones it is enough that a rise that ends before fits worse, or that the
/// difference is beyond the interval within the two trials. The first test protects the second one from the number of pairs.
/// Source: R. A. Fisher, The Design of Experiments (1935), section 24 (the least significant difference).
pub fn growth(levels: &[LoadLevel], least_difference: f64) -> Option<Growth> {
    let means = levels.iter().map(|level| positive_mean(&level.per_s));
    let known = means.enumerate().filter_map(|(at, mean)| Some((at, mean?)));
    let (highest, _) = known.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let least = least_difference.ln_1p();
    let compare = |at: usize, other: usize| {
        compare_independent(&levels[at].per_s, &levels[other].per_s, least_difference)
    };
    let alone = |at: usize, other: usize, found: &Comparison| Alone {
        difference: found.ratio.logs.difference,
        half_width: half_width(&levels[at], &levels[other]),
    };
    let is_higher = |at: usize, other: usize| {
        let Some(found) = compare(at, other) else { return false };
        let alone = alone(at, other, &found);
        let by_two = || match found.verdict {
            Significance::TooFewRounds => alone.is_beyond(FAR),
            verdict => verdict == Significance::Higher,
        };
        let by_all = || {
            let rising = Together::of(&levels[..=other]).filter(Together::rises);
            let one_of_each = |it: &Together| it.rise_fits_best() || alone.is_beyond(1.0);
            rising.is_some_and(|it| it.differs(at).unwrap_or_else(|| one_of_each(&it)))
        };
        alone.difference >= least && (by_two() || by_all())
    };
    let grows = (0..highest).rev().find(|at| (at + 1..=highest).any(|other| is_higher(*at, other)));
    let mut others = grows.map_or(0, |at| at + 1)..highest;
    let stops_at = others.find(|at| compare(*at, highest).is_some()).unwrap_or(highest);
    let may_be_higher = |at: usize| {
        let found = compare(stops_at, at)?;
        match found.verdict {
            Significance::TooFewRounds => {
                let alone = alone(stops_at, at, &found);
                alone.may_reach(least).then(|| alone.ratio(&found.ratio))
            }
            // One test of one side: the upper end of the 90 % interval has 5 % above it.
            _ => (found.ratio.high_90 >= least.exp()).then_some(found.ratio),
        }
    };
    let above = (stops_at + 1..levels.len()).filter_map(|at| Some((at, may_be_higher(at)?)));
    let undecided = above.max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    Some(Growth { stops_at, highest, undecided })
}

/// The difference of the logarithms of the throughput of two levels, one of which has a single trial.
///
/// What differs from trial to trial is not within one. So a difference alone is growth only when it is [`FAR`] times as large
/// as the half width within the trials.
#[derive(Clone, Copy, Debug)]
struct Alone {
    difference: f64,
    /// Of the 95 % interval within the trials; `None` when not known.
    half_width: Option<f64>,
}

impl Alone {
    fn is_beyond(self, half_widths: f64) -> bool {
        self.half_width.is_some_and(|half_width| self.difference > half_widths * half_width)
    }

    fn may_reach(self, least: f64) -> bool {
        self.half_width.is_none_or(|half_width| self.difference + half_width >= least)
    }

    /// With the interval within the trials.
    fn ratio(self, found: &Ratio) -> Ratio {
        let half_width = self.half_width.unwrap_or_default();
        let [low, high] = [-half_width, half_width].map(|it| (self.difference + it).exp());
        Ratio { low, high, ..*found }
    }
}

/// Of the difference of two levels with a single trial each.
fn half_width(one: &LoadLevel, other: &LoadLevel) -> Option<f64> {
    let of = |level: &LoadLevel| level.within.filter(|_| level.per_s.len() == 1)?.log_half_width();
    Some(of(one)?.hypot(of(other)?))
}

/// `None` when a repetition has no throughput at all.
fn positive_mean(level: &[f64]) -> Option<f64> {
    geometric_mean(level).filter(|mean| *mean > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(levels: &[Vec<f64>]) -> Vec<LoadLevel> {
        let level = |per_s: &Vec<f64>| LoadLevel { per_s: per_s.clone(), within: None };
        levels.iter().map(level).collect()
    }

    /// One trial of each level, which is known to a factor of exp `half_width` within.
    fn single(per_s: &[f64], half_width: f64) -> Vec<LoadLevel> {
        let level = |per_s: &f64| {
            let [low, high] = [-half_width, half_width].map(|it| per_s * it.exp());
            let within = Some(WithinInterval { low, high: Some(high), effective_samples: 5.0 });
            LoadLevel { per_s: vec![*per_s], within }
        };
        per_s.iter().map(level).collect()
    }

    #[test]
    fn one_trial_of_each_level_is_judged_by_the_intervals_within() {
        let found = |per_s: &[f64], half_width| {
            let growth = growth(&single(per_s, half_width), 0.01).unwrap();
            (growth.stops_at, growth.undecided.map(|it| it.0))
        };
        // Half the width of the difference is 0.0014; the third is below the fourth by 0.0077, which is less than matters.
        assert_eq!(found(&[100.0, 190.0, 260.0, 262.0, 255.0], 0.001), (2, None));
        // With 0.14 it is not known whether the fourth is higher; ln 260 / 190 is 0.31, less than three times that.
        assert_eq!(found(&[100.0, 190.0, 260.0, 262.0, 255.0], 0.1), (1, Some(3)));
        // Each is 30 % above the one before: 0.26, and no scatter around the line.
        assert_eq!(found(&[100.0, 130.0, 169.0, 219.7, 285.6], 0.1), (4, None));
        assert_eq!(found(&[100.0, 130.0, 169.0, 219.7, 285.6], 0.4), (4, None));
        // The last is 4 % above the one before: growth that ends there fits better, and 0.04 is within 0.14. It is beyond
        // 0.028, but not three times as far.
        let nearly = [100.0, 130.0, 169.0, 219.7, 228.5];
        assert_eq!(found(&nearly, 0.1), (3, Some(4)));
        assert_eq!(found(&nearly, 0.02), (4, None));
        let falls_first = [130.0, 100.0, 169.0, 219.7, 228.5];
        assert_eq!(found(&falls_first, 0.02), (3, Some(4)));
    }

    /// 5 % up and down: half the width of a difference is 0.07, of which ln 105 / 95 = 0.10 is more, but the levels do not
    /// rise.
    #[test]
    fn chance_between_single_trials_is_not_growth() {
        let levels = [100.0, 95.0, 105.0, 98.0, 110.0];
        let found = growth(&single(&levels, 0.05), 0.01).unwrap();
        assert_eq!((found.stops_at, found.highest), (0, 4));
        let (at, ratio) = found.undecided.unwrap();
        assert!(at == 4 && ratio.low > 1.02 && ratio.high < 1.19, "{ratio:?}");
        let unknown: Vec<Vec<f64>> = levels.iter().map(|per_s| vec![*per_s]).collect();
        let found = growth(&repeated(&unknown), 0.01).unwrap();
        assert_eq!((found.stops_at, found.undecided.unwrap().0), (0, 4));
        // Trials too short for intervals within them show growth where they rise along a line.
        let rising: Vec<Vec<f64>> = [99.0, 131.0, 169.0, 220.0, 285.0].map(|it| vec![it]).into();
        assert_eq!(growth(&repeated(&rising), 0.01).unwrap().stops_at, 4);
    }

    /// Three trials of each, 15 % up and down: 0.262 is 2.3 times its standard error, 0.114. Two levels have 4 degrees of
    /// freedom, of which 2.78 would be shown; all have 10, of which 1.81 is.
    #[test]
    fn repeated_trials_of_all_levels_show_growth_together() {
        let levels = |last: f64| -> Vec<Vec<f64>> {
            let level = |rate: f64| vec![rate / 1.15, rate, rate * 1.15];
            [100.0, 130.0, 169.0, 219.7, last].map(level).into()
        };
        let stops_at = |levels: &[Vec<f64>]| growth(&repeated(levels), 0.01).unwrap().stops_at;
        assert_eq!(stops_at(&levels(285.6)), 4);
        assert_eq!(stops_at(&levels(285.6)[3..]), 0, "two levels alone");
        assert_eq!(stops_at(&levels(225.0)), 3);
    }

    #[test]
    fn repetitions_show_which_levels_are_below_the_highest() {
        // The second level is 5 % below the third; with a spread of 0.4 % that is shown, with 20 % it is not.
        let near = [vec![99.8, 100.2], vec![189.6, 190.4], vec![199.6, 200.4]];
        assert_eq!(
            growth(&repeated(&near), 0.01),
            Some(Growth { stops_at: 2, highest: 2, undecided: None })
        );
        let far = [vec![90.0, 110.0], vec![170.0, 210.0], vec![180.0, 220.0]];
        let found = growth(&repeated(&far), 0.01).unwrap();
        assert_eq!((found.stops_at, found.highest), (1, 2));
        let (at, ratio) = found.undecided.expect("the third may well be higher");
        assert!(at == 2 && ratio.low < 1.0 && ratio.high > 1.01, "{ratio:?}");
    }

    #[test]
    fn growth_ends_only_where_that_is_shown() {
        // The third level is 0.1 % above the second, within 0.2 %.
        let level = [vec![99.9, 100.1], vec![199.9, 200.1], vec![200.0, 200.4]];
        assert_eq!(
            growth(&repeated(&level), 0.01),
            Some(Growth { stops_at: 1, highest: 2, undecided: None })
        );
        // One trial of the third level is as high as the second, the other far below.
        let falls = [vec![99.9, 100.1], vec![199.9, 200.1], vec![130.0, 200.0]];
        let found = growth(&repeated(&falls), 0.01).unwrap();
        assert_eq!((found.stops_at, found.highest), (1, 1));
        assert_eq!(found.undecided.unwrap().0, 2);
        // Two trials of the first level differ so much that it may be as high as the last; the second is not.
        let noisy = [vec![20.0, 200.0], vec![100.0, 101.0], vec![200.0, 201.0]];
        assert_eq!(growth(&repeated(&noisy), 0.01).unwrap().stops_at, 2);
    }

    #[test]
    fn a_level_without_throughput_is_below_every_other() {
        assert_eq!(growth(&repeated(&[vec![0.0], vec![5.0]]), 0.01).unwrap().stops_at, 1);
        assert_eq!(growth(&repeated(&[vec![0.0], Vec::new()]), 0.01), None);
        assert_eq!(growth(&[], 0.01), None);
    }
}
