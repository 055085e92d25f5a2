//! All loads in one table.

use analysis::{Summary, Validity};

use crate::confidence::Confidence;
use crate::digest::{Digest, Point};
use crate::document::{Block, Fold, Section, Weight};
use crate::figure::Figure;
use crate::number::{bounded, count, latency, number, percent, percentile_name, short};
use crate::reading::Reading;
use crate::table::Table;

/// An interval whose half is more than this part of the figure is shown by its ends.
const WIDE: f64 = 0.5;
/// A second rate within this part of the first is the same one.
const SAME: f64 = 0.001;
const UNKNOWN: &str = "\u{2013}";

pub(crate) fn section<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    if digest.points.iter().all(|point| point.counted.is_empty()) {
        return Section::new("loads", "All loads");
    }
    let table = Block::table(Weight::Page, Some(String::new()), table(digest), Fold::Open);
    Section::new("loads", "All loads").with(table)
}

/// The loads, workload by workload.
pub(crate) fn in_order<'d, 'a>(digest: &'d Digest<'a>) -> Vec<&'d Point<'a>> {
    let workloads = digest.workloads().into_iter();
    let of = |workload| digest.points.iter().filter(move |point| point.workload == workload);
    workloads.flat_map(of).collect()
}

/// A row for each load. Names are not repeated from row to row.
pub(crate) fn table(digest: &Digest<'_>) -> Table {
    let has_systems = digest.points.iter().any(|point| point.system != digest.points[0].system);
    let has_queries = digest.points.iter().any(|point| {
        let [events, queries] = rates(digest, point);
        is_other(events, queries)
    });
    let score = score_name(digest);
    let mut table = Table::new().words("workload");
    table = if has_systems { table.words("system") } else { table };
    table = table.numbers("clients");
    table = if digest.is_open() { table.numbers("offered per s") } else { table };
    table = table.verdicts("verdict").bars("throughput");
    table = table.numbers(digest.event().map_or("per s", |event| event.per_s())).numbers("95 %");
    table = if has_queries { table.numbers("queries/s") } else { table };
    table = if let Some(score) = score { table.numbers(score) } else { table };
    for percent in &digest.run.header.percentiles {
        table = table.numbers(percentile_name(*percent));
    }
    let mut table = table.numbers("max").numbers("failed");
    let mut before: Option<&Point<'_>> = None;
    for point in in_order(digest) {
        let is_new = before.is_none_or(|before| before.workload != point.workload);
        let is_other = is_new || before.is_none_or(|before| before.system != point.system);
        let name =
            |is_shown: bool, name: &str| if is_shown { name.to_owned() } else { String::new() };
        let mut row = vec![name(is_new, point.workload)];
        row.extend(has_systems.then(|| name(is_other, point.system)));
        row.push(point.clients.to_string());
        row.extend(digest.is_open().then(|| number(point.offered_per_s)));
        row.extend(figures(digest, point, has_queries, score.is_some()));
        table.row(row);
        before = Some(point);
    }
    table
}

fn figures(
    digest: &Digest<'_>,
    point: &Point<'_>,
    has_queries: bool,
    has_score: bool,
) -> Vec<String> {
    let [events, queries] = rates(digest, point);
    let of_workload = digest.points.iter().filter(|it| it.workload == point.workload);
    let most = of_workload.map(|it| rates(digest, it)[0]).fold(f64::MIN_POSITIVE, f64::max);
    let remark = digest.remarks(point);
    let verdict = if remark.is_empty() { Validity::Valid.name().to_owned() } else { remark };
    let is_measured = !point.counted.is_empty();
    let known = |text: String| if is_measured { text } else { UNKNOWN.to_owned() };
    let interval = Figure::Throughput.interval(digest, point);
    let mut row = vec![
        verdict,
        format!("{:.1}", 100.0 * events / most),
        known(number(events)),
        interval.map_or(UNKNOWN.to_owned(), |it| relative(&it, events)),
    ];
    row.extend(
        has_queries.then(|| {
            if is_other(events, queries) { known(number(queries)) } else { String::new() }
        }),
    );
    if has_score {
        row.push(digest.score(point).map_or(UNKNOWN.to_owned(), |(value, _)| number(value)));
    }
    for percent in &digest.run.header.percentiles {
        let found = shown(digest, point, |summary| summary.latency.percentile(*percent));
        row.push(found.unwrap_or_else(|| UNKNOWN.to_owned()));
    }
    let max = digest.bounded(point, |summary| summary.latency.max());
    row.push(max.map_or(UNKNOWN.to_owned(), |(it, is_bound)| bounded(latency(it.max), is_bound)));
    let failed = digest.sum(point, |summary| summary.failed_transactions);
    row.push(if failed == 0 { UNKNOWN.to_owned() } else { count(failed) });
    row
}

/// A latency of a point: the median over its trials.
pub(crate) fn shown(
    digest: &Digest<'_>,
    point: &Point<'_>,
    of: impl Fn(&Summary) -> (f64, bool),
) -> Option<String> {
    let (value, is_bound) = digest.bounded(point, of)?;
    Some(bounded(latency(value.median), is_bound))
}

/// Whether the second rate says something that the first does not.
pub(crate) fn is_other(events: f64, queries: f64) -> bool {
    queries > 0.0 && (queries - events).abs() > SAME * events
}

/// Events and statements per second.
pub(crate) fn rates(digest: &Digest<'_>, point: &Point<'_>) -> [f64; 2] {
    let of: [fn(&Summary) -> f64; 2] = [|it| it.transactions_per_s, |it| it.queries_per_s];
    of.map(|of| digest.estimate(point, of).map_or(0.0, |it| it.median))
}

/// The score that every load has; its name is that of a column.
fn score_name<'d>(digest: &'d Digest<'_>) -> Option<&'d str> {
    let mut names = digest.points.iter().map(|point| Some(digest.score(point)?.1));
    let first = names.next()??;
    names.all(|name| name == Some(first)).then_some(first)
}

/// `±14 %`, or both ends of a wide interval.
pub(crate) fn relative(interval: &Confidence, value: f64) -> String {
    let Some(high) = interval.high else { return UNKNOWN.to_owned() };
    let half = (high - interval.low) / 2.0 / value;
    match half {
        half if half <= WIDE => format!("\u{b1}{}", percent(half)),
        half if half.is_finite() => format!("{}\u{2013}{}", short(interval.low), short(high)),
        _ => UNKNOWN.to_owned(),
    }
}
