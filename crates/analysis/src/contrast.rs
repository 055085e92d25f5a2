//! The difference of two means with its interval and its tests: of pairs, or of two independent samples.

use crate::moments::{mean, standard_deviation};
use crate::student::{quantile, upper_tail};

/// How sure [`Contrast::repetitions_needed`] is that so many repetitions decide.
const POWER: f64 = 0.8;
/// More repetitions are no advice.
const REPETITIONS_MAX: usize = 10_000;

/// The mean of one sample less that of another, the baseline's. Of ratios the values are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The difference.
    pub difference: f64,
    /// Its standard error; 0 when it is not known.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error; 0 when it is not known.
    pub degrees_of_freedom: f64,
    /// Number of values: of the baseline, and of the other. Pairs count once on each side.
    pub counts: [usize; 2],
    /// The standard error with one value of each, if they vary as they did.
    deviation: f64,
    /// Degrees of freedom for each value of a sample after its first, when both have as many.
    degrees_each: f64,
}

/// How likely the values are when there is nothing to find; small values are evidence of a difference, and of none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tests {
    /// If there were no difference: the two-sided test.
    pub difference: f64,
    /// If the difference were the least one that matters, or larger: two one-sided tests.
    pub equality: f64,
}

impl Contrast {
    /// Of pairs, by the difference of each: Student's test. `None` without a pair.
    ///
    /// Source: Student, The Probable Error of a Mean, Biometrika 6 (1908).
    pub fn paired(differences: &[f64]) -> Option<Self> {
        let count = differences.len();
        let deviation = standard_deviation(differences);
        Some(Self {
            difference: mean(differences)?,
            standard_error: deviation.unwrap_or(0.0) / (count as f64).sqrt(),
            degrees_of_freedom: count.saturating_sub(1) as f64,
            counts: [count, count],
            deviation: deviation.unwrap_or(0.0),
            degrees_each: 1.0,
        })
    }

    /// Of two independent samples, whose variances may differ. `None` when one is empty; without an interval when one
    /// has a single value.
    ///
    /// Source: B. L. Welch, The generalization of Student's problem when several different population variances are
    /// involved, Biometrika 34 (1947), with the degrees of freedom of F. E. Satterthwaite, Biometrics Bulletin 2
    /// (1946).
    pub fn independent(baseline: &[f64], other: &[f64]) -> Option<Self> {
        let difference = mean(other)? - mean(baseline)?;
        let counts = [baseline.len(), other.len()];
        let deviations = [standard_deviation(baseline), standard_deviation(other)];
        let [Some(one), Some(two)] = deviations else {
            return Some(Self { counts, ..Self::paired(&[difference])? });
        };
        let variances = [one * one, two * two];
        let [first, second] = [0, 1].map(|side| variances[side] / counts[side] as f64);
        let degrees = |parts: [f64; 2], each: [f64; 2]| {
            let sum = parts[0] + parts[1];
            let degrees =
                sum * sum / (parts[0] * parts[0] / each[0] + parts[1] * parts[1] / each[1]);
            // Values that do not vary leave nothing to divide.
            if degrees.is_finite() { degrees } else { each[0] + each[1] }
        };
        Some(Self {
            difference,
            standard_error: (first + second).sqrt(),
            degrees_of_freedom: degrees([first, second], counts.map(|count| (count - 1) as f64)),
            counts,
            deviation: (variances[0] + variances[1]).sqrt(),
            degrees_each: degrees(variances, [1.0, 1.0]),
        })
    }

    /// Whether there is an interval: with two values or more of each.
    pub fn has_interval(&self) -> bool {
        self.degrees_of_freedom > 0.0
    }

