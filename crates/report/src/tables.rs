//! The tables of the report.

use analysis::{Cost, EdgeSummary, Estimate, Latency, Summary, Validity};

use crate::confidence;
use crate::digest::{Digest, Point, Trial, clients_text, load_text};
use crate::figure::Figure;
use crate::figure::catalogue::everywhere;
use crate::generator;
use crate::number::{
    TimeUnit, bounded, count, duration, latency_ns, memory, number, percent, percentile_name,
};
use crate::table::Table;
use crate::watch::figure::show;

/// A row for each system, workload and number of clients, for one workload when it is given.
pub(crate) fn results(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let points =
        || digest.points.iter().filter(|point| workload.is_none_or(|name| name == point.workload));
    let trials = || points().flat_map(|point| &point.counted).map(|at| &digest.trials[*at]);
    let unit = TimeUnit::for_smallest(trials().map(|trial| trial.summary.latency.mean_ns));
    let mut table = load_columns(digest, name_columns(workload)).group().numbers("tps");
    if confidence::are_known(digest) {
        table = table.numbers("95 % interval");
    }
    table = latency_columns(digest, table.numbers("qps").group(), unit);
    table = table.group().numbers("failed").numbers("retries").remarks();
    for point in points() {
        let mut row = names(point, workload);
        row.extend(result_cells(digest, point, unit));
        let remarks = digest.remarks(point);
        row.push(if remarks.is_empty() { Validity::Valid.name().to_owned() } else { remarks });
        table.row(row);
    }
    table
}

