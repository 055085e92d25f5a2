//! How many repetitions a comparison needs that is not decided yet.

use crate::contrast::Contrast;
use crate::stopping::Known;
use crate::student::quantile;

/// How often as many repetitions decide as are asked for.
const POWER: f64 = 0.9;
/// A difference is taken to be as large as its lower bound, which is below the true one with this confidence. Source: M.
/// Perugini, M. Gallucci and G. Costantini, Safeguard power as a protection against imprecise power estimates, Perspectives
/// on Psychological Science 9 (2014).
const SAFEGUARD: f64 = 0.8;
const REPETITIONS_MAX: usize = 10_000;

impl Contrast {
    /// How many repetitions of each are likely to decide at this level, if the spread stays as it is. In nine of ten cases
    /// so many show that the difference is below `least` where there is none, and find one of twice `least`, or a larger
    /// one that these values vouch for. Where as many were there already, as many as decide if the difference is what it
    /// seems. `None` when there is no spread, when no more would help, and for more than ten thousand.
    ///
    /// The advice does not trust the difference that was seen: while it is undecided, it is mostly chance.
    ///
    /// Sources: the usual size of a sample for a test of means, such as in NIST/SEMATECH e-Handbook of Statistical Methods,
    /// section 7.2.2.2; for the power Student's quantile with the degrees of freedom that the spread is known with, S. A.
    /// Julious and R. J. Owen, Sample size calculations for clinical studies allowing for uncertainty about the variance,
    /// Pharmaceutical Statistics 5 (2006); against the seen difference J. M. Hoenig and D. M. Heisey, The abuse of power,
    /// The American Statistician 55 (2001).
    pub fn repetitions_needed(&self, least: f64, level: f64) -> Option<usize> {
        if !self.has_interval() || self.deviation <= 0.0 {
            return None;
        }
        // More repetitions do not make the bounds of values narrower.
        let seen = self.difference.abs() - self.slack;
        let doubt = quantile(SAFEGUARD, self.degrees_of_freedom)? * self.standard_error;
        let vouched = self.enough_to_find(seen - doubt, least, level);
        let for_any = self.enough_to_exclude(least - self.slack, (1.0 + POWER) / 2.0, level);
        let is_more = |count: &usize| self.counts.iter().all(|had| count > had);
        let asked = vouched.into_iter().chain(for_any).min();
        asked.filter(is_more).or_else(|| {
            let as_seen = match seen >= least {
                true => self.enough_to_find(seen, least, level),
                false => self.enough_to_exclude(least - seen - 2.0 * self.slack, POWER, level),
            };
            as_seen.filter(is_more)
        })
    }

    /// How many repetitions of each make half the width of the 95 % interval at most this much, if the spread stays as it
    /// is; `None` for more than ten thousand.
    pub fn repetitions_for(&self, half_width: f64) -> Option<usize> {
        let half_width = half_width - self.slack;
        self.smallest(|critical, root| critical(0.975) * self.deviation <= half_width * root)
    }

    /// Enough to show a difference of this size, and that it reaches `least`.
    fn enough_to_find(&self, size: f64, least: f64, level: f64) -> Option<usize> {
        let power = quantile(POWER, self.degrees_of_freedom)?;
        self.smallest(|critical, root| {
            let is_shown = (critical(1.0 - level / 2.0) + power) * self.deviation <= size * root;
            is_shown && power * self.deviation <= (size - least) * root
        })
    }

    /// Enough to show that the difference is less than this much away, with this power.
    fn enough_to_exclude(&self, distance: f64, power: f64, level: f64) -> Option<usize> {
        let power = quantile(power, self.degrees_of_freedom)?;
        self.smallest(|critical, root| {
            (critical(1.0 - level) + power) * self.deviation <= distance * root
        })
    }

    /// The smallest number of repetitions that is enough, by the quantiles with so many, and the root of the number.
    fn smallest(&self, is_enough: impl Fn(&dyn Fn(f64) -> f64, f64) -> bool) -> Option<usize> {
        let is_enough = |count: usize| {
            let values = count as f64;
            let degrees_of_freedom = self.degrees_each * (values - 1.0);
            let known = Known { degrees_of_freedom, values };
            let critical =
                |probability| self.stopping.quantile(probability, known).unwrap_or(f64::INFINITY);
            is_enough(&critical, values.sqrt())
        };
        let (mut low, mut high) = (1, REPETITIONS_MAX);
        if !is_enough(high) {
            return None;
        }
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
    use crate::stopping::Stopping;

    /// A contrast of this many pairs with a standard deviation of 1.
    fn contrast(mean: f64, pairs: usize) -> Contrast {
        let apart = ((pairs - 1) as f64 / pairs as f64).sqrt();
        let pairs = (0..pairs).map(|at| if at % 2 == 0 { mean + apart } else { mean - apart });
        Contrast::paired(&pairs.collect::<Vec<_>>()).unwrap()
    }

    /// A standard deviation of 1, known with 9 degrees of freedom. SciPy 1.17.1: the smallest n with (t.ppf(0.95, n - 1) +
    /// t.ppf(0.95, 9)) / sqrt(n) <= 0.1, and the same with t.ppf(0.975, n - 1) + t.ppf(0.9, 9) and 0.5.
    #[test]
    fn an_undecided_comparison_needs_what_decides_at_its_margin() {
        assert_eq!(contrast(0.0, 10).repetitions_needed(0.1, 0.05), Some(1_211));
        // What was seen by chance does not count.
        assert_eq!(contrast(0.27, 10).repetitions_needed(0.1, 0.05), Some(1_211));
        // The bound of a difference is 0.8834 x sqrt (1 / 10) lower.
        let sure = 0.5 + 0.883_403_859_685_534_6 * 0.1_f64.sqrt();
        assert_eq!(contrast(sure, 10).repetitions_needed(0.1, 0.05), Some(47));
    }

    /// A deviation of 1. SciPy 1.17.1: t.ppf(0.975, 17) / sqrt(18) = 0.4973, with 17 values 0.5142; times 1 + 2 / 17
    /// it is 0.5558 with 18, and times 1 + 2 / 18 0.5355 with 19.
    #[test]
    fn a_width_needs_the_more_rounds_the_less_they_were_set_beforehand() {
        let planned = contrast(0.3, 10);
        assert_eq!(planned.repetitions_for(0.5), Some(18));
        assert_eq!(planned.stopped_by(Stopping::Width).repetitions_for(0.54), Some(19));
        let sequence = planned.stopped_by(Stopping::Difference);
        let needed = sequence.repetitions_for(0.5).unwrap();
        assert!(needed > 36, "{needed}");
        assert!(sequence.repetitions_needed(0.1, 0.05) > planned.repetitions_needed(0.1, 0.05));
        assert_eq!(planned.repetitions_for(0.001), None, "more than ten thousand");
    }

    #[test]
    fn a_difference_at_the_margin_is_asked_for_in_vain() {
        // 10 would be enough for a margin of 5, and were not.
        let near = contrast(4.9, 10);
        assert!(near.repetitions_needed(5.0, 0.05).unwrap() > 900);
        assert_eq!(contrast(5.0, 10).repetitions_needed(5.0, 0.05), None);
        assert_eq!(
            contrast(0.0, 10).repetitions_needed(0.001, 0.05),
            None,
            "more than ten thousand"
        );
        let same = Contrast::paired(&[0.0, 0.0]).unwrap();
        assert_eq!(same.repetitions_needed(0.5, 0.05), None);
        let single = Contrast::paired(&[1.0]).unwrap();
        assert_eq!(single.repetitions_needed(0.5, 0.05), None);
    }
}
