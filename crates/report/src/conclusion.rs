//! Conclusions: an answer to each question of the plan, and what not to believe, as values and in a sentence. They
//! stand first in every view.

mod compared;
mod measured;
mod swept;
mod trials;
mod words;

#[cfg(test)]
mod tests;

use analysis::{Finding, Value};
use serde_json::json;

use crate::comparison::Group;
use crate::digest::{Digest, Point, Trial};
use crate::scaling::Sweep;
use crate::template::{self, fill};

pub(crate) use compared::of_loads;
pub(crate) use trials::{
    all_reasons, behind_all, in_a_sentence, none_believed, not_valid, not_valid_of, reasons,
};
pub(crate) use words::Code;

pub(crate) const TITLE: &str = "Conclusions";

pub(crate) type Values = Vec<(&'static str, Value)>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    pub(crate) code: Code,
    /// Its values by name; a name ends with the unit.
    pub(crate) values: Values,
    pub(crate) place: Option<Place>,
}

/// Where the figures of a conclusion are: by the index of a workload, a group of variants, a seek or a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Workload(usize),
    Variants(usize),
    Seek(usize),
    Trial(usize),
    Ceilings,
    Limits,
    Warnings,
}

impl Place {
    /// The id of its first plot on the page, or of its section.
    pub(crate) fn id(self) -> String {
        match self {
            Self::Workload(at) => format!("w{at}-0"),
            Self::Variants(at) => format!("v{at}-0"),
            Self::Seek(at) => format!("k{at}-0"),
            Self::Trial(at) => format!("t{at}-0"),
            Self::Ceilings => "cost".to_owned(),
            Self::Limits => "why".to_owned(),
            Self::Warnings => "care".to_owned(),
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Workload(_) | Self::Variants(_) | Self::Seek(_) | Self::Trial(_) => "plot",
            Self::Ceilings | Self::Limits => "table",
            Self::Warnings => "warnings",
        }
    }

    /// The section that has its figures.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::Workload(_) | Self::Trial(_) => "results",
            Self::Variants(_) => "ratios",
            Self::Seek(_) => "capacity",
            Self::Ceilings => "cost",
            Self::Limits => "why",
            Self::Warnings => "care",
        }
    }
}

impl Conclusion {
    pub(crate) fn new(code: Code, values: Values, place: Option<Place>) -> Self {
        Self { code, values, place }
    }

    pub(crate) fn text(&self) -> String {
        let parts = [self.code.template(), words::NOT_VALID];
        let text: String =
            parts.iter().filter_map(|template| fill(template, &self.values, None)).collect();
        if text.ends_with('.') { text } else { format!("{text}.") }
    }

    /// In a few words, without the system and the workload.
    pub(crate) fn short(&self) -> String {
        let short = self.code.short().and_then(|template| fill(template, &self.values, None));
        short.unwrap_or_else(|| self.text())
    }

    /// What is compared with another.
    pub(crate) fn candidate(&self) -> Option<String> {
        let named = self.values.iter().find(|(name, _)| *name == "candidate");
        named.map(|(_, value)| template::show(value))
    }

    /// Of two that were compared, how many times the figure of one is that of the other, and what that is.
    pub(crate) fn multiple(&self) -> Option<(String, String)> {
        let of = |name: &str| self.values.iter().find(|(known, _)| *known == name).map(|it| &it.1);
        let change =
            of("change").or_else(|| of("least_change").filter(|_| of("most_change").is_none()));
        let Some(Value::Change(change)) = change else { return None };
        let [baseline, figure] = ["baseline", "figure"].map(|name| of(name).map(template::show));
        let what = format!("the {} of {}", figure?, baseline?);
        Some((format!("{} times", crate::number::number(1.0 + change)), what))
    }

    /// The same for a list of answers that have something in common: that, and the rest.
    pub(crate) fn listed(&self) -> Option<(&'static str, String)> {
        let (common, rest) = self.code.listed()?;
        Some((common, fill(rest, &self.values, None)?))
    }

    /// Whether it is about this workload on this system.
    pub(crate) fn is_about(&self, system: &str, workload: &str) -> bool {
        let has = |name: &str, wanted: &str| {
            let of = self.values.iter().find(|(known, _)| *known == name);
            of.is_some_and(|(_, value)| template::show(value) == wanted)
        };
        has("workload", workload) && (has("system", system) || has("of", system))
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "code": self.code.name(),
            "values": template::json(&self.values),
            "text": self.text(),
        })
    }
}

/// Every conclusion of a run: the answers first, then what not to believe.
pub(crate) fn drawn(
    digest: &Digest<'_>,
    groups: &[Group<'_, '_>],
    sweeps: &[Sweep],
    findings: &[Finding],
) -> Vec<Conclusion> {
    let mut answers = measured::seeks(digest);
    answers.extend(compared::all(digest, groups));
    answers.extend(swept::all(digest, sweeps));
    answers.extend(measured::others(digest, sweeps));
    answers.extend(measured::sets_of_queries(digest));
    answers.extend(measured::limits(digest));
    answers.extend(measured::ceiling(digest));
    if answers.is_empty() {
        answers.push(trials::nothing(digest));
    }
    answers.extend(trials::all(digest, findings));
    answers
}

pub(crate) fn json(conclusions: &[Conclusion]) -> Vec<serde_json::Value> {
    let one = |conclusion: &Conclusion| {
        let mut value = conclusion.json();
        value["chart"] = conclusion.place.map(Place::id).into();
        value
    };
    conclusions.iter().map(one).collect()
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn counted<'d, 'a>(digest: &'d Digest<'a>, points: &[&Point<'_>]) -> Vec<&'d Trial<'a>> {
    let trials = points.iter().flat_map(|point| &point.counted);
    trials.map(|at| &digest.trials[*at]).collect()
}

/// The percentile of conclusions: the 99th, or the nearest to it.
pub(crate) fn percentile(digest: &Digest<'_>) -> Option<f64> {
    let distance = |percent: &f64| (percent - 99.0).abs();
    let percentiles = digest.run.header.percentiles.iter().copied();
    percentiles.min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

/// The latency of a point at that percentile under two names: the value, and `or more` where it is a lower bound.
fn latency(digest: &Digest<'_>, point: &Point<'_>, names: [&'static str; 2]) -> Values {
    let Some(percent) = percentile(digest) else { return Vec::new() };
    let found = digest.bounded(point, |summary| summary.latency.percentile(percent));
    let Some((estimate, is_bound)) = found else { return Vec::new() };
    let mut values = vec![(names[0], Value::Nanos(estimate.median.round() as u64))];
    values.extend(is_bound.then(|| (names[1], text("or more"))));
    values
}

/// Throughput of a point: the median.
pub(crate) fn per_s(digest: &Digest<'_>, point: &Point<'_>) -> f64 {
    let estimate = digest.estimate(point, |summary| summary.transactions_per_s);
    estimate.map_or(0.0, |estimate| estimate.median)
}