/// What the figures of a row are when a point has several trials.
pub(crate) fn repeated_note(digest: &Digest<'_>) -> Option<&'static str> {
    digest.is_repeated().then_some(
        "Figures are medians over the trials that count, max is the longest of all of these; failed and retries are \
         sums over all trials, also over those that do not count.",
    )
}

/// Which queues the arrivals of open loops wait in; `None` when there is no open loop.
pub(crate) fn queues_note(digest: &Digest<'_>) -> Option<String> {
    let mut queues: Vec<String> = Vec::new();
    for header in digest.run.trials.iter().map(|trial| &trial.header) {
        let each = match (header.is_embedded, header.load.threads) {
            (true, _) => format!("one for each client of {}", header.system),
            (false, loops) => format!(
                "one for each event loop, here {loops}: their number follows dyno's cores unless the plan sets workers"
            ),
        };
        // A trial that could not begin has no event loops.
        let has_queues = header.is_embedded || header.load.threads > 0;
        if header.load.open.is_some() && has_queues && !queues.contains(&each) {
            queues.push(each);
        }
    }
    (!queues.is_empty()).then(|| {
        format!(
            "Arrivals are dealt out to queues beforehand ({}) and wait there while a client of another queue may be \
             free. Near saturation response times depend on the number of queues: compare runs with the same.",
            queues.join("; ")
        )
    })
}

/// The columns that name a point, with its workload only when the table has several.
pub(crate) fn name_columns(workload: Option<&str>) -> Table {
    let table = Table::new().words("system");
    if workload.is_none() { table.words("workload") } else { table }
}

pub(crate) fn names(point: &Point<'_>, workload: Option<&str>) -> Vec<String> {
    let names = [Some(point.system), Some(point.workload).filter(|_| workload.is_none())];
    names.into_iter().flatten().map(str::to_owned).collect()
}

fn latency_columns(digest: &Digest<'_>, table: Table, unit: TimeUnit) -> Table {
    let mut table = table.numbers(format!("mean {}", unit.name()));
    for percent in &digest.run.header.percentiles {
        table = table.numbers(format!("{} {}", percentile_name(*percent), unit.name()));
    }
    table.numbers(format!("max {}", unit.name()))
}

/// The cells of those columns, of one latency of each trial of a point: medians over repetitions, and the highest
/// maximum of them.
fn latency_cells(
    digest: &Digest<'_>,
    point: &Point<'_>,
    unit: TimeUnit,
    latency: impl Fn(&Summary) -> Latency,
) -> Vec<String> {
    let time = |of: &dyn Fn(&Latency) -> (f64, bool)| {
        let figure = digest.bounded(point, |summary| of(&latency(summary)));
        figure.map_or("-".to_owned(), |(it, is_bound)| unit.show_bounded((it.median, is_bound)))
    };
    let mut cells = vec![time(&Latency::mean)];
    for percent in &digest.run.header.percentiles {
        cells.push(time(&|latency| latency.percentile(*percent)));
    }
    let maxima = digest.bounded(point, |summary| latency(summary).max());
    let is_bound = point.counted.iter().any(|at| latency(&digest.trials[*at].summary).max().1);
    cells.push(maxima.map_or("-".to_owned(), |(it, _)| unit.show_bounded((it.max, is_bound))));
    cells
}

fn result_cells(digest: &Digest<'_>, point: &Point<'_>, unit: TimeUnit) -> Vec<String> {
    let figure = |of: &dyn Fn(&Summary) -> f64| digest.estimate(point, of);
    let rate = |of: &dyn Fn(&Summary) -> f64| middle(figure(of), number);
    let mut row = load_cells(digest, point);
    row.push(rate(&|summary| summary.transactions_per_s));
    if confidence::are_known(digest) {
        let interval = Figure::Throughput.interval(digest, point);
        row.push(interval.map_or(String::new(), |interval| interval.text(number)));
    }
    row.push(rate(&|summary| summary.queries_per_s));
    row.extend(latency_cells(digest, point, unit, |summary| summary.latency.clone()));
    row.push(count(digest.sum(point, |summary| summary.failed_transactions)));
    row.push(count(digest.sum(point, |summary| summary.retries)));
    row
}

/// The mean offered rate; empty in a closed loop.
fn offered(point: &Point<'_>) -> String {
    point.rate.map_or(String::new(), |_| number(point.offered_per_s))
}

pub(crate) fn offered_in(trial: &Trial<'_>) -> String {
    let open = trial.record.header.load.open.as_ref();
    open.map_or(String::new(), |open| number(open.rate_per_s))
}

/// Adds the columns of the load: clients and offered rate.
pub(crate) fn load_columns(digest: &Digest<'_>, table: Table) -> Table {
    let table = table.numbers("clients");
    if digest.is_open() { table.numbers("offered per s") } else { table }
}

pub(crate) fn load_cells(digest: &Digest<'_>, point: &Point<'_>) -> Vec<String> {
    let offered = digest.is_open().then(|| offered(point));
    std::iter::once(point.clients.to_string()).chain(offered).collect()
}

/// Service times of the transactions of open loops, a row for each point, for one workload when it is given.
/// Empty when there is no open loop.
pub(crate) fn service(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let points: Vec<&Point<'_>> = digest
        .points
        .iter()
        .filter(|point| workload.is_none_or(|name| name == point.workload))
        .filter(|point| point.rate.is_some() && !point.counted.is_empty())
        .collect();
    let trials = points.iter().flat_map(|point| &point.counted).map(|at| &digest.trials[*at]);
    let unit = TimeUnit::for_smallest(trials.map(|trial| service_of(&trial.summary).mean_ns));
    let table = name_columns(workload).numbers("clients").numbers("offered per s");
    let table = table.group().numbers("in system").group();
    let mut table = latency_columns(digest, table, unit).remarks();
    let in_system = |summary: &Summary| summary.open.as_ref().map_or(0.0, |open| open.in_system);
    for point in points {
        let mut row = names(point, workload);
        row.push(point.clients.to_string());
        row.push(offered(point));
        row.push(middle(digest.estimate(point, in_system), number));
        row.extend(latency_cells(digest, point, unit, service_of));
        row.push(digest.remarks(point));
        table.row(row);
    }
    table.without_empty_remarks()
}

/// Service times of a trial's transactions; empty in a closed loop.
fn service_of(summary: &Summary) -> Latency {
    summary.open.as_ref().map(|open| open.service.clone()).unwrap_or_default()
}

fn middle(estimate: Option<Estimate>, show: impl Fn(f64) -> String) -> String {
    estimate.map_or("-".to_owned(), |estimate| show(estimate.median))
}

/// The load generator's cost of each statement, a row for each point.
pub(crate) fn costs(digest: &Digest<'_>) -> Table {
    let mut table = load_columns(digest, Table::new().words("system").words("workload"))
        .numbers("client CPU µs")
        .numbers("user µs")
        .numbers("system µs")
        .numbers("switches")
        .numbers("sent B")
        .numbers("received B")
        .numbers("CPU threads busy")
        .numbers("timer lateness p99")
        .numbers("run-queue wait")
        .remarks();
    for point in &digest.points {
        let Some(trial) = digest.middle_trial(point) else { continue };
        let Some(cost) = trial.summary.cost_per_query else { continue };
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), number);
        let mut row = vec![point.system.to_owned(), point.workload.to_owned()];
        row.extend(load_cells(digest, point));
        row.extend([
            optional(cost.cpu_us()),
            optional(cost.user_us),
            optional(cost.system_us),
            optional(cost.switches),
            number(cost.sent_bytes),
            number(cost.received_bytes),
            optional(trial.summary.client_cpu_threads),
        ]);
        let generator = trial.summary.generator.as_ref();
        let oversleep = generator.and_then(|generator| generator.oversleep.percentile_ns(99.0));
        let workers = generator.and_then(|generator| generator.workers);
        row.push(oversleep.map_or("-".to_owned(), latency_ns));
        row.push(workers.map_or("-".to_owned(), |workers| percent(workers.waiting_mean)));
        row.push(trial.remark().to_owned());
        table.row(row);
    }
    // A system in the same process has no network connection.
    table
        .without_columns(|head, cells| {
            let absent = if head.ends_with(" B") { "0" } else { "-" };
            cells.iter().all(|cell| *cell == absent)
        })
        .without_empty_remarks()
}

