//! The difference of two samples that were measured one after the other on a machine that changes: values that are near
//! each other in time are alike.

use crate::contrast::Contrast;
use crate::memory::{Memory, likely};
use crate::moments::{mean, median_of_sorted};
use crate::t_mixture::{TMixture, TPart};

/// Noise lasts for at most so many times the distance between two values of a sample: noise that lasts for longer is hardly
/// told from it by the few trials of a run.
const MEMORY_MAX: f64 = 30.0;
/// The weight of noise without memory against each of the twelve memories. With it and the memories' limit, two equal runs
/// after one another differ in at most 7 of 100 cases by noise that lasts from none to five trials, and by a drift.
const WEIGHT_OF_NONE: f64 = 2.0;
/// Fewer values of a sample do not show how long noise lasts.
const VALUES_MIN: usize = 4;
/// Two values are at least so far from each other, as a part of the usual distance: none are measured at the same time.
const DISTANCE_MIN: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedValue {
    /// The time, s, from any origin that all values share.
    pub time_s: f64,
    pub value: f64,
}

impl Contrast {
    /// Of two samples of one machine, or of two, whose noise lasts for an unknown time: its correlation falls with the time
    /// t between two values as exp(-t / memory). For each memory, least squares with these correlations give the
    /// difference, with Student's t; memories count as much as the values are likely under them. What changes slowly, such
    /// as a drift, makes a long memory likely: then the difference is mostly that of the values that are nearest to each
    /// other, and its interval is wide. However long one sample was measured after the other, it counts as at most the time
    /// that the smaller one took: noise that lasts for longer cannot be seen in it. `None` when a sample is empty. Without a
    /// spread, or with one value in a sample, as [`Contrast::independent`]; with few, that of the two with the wider
    /// interval.
    ///
    /// Source: U. K. Müller, HAC corrections for strongly autocorrelated time series, Journal of Business and Economic
    /// Statistics 32 (2014), for the average over memories; the weights are likelihoods that do not depend on the two means
    /// (D. A. Harville, Bayesian inference for variance components using only error contrasts, Biometrika 61, 1974).
    pub fn over_time(baseline: &[TimedValue], other: &[TimedValue]) -> Option<Self> {
        let values = |of: &[TimedValue]| of.iter().map(|it| it.value).collect::<Vec<f64>>();
        let plain = Self::independent(&values(baseline), &values(other))?;
        let fewest = baseline.len().min(other.len());
        let varies = |of: &[TimedValue]| of.iter().any(|it| it.value != of[0].value);
        let is_noisy = fewest > 1 && (varies(baseline) || varies(other));
        let found = is_noisy.then(|| Series::of(baseline, other).contrast(plain)).flatten();
        let width = |of: &Self| of.interval(0.95)[1] - of.difference;
        let found = found.filter(|it| fewest >= VALUES_MIN || width(it) > width(&plain));
        Some(found.unwrap_or(plain))
    }
}

/// All values in the order of time.
struct Series {
    /// Of each value after the first, how much later it is than the one before, in usual distances.
    distances: Vec<f64>,
    values: Vec<f64>,
    /// 1 for a value of the other sample, 0 for one of the baseline.
    is_other: Vec<f64>,
}

impl Series {
    fn of(baseline: &[TimedValue], other: &[TimedValue]) -> Self {
        let [baseline, other] = [baseline, other].map(|sample| {
            let mut sorted = sample.to_vec();
            sorted.sort_by(|one, next| one.time_s.total_cmp(&next.time_s));
            sorted
        });
        let usual = usual_distance([&baseline, &other]);
        let longest = baseline.len().min(other.len()) as f64;
        let marked =
            |sample: Vec<TimedValue>, mark: f64| sample.into_iter().map(move |it| (it, mark));
        let mut all: Vec<(TimedValue, f64)> =
            marked(baseline, 0.0).chain(marked(other, 1.0)).collect();
        all.sort_by(|one, next| one.0.time_s.total_cmp(&next.0.time_s));
        let times: Vec<f64> = all.iter().map(|(it, _)| it.time_s).collect();
        Self {
            distances: distances(&times)
                .map(|it| (it / usual).clamp(DISTANCE_MIN, longest))
                .collect(),
            values: all.iter().map(|(it, _)| it.value).collect(),
            is_other: all.iter().map(|(_, mark)| *mark).collect(),
        }
    }

