//! The goals for dyno, read from `benchmarks/goals.toml`, and whether they were reached.

use std::fs;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::page;
use super::parts::Parts;
use super::results::{Point, Quantity, Results, Seen, shown};
use crate::paths;

/// A figure that dyno is held to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Goal {
    parts: Vec<String>,
    quantity: Quantity,
    /// A contestant, or two with `/` or `-` between them.
    of: String,
    /// The only numbers of connections that it is for; empty: every one that was measured.
    #[serde(default)]
    at: Vec<usize>,
    at_most: Option<f64>,
    at_least: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    goal: Vec<Goal>,
}

/// A goal at one number of connections, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Judged {
    pub what: String,
    /// The bound.
    pub goal: String,
    /// The figure with its interval.
    pub seen: String,
    pub outcome: &'static str,
}

/// The outcome when the whole interval of a figure is within its bound.
pub(super) const REACHED: &str = "reached";
/// No part of the interval is within the bound.
const NOT_REACHED: &str = "not reached";
/// Part of the interval is within the bound, or there is no interval.
const NOT_SHOWN: &str = "not shown";
/// The part was measured, and the figure of the goal was not.
const NOT_MEASURED: &str = "not measured";

/// All goals.
///
/// # Errors
/// When one does not have one bound, or is of what no part measures.
pub(super) fn read(parts: &Parts) -> anyhow::Result<Vec<Goal>> {
    let path = paths::root().join("benchmarks/goals.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    parse(&text, parts).with_context(|| path.display().to_string())
}

fn parse(text: &str, parts: &Parts) -> anyhow::Result<Vec<Goal>> {
    let goals = toml::from_str::<File>(text)?.goal;
    for goal in &goals {
        let is_one = goal.at_most.is_some() != goal.at_least.is_some();
        ensure!(is_one, "a goal has one of at_most and at_least: {goal:?}");
        ensure!(!goal.parts.is_empty(), "a goal is for a part: {goal:?}");
        for part in &goal.parts {
            let part = parts.get(part)?;
            let mut contestants = goal.of.split(" / ").flat_map(|it| it.split(" - "));
            let is_measured = contestants.all(|it| part.contestants.contains_key(it));
            let is_at = goal.at.iter().all(|connections| part.connections.contains(connections));
            ensure!(is_at && is_measured, "not measured: {goal:?}");
        }
    }
    Ok(goals)
}

/// Every goal of the parts that were measured.
pub(super) fn judged(goals: &[Goal], results: &Results) -> Vec<Judged> {
    let points = results.points();
    let of_goal = |goal: &Goal| {
        let parts = goal.parts.iter().filter(|part| points.iter().any(|it| it.part == **part));
        parts.flat_map(|part| goal.judged(part, &points, results)).collect::<Vec<_>>()
    };
    goals.iter().flat_map(of_goal).collect()
}

/// The table of goals.
pub(super) fn table(judged: &[Judged]) -> String {
    let row = |goal: &Judged| {
        let outcome = match goal.outcome {
            REACHED => REACHED.to_owned(),
            other => format!("**{other}**"),
        };
        vec![goal.what.clone(), goal.goal.clone(), goal.seen.clone(), outcome]
    };
    page::table(&["what", "goal", "seen", ""], judged.iter().map(row))
}

impl Goal {
    fn judged(&self, part: &str, points: &[Point], results: &Results) -> Vec<Judged> {
        let quantity = self.quantity;
        let measured = points.iter().filter(|it| it.part == part && it.quantity == quantity);
        let mut connections: Vec<usize> = match self.at[..] {
            [] => measured.map(|it| it.connections).collect(),
            _ => self.at.clone(),
        };
        // A goal without any figure is shown once, as one that was not measured.
        if connections.is_empty() {
            connections.push(0);
        }
        let row = |connections| {
            let point = Point { part: part.to_owned(), connections, quantity };
            let seen = results.figure(&point, &self.of);
            Judged {
                what: format!("{part} at {connections}: {}, {}", quantity.name(), self.of),
                goal: self.bound(),
                seen: seen.map_or_else(|| "-".to_owned(), |seen| seen.to_string()),
                outcome: seen.map_or(NOT_MEASURED, |seen| self.outcome(&seen)),
            }
        };
        connections.into_iter().map(row).collect()
    }

    fn bound(&self) -> String {
        let of = |word: &str, bound: Option<f64>| bound.map(|it| format!("{word} {}", shown(it)));
        of("at most", self.at_most).or(of("at least", self.at_least)).unwrap_or_default()
    }

    /// Whether it is reached: the whole interval counts, not the estimate alone.
    fn outcome(&self, seen: &Seen) -> &'static str {
        let is_within = |end: f64| {
            self.at_most.is_none_or(|most| end <= most)
                && self.at_least.is_none_or(|least| end >= least)
        };
        match seen.interval.map(|ends| ends.map(is_within)) {
            Some([true, true]) => REACHED,
            Some([false, false]) => NOT_REACHED,
            _ => NOT_SHOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::results::Sample;
    use super::*;

    fn goal(lines: &str) -> anyhow::Result<Goal> {
        let head = "[[goal]]\nparts = [\"pinned\"]\nquantity = \"cpu_us_per_query\"\n";
        Ok(parse(&format!("{head}{lines}"), &Parts::read()?)?.remove(0))
    }

    #[test]
    fn a_goal_is_reached_only_when_the_whole_interval_is_inside() {
        let outcome = |bound: &str, interval: Option<[f64; 2]>| {
            let goal = goal(&format!("of = \"dyno\"\n{bound}")).unwrap();
            goal.outcome(&Seen { value: 1.11, interval })
        };
        let straddling = Some([0.85, 1.45]);
        assert_eq!(outcome("at_most = 1.15", straddling), NOT_SHOWN);
        assert_eq!(outcome("at_least = 1", straddling), NOT_SHOWN);
        assert_eq!(outcome("at_most = 1.15", Some([1.10, 1.12])), REACHED);
        assert_eq!(outcome("at_least = 1.15", Some([1.10, 1.12])), NOT_REACHED);
        assert_eq!(outcome("at_most = 1.15", None), NOT_SHOWN);
    }

    #[test]
    fn a_goal_has_one_bound_and_names_that_are_known() {
        assert!(goal("of = \"dyno\"\nat_most = 1").is_ok());
        assert!(goal("of = \"dyno / floor\"\nat_most = 1").is_ok());
        assert!(goal("of = \"dyno / a stranger\"\nat_most = 1").is_err());
        assert!(goal("of = \"dyno\"").is_err());
        assert!(goal("of = \"dyno\"\nat_most = 1\nat_least = 0").is_err());
        assert!(goal("of = \"a stranger\"\nat_most = 1").is_err());
        assert!(goal("of = \"dyno\"\nat_most = 1\natt = [1]").is_err());
        assert!(goal("of = \"dyno\"\nat_most = 1\nat = [3]").is_err());
    }

    /// Every goal of a part that was measured has a row, also where its figure was not measured.
    #[test]
    fn goals_of_stored_samples() {
        let mut results = Results::default();
        for name in ["2026-11-22.json", "2026-11-22-tidb-ycsb.json"] {
            let path = paths::root().join("benchmarks").join(name);
            let stored: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            let samples: Vec<Sample> = serde_json::from_value(stored["samples"].clone()).unwrap();
            results.0.extend(samples);
        }
        insta::assert_snapshot!(table(&judged(&read(&Parts::read().unwrap()).unwrap(), &results)));
    }
}
