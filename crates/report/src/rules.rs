//! A workload's own figures and the conditions on its data, as tables and as JSON.

use analysis::ShareSummary;
use measure::{Condition, ConditionResult, Phase};
use serde_json::{Value, json};

use crate::digest::{Digest, Point, Trial, clients_text};
use crate::number::{number, percent};
use crate::table::Table;

/// A row for each system and number of clients, for one workload or all that have figures of their own. Empty
/// when there is none.
pub(crate) fn table(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let points = digest
        .points
        .iter()
        .filter(|point| workload.is_none_or(|name| name == point.workload))
        .filter(|point| trials(digest, point).any(has_rules));
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .numbers("clients")
        .group()
        .words("score")
        .numbers("value")
        .numbers("of the most possible")
        .group()
        .words("mix, percent")
        .words("required mix")
        .group()
        .words("conditions on the data")
        .words("answers")
        .remarks();
    for point in points {
        table.row(row(digest, point));
    }
    table.without_columns(|head, cells| {
        let is_bare = cells.iter().all(|cell| cell.is_empty());
        head != "system" && is_bare
    })
}

fn trials<'a>(digest: &'a Digest<'a>, point: &'a Point<'a>) -> impl Iterator<Item = &'a Trial<'a>> {
    point.trials.iter().map(|at| &digest.trials[*at])
}

fn has_rules(trial: &Trial<'_>) -> bool {
    !trial.summary.scores.is_empty() || !trial.record.conditions.is_empty()
}

fn row(digest: &Digest<'_>, point: &Point<'_>) -> Vec<String> {
    let first = trials(digest, point).find(|trial| has_rules(trial));
    let score = first.and_then(|trial| trial.summary.scores.first());
    let middle = |of: &dyn Fn(&analysis::ScoreSummary) -> Option<f64>| {
        let figure =
            |summary: &analysis::Summary| summary.scores.first().and_then(of).unwrap_or_default();
        digest.estimate(point, figure).map(|estimate| estimate.median)
    };
    let value = score.and_then(|_| middle(&|score| Some(score.value))).map(number);
    let of_most = score
        .filter(|score| score.of_most.is_some())
        .and_then(|_| middle(&|score| score.of_most))
        .map(percent);
    vec![
        point.system.to_owned(),
        point.workload.to_owned(),
        point.clients.to_string(),
        score.map(|score| score.name.clone()).unwrap_or_default(),
        value.unwrap_or_default(),
        of_most.unwrap_or_default(),
        first.map(|trial| mix(&trial.summary.shares)).unwrap_or_default(),
        kept(trials(digest, point)),
        conditions(trials(digest, point), false),
        conditions(trials(digest, point), true),
        digest.remarks(point),
    ]
}

/// `new_order 44.8, payment 43.2, ...`
fn mix(shares: &[ShareSummary]) -> String {
    let share = |it: &ShareSummary| format!("{} {:.1}", it.name, it.percent);
    shares.iter().map(share).collect::<Vec<_>>().join(", ")
}

/// Whether every trial kept the required mix.
fn kept<'a>(trials: impl Iterator<Item = &'a Trial<'a>>) -> String {
    let trials: Vec<&Trial<'_>> = trials.filter(|trial| !trial.summary.shares.is_empty()).collect();
    let missed = trials.iter().filter(|it| !it.summary.shares.iter().all(ShareSummary::is_kept));
    match (trials.len(), missed.count()) {
        (0, _) => String::new(),
        (_, 0) => "kept".to_owned(),
        (1, _) => "missed".to_owned(),
        (all, missed) => format!("missed in {missed} of {all} trials"),
    }
}

/// What is said of data whose conditions were not checked.
const NOT_CHECKED: &str = "not checked after the load";

/// Whether the data of a workload with rules was not checked after the load, as when the trial failed.
fn is_unchecked(trial: &Trial<'_>) -> bool {
    let record = trial.record;
    let is_checked = record.phases.iter().any(|it| it.phase == Phase::Check);
    !trial.summary.scores.is_empty() && record.conditions.is_empty() && !is_checked
}

/// The same as a figure of a trial.
pub(crate) fn unchecked(trial: &Trial<'_>) -> Option<(&'static str, String)> {
    is_unchecked(trial).then(|| ("conditions on the data", NOT_CHECKED.to_owned()))
}