    /// `plain` with the difference and its error as this series has them.
    fn contrast(&self, plain: Contrast) -> Option<Contrast> {
        let memories = Memory::up_to(MEMORY_MAX, WEIGHT_OF_NONE);
        let parts = likely(memories, |memory| self.fit(memory));
        let mixture = TMixture { degrees_of_freedom: self.values.len() - 2, parts };
        let one = mixture.as_one()?;
        let [first, second] = plain.counts.map(|count| count as f64);
        let each = 2.0 * first * second / (first + second);
        Some(Contrast {
            difference: mixture.centre(),
            standard_error: one.standard_error,
            degrees_of_freedom: one.degrees_of_freedom,
            deviation: one.standard_error * each.sqrt(),
            degrees_each: one.degrees_of_freedom / (each - 1.0),
            ..plain
        })
    }

    /// The difference under one memory, with the logarithm of the memory's weight times its likelihood.
    fn fit(&self, memory: Memory) -> (f64, TPart) {
        let correlations: Vec<f64> =
            self.distances.iter().map(|distance| memory.correlation_at(*distance)).collect();
        let centre = mean(&self.values).unwrap_or(0.0);
        let values: Vec<f64> = self.values.iter().map(|value| value - centre).collect();
        let ones = vec![1.0; values.len()];
        let [ones, marks, values] =
            [&ones, &self.is_other, &values].map(|series| independent(series, &correlations));
        let product = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        let (ones_2, both, marks_2) =
            (product(&ones, &ones), product(&ones, &marks), product(&marks, &marks));
        let determinant = ones_2 * marks_2 - both * both;
        let (on_ones, on_marks) = (product(&ones, &values), product(&marks, &values));
        let difference = (ones_2 * on_marks - both * on_ones) / determinant;
        let level = (on_ones - both * difference) / ones_2;
        let left = values.iter().zip(ones.iter().zip(&marks));
        let left: f64 = left
            .map(|(value, (one, mark))| (value - level * one - difference * mark).powi(2))
            .sum();
        let degrees = values.len() as f64 - 2.0;
        let logs: f64 = correlations.iter().map(|it| (1.0 - it * it).ln()).sum();
        let log_likelihood = -0.5 * (logs + determinant.ln() + degrees * left.ln());
        let standard_error = (left / degrees * ones_2 / determinant).sqrt();
        (memory.log_weight() + log_likelihood, TPart { centre: difference, standard_error })
    }
}

/// A series in which each value after the first is replaced by what the one before does not explain, in units of the noise:
/// noise whose neighbours are so correlated is independent then.
fn independent(series: &[f64], correlations: &[f64]) -> Vec<f64> {
    let first = series.first().copied();
    let others = series.windows(2).zip(correlations);
    let others = others.map(|(pair, correlation)| {
        (pair[1] - correlation * pair[0]) / (1.0 - correlation * correlation).sqrt()
    });
    first.into_iter().chain(others).collect()
}

/// From each time to the next.
fn distances(times: &[f64]) -> impl Iterator<Item = f64> {
    times.windows(2).map(|pair| pair[1] - pair[0])
}

