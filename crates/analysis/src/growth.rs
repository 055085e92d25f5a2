//! Where throughput stops growing with the load.

use crate::Ratio;
use crate::compare::{Comparison, Significance, compare_independent, geometric_mean};

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

/// `levels` has the throughput of each repetition at each level of load, from the lowest load on. `None` when no
/// level has any.
///
/// Two levels differ when the comparison of independent trials says so. One trial of a level shows no difference, however
/// large: there the figures alone decide, which leaves chance in.
pub fn growth(levels: &[Vec<f64>], least_difference: f64) -> Option<Growth> {
    let means = levels.iter().map(|level| positive_mean(level));
    let known = means.enumerate().filter_map(|(at, mean)| Some((at, mean?)));
    let (highest, _) = known.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let most = 1.0 + least_difference;
    let compare = |at: usize, other: usize| {
        compare_independent(&levels[at], &levels[other], least_difference)
    };
    let is_higher = |at: usize, other: usize| {
        compare(at, other).is_some_and(|found| found.verdict == Significance::Higher)
    };
    let grows = (0..highest).rev().find(|at| (at + 1..=highest).any(|other| is_higher(*at, other)));
    let is_below = |at: &usize| {
        compare(*at, highest).is_none_or(|found| {
            found.verdict == Significance::TooFewRounds && found.ratio.ratio >= most
        })
    };
    let mut others = grows.map_or(0, |at| at + 1)..highest;
    let stops_at = others.find(|at| !is_below(at)).unwrap_or(highest);
    // One test of one side: the upper end of the 90 % interval has 5 % above it.
    let may_be_higher = |found: &Comparison| match found.verdict {
        Significance::TooFewRounds => found.ratio.ratio >= most,
        _ => found.ratio.high_90 >= most,
    };
    let above = (stops_at + 1..levels.len()).filter_map(|at| {
        let found = compare(stops_at, at);
        found.filter(may_be_higher).map(|found| (at, found.ratio))
    });
    let undecided = above.max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    Some(Growth { stops_at, highest, undecided })
}

/// `None` when a repetition has no throughput at all.
fn positive_mean(level: &[f64]) -> Option<f64> {
    geometric_mean(level).filter(|mean| *mean > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trial_of_each_level_is_judged_by_its_figure() {
        let levels = [100.0, 190.0, 260.0, 262.0, 255.0].map(|per_s| vec![per_s]);
        let found = |levels, least| {
            let growth = growth(levels, least).unwrap();
            assert_eq!(growth.undecided, None);
            (growth.stops_at, growth.highest)
        };
        assert_eq!(found(&levels, 0.01), (2, 3));
        assert_eq!(found(&levels, 0.001), (3, 3));
        assert_eq!(found(&levels[..2], 0.01), (1, 1));
    }

    #[test]
    fn repetitions_show_which_levels_are_below_the_highest() {
        // The second level is 5 % below the third; with a spread of 0.4 % that is shown, with 20 % it is not.
        let near = [vec![99.8, 100.2], vec![189.6, 190.4], vec![199.6, 200.4]];
        assert_eq!(growth(&near, 0.01), Some(Growth { stops_at: 2, highest: 2, undecided: None }));
        let far = [vec![90.0, 110.0], vec![170.0, 210.0], vec![180.0, 220.0]];
        let found = growth(&far, 0.01).unwrap();
        assert_eq!((found.stops_at, found.highest), (1, 2));
        let (at, ratio) = found.undecided.expect("the third may well be higher");
        assert!(at == 2 && ratio.low < 1.0 && ratio.high > 1.01, "{ratio:?}");
    }

    #[test]
    fn growth_ends_only_where_that_is_shown() {
        // The third level is 0.1 % above the second, within 0.2 %.
        let level = [vec![99.9, 100.1], vec![199.9, 200.1], vec![200.0, 200.4]];
        assert_eq!(growth(&level, 0.01), Some(Growth { stops_at: 1, highest: 2, undecided: None }));
        // One trial of the third level is as high as the second, the other far below.
        let falls = [vec![99.9, 100.1], vec![199.9, 200.1], vec![130.0, 200.0]];
        let found = growth(&falls, 0.01).unwrap();
        assert_eq!((found.stops_at, found.highest), (1, 1));
        assert_eq!(found.undecided.unwrap().0, 2);
        // Two trials of the first level differ so much that it may be as high as the last; the second is not.
        let noisy = [vec![20.0, 200.0], vec![100.0, 101.0], vec![200.0, 201.0]];
        assert_eq!(growth(&noisy, 0.01).unwrap().stops_at, 2);
    }

    #[test]
    fn a_level_without_throughput_is_below_every_other() {
        assert_eq!(growth(&[vec![0.0], vec![5.0]], 0.01).unwrap().stops_at, 1);
        assert_eq!(growth(&[vec![0.0], Vec::new()], 0.01), None);
        assert_eq!(growth(&[], 0.01), None);
    }
}