/// Context switches of fewer than this for a query tell nothing.
const SWITCHES_LEAST: f64 = 0.01;
/// Where context switches for a query differ more than this between loads, the load generator waited in another way.
const SWITCHES_FACTOR: f64 = 10.0;

/// Where the load generator's context switches for a query differ much between the loads of a system and workload: a
/// sentence for each.
pub(crate) fn switches_notes(digest: &Digest<'_>) -> Vec<String> {
    let switches = |point: &Point<'_>| {
        let switches = digest.middle_trial(point)?.summary.cost_per_query?.switches?;
        Some((load_text(point.clients, point.rate), switches))
    };
    let pairs = digest.systems().into_iter().map(|(system, _)| system);
    let pairs = pairs.flat_map(|system| digest.workloads().into_iter().map(move |it| (system, it)));
    let note = |(system, workload): (&str, &str)| {
        let points = digest.points.iter();
        let points = points.filter(|point| (point.system, point.workload) == (system, workload));
        let known: Vec<(String, f64)> = points.filter_map(switches).collect();
        let (most_load, most) = known.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (least_load, least) = known.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
        (*most >= SWITCHES_LEAST && *most > SWITCHES_FACTOR * least).then(|| {
            format!(
                "{system} {workload}: the load generator switched context {} times for a query with {most_load} and \
                 {} times with {least_load}. Its threads waited in different ways, which changes throughput by \
                 itself: do not read the difference between these loads as the system's alone.",
                number(*most),
                number(*least)
            )
        })
    };
    pairs.filter_map(note).collect()
}