/// The median time from a value of a sample to the next one.
fn usual_distance(sorted: [&[TimedValue]; 2]) -> f64 {
    let of = |sample: &[TimedValue]| {
        let times: Vec<f64> = sample.iter().map(|it| it.time_s).collect();
        distances(&times).collect::<Vec<f64>>()
    };
    let mut all: Vec<f64> = sorted.into_iter().flat_map(of).collect();
    all.sort_by(f64::total_cmp);
    median_of_sorted(&all).filter(|distance| *distance > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn timed(times: &[f64], values: &[f64]) -> Vec<TimedValue> {
        let pairs = times.iter().zip(values);
        pairs.map(|(time_s, value)| TimedValue { time_s: *time_s, value: *value }).collect()
    }

    /// A run of so many values and one of as many after it, ten seconds from each to the next.
    fn after_another(values: &[f64]) -> Contrast {
        let times: Vec<f64> = (0..values.len()).map(|at| 10.0 * at as f64).collect();
        let all = timed(&times, values);
        let (baseline, other) = all.split_at(values.len() / 2);
        Contrast::over_time(baseline, other).unwrap()
    }

    /// Source: NumPy 2.4.6 and SciPy 1.17.1, by `testdata/comparison.py`, with whole matrices of covariance.
    #[test]
    fn runs_after_one_another_have_the_values_of_whole_matrices() {
        let baseline = timed(&[0.0, 11.0, 20.0, 31.0, 40.0], &[4.61, 4.63, 4.60, 4.57, 4.58]);
        let other = timed(&[100.0, 110.0, 121.0, 130.0, 139.0], &[4.52, 4.54, 4.50, 4.51, 4.47]);
        let found = Contrast::over_time(&baseline, &other).unwrap();
        let near = |seen: f64, expected: f64, to: f64| {
            assert!((seen / expected - 1.0).abs() < to, "{seen} against {expected}");
        };
        near(found.difference, -0.083_257_098_262, 1e-9);
        near(found.interval(0.95)[1] - found.difference, 0.102_623_098, 1e-3);
        near(found.interval(0.99)[1] - found.difference, 0.156_861_053, 2e-3);
        near(found.degrees_of_freedom, 5.704_437_2, 1e-2);
        assert_eq!(found.counts, [5, 5]);
        // The other way round, and later or earlier, it is the same.
        let mirrored = Contrast::over_time(&other, &baseline).unwrap();
        near(mirrored.difference, -found.difference, 1e-9);
        near(mirrored.standard_error, found.standard_error, 1e-9);
        let mut later = baseline.clone();
        later.reverse();
        near(Contrast::over_time(&later, &other).unwrap().difference, found.difference, 1e-12);
    }

    #[test]
    fn a_drift_over_two_runs_is_no_difference() {
        let values: Vec<f64> = (0..12).map(|at| 4.6 - 0.02 * f64::from(at)).collect();
        let noisy =
            [0.001, -0.002, 0.0, 0.002, -0.001, 0.0, 0.001, 0.002, -0.002, 0.0, -0.001, 0.0];
        let values: Vec<f64> = values.iter().zip(noisy).map(|(it, noise)| it + noise).collect();
        let plain = Contrast::independent(&values[..6], &values[6..]).unwrap();
        assert!(plain.interval(0.95)[1] < -0.05, "{plain:?}");
        let found = after_another(&values);
        assert!(found.interval(0.95)[1] > 0.0 && found.difference > -0.05, "{found:?}");
    }

    #[test]
    fn a_step_on_a_quiet_machine_is_a_difference() {
        let values = [4.601, 4.599, 4.600, 4.602, 4.598, 4.631, 4.629, 4.632, 4.630, 4.628];
        let found = after_another(&values);
        assert!(found.interval(0.95)[0] > 0.0, "{found:?}");
        assert!((found.difference - 0.03).abs() < 0.001, "{found:?}");
    }

    #[test]
    fn trials_in_turn_on_a_drifting_machine_differ_by_what_they_differ_by() {
        let mut draws = Draws(3);
        let values = (0..16).map(|at| {
            let of_other = f64::from(u8::from(at % 2 == 1));
            4.6 - 0.01 * f64::from(at) + 0.05 * of_other + 0.001 * draws.normal()
        });
        let values: Vec<f64> = values.collect();
        let times: Vec<f64> = (0..16).map(f64::from).collect();
        let side = |side: usize| {
            let every_second =
                |of: &[f64]| of.iter().skip(side).step_by(2).copied().collect::<Vec<_>>();
            timed(&every_second(&times), &every_second(&values))
        };
        let found = Contrast::over_time(&side(0), &side(1)).unwrap();
        assert!((found.difference - 0.05).abs() < 0.005, "{found:?}");
        let plain = Contrast::independent(
            &side(0).iter().map(|it| it.value).collect::<Vec<_>>(),
            &side(1).iter().map(|it| it.value).collect::<Vec<_>>(),
        );
        assert!(found.standard_error < 0.5 * plain.unwrap().standard_error, "{found:?}");
    }

    #[test]
    fn few_values_have_the_wider_interval_of_both_ways() {
        let values = [4.60, 4.62, 4.66, 4.65];
        let plain = Contrast::independent(&values[..2], &values[2..]).unwrap();
        let found = after_another(&values);
        let width = |of: &Contrast| of.interval(0.95)[1] - of.interval(0.95)[0];
        assert!(width(&found) >= width(&plain));
    }

    #[test]
    fn without_a_spread_nothing_is_taken_into_account() {
        for values in [&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0][..], &[1.0, 1.5]] {
            let (baseline, other) = values.split_at(values.len() / 2);
            assert_eq!(Some(after_another(values)), Contrast::independent(baseline, other));
        }
        assert_eq!(Contrast::over_time(&[], &timed(&[0.0], &[1.0])), None);
        let at_once = timed(&[5.0; 4], &[1.0, 1.1, 0.9, 1.0]);
        assert!(Contrast::over_time(&at_once, &at_once).unwrap().has_interval());
    }
}
