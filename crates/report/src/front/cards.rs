//! A card for each workload: its figure, its plot and its answer.

use analysis::is_set_of_operations;

use crate::conclusion::{self, Code, Conclusion, per_s};
use crate::digest::{Digest, Point, Trial, load_text};
use crate::document::Card;
use crate::number::{count, percentile_name, short};
use crate::plots::{over_run, over_time};
use crate::reading::Reading;
use crate::seek;
use crate::svg::Chart;

use super::loads::shown;

/// Answers of one card that are shown; the others are counted.
const ANSWERS_MAX: usize = 4;

pub(super) fn all(reading: &Reading<'_>) -> Vec<Card> {
    let digest = &reading.digest;
    if digest.run.header.seek.is_some() {
        return seeks(digest);
    }
    if digest.points.iter().any(|point| point.variant.is_some()) {
        return compared(reading);
    }
    let workloads = digest.workloads().into_iter();
    workloads.filter_map(|workload| of_workload(reading, workload)).collect()
}

/// A card with a plot alone.
pub(super) fn of_chart(digest: &Digest<'_>, workload: &str, chart: Chart) -> Card {
    let system = systems(digest, workload);
    Card { title: workload.to_owned(), system, chart: Some(chart), ..Card::default() }
}

/// The systems of a workload, where other workloads have others.
fn systems(digest: &Digest<'_>, workload: &str) -> String {
    let names = |of: &dyn Fn(&Point<'_>) -> bool| {
        let mut names: Vec<&str> =
            digest.points.iter().filter(|point| of(point)).map(|point| point.system).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    };
    let own = names(&|point| point.workload == workload);
    if own == names(&|_| true) { String::new() } else { own }
}

/// What a seek found in large letters, and in words.
fn seeks(digest: &Digest<'_>) -> Vec<Card> {
    let card = |sought: &seek::Sought<'_, '_>| Card {
        title: sought.name(digest),
        verdict: conclusion::not_valid_of(&confirming(sought)),
        figures: sought.headline().into_iter().collect(),
        answers: vec![sought.answer()],
        ..Card::default()
    };
    seek::all(digest).iter().map(card).collect()
}

fn confirming<'s, 'a>(sought: &'s seek::Sought<'_, 'a>) -> Vec<&'s Trial<'a>> {
    let is_confirming =
        |trial: &&Trial<'_>| trial.probe.as_ref().is_some_and(|it| it.is_confirming);
    sought.trials.iter().copied().filter(is_confirming).collect()
}

/// The answers of variants, each in a card.
fn compared(reading: &Reading<'_>) -> Vec<Card> {
    let of = |it: &Conclusion| {
        let title = it.candidate()?;
        let figures = it.multiple().into_iter().collect();
        Some(Card { title, figures, answers: vec![it.short()], ..Card::default() })
    };
    reading.conclusions.iter().filter_map(of).collect()
}

fn of_workload(reading: &Reading<'_>, workload: &str) -> Option<Card> {
    let digest = &reading.digest;
    let is_in = |point: &&Point<'_>| point.workload == workload && !point.counted.is_empty();
    let points: Vec<&Point<'_>> = digest.points.iter().filter(is_in).collect();
    let best =
        *points.iter().max_by(|one, other| per_s(digest, one).total_cmp(&per_s(digest, other)))?;
    let trial = digest.middle_trial(best)?;
    let trials: Vec<&Trial<'_>> =
        points.iter().flat_map(|point| &point.trials).map(|at| &digest.trials[*at]).collect();
    let card = Card {
        title: workload.to_owned(),
        system: systems(digest, workload),
        verdict: conclusion::not_valid_of(&trials),
        answers: answers(reading, workload, &points),
        ..Card::default()
    };
    if is_set_of_operations(&trial.record.header.workload.rules) {
        return Some(card);
    }
    let has_systems = points.iter().any(|point| point.system != best.system);
    let of_system = if has_systems { format!(", {}", best.system) } else { String::new() };
    let load = load_text(best.clients, best.rate);
    let event = digest.event_of(workload).per_s();
    let rate = (short(per_s(digest, best)), format!("{event} at {load}{of_system}"));
    // A workload with a score of its own is told by it first.
    let score = digest.score(best);
    let score = score.map(|(value, name)| (short(value), format!("{name} at {load}{of_system}")));
    let rates = score.into_iter().chain([rate]);
    if let Some([chart, _]) = over_run::cards(digest, &reading.sweeps, workload) {
        let note = if has_systems { String::new() } else { latency_note(digest, &points) };
        return Some(Card { figures: rates.collect(), chart: Some(chart), note, ..card });
    }
    let is_only = digest.points.len() == 1;
    let chart = (!is_only).then(|| over_time::card(digest, trial)).flatten();
    let figures = rates.chain(figures(digest, best)).collect();
    Some(Card { figures, chart, ..card })
}

/// The short answers about a workload, those of several systems with their names.
fn answers(reading: &Reading<'_>, workload: &str, points: &[&Point<'_>]) -> Vec<String> {
    let mut systems: Vec<&str> = points.iter().map(|point| point.system).collect();
    systems.dedup();
    let of_system = |system: &&str| {
        let about = reading.conclusions.iter().filter(|it| it.is_about(system, workload));
        // What was measured is in the figures.
        let about = about.filter(|it| it.code != Code::Measured);
        let name = if systems.len() > 1 { format!("{system}: ") } else { String::new() };
        let texts: Vec<String> = about.map(|it| format!("{name}{}", it.short())).collect();
        texts
    };
    let mut all: Vec<String> = systems.iter().flat_map(of_system).collect();
    let scores = reading.conclusions.iter().filter(|it| it.code == Code::Composite);
    all.extend(scores.map(Conclusion::text));
    let more = all.len().saturating_sub(ANSWERS_MAX);
    all.truncate(ANSWERS_MAX);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}

/// The usual percentile of the lowest and of the highest load.
fn latency_note(digest: &Digest<'_>, points: &[&Point<'_>]) -> String {
    let Some(percent) = conclusion::percentile(digest) else { return String::new() };
    let name = percentile_name(percent);
    let known = |point: &&&Point<'_>| shown_latency(digest, point, percent);
    let loads: Vec<String> =
        [points.first(), points.last()].iter().flatten().filter_map(known).collect();
    match &loads[..] {
        [first, last] => format!("{name} {first} \u{2192} {last}"),
        _ => String::new(),
    }
}

fn shown_latency(digest: &Digest<'_>, point: &Point<'_>, percent: f64) -> Option<String> {
    shown(digest, point, |summary| summary.latency.percentile(percent))
}

/// Further figures of a single load: interval, latencies and failures.
fn figures(digest: &Digest<'_>, point: &Point<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let usual = conclusion::percentile(digest);
    let shown = [digest.run.header.percentiles.first().copied(), usual];
    for percent in shown.into_iter().flatten() {
        let value = shown_latency(digest, point, percent);
        all.extend(value.map(|value| (value, percentile_name(percent))));
    }
    all.push((
        count(digest.sum(point, |summary| summary.failed_transactions)),
        "failed".to_owned(),
    ));
    all
}