/// A note about the costs when a system runs inside the load generator.
pub(crate) fn embedded_note(digest: &Digest<'_>) -> Option<String> {
    let mut names: Vec<&str> = digest
        .run
        .trials
        .iter()
        .filter(|trial| trial.header.is_embedded)
        .map(|trial| trial.header.system.as_str())
        .collect();
    names.dedup();
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!("{names} runs inside the load generator, so its own work is in these figures."))
}

pub(crate) fn phases(trial: &Trial<'_>) -> Table {
    let mut table = Table::new().words("phase").words("began").numbers("took");
    for phase in &trial.record.phases {
        let name = match phase.loaded_again {
            0 => phase.phase.name().to_owned(),
            again => {
                format!("{}, connections lost and pieces loaded again: {again}", phase.phase.name())
            }
        };
        table.row(vec![name, format!("{:.3}", phase.started), duration(phase.duration)]);
    }
    table
}

/// Round trip of the smallest statement before the load.
fn idle_round_trip(trial: &Trial<'_>) -> Option<String> {
    let idle = &trial.record.end.as_ref()?.idle_round_trips;
    let (median, fastest) = (idle.percentile_ns(50.0), idle.min_ns());
    let text = format!("{}, {} at least", latency_ns(median), latency_ns(fastest));
    (!idle.is_empty()).then_some(text)
}

/// Label and value of the facts of an open loop; none in a closed loop.
fn open_facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let Some(open) = &summary.open else { return Vec::new() };
    let mean = |latency: &Latency| {
        let known = latency.known();
        known.map_or("-".to_owned(), |known| {
            bounded(latency_ns(known.mean_ns as u64), known.mean().1)
        })
    };
    let per_s = |rate: f64| format!("{} per s", number(rate));
    let mut facts = vec![("offered", per_s(open.offered_per_s))];
    facts.extend(open.arrived_per_s.map(|arrived| ("arrived", per_s(arrived))));
    facts.extend([
        ("achieved", per_s(summary.transactions_per_s)),
        ("in the system on average", number(open.in_system)),
        ("response time, mean", mean(&summary.latency)),
        ("service time, mean", mean(&open.service)),
    ]);
    if let Some(delays) = open.start_delays.known() {
        facts.push(("started late by", generator::in_words(delays)));
    }
    if let Some(lateness) = open.lateness.known() {
        facts.push(("generator late by", generator::in_words(lateness)));
    }
    facts
}

/// The figures of one trial without a table of their own.
pub(crate) fn facts(trial: &Trial<'_>) -> Table {
    let summary = &trial.summary;
    let mut table = Table::new().words("figure").words("value");
    let mut fact = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    fact("status", trial.status().to_owned());
    fact("validity", trial.validity().name().to_owned());
    fact("load", trial.record.header.load.description.clone());
    fact("measured for", format!("{} s", number(summary.seconds)));
    for (name, text) in crate::ending::facts(trial) {
        fact(name, text);
    }
    fact("transactions", rate_text(summary.transactions, summary.transactions_per_s));
    for (name, text) in open_facts(summary) {
        fact(name, text);
    }
    if let Some(idle) = idle_round_trip(trial) {
        fact("round trip without load", idle);
    }
    let queries = summary.queries;
    fact("queries", rate_text(queries.total(), summary.queries_per_s));
    fact(
        "queries read / write / other",
        format!("{} / {} / {}", count(queries.read), count(queries.write), count(queries.other)),
    );
    fact(
        "failed transactions",
        format!("{} ({})", count(summary.failed_transactions), percent(summary.failure_rate)),
    );
    fact("retries", count(summary.retries));
    if trial.record.total.reconnects > 0 {
        fact("reconnects", count(trial.record.total.reconnects));
    }
    if trial.record.total.moves > 0 {
        fact("of these to another server", count(trial.record.total.moves));
    }
    if let Some(fairness) = summary.fairness {
        let variation = percent(fairness.variation());
        let mean = number(fairness.mean);
        let spread = number(fairness.standard_deviation);
        fact("transactions of a client", format!("{mean} ± {spread} ({variation})"));
    }
    if let Some(law) = summary.littles_law {
        let text = format!("{} of {}", number(law.accounted_for), clients_text(law.clients));
        fact("accounted for by Little's law", text);
    }
    if let Some(variation) = summary.throughput_variation {
        fact("variation of throughput over intervals", percent(variation));
    }
    let edges = edges_text(summary).map(|text| ("latencies are of", text));
    for (name, text) in edges.into_iter().chain(crate::rules::unchecked(trial)) {
        fact(name, text);
    }
    for (name, text) in generator::facts(trial) {
        fact(name, text);
    }
    for (entry, unit, value) in everywhere(trial) {
        if let Some(value) = value {
            fact(entry.label, show(unit, value));
        }
    }
    table
}

