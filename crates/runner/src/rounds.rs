//! Rounds of variants that end by themselves: trials come from the plan's list, round after round, until every variant of
//! a system is known well enough, or the list ends.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec;

use analysis::{
    RoundFigure, RoundSums, RoundTrial, RoundsLook, compare_by, over_points, rounds_are_over,
};
use anyhow::Result;
use measure::{Edges, RoundsGoal, RoundsRule};
use plan::{Plan, RoundsPlan, Trial};
use record::{TrialRecord, TrialStatus};

use crate::enough;
use crate::source::{FinishedTrial, SourcedTrial, TrialSource};

pub(crate) fn rule(rounds: &RoundsPlan) -> RoundsRule {
    RoundsRule {
        goal: match rounds.goal {
            plan::RoundsGoal::Width(width) => RoundsGoal::Width(width),
            plan::RoundsGoal::Decide(margin) => RoundsGoal::Decide(margin),
        },
        figure: enough::figure(rounds.figure),
        at_least: rounds.at_least,
        at_most: rounds.at_most,
    }
}

/// A variant under one load: system, workload, clients and rate as a trial has them.
type Point = (usize, usize, usize, Option<usize>);

struct OfRound {
    /// The place of its trial in the order of measuring.
    place: u64,
    /// `None` when a trial of it did not run to its end.
    sums: Option<RoundSums>,
}

/// The list of a plan, as far as the rounds go.
pub(crate) struct Rounds<'p> {
    plan: &'p Plan,
    rule: RoundsRule,
    listed: Peekable<vec::IntoIter<Trial>>,
    last: Option<Trial>,
    index: usize,
    current: BTreeMap<Point, OfRound>,
    /// The figure in the rounds before; `None` once it had no upper bound in one of them, as in reports.
    figures: BTreeMap<Point, Option<Vec<RoundFigure>>>,
    /// What the rounds before show, in words.
    so_far: String,
}

impl<'p> Rounds<'p> {
    pub(crate) fn new(plan: &'p Plan, rounds: &RoundsPlan, listed: vec::IntoIter<Trial>) -> Self {
        Self {
            plan,
            rule: rule(rounds),
            listed: listed.peekable(),
            last: None,
            index: 0,
            current: BTreeMap::new(),
            figures: BTreeMap::new(),
            so_far: String::new(),
        }
    }

