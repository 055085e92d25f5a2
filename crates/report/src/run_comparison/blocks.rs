//! The sections of the comparison.

use analysis::{Cases, Significance};

use super::crashes::crashed;
use super::damaged::is_counted;
use super::sides::{Matched, RunPoint, SIDES};
use super::{Row, RunComparison};
use crate::conclusion::{self, Conclusion};
use crate::differences::encryption_note;
use crate::document::{Block, Card, Content, Document, Fold, Head, Section, Weight};
use crate::figure::Figure;
use crate::noise_floor;
use crate::number::{percent, several};
use crate::table::{Ratio, Table};

const NOTE: &str = "Ratios are those of the candidate to the baseline, of geometric means; with \"rounds\" the \
                    geometric mean of the ratios of rounds that measured both in turn. Faster, slower, more and \
                    less: the two-sided test shows a difference, and the ratio reaches the margin. No difference \
                    larger than: two one-sided tests show that it is below the margin; the number is the larger \
                    end of the 90 % interval.";

pub(super) fn sections(compared: &RunComparison<'_, '_>) -> Vec<Section<'static>> {
    let all = [
        conclusions(compared),
        checks(compared),
        sides(compared),
        damaged(compared),
        differences(compared),
        verdicts(compared),
        super::limits::section(compared),
        super::variance::section(compared),
        crashes(compared),
        unmatched(compared),
    ];
    all.into_iter().filter(|section| !section.is_empty()).collect()
}

/// The same as a page, whose first screen has the answers, the ratios drawn beside 1, and what differs besides.
pub(super) fn document(compared: &RunComparison<'_, '_>) -> Document<'static> {
    let of = |it: &Conclusion| Card {
        title: it.candidate().unwrap_or_default(),
        figures: it.multiple().into_iter().collect(),
        answers: vec![it.short()],
        ..Card::default()
    };
    let cards: Vec<Card> = super::conclusion::all(compared).iter().map(of).collect();
    let cards = (!cards.is_empty()).then(|| Block::new(Weight::Page, Content::Cards(cards)));
    let all = [
        Section::new("summary", "Summary").with(cards),
        checks(compared),
        forest(compared),
        super::limits::section(compared),
        differences(compared),
        verdicts(compared).folded("every figure of both sides"),
        super::variance::section(compared).folded("between runs, between trials and within them"),
        crashes(compared).folded("of both sides"),
        sides(compared).folded("the runs, and how many of their trials count"),
        damaged(compared),
        unmatched(compared),
    ];
    let names = compared.sides.systems.iter().map(|systems| system(*systems));
    let title = format!("Baseline and candidate: {}", names.collect::<Vec<_>>().join("; "));
    let head = Head { title, ..Head::default() };
    Document { head, sections: all.into_iter().filter(|section| !section.is_empty()).collect() }
}

/// The ratios of throughput, a latency and what thresholds ask for, drawn beside 1.
fn forest(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("workload").words("load").words("figure");
    table = table
        .ratios("ratio to the baseline (95 %)")
        .words("verdict")
        .numbers("candidate / baseline");
    let mut before = None;
    let latency = Figure::latency_of(&compared.sides.percentiles());
    let is_asked = |row: &&Row| {
        let mut thresholds = compared.criteria.thresholds.iter();
        let is_first = [Figure::Throughput, latency].contains(&row.figure);
        !row.figure.is_part() && (is_first || thresholds.any(|it| it.figure == row.figure))
    };
    for row in compared.rows.iter().filter(is_asked) {
        let place = compared.place(row);
        let is_new = before.replace(row.matched) != Some(row.matched);
        let name = |name: String| if is_new { name } else { String::new() };
        let ratio = row.found.as_ref().map_or_else(
            |_| Ratio::default(),
            |found| {
                let ends = found
                    .contrast
                    .has_interval()
                    .then(|| found.interval(0.95).map(|end| 1.0 + end));
                Ratio {
                    value: Some(1.0 + found.change()),
                    ends: ends.map(|[low, high]| (low, high)),
                    floor: row.noise_floor,
                }
            },
        );
        let values = row.found.as_ref().map_or_else(
            |_| "-".to_owned(),
            |found| {
                let [baseline, candidate] = found.values.map(|value| row.figure.show_alone(value));
                format!("{candidate} / {baseline}")
            },
        );
        table.row(vec![
            name(place.workload.to_owned()),
            name(place.load()),
            row.figure.name(),
            ratio.cell(),
            row.text(),
            values,
        ]);
    }
    let table = Block::table(Weight::Page, Some(String::new()), table, Fold::Open);
    Section::new("ratios", "Ratios").with(table)
}