/// What the latencies are of, where that differs from the transactions of the throughput.
fn edges_text(summary: &Summary) -> Option<String> {
    let EdgeSummary { before, succeeded_after, failed_after, unanswered, unsent } = summary.edges;
    let of = [
        (succeeded_after, "that ended after the measured time"),
        (failed_after, "that failed after it"),
        (unanswered, "that were never answered"),
        (unsent, "that were due and never sent"),
    ];
    let of = of.iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<String> =
        of.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    if before > 0 {
        parts.push(format!("without {} that began before the measured time", count(before)));
    }
    (!parts.is_empty()).then(|| {
        let due = count(summary.latency.count);
        format!("{due} transactions that were due in the measured time: {}", parts.join(", "))
    })
}

fn rate_text(events: u64, per_s: f64) -> String {
    format!("{} ({} per s)", count(events), number(per_s))
}

/// The load generator's costs in one trial.
pub(crate) fn cost_facts(trial: &Trial<'_>) -> Table {
    let summary = &trial.summary;
    let mut table =
        Table::new().words("of the load generator").numbers("per transaction").numbers("per query");
    let costs = [summary.cost_per_transaction, summary.cost_per_query];
    let mut fact = |name: &str, of: &dyn Fn(&Cost) -> Option<f64>| {
        let cells = costs.map(|cost| cost.as_ref().and_then(of).map(number));
        if cells.iter().any(Option::is_some) {
            let [transaction, query] = cells.map(Option::unwrap_or_default);
            table.row(vec![name.to_owned(), transaction, query]);
        }
    };
    fact("CPU µs", &Cost::cpu_us);
    fact("CPU µs in user mode", &|cost| cost.user_us);
    fact("CPU µs in the kernel", &|cost| cost.system_us);
    fact("context switches", &|cost| cost.switches);
    let some = |bytes: f64| Some(bytes).filter(|bytes| *bytes > 0.0);
    fact("bytes sent", &|cost| some(cost.sent_bytes));
    fact("bytes received", &|cost| some(cost.received_bytes));
    table
}

/// CPU and memory of the load generator over one trial, in a sentence.
pub(crate) fn usage_text(trial: &Trial<'_>) -> Option<String> {
    let usage = trial.record.end.as_ref()?.usage?;
    let busy = number(trial.summary.client_cpu_threads?);
    let peak = memory(usage.peak_rss_bytes);
    let embedded =
        if trial.record.header.is_embedded { ", the embedded system included" } else { "" };
    Some(format!(
        "The load generator kept {busy} CPU threads busy and held {peak} at most{embedded}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_maximum_over_repetitions_is_the_highest() {
        let run = sample::compared();
        let digest = Digest::new(&run);
        for point in &digest.points {
            assert_eq!(point.counted.len(), 4);
            let maxima =
                point.counted.iter().map(|at| digest.trials[*at].summary.latency.max_ns as f64);
            let highest = TimeUnit::Millisecond.show(maxima.fold(0.0, f64::max));
            let cells = latency_cells(&digest, point, TimeUnit::Millisecond, |summary| {
                summary.latency.clone()
            });
            assert_eq!(cells.last(), Some(&highest));
        }
    }
}