    /// The interval with this confidence, its lower end first; both ends are the difference where nothing is known of
    /// the spread.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let critical = quantile((1.0 + confidence) / 2.0, self.degrees_of_freedom);
        let half = critical.map_or(0.0, |critical| critical * self.standard_error);
        [self.difference - half, self.difference + half]
    }

    /// Both tests, when a difference of `least` is the least one that matters.
    ///
    /// Source of the second: D. J. Schuirmann, A comparison of the two one-sided tests procedure, Journal of
    /// Pharmacokinetics and Biopharmaceutics 15 (1987).
    pub fn tests(&self, least: f64) -> Tests {
        if !self.has_interval() {
            return Tests { difference: 1.0, equality: 1.0 };
        }
        let of_size = Self { difference: self.difference.abs(), ..*self };
        // A difference below `least` mirrors one above `-least`.
        let mirrored = Self { difference: -self.difference, ..*self };
        Tests {
            difference: (2.0 * of_size.p_above(0.0)).min(1.0),
            equality: self.p_above(-least).max(mirrored.p_above(-least)),
        }
    }

    /// How likely a difference as large as this one is, or a larger one, if the true one were `bound`.
    fn p_above(&self, bound: f64) -> f64 {
        let beyond = self.difference - bound;
        if self.standard_error > 0.0 {
            upper_tail(beyond / self.standard_error, self.degrees_of_freedom)
        } else if beyond > 0.0 {
            0.0
        } else {
            1.0
        }
    }

    /// How many repetitions of each are likely to decide at this level, if the difference and the spread stay as they
    /// are: with four chances in five they show that a difference of `least` or more is there, or that a smaller one
    /// is below `least`. `None` when there is no spread, and for more than ten thousand.
    ///
    /// Source: the usual size of a sample for a test of means, such as in NIST/SEMATECH e-Handbook of Statistical
    /// Methods, section 7.2.2.2, with quantiles of Student's distribution.
    pub fn repetitions_needed(&self, least: f64, level: f64) -> Option<usize> {
        let size = self.difference.abs();
        let (distance, level) =
            if size >= least { (size, level / 2.0) } else { (least - size, level) };
        let is_enough = |count: usize| {
            let degrees = self.degrees_each * (count - 1) as f64;
            let quantiles = quantile(1.0 - level, degrees).zip(quantile(POWER, degrees));
            quantiles.is_some_and(|(critical, power)| {
                (critical + power) * self.deviation <= distance * (count as f64).sqrt()
            })
        };
        let is_possible = self.has_interval() && self.deviation > 0.0 && is_enough(REPETITIONS_MAX);
        if !is_possible {
            return None;
        }
        let (mut low, mut high) = (1, REPETITIONS_MAX);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASELINE: [f64; 5] = [4.61, 4.58, 4.66, 4.63, 4.55];
    const OTHER: [f64; 4] = [4.68, 4.70, 4.64, 4.75];
    const LEAST: f64 = 0.1;

    fn assert_near(seen: f64, expected: f64) {
        assert!((seen - expected).abs() < 1e-9, "{seen} against {expected}");
    }

    fn assert_interval(contrast: &Contrast, confidence: f64, expected: [f64; 2]) {
        let seen = contrast.interval(confidence);
        (0..2).for_each(|end| assert_near(seen[end], expected[end]));
    }

    /// Source: SciPy 1.17.1 and statsmodels 0.15.0, by `testdata/comparison.py`.
    #[test]
    fn pairs_have_the_values_of_scipy() {
        let others = [4.64, 4.60, 4.71, 4.62, 4.61];
        let differences: Vec<f64> =
            BASELINE.iter().zip(others).map(|(base, other)| other - base).collect();
        let contrast = Contrast::paired(&differences).unwrap();
        assert_near(contrast.difference, 0.03);
        assert_eq!((contrast.degrees_of_freedom, contrast.counts), (4.0, [5, 5]));
        assert_interval(&contrast, 0.95, [-0.004_004_369_032_913, 0.064_004_369_032_913]);
        assert_interval(&contrast, 0.90, [0.003_890_315_818_538, 0.056_109_684_181_462]);
        let tests = contrast.tests(LEAST);
        assert_near(tests.difference, 0.070_483_996_910_221);
        assert_near(tests.equality, 0.002_317_919_708_952);
    }

    /// Source: SciPy 1.17.1 and statsmodels 0.15.0, by `testdata/comparison.py`.
    #[test]
    fn independent_samples_have_the_values_of_scipy() {
        let contrast = Contrast::independent(&BASELINE, &OTHER).unwrap();
        assert_near(contrast.difference, 0.0865);
        assert_near(contrast.degrees_of_freedom, 6.339_830_101_562_37);
        assert_interval(&contrast, 0.95, [0.014_483_557_663_761, 0.158_516_442_336_239]);
        assert_interval(&contrast, 0.90, [0.029_116_091_433_009, 0.143_883_908_566_991]);
        let tests = contrast.tests(LEAST);
        assert_near(tests.difference, 0.025_631_556_296_211);
        assert_near(tests.equality, 0.332_889_989_851_561);
        // The other way round it is the same, mirrored.
        let mirrored = Contrast::independent(&OTHER, &BASELINE).unwrap();
        assert_near(mirrored.difference, -0.0865);
        assert_near(mirrored.tests(LEAST).difference, tests.difference);
        assert_near(mirrored.tests(LEAST).equality, tests.equality);
    }

    #[test]
    fn values_without_spread_are_certain() {
        let apart = Contrast::independent(&[1.0, 1.0], &[2.0, 2.0]).unwrap();
        assert_eq!(apart.tests(0.5), Tests { difference: 0.0, equality: 1.0 });
        assert_eq!(apart.interval(0.95), [1.0, 1.0]);
        let same = Contrast::paired(&[0.0, 0.0]).unwrap();
        assert_eq!(same.tests(0.5), Tests { difference: 1.0, equality: 0.0 });
        assert_eq!(same.repetitions_needed(0.5, 0.05), None);
    }

    #[test]
    fn a_single_value_shows_nothing() {
        let single = Contrast::independent(&[1.0, 1.5], &[9.0]).unwrap();
        assert_eq!((single.difference, single.counts), (7.75, [2, 1]));
        assert!(!single.has_interval());
        assert_eq!(single.tests(0.5), Tests { difference: 1.0, equality: 1.0 });
        assert_eq!(single.interval(0.95), [7.75, 7.75]);
        assert_eq!(single.repetitions_needed(0.5, 0.05), None);
        assert_eq!((Contrast::paired(&[]), Contrast::independent(&[], &[1.0])), (None, None));
    }

    /// A standard deviation of 1 and a distance of 0.1. With quantiles of the normal distribution (1.960 + 0.842)^2 x
    /// 100 and (1.645 + 0.842)^2 x 100, 785 and 618; Student's are a little larger.
    #[test]
    fn repetitions_that_decide_are_those_of_the_usual_formula() {
        let of = |mean: f64| {
            let half = 0.5_f64.sqrt();
            Contrast::paired(&[mean - half, mean + half]).unwrap()
        };
        assert_eq!(of(0.1).repetitions_needed(0.05, 0.05), Some(787));
        assert_eq!(of(0.0).repetitions_needed(0.1, 0.05), Some(620));
        assert_eq!(of(0.1).repetitions_needed(0.1 + 1e-6, 0.05), None, "too near to the least");
    }
}
