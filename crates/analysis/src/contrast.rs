//! The difference of two means with its interval and its tests: of pairs, or of two independent samples.

use crate::moments::{mean, standard_deviation};
use crate::stopping::{Known, Stopping};

/// From so many pairs on, the order of their two values is taken into account. With fewer, the degree of freedom that this
/// takes widens the interval by more than a tenth.
const ORDER_FROM: usize = 6;

/// The mean of one sample less that of another, the baseline's. Of ratios the values are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    pub difference: f64,
    /// Its standard error; 0 when it is not known.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error; 0 when it is not known.
    pub degrees_of_freedom: f64,
    /// Values that are known only within bounds leave the difference open by so much, up and down; 0 where all are exact.
    pub slack: f64,
    /// Number of values: of the baseline, and of the other. Pairs count once on each side.
    pub counts: [usize; 2],
    /// The standard error with one value of each, if they vary as they did.
    pub(crate) deviation: f64,
    /// Degrees of freedom for each value of a sample after its first, when both have as many.
    pub(crate) degrees_each: f64,
    /// What decided how many values there are.
    pub(crate) stopping: Stopping,
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
            slack: 0.0,
            counts: [count, count],
            deviation: deviation.unwrap_or(0.0),
            degrees_each: 1.0,
            stopping: Stopping::Planned,
        })
    }

    /// Of pairs whose values were measured one after the other, in changing order. `apart` says how much later the other
    /// one of each pair was measured than the baseline's, in any unit; it is negative where it was first. What grows with
    /// that, such as a drift of the machine, is estimated as the slope of a straight line, and removed: the difference is
    /// that of two values at the same time, and the spread is what the line leaves. With few pairs, or all in the same
    /// order, as [`Contrast::paired`].
    ///
    /// Source: the adjustment for periods in a crossover design, M. Hills and P. Armitage, The two-period cross-over
    /// clinical trial, British Journal of Clinical Pharmacology 8 (1979), as a linear regression.
    pub fn paired_in_order(differences: &[f64], apart: &[f64]) -> Option<Self> {
        let plain = Self::paired(differences)?;
        let count = differences.len();
        let centre = mean(apart).filter(|_| count >= ORDER_FROM && apart.len() == count);
        let Some(centre) = centre else { return Some(plain) };
        let squares: f64 = apart.iter().map(|x| (x - centre).powi(2)).sum();
        let products = apart.iter().zip(differences);
        let slope =
            products.map(|(x, y)| (x - centre) * (y - plain.difference)).sum::<f64>() / squares;
        if !slope.is_finite() {
            return Some(plain);
        }
        let left = apart.iter().zip(differences);
        let left = left.map(|(x, y)| (y - plain.difference - slope * (x - centre)).powi(2));
        let degrees_of_freedom = count as f64 - 2.0;
        let deviation = (left.sum::<f64>() / degrees_of_freedom).sqrt();
        Some(Self {
            difference: plain.difference - slope * centre,
            standard_error: deviation * (1.0 / count as f64 + centre * centre / squares).sqrt(),
            degrees_of_freedom,
            deviation,
            ..plain
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
            slack: 0.0,
            counts,
            deviation: (variances[0] + variances[1]).sqrt(),
            degrees_each: degrees(variances, [1.0, 1.0]),
            stopping: Stopping::Planned,
        })
    }

    /// Of values that are known only within bounds: `low` is the contrast of those that make the difference least, and `high`
    /// of those that make it largest. The interval has both of theirs, so that it has the truth as often as each, wherever
    /// the values are: the mean of the true ones is neither below that of the least nor above that of the largest.
    ///
    /// Source: bounds of means with missing data, J. L. Horowitz and C. F. Manski, Nonparametric analysis of randomized
    /// experiments with missing covariate and outcome data, Journal of the American Statistical Association 95 (2000).
    #[must_use]
    pub(crate) fn between(low: Self, high: Self) -> Self {
        let [least, most] = [low.difference, high.difference];
        Self {
            difference: f64::midpoint(least, most),
            standard_error: low.standard_error.max(high.standard_error),
            degrees_of_freedom: low.degrees_of_freedom.min(high.degrees_of_freedom),
            slack: (most - least).abs() / 2.0,
            deviation: low.deviation.max(high.deviation),
            degrees_each: low.degrees_each.min(high.degrees_each),
            ..low
        }
    }

    /// The same when this decided how many values there are: its intervals and tests allow for that.
    #[must_use]
    pub fn stopped_by(self, stopping: Stopping) -> Self {
        Self { stopping, ..self }
    }

    fn known(&self) -> Known {
        let counted = self.counts[0].min(self.counts[1]) as f64;
        let values = (self.deviation / self.standard_error).powi(2);
        Known {
            degrees_of_freedom: self.degrees_of_freedom,
            values: if self.standard_error > 0.0 { values } else { counted },
        }
    }

    /// The number of standard errors from the difference to the ends of the interval with this confidence.
    fn critical(&self, confidence: f64) -> Option<f64> {
        self.stopping.quantile((1.0 + confidence) / 2.0, self.known())
    }

    /// Whether there is a 95 % interval: with two values or more of each, and with more where the difference decided how
    /// many there are.
    pub fn has_interval(&self) -> bool {
        let is_sequence = self.stopping == Stopping::Difference;
        self.degrees_of_freedom > 0.0 && (!is_sequence || self.critical(0.95).is_some())
    }

    /// The interval with this confidence, its lower end first; both ends are the difference, or its bounds, where nothing
    /// is known of the spread.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let critical = self.critical(confidence);
        let half = critical.map_or(0.0, |critical| critical * self.standard_error) + self.slack;
        [self.difference - half, self.difference + half]
    }

    /// Of a baseline that was measured twice: a difference of this size cannot be told from none. It is the size of the
    /// end of the 95 % interval that is farther from 0; `None` without an interval.
    pub fn noise_floor(&self) -> Option<f64> {
        let [low, high] = self.interval(0.95);
        self.has_interval().then(|| low.abs().max(high.abs()))
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

    /// How likely a difference as large as this one is, or a larger one, if the true one were `bound`; of values within
    /// bounds, as large as the least of theirs.
    fn p_above(&self, bound: f64) -> f64 {
        let beyond = self.difference - self.slack - bound;
        if self.standard_error > 0.0 {
            self.stopping.upper_tail(beyond / self.standard_error, self.known())
        } else if beyond > 0.0 {
            0.0
        } else {
            1.0
        }
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
        assert_near(contrast.noise_floor().unwrap(), 0.064_004_369_032_913);
        let tests = contrast.tests(LEAST);
        assert_near(tests.difference, 0.070_483_996_910_221);
        assert_near(tests.equality, 0.002_317_919_708_952);
    }

    /// Source: SciPy 1.17.1, `linregress`, by `testdata/comparison.py`.
    #[test]
    fn pairs_in_order_have_the_intercept_of_scipy() {
        let differences = [0.021, -0.012, 0.035, -0.004, 0.018, 0.001, 0.027];
        let apart = [1.0, -1.0, 2.0, -2.0, 1.0, -1.0, 1.0];
        let contrast = Contrast::paired_in_order(&differences, &apart).unwrap();
        assert_near(contrast.difference, 0.0107);
        assert_near(contrast.standard_error, 0.002_629_279_580_248);
        assert_eq!((contrast.degrees_of_freedom, contrast.counts), (5.0, [7, 7]));
        assert_interval(&contrast, 0.95, [0.003_941_221_670_204, 0.017_458_778_329_796]);
        assert_interval(&contrast, 0.90, [0.005_401_874_458_783, 0.015_998_125_541_217]);
        assert_near(contrast.tests(LEAST).difference, 0.009_638_158_375_938);
        // The unit of time does not matter.
        let seconds = Contrast::paired_in_order(&differences, &apart.map(|it| 20.0 * it)).unwrap();
        assert_near(seconds.standard_error, contrast.standard_error);
    }

    #[test]
    fn bounds_of_values_have_both_intervals_and_the_larger_p_values() {
        let low = [0.030, 0.052, 0.041, 0.047];
        let high = [0.032, 0.060, 0.044, 0.049];
        let [least, most] = [&low, &high].map(|of| Contrast::paired(of).unwrap());
        let both = Contrast::between(least, most);
        assert_near(both.slack, 0.001_875);
        for confidence in [0.90, 0.95] {
            let [from, to] = both.interval(confidence);
            assert!(from <= least.interval(confidence)[0], "{both:?}");
            // The spread is that of the wider one.
            assert_near(to, most.interval(confidence)[1]);
        }
        let p_values = [least, most].map(|it| it.tests(LEAST));
        let tests = both.tests(LEAST);
        assert!(tests.difference >= p_values[0].difference.max(p_values[1].difference));
        assert!(tests.equality >= p_values[0].equality.max(p_values[1].equality));
        // Bounds on both sides of 0 show no difference, however sure each of them is.
        let [down, up] =
            [[-0.02, -0.021, -0.019], [0.02, 0.021, 0.019]].map(|of| Contrast::paired(&of));
        assert_near(Contrast::between(down.unwrap(), up.unwrap()).tests(LEAST).difference, 1.0);
        assert_eq!(Contrast::between(least, least), least);
    }

    #[test]
    fn few_pairs_or_one_order_are_plain_pairs() {
        let five = [0.2, -0.1, 0.3, 0.1, 0.4];
        let plain = Contrast::paired(&five);
        assert_eq!(Contrast::paired_in_order(&five, &[1.0, -1.0, 1.0, -1.0, 1.0]), plain);
        let six = [0.2, -0.1, 0.3, 0.1, 0.4, 0.1];
        assert_eq!(Contrast::paired_in_order(&six, &[1.0; 6]), Contrast::paired(&six));
        assert_eq!(Contrast::paired_in_order(&[], &[]), None);
    }

    /// Source: `testdata/stopping.py`, the quotient of the likelihoods with the slope integrated out.
    #[test]
    fn pairs_in_order_that_decide_their_number_have_the_evidence_of_the_likelihoods() {
        let differences = [0.021, -0.012, 0.035, -0.004, 0.018, 0.001, 0.027];
        let apart = [1.0, -1.0, 2.0, -2.0, 1.0, -1.0, 1.0];
        let plain = Contrast::paired_in_order(&differences, &apart).unwrap();
        let contrast = plain.stopped_by(Stopping::Difference);
        // The sum of squares of the places less that of their mean: 7 - 1 / 13.
        assert_near(contrast.known().values, 7.0 - 1.0 / 13.0);
        assert_near(contrast.tests(LEAST).difference, 1.0 / 9.990_578_047_565_01);
        // Ten times as likely would be 90 %.
        assert!(contrast.interval(0.90)[0] < 0.0 && contrast.interval(0.89)[0] > 0.0);
        assert!(contrast.interval(0.95)[1] > plain.interval(0.95)[1]);
    }

    #[test]
    fn too_few_pairs_for_a_sequence_have_no_interval() {
        let four = Contrast::paired(&[0.01, 0.011, 0.0105, 0.0102]).unwrap();
        assert!(four.has_interval() && !four.stopped_by(Stopping::Difference).has_interval());
        let none = Tests { difference: 1.0, equality: 1.0 };
        assert_eq!(four.stopped_by(Stopping::Difference).tests(LEAST), none);
        let five = Contrast::paired(&[0.051, 0.038, 0.065, 0.046, 0.058]).unwrap();
        let five = five.stopped_by(Stopping::Difference);
        assert!(five.has_interval());
        let half = 0.039_522_605_272_145_96;
        assert_interval(&five, 0.95, [0.0516 - half, 0.0516 + half]);
        // As in `testdata/stopping.py`: 24.894 932 times as likely.
        assert_near(five.tests(LEAST).difference, 0.040_168_818_375_815_52);
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
    }

    #[test]
    fn a_single_value_shows_nothing() {
        let single = Contrast::independent(&[1.0, 1.5], &[9.0]).unwrap();
        assert_eq!((single.difference, single.counts), (7.75, [2, 1]));
        assert!(!single.has_interval());
        assert_eq!(single.tests(0.5), Tests { difference: 1.0, equality: 1.0 });
        assert_eq!(single.interval(0.95), [7.75, 7.75]);
        assert_eq!(single.noise_floor(), None);
        assert_eq!((Contrast::paired(&[]), Contrast::independent(&[], &[1.0])), (None, None));
    }
}
