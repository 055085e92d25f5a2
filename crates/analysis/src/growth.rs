//! Where throughput stops growing with the load.

use crate::compare::{Significance, compare_independent, geometric_mean};

/// Where throughput stops growing, as indices of the levels of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The lowest level whose throughput is not shown to be below the highest by the least difference or more.
    pub stops_at: usize,
    /// The level with the highest throughput.
    pub highest: usize,
}

/// `levels` has the throughput of each repetition at each level of load, from the lowest load on. `None` when no
/// level has any.
///
/// A level is below the highest when the comparison of independent trials says so. One trial of a level shows no
/// difference, however large: there the figures alone decide, which leaves chance in.
pub fn growth(levels: &[Vec<f64>], least_difference: f64) -> Option<Growth> {
    let means = levels.iter().map(|level| positive_mean(level));
    let known = means.enumerate().filter_map(|(at, mean)| Some((at, mean?)));
    let (highest, _) = known.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_below = |level: &Vec<f64>| {
        let found = compare_independent(&levels[highest], level, least_difference);
        found.is_none_or(|found| match found.verdict {
            Significance::Lower => true,
            Significance::TooFewRounds => found.ratio.ratio * (1.0 + least_difference) <= 1.0,
            Significance::Higher | Significance::Equal | Significance::Undecided => false,
        })
    };
    let stops_at = levels.iter().position(|level| !is_below(level)).unwrap_or(highest);
    Some(Growth { stops_at, highest })
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
        assert_eq!(growth(&levels, 0.01), Some(Growth { stops_at: 2, highest: 3 }));
        assert_eq!(growth(&levels, 0.001), Some(Growth { stops_at: 3, highest: 3 }));
        assert_eq!(growth(&levels[..2], 0.01), Some(Growth { stops_at: 1, highest: 1 }));
    }

    #[test]
    fn repetitions_show_which_levels_are_below_the_highest() {
        // The second level is 5 % below the third; with a spread of 0.4 % that is shown, with 20 % it is not.
        let near = [vec![99.8, 100.2], vec![189.6, 190.4], vec![199.6, 200.4]];
        assert_eq!(growth(&near, 0.01), Some(Growth { stops_at: 2, highest: 2 }));
        let far = [vec![90.0, 110.0], vec![170.0, 210.0], vec![180.0, 220.0]];
        assert_eq!(growth(&far, 0.01).unwrap().highest, 2);
        assert_eq!(growth(&far, 0.01).unwrap().stops_at, 1);
    }

    #[test]
    fn a_level_without_throughput_is_below_every_other() {
        assert_eq!(growth(&[vec![0.0], vec![5.0]], 0.01).unwrap().stops_at, 1);
        assert_eq!(growth(&[vec![0.0], Vec::new()], 0.01), None);
        assert_eq!(growth(&[], 0.01), None);
    }
}
