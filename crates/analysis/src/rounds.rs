//! Rounds of variants that end by themselves: what is known after each round, and whether that is enough.

use measure::{RoundsGoal, RoundsRule};

use crate::compare::{Comparison, LEVEL, RoundFigure, Significance, compare};
use crate::contrast::Contrast;
use crate::stopping::Stopping;

/// What the rounds so far show of one variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundsLook {
    /// Rounds in which the variant and the baseline have the figure.
    pub rounds: usize,
    /// Half the width of the 95 % interval of the ratio, as a part of the ratio; `None` without an interval.
    pub half_width: Option<f64>,
    /// Whether what the rule asks for is known.
    pub is_reached: bool,
    rule: RoundsRule,
    logs: Contrast,
}

/// As [`compare`], with an interval and a verdict that allow for the rule by which the rounds end.
pub fn compare_by(
    rule: Option<&RoundsRule>,
    baseline: &[RoundFigure],
    variant: &[RoundFigure],
    least_difference: f64,
) -> Option<Comparison> {
    let found = compare(baseline, variant, least_difference)?;
    Some(found.stopped_by(Stopping::of(rule), least_difference))
}

impl RoundsLook {
    /// Of a comparison by the rule's figure and by the rule ([`compare_by`]); with [`RoundsGoal::Decide`] the least
    /// difference is the rule's.
    pub fn at(rule: &RoundsRule, found: &Comparison) -> Self {
        let (logs, rounds) = (found.ratio.logs, found.ratio.rounds);
        let [low, high] = logs.interval(0.95);
        let half = logs.has_interval().then_some((high - low) / 2.0);
        let is_known = match rule.goal {
            RoundsGoal::Width(width) => half.is_some_and(|half| half <= width.ln_1p()),
            RoundsGoal::Decide(_) => {
                !matches!(found.verdict, Significance::Undecided | Significance::TooFewRounds)
            }
        };
        let is_reached = is_known && rounds >= rule.at_least as usize;
        Self { rounds, half_width: half.map(f64::exp_m1), is_reached, rule: *rule, logs }
    }

    /// How many rounds are likely to reach it; `None` when it is reached, and when no number is.
    pub fn rounds_needed(&self) -> Option<usize> {
        if self.is_reached {
            return None;
        }
        let needed = match self.rule.goal {
            RoundsGoal::Width(width) => self.logs.repetitions_for(width.ln_1p()),
            RoundsGoal::Decide(margin) => self.logs.repetitions_needed(margin.ln_1p(), LEVEL),
        };
        needed.map(|needed| needed.max(self.rule.at_least as usize).max(self.rounds + 1))
    }
}

/// Whether no more rounds are due after so many. `looks` has every variant but the baseline; `None` stands for one that
/// has no round to be compared in. Such a variant is not waited for.
pub fn rounds_are_over(rule: &RoundsRule, rounds: u32, looks: &[Option<RoundsLook>]) -> bool {
    let is_enough = || looks.iter().all(|look| look.is_none_or(|look| look.is_reached));
    rounds >= rule.at_most || (rounds >= rule.at_least && is_enough())
}

#[cfg(test)]
mod tests {
    use measure::PreciseFigure;

    use super::*;

    fn rule(goal: RoundsGoal) -> RoundsRule {
        RoundsRule { goal, figure: PreciseFigure::Throughput, at_least: 5, at_most: 8 }
    }

    /// So many rounds, in which the variant's figure is `ratio` times the baseline's and varies by `spread`, up in one
    /// round and down in the next.
    fn look(goal: RoundsGoal, rounds: u32, ratio: f64, spread: f64) -> RoundsLook {
        let figure = |round: u32, value: f64| RoundFigure::exact(round, 0, value);
        let sign = |round: u32| if round.is_multiple_of(2) { spread } else { -spread };
        let baseline: Vec<_> = (0..rounds).map(|round| figure(round, 100.0)).collect();
        let variant = (0..rounds).map(|round| figure(round, 100.0 * ratio * sign(round).exp()));
        let variant: Vec<_> = variant.collect();
        let rule = rule(goal);
        let least = match goal {
            RoundsGoal::Decide(margin) => margin,
            RoundsGoal::Width(_) => 0.01,
        };
        RoundsLook::at(&rule, &compare_by(Some(&rule), &baseline, &variant, least).unwrap())
    }

    /// Six logarithms of 0.01 and -0.01 have a standard error of 0.01 x sqrt (6 / 5 / 6) = 0.004 472 1. All at the same
    /// place, so that no slope is removed: Student's 2.570 58 with 5 degrees of freedom x (1 + 2 / 5) x that is 0.016 095.
    #[test]
    fn a_width_is_reached_by_the_widened_interval() {
        let at = |width, rounds| look(RoundsGoal::Width(width), rounds, 1.2, 0.01);
        let six = at(0.0163, 6);
        assert!((six.half_width.unwrap() - 0.016_225).abs() < 1e-5, "{six:?}");
        assert!(six.is_reached && six.rounds_needed().is_none(), "{six:?}");
        let missed = at(0.0162, 6);
        assert!(!missed.is_reached && missed.rounds_needed() == Some(7), "{missed:?}");
        let early = at(0.9, 4);
        assert!(!early.is_reached && early.rounds_needed() == Some(5), "{early:?}");
    }

    #[test]
    fn a_difference_is_decided_by_the_confidence_sequence() {
        let at = |rounds, ratio, spread| look(RoundsGoal::Decide(0.03), rounds, ratio, spread);
        // The ends of six rounds are 5.45 standard errors away (95 %) and 4.15 (90 %), each 0.447 times the spread.
        assert!(at(6, 1.10, 0.01).is_reached, "different: 0.095 and 0.024");
        assert!(at(6, 1.0, 0.004).is_reached, "equal: 0.007 and 0.030");
        let open = at(6, 1.03, 0.02);
        assert!(!open.is_reached && open.rounds_needed().unwrap() > 6, "{open:?}");
        // With four rounds no sequence of 95 % has ends.
        let early = at(4, 2.0, 0.001);
        assert!(!early.is_reached && early.half_width.is_none(), "{early:?}");
    }

    #[test]
    fn rounds_end_when_every_variant_is_known_and_at_the_most() {
        let rule = rule(RoundsGoal::Width(0.02));
        let known = look(rule.goal, 6, 1.0, 0.001);
        let open = look(rule.goal, 6, 1.0, 0.5);
        assert!(!rounds_are_over(&rule, 4, &[Some(known)]), "not before the fewest");
        assert!(rounds_are_over(&rule, 6, &[Some(known), Some(known)]));
        assert!(!rounds_are_over(&rule, 6, &[Some(known), Some(open)]));
        assert!(rounds_are_over(&rule, 8, &[Some(known), Some(open)]), "the most");
        assert!(rounds_are_over(&rule, 6, &[Some(known), None]), "a variant without a round");
        assert!(rounds_are_over(&rule, 5, &[None]) && !rounds_are_over(&rule, 4, &[None]));
    }
}
