//! Rounds of two variants that end by themselves: whether the interval at their end is right although it ended them, and
//! how many rounds they take.

use analysis::{Comparison, RoundFigure, RoundsLook, Significance, compare_by, rounds_are_over};
use anyhow::Context;
use measure::{PreciseFigure, RoundsGoal, RoundsRule};

use super::comparisons::{half_width, in_rounds};
use super::noises::KINDS;
use super::normal;
use super::simulation::{Case, Goal, Seen, Study};

/// The defaults of a plan.
const AT_LEAST: u32 = 5;
const AT_MOST: u32 = 40;
/// The margin of decisions.
const MARGIN: f64 = 0.03;

/// What is asked of the rounds, with the true ratio. A width does not depend on the ratio.
const ASKED: [(&str, RoundsGoal, f64); 5] = [
    ("width 2 %, equal systems", RoundsGoal::Width(0.02), 1.0),
    ("width 4 %, equal systems", RoundsGoal::Width(0.04), 1.0),
    ("decide 3 %, equal systems", RoundsGoal::Decide(MARGIN), 1.0),
    ("decide 3 %, 3 % faster", RoundsGoal::Decide(MARGIN), 1.0 + MARGIN),
    ("decide 3 %, 6 % faster", RoundsGoal::Decide(MARGIN), 1.0 + 2.0 * MARGIN),
];

const COVERED: &str = "the 95 % interval at the end has the truth";
const GOALS: &[Goal] = &[
    (COVERED, 93.0..=100.0),
    ("called equal: decide 3 %, 3 % faster", 0.0..=7.0),
    ("called equal: decide 3 %, 6 % faster", 0.0..=1.0),
];

pub(super) static STUDY: Study =
    Study { name: "rounds", title: "Rounds that end by themselves", goals: GOALS, cases };

fn cases() -> Vec<Case> {
    let normal = [0.01, 0.02, 0.04, 0.08].map(|deviation| {
        let name = format!("normal rounds, deviation of {} %", 100.0 * deviation);
        Case::new(name, move |seed| once(&normal_throughputs(deviation, seed), seed))
    });
    let kinds = KINDS.into_iter().filter(|kind| !kind.is_constant());
    let simulated = kinds.map(|kind| {
        let trials = 2 * AT_MOST as usize;
        Case::new(kind.name, move |seed| once(&kind.throughputs(seed, trials)?, seed))
    });
    normal.into_iter().chain(simulated).collect()
}

/// Trials of two equal variants, whose ratios in rounds have normal logarithms: what the intervals suppose.
fn normal_throughputs(deviation: f64, seed: u64) -> Vec<f64> {
    // The difference of two logarithms has twice the variance of each.
    let (mut draws, each) = (seed, deviation / 2.0_f64.sqrt());
    (0..2 * AT_MOST).map(|_| 1_000.0 * (each * normal(&mut draws)).exp()).collect()
}

/// The ends of rounds of these trials by each rule.
fn once(values: &[f64], seed: u64) -> anyhow::Result<Seen> {
    let mut seen = Seen::default();
    for (name, goal, truth) in ASKED {
        let figures = in_rounds(values, &[1.0, truth], seed);
        let (found, look) = end(&rule(goal), &figures).context("nothing to compare")?;
        let is_covered = (found.ratio.low..=found.ratio.high).contains(&truth);
        let is_different = matches!(found.verdict, Significance::Higher | Significance::Lower);
        seen.is(format!("{COVERED}: {name}"), is_covered);
        seen.is(format!("reached: {name}"), look.is_reached);
        seen.is(format!("called faster or slower: {name}"), is_different);
        seen.is(format!("called equal: {name}"), found.verdict == Significance::Equal);
        seen.size(format!("rounds: {name}"), look.rounds as f64);
        seen.size(format!("half width, %: {name}"), half_width(&found));
    }
    Ok(seen)
}

fn rule(goal: RoundsGoal) -> RoundsRule {
    let figure = PreciseFigure::Throughput;
    RoundsRule { goal, figure, at_least: AT_LEAST, at_most: AT_MOST }
}

/// Looks after each round as a run does, and returns what is known when no more rounds are due.
fn end(rule: &RoundsRule, figures: &[Vec<RoundFigure>]) -> Option<(Comparison, RoundsLook)> {
    let least = match rule.goal {
        RoundsGoal::Decide(margin) => margin,
        RoundsGoal::Width(_) => plan::LEAST_DIFFERENCE,
    };
    (rule.at_least..=rule.at_most).find_map(|rounds| {
        let so_far = ..rounds as usize;
        let found = compare_by(Some(rule), &figures[0][so_far], &figures[1][so_far], least)?;
        let look = RoundsLook::at(rule, &found);
        rounds_are_over(rule, rounds, &[Some(look)]).then_some((found, look))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::comparisons::is_alarm;
    use crate::statistics::simulation::seed_of;

    /// Looking with Student's interval of 95 % after each round, and ending when it excludes 1, alarms in about a
    /// quarter; a confidence sequence does in less than 5 %.
    #[test]
    fn looking_after_each_round_does_not_raise_alarms() {
        let rule = rule(RoundsGoal::Decide(1e-4));
        let alarms = |rule: Option<&RoundsRule>| {
            let is_one = |seed: &u64| {
                let figures = in_rounds(&normal_throughputs(0.02, *seed), &[1.0, 1.0], *seed);
                (AT_LEAST as usize..=AT_MOST as usize).any(|rounds| {
                    let of = |variant: usize| &figures[variant][..rounds];
                    is_alarm(&compare_by(rule, of(0), of(1), 1e-4).unwrap())
                })
            };
            (0..400).map(|number| seed_of(3, number)).filter(is_one).count()
        };
        assert!(alarms(None) > 50);
        assert!(alarms(Some(&rule)) <= 20);
    }
}