fn sides(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("side").words("run").words("systems").words("began (UTC)");
    table = table.words("trials").words("status");
    for (side, name) in SIDES.iter().enumerate() {
        for digest in &compared.sides.runs[side] {
            let run = digest.run;
            let systems = compared.sides.systems_of(digest, side);
            let trials = digest.trials.iter().filter(|it| is_counted(it.record, &systems));
            let complete = trials.clone().filter(|it| it.is_complete()).count();
            let damaged = trials.clone().filter(|it| it.record.damage.is_some()).count();
            let damaged = if damaged == 0 { String::new() } else { format!(", {damaged} damaged") };
            table.row(vec![
                (*name).to_owned(),
                run.folder.display().to_string(),
                systems.join(", "),
                run.header.started.strftime("%Y-%m-%d %H:%M").to_string(),
                format!("{complete} of {} ended as planned{damaged}", trials.count()),
                run.status.name().to_owned(),
            ]);
        }
    }
    Section::new("sides", "Compared").table(Weight::Report, table)
}

fn damaged(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let notes = super::damaged::notes(&compared.sides);
    Section::new("damaged", "Damaged").facts(Weight::Report, notes)
}

fn differences(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("of").words("fact").words(SIDES[0]).words(SIDES[1]);
    for it in &compared.differences {
        table.row([vec![it.of.clone(), it.fact.clone()], it.values.clone()].concat());
    }
    let nothing = "Nothing that dyno recorded differs besides.".to_owned();
    let nothing = table.is_empty().then_some(nothing);
    let section = Section::new("differences", "What differs besides");
    let facts = compared.differences.iter().map(|it| (it.fact.as_str(), &it.values[..]));
    let notes = nothing.into_iter().chain(encryption_note(facts));
    section.table(Weight::Report, table).facts(Weight::Report, notes)
}

fn verdicts(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("system").words("workload").words("load").words("figure");
    table = table.group().words("verdict").numbers("ratio").numbers("95 % interval");
    table = table.numbers(noise_floor::HEAD).group();
    table = table.numbers(SIDES[0]).numbers(SIDES[1]).words("repetitions").words("remarks");
    let mut reasons: Vec<String> = Vec::new();
    for row in &compared.rows {
        let place = compared.place(row);
        let lead =
            [system(place.systems), place.workload.to_owned(), place.load(), row.figure.name()];
        let remarks = remarks(place);
        table.row([lead.to_vec(), vec![row.text()], figures(row), vec![remarks]].concat());
        if let Err(reason) = &row.found {
            let reason = format!("{}, {}: {reason}.", place.workload, place.load());
            reasons.extend((!reasons.contains(&reason)).then_some(reason));
        }
    }
    let is_single = compared.sides.systems.len() == 1;
    let table = table.without_columns(|head, cells| {
        head == "system" && is_single || cells.iter().all(|cell| cell.is_empty())
    });
    let mut notes = vec![NOTE.to_owned(), family(compared)];
    let has_floor = compared.rows.iter().any(|row| row.noise_floor.is_some());
    notes.extend(has_floor.then(|| noise_floor::NOTE.to_owned()));
    notes.extend(units(compared));
    notes.extend(reasons);
    let section = Section::new("verdicts", "Candidate to baseline");
    section.table(Weight::Report, table).facts(Weight::Report, notes)
}

/// Ratio, interval, the figure of each side, and the repetitions.
fn figures(row: &Row) -> Vec<String> {
    let Ok(found) = &row.found else { return vec![String::new(); 6] };
    let value = |change: f64| match found.is_part {
        true => row.signed(change),
        false => format!("{:.3}", 1.0 + change),
    };
    let interval = found.contrast.has_interval().then(|| {
        let [low, high] = found.interval(0.95).map(value);
        format!("{low} to {high}")
    });
    let [baseline, candidate] = found.contrast.counts;
    let counts = match found.unit {
        super::found::Unit::Round => format!("{baseline} rounds"),
        unit => format!("{baseline} and {candidate} {}", unit.name()),
    };
    let [one, other] = found.values.map(|value| row.figure.show_alone(value));
    let noise_floor = row.noise_floor.map(|floor| row.size(floor)).unwrap_or_default();
    vec![value(found.change()), interval.unwrap_or_default(), noise_floor, one, other, counts]
}