/// Number of conditions, on answers or on data, that hold after every trial, and after how many trials the data was
/// not checked.
fn conditions<'a>(trials: impl Iterator<Item = &'a Trial<'a>>, on_answers: bool) -> String {
    let trials: Vec<&Trial<'_>> = trials.filter(|trial| has_rules(trial)).collect();
    let unchecked = trials.iter().filter(|trial| !on_answers && is_unchecked(trial)).count();
    let is_asked = |condition: &&Condition| condition.about.is_answer() == on_answers;
    let checked: Vec<Vec<&Condition>> = trials
        .iter()
        .map(|trial| trial.record.conditions.iter().filter(is_asked).collect())
        .filter(|conditions: &Vec<_>| !conditions.is_empty())
        .collect();
    let Some(of) = checked.iter().map(Vec::len).max() else {
        return if unchecked > 0 { NOT_CHECKED.to_owned() } else { String::new() };
    };
    let mut broken: Vec<&str> = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    for condition in checked.into_iter().flatten() {
        let list = match condition.verdict {
            ConditionResult::Holds => continue,
            ConditionResult::Broken(_) => &mut broken,
            ConditionResult::Unknown(_) => &mut unknown,
        };
        if !list.contains(&condition.name.as_str()) {
            list.push(&condition.name);
        }
    }
    let held = of - broken.len() - unknown.len().min(of - broken.len());
    let mut text = format!("{held} of {of} hold");
    if !broken.is_empty() {
        text += &format!("; broken: {}", broken.join(", "));
    }
    if !unknown.is_empty() {
        text += &format!("; not known: {}", unknown.join(", "));
    }
    if unchecked > 0 {
        text += &format!("; {NOT_CHECKED} in {unchecked} of {} trials", trials.len());
    }
    text
}

/// Sentences about the meaning of scores and about loads without one, and about data that was not checked.
pub(crate) fn notes(digest: &Digest<'_>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for trial in &digest.trials {
        let header = &trial.record.header;
        let of = &header.workload;
        for score in &of.rules.scores {
            add(format!("{}: {}.", score.name, score.meaning));
        }
        if !of.rules.unscored.is_empty() {
            let (load, reasons) = (clients_text(header.clients), of.rules.unscored.join("; "));
            add(format!("{}, {load}: no score, because {reasons}.", of.name));
        }
        for condition in &trial.record.conditions {
            if let ConditionResult::Unknown(reason) = &condition.verdict {
                add(format!("{} ({}): {reason}.", condition.name, condition.meaning));
            }
        }
    }
    notes
}

/// The conditions on one trial's data or on its answers, each with its result.
pub(crate) fn condition_table(trial: &Trial<'_>, on_answers: bool) -> Table {
    let (what, found) =
        if on_answers { ("query", "found") } else { ("condition", "found after the load") };
    let mut table = Table::new().words(what).words("meaning").words(found);
    let all = trial.record.conditions.iter();
    for condition in all.filter(|condition| condition.about.is_answer() == on_answers) {
        let (verdict, detail) = verdict(condition);
        let found = match detail {
            Some(detail) => format!("{verdict}: {detail}"),
            None => verdict.to_owned(),
        };
        table.row(vec![condition.name.clone(), condition.meaning.clone(), found]);
    }
    table
}

fn verdict(condition: &Condition) -> (&'static str, Option<&str>) {
    match &condition.verdict {
        ConditionResult::Holds => ("holds", None),
        ConditionResult::Broken(place) => ("broken", Some(place)),
        ConditionResult::Unknown(reason) => ("unknown", Some(reason)),
    }
}

/// The same as JSON; null when the workload has no figures or conditions of its own.
pub(crate) fn json(trial: &Trial<'_>) -> Value {
    if !has_rules(trial) {
        return Value::Null;
    }
    let summary = &trial.summary;
    let conditions = trial.record.conditions.iter().map(|condition| {
        let (verdict, detail) = verdict(condition);
        json!({
            "about": condition.about,
            "name": condition.name,
            "meaning": condition.meaning,
            "verdict": verdict,
            "detail": detail,
        })
    });
    json!({
        "scores": summary.scores.iter().map(|score| json!({
            "name": score.name,
            "value": score.value,
            "of_most": score.of_most,
        })).collect::<Vec<_>>(),
        "mix": summary.shares.iter().map(|share| json!({
            "name": share.name,
            "percent": share.percent,
            "least_percent": share.least_percent,
            "is_kept": share.is_kept(),
        })).collect::<Vec<_>>(),
        "conditions": conditions.collect::<Vec<_>>(),
        "conditions_checked": !trial.record.conditions.is_empty(),
    })
}