    /// The system whose variants take turns in a trial's round.
    fn group(&self, trial: Trial) -> Option<&'p str> {
        let variant = self.plan.systems[trial.system].variant.as_ref();
        variant.map(|variant| variant.of.as_str())
    }

    fn is_of_round(&self, one: Trial, other: Trial) -> bool {
        one.repetition == other.repetition && self.group(one) == self.group(other)
    }

    fn add(&mut self, trial: Trial, finished: FinishedTrial<'_>) -> Result<()> {
        let record = finished.record.map(|writer| writer.read_back()).transpose()?;
        let complete = record.as_ref().filter(|record| is_complete(record));
        // Windows have all places in a round alike.
        let is_in_turn = self.plan.windows.is_none();
        let place = if is_in_turn { trial.index as u64 } else { trial.repetition.into() };
        let of_round = self
            .current
            .entry(point(trial))
            .or_insert_with(|| OfRound { place, sums: Some(RoundSums::default()) });
        match (complete, &mut of_round.sums) {
            (Some(record), Some(sums)) => {
                let none = Edges::default();
                sums.add(RoundTrial {
                    operations: &record.header.operations,
                    total: &record.total,
                    edges: record.end.as_ref().map_or(&none, |end| &end.edges),
                    seconds: record.seconds(),
                });
            }
            (None, sums) => *sums = None,
            (Some(_), None) => {}
        }
        Ok(())
    }

    /// Takes the figures of the round of `last`, which is complete. Returns whether no more rounds of its system are due.
    fn end_round(&mut self, last: Trial) -> bool {
        for (point, of_round) in std::mem::take(&mut self.current) {
            let known = self.figures.entry(point).or_insert_with(|| Some(Vec::new()));
            let Some(sums) = of_round.sums else { continue };
            match (sums.within(self.rule.figure), known.as_mut()) {
                (Some([value, most]), Some(figures)) => {
                    let (round, place) = (last.repetition, of_round.place);
                    figures.push(RoundFigure { round, place, value, most });
                }
                _ => *known = None,
            }
        }
        let looks = self.looks(last);
        let rounds = last.repetition + 1;
        self.so_far = so_far(&looks);
        rounds_are_over(&self.rule, rounds, &looks)
    }

    /// What the rounds show of every variant but the baseline.
    fn looks(&self, last: Trial) -> Vec<Option<RoundsLook>> {
        let group = self.group(last);
        let systems = self.plan.systems.iter().enumerate().filter(|(_, system)| {
            system.variant.as_ref().map(|variant| variant.of.as_str()) == group
        });
        let mut systems = systems.filter(|(_, system)| {
            system.variant.as_ref().is_some_and(|variant| !variant.is_baseline_again)
        });
        let Some((baseline, _)) = systems.next() else { return Vec::new() };
        let baseline = self.over_points(baseline);
        let look = |(variant, _)| {
            let variant = self.over_points(variant)?;
            let least = self.plan.least_difference;
            let found = compare_by(Some(&self.rule), baseline.as_ref()?, &variant, least)?;
            Some(RoundsLook::at(&self.rule, &found))
        };
        systems.map(look).collect()
    }

    /// The figure of a variant in each round, over all its loads.
    fn over_points(&self, system: usize) -> Option<Vec<RoundFigure>> {
        let points = self.figures.iter().filter(|(point, _)| point.0 == system);
        let points: Option<Vec<Vec<RoundFigure>>> =
            points.map(|(_, figures)| figures.clone()).collect();
        points.map(|points| over_points(&points))
    }

    fn note(&self, trial: Trial) -> String {
        let (round, at_most) = (trial.repetition + 1, self.rule.at_most);
        format!("round {round} of at most {at_most}{}", self.so_far)
    }
}

impl TrialSource for Rounds<'_> {
    fn next(&mut self, finished: Option<FinishedTrial<'_>>) -> Result<Option<SourcedTrial>> {
        if let (Some(last), Some(finished)) = (self.last, finished) {
            self.add(last, finished)?;
            let next = self.listed.peek().copied();
            let is_whole = next.is_none_or(|next| !self.is_of_round(last, next));
            if is_whole && self.end_round(last) {
                let group = self.group(last);
                while self.listed.peek().copied().is_some_and(|next| self.group(next) == group) {
                    self.listed.next();
                }
            }
        }
        let Some(listed) = self.listed.next() else { return Ok(None) };
        if self.last.is_some_and(|last| self.group(last) != self.group(listed)) {
            self.so_far.clear();
        }
        let trial = Trial { index: self.index, ..listed };
        self.index += 1;
        self.last = Some(trial);
        Ok(Some(SourcedTrial { trial, note: self.note(trial) }))
    }
}

fn point(trial: Trial) -> Point {
    (trial.system, trial.workload, trial.clients, trial.rate)
}

fn is_complete(record: &TrialRecord) -> bool {
    let status = record.end.as_ref().map(|end| &end.status);
    record.damage.is_none() && status == Some(&TrialStatus::Complete)
}

