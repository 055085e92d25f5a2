//! What all levels of load together show of growth, which two of them alone may not.

use super::{LoadLevel, positive_mean};
use crate::moments::mean;
use crate::student::quantile;

/// The chance that levels without growth seem to rise. Noise that lasts from one trial to the next makes it two or three
/// times as large.
const RISE_LEVEL: f64 = 0.01;
/// The chance that of levels that rise, two without growth between them seem to differ.
const STEP_LEVEL: f64 = 0.05;

/// The logarithms of the throughput of each trial at successive levels.
pub(super) struct Together {
    levels: Vec<Vec<f64>>,
}

impl Together {
    /// `None` where a level has no throughput.
    pub(super) fn of(levels: &[LoadLevel]) -> Option<Self> {
        let logs = |level: &LoadLevel| {
            positive_mean(&level.per_s)?;
            Some(level.per_s.iter().map(|per_s| per_s.ln()).collect())
        };
        Some(Self { levels: levels.iter().map(logs).collect::<Option<_>>()? })
    }

    /// Whether the levels rise by more than they scatter: Student's t-test of the slope of a straight line through all trials,
    /// on one side. It has in its scatter what lasts for a trial.
    pub(super) fn rises(&self) -> bool {
        let line = self.broken_line(self.levels.len() - 1);
        let freedom = self.levels.concat().len() as f64 - 2.0;
        let error = (line.squares / freedom / line.spread).sqrt();
        quantile(1.0 - RISE_LEVEL, freedom).is_some_and(|critical| line.slope > critical * error)
    }

    /// Whether the last level is above the one at `at` by more than the trials of a level differ: Student's t-test on one
    /// side, with one variance of all levels. `None` with a single trial of each.
    pub(super) fn differs(&self, at: usize) -> Option<bool> {
        let from_mean = |level: &Vec<f64>| {
            let middle = mean(level).unwrap_or_default();
            level.iter().map(|log| (log - middle).powi(2)).sum::<f64>()
        };
        let squares: f64 = self.levels.iter().map(from_mean).sum();
        let freedom = (self.levels.concat().len() - self.levels.len()) as f64;
        let critical = quantile(1.0 - STEP_LEVEL, freedom)?;
        let [one, last] = [at, self.levels.len() - 1].map(|at| &self.levels[at]);
        let each = 1.0 / one.len() as f64 + 1.0 / last.len() as f64;
        Some(mean(last)? - mean(one)? > critical * (squares / freedom * each).sqrt())
    }

    /// Whether of all lines that rise up to a level and are flat from there on, the one that rises up to the last level has
    /// the least squares. All have as many unknowns, so that it is the likeliest.
    pub(super) fn rise_fits_best(&self) -> bool {
        let last = self.levels.len() - 1;
        let whole = self.broken_line(last).squares;
        (1..last).all(|knee| whole <= self.broken_line(knee).squares)
    }

    /// The line of least squares that is flat from the level `knee` on.
    fn broken_line(&self, knee: usize) -> BrokenLine {
        let points = self.levels.iter().enumerate();
        let points =
            points.flat_map(|(at, level)| level.iter().map(move |log| (at.min(knee) as f64, *log)));
        let (places, logs): (Vec<f64>, Vec<f64>) = points.unzip();
        let [middle, centre] = [&places, &logs].map(|it| mean(it).unwrap_or_default());
        let spread: f64 = places.iter().map(|place| (place - middle).powi(2)).sum();
        let products = places.iter().zip(&logs).map(|(place, log)| (place - middle) * log);
        let slope = products.sum::<f64>() / spread;
        let left = places.iter().zip(&logs);
        let left = left.map(|(place, log)| (log - centre - slope * (place - middle)).powi(2));
        BrokenLine { slope, spread, squares: left.sum() }
    }
}

struct BrokenLine {
    slope: f64,
    /// The sum of squared distances of the places from their mean.
    spread: f64,
    /// The sum of squared distances of the trials from the line.
    squares: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(levels: &[&[f64]]) -> Together {
        Together { levels: levels.iter().map(|level| level.to_vec()).collect() }
    }

    #[test]
    fn lines_have_the_least_squares_by_hand() {
        let levels = together(&[&[1.0], &[2.0], &[4.0], &[5.0]]);
        let whole = levels.broken_line(3);
        // The mean 3 at 1.5; products -1.5 - 1 + 2 + 7.5 = 7, of 5; off by 0.1, -0.3, 0.3 and -0.1.
        assert!((whole.slope - 1.4).abs() < 1e-12 && (whole.spread - 5.0).abs() < 1e-12);
        assert!((whole.squares - 0.2).abs() < 1e-12);
        // Places 0, 1, 2, 2 of mean 1.25: products -1.25 - 0.5 + 3 + 3.75 = 5, of 2.75; the squares are 10 - 25 / 2.75.
        assert!((levels.broken_line(2).squares - (10.0 - 25.0 / 2.75)).abs() < 1e-12);
        assert!(levels.rise_fits_best());
        assert!(!together(&[&[1.0], &[2.0], &[4.0], &[4.1]]).rise_fits_best());
    }

    /// t = 1.4 / sqrt (0.1 / 5) = 9.9 with two degrees of freedom, of which 6.96 is the 99 % point; with 0.6 more in one of
    /// them it is 5.
    #[test]
    fn levels_rise_when_the_slope_is_beyond_chance() {
        assert!(together(&[&[1.0], &[2.0], &[4.0], &[5.0]]).rises());
        assert!(!together(&[&[1.0], &[2.0], &[4.6], &[5.0]]).rises());
        assert!(!together(&[&[5.0], &[4.0], &[2.0], &[1.0]]).rises(), "they fall");
        assert!(!together(&[&[1.0], &[2.0]]).rises(), "two trials have no scatter");
    }

    /// Each level has 1 +- 0.1: the variance is 0.02 with three degrees of freedom, whose 95 % point is 2.353, so that 0.333 is
    /// shown and less is not.
    #[test]
    fn repeated_trials_have_one_variance() {
        let levels = |last: f64| {
            let level = |middle: f64| vec![middle - 0.1, middle + 0.1];
            Together { levels: [0.0, 0.5, last].map(level).to_vec() }
        };
        assert_eq!((levels(0.84).differs(1), levels(0.82).differs(1)), (Some(true), Some(false)));
        assert_eq!(together(&[&[1.0], &[2.0]]).differs(0), None);
    }
}