/// What is corrected for what.
fn family(compared: &RunComparison<'_, '_>) -> String {
    let margin = percent(compared.criteria.margin);
    let count = several(compared.family() as u64, "verdict", "verdicts");
    format!(
        "The margin is {margin}. Verdicts are corrected by Holm's method over a family of {count}, all of this \
         comparison: the chance that any of them is wrong is at most 5 %. Intervals are not corrected: each has \
         the true value with 95 %, and of many some miss it."
    )
}

/// What the repetitions mean, where it matters.
fn units(compared: &RunComparison<'_, '_>) -> Vec<String> {
    let has = |wanted: super::found::Unit| {
        let found = compared.rows.iter().filter_map(|row| row.found.as_ref().ok());
        found.into_iter().any(|found| found.unit == wanted)
    };
    let mut notes = Vec::new();
    if has(super::found::Unit::Trial) {
        notes.push(
            "Trials of one run share its data, its server and the state of its machine. Their intervals allow for a \
             machine that changes from trial to trial, but not for what another start or load of the data changes: \
             repeat whole runs, or measure both as variants in the same rounds."
                .to_owned(),
        );
    }
    if has(super::found::Unit::Run) {
        notes.push("A run counts once, with the mean of its trials.".to_owned());
    }
    let is_short = |row: &Row| row.verdict == Some(Significance::TooFewRounds);
    if compared.rows.iter().any(is_short) {
        notes.push(
            "With one repetition on a side no difference can be shown, however large: set `repetitions` in the plan."
                .to_owned(),
        );
    }
    notes
}

fn crashes(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("system").words("verdict").numbers("corrected p");
    table = table.words(format!("crashed, {}", SIDES[0])).words(format!("crashed, {}", SIDES[1]));
    let cases = |it: Cases| format!("{} of {} trials", it.failed, it.all);
    for row in &compared.crashes {
        let [one, other] = row.cases.map(cases);
        let p_value = format!("{:.4}", row.corrected);
        table.row(vec![system(row.systems), row.text().to_owned(), p_value, one, other]);
    }
    let note = "By Fisher's exact test, in the same family as the verdicts above. Figures of a side that crashed \
                are those of the trials that survived.";
    Section::new("crashes", "Crashes").table(Weight::Report, table).note(note)
}

fn checks(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("fails if").words("system").words("workload").words("load");
    table = table.words("result").words("change (95 % interval)");
    for check in &compared.checks {
        let place = &compared.sides.matched[check.matched];
        table.row(vec![
            check.threshold.text(),
            system(place.systems),
            place.workload.to_owned(),
            place.load(),
            check.result.text().to_owned(),
            check.detail.clone(),
        ]);
    }
    let is_single = compared.sides.systems.len() == 1;
    let table = table.without_columns(|head, _| head == "system" && is_single);
    let note = "The candidate fails where the whole interval is beyond the threshold; where the interval contains \
                it, or where the verdict above is not decided, that is not decided. With one repetition on a side no \
                threshold can be crossed.";
    Section::new("thresholds", "Thresholds").table(Weight::Report, table).note(note)
}

fn unmatched(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let all = &compared.sides.unmatched;
    let only = (!all.is_empty()).then(|| format!("Only one side has: {}.", all.join("; ")));
    Section::new("unmatched", "Not compared").facts(Weight::Report, only)
}

fn conclusions(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let all = super::conclusion::all(compared);
    let texts = all.iter().map(Conclusion::text);
    Section::new("conclusions", conclusion::TITLE).facts(Weight::Report, texts)
}

pub(super) fn system([baseline, candidate]: [&str; 2]) -> String {
    if baseline == candidate { baseline.to_owned() } else { format!("{baseline}, {candidate}") }
}

/// What to know of a point's trials before its figures are read.
pub(super) fn remarks(place: &Matched<'_, '_>) -> String {
    let of_side = |side: usize| {
        let remark = |it: &RunPoint<'_, '_>| it.digest.remarks(it.point);
        let remarks = place.points[side].iter().map(remark).filter(|remark| !remark.is_empty());
        remarks.map(|remark| format!("{}: {remark}", SIDES[side])).collect::<Vec<_>>()
    };
    let crashes = [0, 1].map(|side| crashed(place, side).failed > 0);
    let survivors = match crashes {
        [false, true] => Some(format!("survivors of the {}", SIDES[1])),
        [true, false] => Some(format!("survivors of the {}", SIDES[0])),
        _ => None,
    };
    let mut all: Vec<String> = survivors.into_iter().chain(of_side(0)).chain(of_side(1)).collect();
    all.dedup();
    all.join("; ")
}