/// The widest interval of those that are not known well enough, and the most rounds that one of them still needs.
fn so_far(looks: &[Option<RoundsLook>]) -> String {
    let open = || looks.iter().flatten().filter(|look| !look.is_reached);
    let widest = open().filter_map(|look| look.half_width).max_by(f64::total_cmp);
    let mut text =
        widest.map_or(String::new(), |half| format!(", half width {:.1} %", 100.0 * half));
    let left = open().map(|look| look.rounds_needed().map(|needed| needed - look.rounds));
    let left: Option<Vec<usize>> = left.collect();
    if let Some(left) = left.and_then(|left| left.into_iter().max()) {
        text.push_str(&format!(", about {left} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use plan::Source;

    use super::*;

    fn plan(top: &str) -> Plan {
        let text = format!(
            "{top}\nworkload = \"simulated\"\n[systems.a]\nkind = \"simulated\"\n[systems.a.variants.one]\n\
             [systems.a.variants.two]\n[systems.b]\nkind = \"simulated\"\n[systems.b.variants.one]\n\
             [systems.b.variants.two]\n[load]\nclients = [1, 2]\n"
        );
        let folder = std::path::PathBuf::new();
        Plan::parse(Source { name: "x".to_owned(), text, folder }).unwrap()
    }

    /// What six rounds show of a variant whose figure is up by exp `spread` in one round and down in the next, all at
    /// the same place: a standard error of 0.4472 x `spread`. The rule asks for a width of 2 %.
    fn look(rule: &RoundsRule, spread: f64) -> Option<RoundsLook> {
        let rounds = |spread: f64| -> Vec<RoundFigure> {
            let value =
                |round: u32| if round.is_multiple_of(2) { spread.exp() } else { (-spread).exp() };
            (0..6).map(|round| RoundFigure::exact(round, 0, value(round))).collect()
        };
        let found = compare_by(Some(rule), &rounds(0.0), &rounds(spread), 0.01).unwrap();
        Some(RoundsLook::at(rule, &found))
    }

    /// No load begins, so no variant is ever compared, and none is waited for after the fewest rounds.
    #[test]
    fn systems_that_do_not_start_are_given_up_after_the_fewest_rounds() {
        let plan = plan("rounds = { width = \"3%\", at_least = 4 }");
        let mut source = crate::source::of(&plan);
        let mut next = source.next(None).unwrap();
        let mut seen = Vec::new();
        while let Some(SourcedTrial { trial, note }) = next {
            assert_eq!(trial.index, seen.len(), "trials are numbered as they run");
            assert_eq!(note, format!("round {} of at most 40", trial.repetition + 1));
            seen.push((trial.system / 2, trial.repetition));
            next = source.next(Some(FinishedTrial { record: None })).unwrap();
        }
        let round = |group, round| [(group, round); 4];
        let of_group = |group| (0..4).flat_map(move |number| round(group, number));
        assert_eq!(seen, of_group(0).chain(of_group(1)).collect::<Vec<_>>());
        assert_eq!(crate::source::trials_max(&plan), 2 * 4 * 40);
    }

    /// Student's quantile with 5 degrees of freedom is 2.5706, widened by 1 + 2 / 5. With a spread of 0.02 half the width
    /// is 0.032 19, or 3.3 %; ten values have 2.2622 x (1 + 2 / 9) x 0.021 909 / sqrt 10 = 0.019 156, less than 0.019 803,
    /// and nine 0.021 051.
    #[test]
    fn progress_tells_the_widest_interval_and_the_most_rounds_left() {
        let plan = plan("rounds = { width = \"2%\" }");
        let rule = rule(plan.rounds.as_ref().unwrap());
        let known = look(&rule, 0.01);
        assert!(known.unwrap().is_reached);
        assert_eq!(so_far(&[known, None]), "");
        assert_eq!(so_far(&[known, look(&rule, 0.02)]), ", half width 3.3 %, about 4 more");
        let wider = so_far(&[look(&rule, 0.02), look(&rule, 0.04), known]);
        assert!(wider.starts_with(", half width 6.6 %, about "), "{wider}");
    }

    #[test]
    fn the_rule_of_a_plan_is_that_of_the_record() {
        let plan = plan("rounds = { width = \"2%\", at_most = 9, figure = \"mean\" }");
        let rule = rule(plan.rounds.as_ref().unwrap());
        assert_eq!(rule.goal, RoundsGoal::Width(0.02));
        assert_eq!(rule.figure, measure::PreciseFigure::Mean);
        assert_eq!((rule.at_least, rule.at_most), (5, 9));
    }
}
