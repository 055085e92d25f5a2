//! How much a series rises or falls, and how much it could without being told from noise that lasts.

use crate::memory::{Memory, likely};
use crate::student::{quantile, upper_tail};
use crate::trend::{Fit, POINTS_MIN, cosine_waves};

/// Each of two one-sided tests may err so often.
const TAIL: f64 = 0.05;
/// The largest drift is exact to this part.
const PRECISION: f64 = 1e-4;

/// The rise of a straight line through a series, from its first value to its last; it is negative for a fall.
///
/// The model is a straight line with noise whose correlation falls with the distance. The cosine waves of such noise
/// are independent of each other, so that the line is a weighted regression of the waves, with Student's t. As the
/// memory of the noise is not known, the probability that the line rises by more or less is averaged over memories,
/// weighted with their likelihood. Short series cannot tell noise that lasts from a drift, and could have a large
/// one.
///
/// Sources: as for the mean of such a series (`within::long_run`): U. K. Müller, HAC corrections for strongly
/// autocorrelated time series, Journal of Business and Economic Statistics 32 (2014), for the waves, the model and
/// the average over memories.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    /// The line under noise of each memory, with the weight of that memory.
    lines: Vec<(f64, Line)>,
    degrees: f64,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    rise: f64,
    standard_error: f64,
}

impl Drift {
    /// The drift of values at equal distances; `None` for fewer than five.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count < POINTS_MIN {
            return None;
        }
        let places: Vec<f64> = (0..count).map(|at| at as f64).collect();
        let waves: Vec<(f64, f64)> = cosine_waves(values).zip(cosine_waves(&places)).collect();
        let lines = likely(Memory::all(count), |memory| {
            let fit = Fit::of(&waves, &memory.variances(waves.len(), count));
            let [rise, standard_error] =
                [fit.slope, fit.standard_error].map(|it| it * count as f64);
            (memory.log_weight() + fit.log_likelihood, Line { rise, standard_error })
        });
        Some(Self { lines, degrees: waves.len() as f64 - 1.0 })
    }

    /// Whether a series without a drift would rise or fall as much in fewer than one of twenty cases.
    pub(crate) fn is_found(&self) -> bool {
        self.beyond(0.0, 1.0).min(self.beyond(0.0, -1.0)) < TAIL / 2.0
    }

    /// The largest size, up or down, that the values do not exclude: a larger rise, and a larger fall, are each
    /// refused with 5 %.
    ///
    /// Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure, Journal of Pharmacokinetics and
    /// Biopharmaceutics 15 (1987).
    pub(crate) fn largest(&self) -> f64 {
        let critical = quantile(1.0 - TAIL, self.degrees).unwrap_or(f64::INFINITY);
        let bound = |(_, line): &(f64, Line)| line.rise.abs() + critical * line.standard_error;
        let (mut low, mut high) = (0.0, self.lines.iter().map(bound).fold(0.0, f64::max));
        while high - low > PRECISION * high && high.is_finite() {
            let middle = f64::midpoint(low, high);
            let beyond = self.beyond(middle, 1.0).max(self.beyond(middle, -1.0));
            if beyond > TAIL { low = middle } else { high = middle }
        }
        high
    }

    /// How likely the line rises by more than `size`; falls, where `sign` is -1.
    fn beyond(&self, size: f64, sign: f64) -> f64 {
        let weights: f64 = self.lines.iter().map(|(weight, _)| weight).sum();
        let tail = |(weight, line): &(f64, Line)| {
            let t = (size - sign * line.rise) / line.standard_error;
            weight * upper_tail(t, self.degrees)
        };
        self.lines.iter().map(tail).sum::<f64>() / weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    const SERIES: usize = 1_000;

    /// So many values that rise by `rise` from the first to the last, with noise of deviation 1 of which each value
    /// keeps a part.
    fn series(draws: &mut Draws, count: usize, rise: f64, kept: f64) -> Vec<f64> {
        let mut state = draws.normal();
        let mut value = |at: usize| {
            let seen = state + rise * at as f64 / count as f64;
            state = kept * state + (1.0 - kept * kept).sqrt() * draws.normal();
            seen
        };
        (0..count).map(&mut value).collect()
    }

    /// The number of series of a thousand for which a condition on the drift holds.
    fn times(count: usize, rise: f64, kept: f64, holds: impl Fn(&Drift) -> bool) -> usize {
        let mut draws = Draws(3);
        let mut is_one = || holds(&Drift::of(&series(&mut draws, count, rise, kept)).unwrap());
        (0..SERIES).filter(|_| is_one()).count()
    }

    #[test]
    fn a_line_without_noise_is_its_own_drift() {
        let drift = Drift::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!(drift.is_found() && (drift.largest() - 6.0).abs() < 1e-2, "{drift:?}");
        let level = Drift::of(&[7.0; 6]).unwrap();
        assert!(level.largest() < 1e-9, "{level:?}");
        assert!(Drift::of(&[1.0; 4]).is_none());
    }

    /// Least squares of (1, 3, 2, 4, 5): slope 9 / 10, squares left 10 - 8.1 = 1.9, so a standard error of
    /// sqrt (1.9 / 3 / 10) with 3 degrees of freedom.
    #[test]
    fn noise_without_memory_has_the_line_of_least_squares() {
        let drift = Drift::of(&[1.0, 3.0, 2.0, 4.0, 5.0]).unwrap();
        let line = drift.lines[0].1;
        assert!((line.rise - 5.0 * 0.9).abs() < 1e-9, "{drift:?}");
        let error = 5.0 * (1.9_f64 / 3.0 / 10.0).sqrt();
        assert!((line.standard_error - error).abs() < 1e-9, "{drift:?}");
        assert_eq!(drift.degrees, 3.0);
    }

    /// Of a true rise of any size the largest that is not excluded is smaller in one of twenty series. 70 of a
    /// thousand have a probability of 0.3 %.
    #[test]
    fn the_largest_drift_is_below_the_true_one_in_one_of_twenty() {
        for (count, kept) in [(20, 0.0), (30, 0.0), (120, 0.0), (30, 0.5), (120, 0.5), (120, 0.8)] {
            for rise in [0.5, 2.0, 6.0] {
                let missed = times(count, rise, kept, |drift| drift.largest() < rise);
                assert!(missed <= 70, "{count} {kept} {rise}: {missed}");
            }
        }
    }

    #[test]
    fn a_level_has_no_drift_in_nineteen_of_twenty() {
        for (count, kept) in [(20, 0.0), (60, 0.0), (200, 0.0), (60, 0.5), (200, 0.5), (200, 0.8)] {
            let found = times(count, 0.0, kept, Drift::is_found);
            assert!(found <= 70, "{count} {kept}: {found}");
        }
    }

    /// The standard error of the rise of n independent values is sqrt (12 / n): 0.447 for 60. 1.5 is 3.4 of them,
    /// which is found in four of five series and more; their largest drift is near 1.5 + 1.7 x 0.447 = 2.25.
    #[test]
    fn a_drift_of_three_standard_errors_is_found() {
        let found = times(60, 1.5, 0.0, Drift::is_found);
        assert!(found >= 800, "{found}");
        let near = times(60, 1.5, 0.0, |drift| drift.largest() < 2.25 + 3.0 * 0.447);
        assert!(near >= 900, "{near}");
    }
}
