//! What a person sees first: whether to believe the run, the answer to each of its questions with a figure and a plot,
//! and one table of all loads.

mod cards;
mod loads;

use analysis::Validity;

use crate::conclusion::Code;
use crate::digest::Digest;
use crate::document::{Block, Card, Content, Section, Weight};
use crate::failures;
use crate::plots::{over_run, over_time};
use crate::reading::Reading;

pub(crate) use crate::conclusion::in_a_sentence;
pub(crate) use loads::{
    in_order, is_other, rates, relative, section as loads, shown, table as loads_table,
};

const ONE_TRIAL: &str = "One trial for each load: differences that are smaller than the bands are not shown to be real.";
const KEY: &str =
    "Bands and bars: 95 % intervals. Hollow marks: doubtful trials; crosses: invalid ones.";

/// Verdicts, answers and their plots; of a run that measured nothing, the cause.
pub(crate) fn summary<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let section = Section::new("summary", "Summary");
    if let Some(cause) = cause(digest) {
        return section.with([Block::new(Weight::Report, Content::Cause(cause))]);
    }
    let care = care(reading);
    let care = (!care.is_empty()).then(|| Block::new(Weight::Page, Content::Care(care)));
    let mut cards = cards::all(reading);
    if let (true, [workload]) = (is_alone(digest), &digest.workloads()[..])
        && let Some([_, latency]) = over_run::cards(digest, &reading.sweeps, workload)
    {
        let title = latency.title.split_once(": ").map_or("", |(_, title)| title).to_owned();
        cards.push(Card { title, ..cards::of_chart(digest, workload, latency) });
    }
    let has_plot = cards.iter().any(|card| card.chart.is_some());
    let cards = (!cards.is_empty()).then(|| Block::new(Weight::Page, Content::Cards(cards)));
    let section = section.with(care).with(cards).charts("f".to_owned(), only_load(digest));
    if has_plot { section.facts(Weight::Page, [KEY.to_owned()]) } else { section }
}

/// Why nothing was measured; `None` when something was.
pub(crate) fn cause(digest: &Digest<'_>) -> Option<String> {
    let has_figures = digest.points.iter().any(|point| !point.counted.is_empty());
    if has_figures || digest.trials.iter().any(|trial| trial.probe.is_some()) {
        return None;
    }
    let of_trial = digest.trials.iter().find_map(|trial| trial.reason());
    let cause = digest.run.status.reason().or(of_trial);
    let nothing =
        if digest.trials.is_empty() { "no trial was begun" } else { "no trial measured anything" };
    Some(cause.map_or_else(|| nothing.to_owned(), str::to_owned))
}

/// What to know before anything else is read, each in a sentence; empty when there is nothing.
pub(crate) fn care(reading: &Reading<'_>) -> Vec<String> {
    let digest = &reading.digest;
    let is_swept = digest.points.iter().any(|point| {
        digest.points_of(point.system, point.workload).len() > 1 && point.counted.len() == 1
    });
    let one = (is_swept && digest.run.header.seek.is_none()).then(|| ONE_TRIAL.to_owned());
    let found = reading
        .conclusions
        .iter()
        .filter(|it| !it.code.is_answer() && it.code != Code::TrialsValid);
    let told = found.map(|it| format!("{}.", it.short()));
    failure(digest).into_iter().chain(failures::sentence(digest)).chain(told).chain(one).collect()
}

/// Why a trial failed that measured something, and how many others did.
fn failure(digest: &Digest<'_>) -> Option<String> {
    let mut failed =
        digest.trials.iter().filter(|trial| trial.probe.is_none() && trial.reason().is_some());
    let first = failed.next()?;
    let more = failed.count();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(format!(
        "{} {}: {}{more}.",
        first.name(),
        first.status(),
        first.reason()?.trim_end_matches('.')
    ))
}

/// Whether there is one workload, and neither a seek nor variants: its latency has room beside its throughput.
fn is_alone(digest: &Digest<'_>) -> bool {
    let has_variants = digest.points.iter().any(|point| point.variant.is_some());
    digest.workloads().len() == 1 && !has_variants && digest.run.header.seek.is_none()
}

/// How many trials are valid, doubtful and invalid.
pub(crate) fn verdicts(digest: &Digest<'_>) -> [usize; 3] {
    [Validity::Valid, Validity::Doubtful, Validity::Invalid]
        .map(|wanted| digest.trials.iter().filter(|it| it.validity() == wanted).count())
}

/// Latency against the load of every workload that has several.
pub(crate) fn latency<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let card = |workload: &str| {
        let [_, latency] = over_run::cards(digest, &reading.sweeps, workload)?;
        Some(cards::of_chart(digest, workload, latency))
    };
    let mut cards: Vec<_> = digest.workloads().into_iter().filter_map(card).collect();
    if is_alone(digest) {
        cards.clear();
    }
    let is_open = digest.is_open();
    let title = if is_open { "Latency against the load" } else { "Latency against clients" };
    let cards = (!cards.is_empty()).then(|| Block::new(Weight::Page, Content::Cards(cards)));
    Section::new("latency", title).with(cards)
}

/// The plots of a run with a single load: over time, and by percentile.
fn only_load(digest: &Digest<'_>) -> Vec<crate::svg::Chart> {
    let [point] = &digest.points[..] else { return Vec::new() };
    if digest.run.header.seek.is_some() {
        return Vec::new();
    }
    digest.middle_trial(point).map_or_else(Vec::new, |trial| over_time::main(digest, trial))
}
