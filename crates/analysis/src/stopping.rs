//! What decided how many rounds were measured, and how an interval stays right although it decided that itself.
//!
//! Student's interval is right for a number of rounds that was set beforehand. Who looks at it after each round, and ends
//! when it shows something, sees a difference that is not there far more often than in one case of twenty.

use measure::{RoundsGoal, RoundsRule};

use crate::student;

/// What decided how many rounds there are; the later ones of this list allow for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stopping {
    /// Nothing that was measured: intervals are Student's.
    #[default]
    Planned,
    /// The width of the interval. Of normal values the width says nothing of the mean, but rounds end the earlier the
    /// less they happened to vary, so Student's interval with so few degrees of freedom is too narrow at the end. It is
    /// widened by 1 + 2 / (degrees of freedom).
    ///
    /// Source: Y. S. Chow and H. Robbins, On the asymptotic theory of fixed-width sequential confidence intervals for the
    /// mean, Annals of Mathematical Statistics 36 (1965): without the factor the interval is right in the limit. The
    /// factor, which vanishes in the limit, was chosen by simulation, from four rounds on.
    Width,
    /// The difference itself. The interval is one of a confidence sequence: in 95 of 100 cases the truth is in the
    /// intervals of all rounds together, so it does not matter by what the last round was chosen.
    ///
    /// Source: H. Wang and A. Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
    /// variance, arXiv 2310.03722 (2023), with the Gaussian mixture, after T. L. Lai, On confidence sequences, Annals of
    /// Statistics 4 (1976). With the slope of a straight line removed: M. Lindon, D. W. Ham, M. Tingley and I. Bojinov,
    /// Anytime-valid linear models and regression adjusted causal inference in randomized experiments, arXiv 2210.08589
    /// (2022).
    Difference,
}

/// How well the spread is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Degrees of freedom of the standard error.
    pub(crate) degrees_of_freedom: f64,
    /// How many values the difference is worth: the square of the standard deviation of one over the standard error.
    pub(crate) values: f64,
}

/// The variance of the differences that a confidence sequence is narrowest for, in variances of one round. It has to be
/// set beforehand. With 1/2 to 4 the mean number of rounds changes by a tenth.
const EFFECT_VARIANCE: f64 = 1.0;

impl Stopping {
    /// What a rule of the plan decides by.
    pub fn of(rule: Option<&RoundsRule>) -> Self {
        match rule.map(|rule| rule.goal) {
            None => Self::Planned,
            Some(RoundsGoal::Width(_)) => Self::Width,
            Some(RoundsGoal::Decide(_)) => Self::Difference,
        }
    }

    /// The number of standard errors that an estimate is above the truth by with at most the probability
    /// 1 - `probability`, which is 1/2 or more; with [`Self::Difference`] in any round. `None` without such a number: too
    /// few rounds.
    pub(crate) fn quantile(self, probability: f64, known: Known) -> Option<f64> {
        let degrees = known.degrees_of_freedom;
        match self {
            Self::Planned => student::quantile(probability, degrees),
            Self::Width => {
                student::quantile(probability, degrees).map(|quantile| quantile * widening(degrees))
            }
            Self::Difference => {
                let most = 1.0 + EFFECT_VARIANCE * known.values;
                let root = most.sqrt() / (2.0 * (1.0 - probability));
                let ratio = root.powf(2.0 / (degrees + 1.0));
                let squared = degrees * (ratio - 1.0) / (1.0 - ratio / most);
                (degrees > 0.0 && ratio < most).then(|| squared.max(0.0).sqrt())
            }
        }
    }

    /// The probability that an estimate is above the truth by so many standard errors, or more: the inverse of
    /// [`Self::quantile`]. With [`Self::Difference`] an upper bound of it, for the highest of any round.
    pub(crate) fn upper_tail(self, t: f64, known: Known) -> f64 {
        let degrees = known.degrees_of_freedom;
        match self {
            Self::Planned => student::upper_tail(t, degrees),
            Self::Width => student::upper_tail(t / widening(degrees), degrees),
            Self::Difference if t <= 0.0 => 1.0,
            Self::Difference => (0.5 / evidence(t, known)).min(0.5),
        }
    }
}

/// How much wider an interval is whose width decided that it is the last.
fn widening(degrees_of_freedom: f64) -> f64 {
    1.0 + 2.0 / degrees_of_freedom
}

/// How many times as likely the values are with a mean of d standard deviations, d from a normal distribution with
/// variance [`EFFECT_VARIANCE`], as with a mean of 0: the Bayes factor, whose mean without a difference is 1 in every
/// round. So it ever reaches 20 in at most 5 % of all cases (J. Ville, Étude critique de la notion de collectif, 1939).
fn evidence(t: f64, known: Known) -> f64 {
    let Known { degrees_of_freedom: degrees, values } = known;
    let most = 1.0 + EFFECT_VARIANCE * values;
    let squared = t * t / degrees;
    let log = (degrees + 1.0) / 2.0 * (squared.ln_1p() - (squared / most).ln_1p());
    (log - most.ln() / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(degrees_of_freedom: f64, values: f64) -> Known {
        Known { degrees_of_freedom, values }
    }

    /// Source: `testdata/stopping.py`, by arithmetic.
    #[test]
    fn confidence_sequences_have_the_quantiles_of_the_formula() {
        for (degrees, values, one_sided, expected) in [
            (4.0, 5.0, 0.975, 8.453_187_187_536_571),
            (4.0, 5.0, 0.95, 5.087_658_079_928_04),
            (9.0, 10.0, 0.975, 3.869_786_739_371_321),
            (38.0, 40.0, 0.95, 3.052_215_455_501_331),
        ] {
            let known = known(degrees, values);
            let seen = Stopping::Difference.quantile(one_sided, known).unwrap();
            assert!((seen - expected).abs() < 1e-9, "{seen} against {expected}");
            let tail = Stopping::Difference.upper_tail(expected, known);
            assert!((tail - (1.0 - one_sided)).abs() < 1e-9, "{tail}");
        }
        // Even an infinite t is no more than (1 + 4) ^ (3 / 2) = 11.2 times as likely.
        assert_eq!(Stopping::Difference.quantile(0.975, known(3.0, 4.0)), None);
        assert_eq!(Stopping::Difference.quantile(0.975, known(0.0, 1.0)), None);
    }

    /// Source: `testdata/stopping.py`, the likelihood of these values, integrated.
    #[test]
    fn the_evidence_is_the_quotient_of_two_likelihoods() {
        let (mean, standard_error) = (0.0516, 0.004_675_467_891_024_384_5);
        let seen = evidence(mean / standard_error, known(4.0, 5.0));
        assert!((seen / 24.894_933_686 - 1.0).abs() < 1e-6, "{seen}");
    }

    #[test]
    fn an_interval_that_ends_by_its_width_is_widened_by_two_degrees_of_freedom() {
        let known = known(4.0, 5.0);
        let plain = Stopping::Planned.quantile(0.975, known).unwrap();
        assert!((plain - 2.776_445).abs() < 1e-6);
        let wider = Stopping::Width.quantile(0.975, known).unwrap();
        assert!((wider / plain - 1.5).abs() < 1e-12);
        assert!((Stopping::Width.upper_tail(wider, known) - 0.025).abs() < 1e-9);
        assert_eq!(Stopping::Width.upper_tail(0.0, known), 0.5);
    }

    #[test]
    fn a_rule_decides_by_what_it_asks_for() {
        let rule = |goal| RoundsRule {
            goal,
            figure: measure::PreciseFigure::Throughput,
            at_least: 5,
            at_most: 40,
        };
        assert_eq!(Stopping::of(None), Stopping::Planned);
        assert_eq!(Stopping::of(Some(&rule(RoundsGoal::Width(0.02)))), Stopping::Width);
        assert_eq!(Stopping::of(Some(&rule(RoundsGoal::Decide(0.03)))), Stopping::Difference);
        assert!(Stopping::Planned < Stopping::Width && Stopping::Width < Stopping::Difference);
    }
}
