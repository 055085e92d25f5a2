//! The tables of the report.

use analysis::{Cost, Estimate, Latency, Summary};
use measure::OperationKind;

use crate::digest::{Digest, Point, Trial, clients_text};
use crate::number::{
    TimeUnit, count, duration, latency_ns, memory, number, percent, percentile_name,
};
use crate::table::Table;
use crate::watch::figure::show;
use crate::whole::everywhere;

/// A row for each system, workload and number of clients, for one workload when it is given.
pub(crate) fn results(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let points =
        || digest.points.iter().filter(|point| workload.is_none_or(|name| name == point.workload));
    let trials = || points().flat_map(|point| &point.counted).map(|at| &digest.trials[*at]);
    let unit = TimeUnit::for_smallest(trials().map(|trial| trial.summary.latency.mean_ns));
    let mut table = load_columns(digest, name_columns(workload)).numbers("tps");
    if digest.is_repeated() {
        table = table.numbers("95 % interval");
    }
    table =
        latency_columns(digest, table.numbers("qps"), unit).numbers("failed").numbers("retries");
    for point in points() {
        let mut row = names(point, workload);
        row.extend(result_cells(digest, point, unit));
        table.row(row);
    }
    table
}

/// The columns that name a point, with its workload only when the table has several.
fn name_columns(workload: Option<&str>) -> Table {
    let table = Table::new().words("system");
    if workload.is_none() { table.words("workload") } else { table }
}

fn names(point: &Point<'_>, workload: Option<&str>) -> Vec<String> {
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
    let time = |of: &dyn Fn(&Latency) -> f64| {
        let figure = digest.estimate(point, |summary| of(&latency(summary)));
        middle(figure, |value| unit.show(value))
    };
    let mut cells = vec![time(&|latency| latency.mean_ns)];
    for percent in &digest.run.header.percentiles {
        cells.push(time(&|latency| latency.percentile_ns(*percent).unwrap_or_default() as f64));
    }
    let maxima = digest.estimate(point, |summary| latency(summary).max_ns as f64);
    cells.push(maxima.map_or("-".to_owned(), |maxima| unit.show(maxima.max)));
    cells
}

fn result_cells(digest: &Digest<'_>, point: &Point<'_>, unit: TimeUnit) -> Vec<String> {
    let figure = |of: &dyn Fn(&Summary) -> f64| digest.estimate(point, of);
    let rate = |of: &dyn Fn(&Summary) -> f64| middle(figure(of), number);
    let mut row = Vec::new();
    row.push(point.clients.to_string());
    if digest.is_open() {
        row.push(offered(point));
    }
    row.push(rate(&|summary| summary.transactions_per_s));
    if digest.is_repeated() {
        row.push(interval(figure(&|summary| summary.transactions_per_s)));
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
    let mut table = latency_columns(digest, table.numbers("in system"), unit);
    let in_system = |summary: &Summary| summary.open.as_ref().map_or(0.0, |open| open.in_system);
    for point in points {
        let mut row = names(point, workload);
        row.push(point.clients.to_string());
        row.push(offered(point));
        row.push(middle(digest.estimate(point, in_system), number));
        row.extend(latency_cells(digest, point, unit, service_of));
        table.row(row);
    }
    table
}

/// Service times of a trial's transactions; empty in a closed loop.
fn service_of(summary: &Summary) -> Latency {
    summary.open.as_ref().map(|open| open.service.clone()).unwrap_or_default()
}

fn middle(estimate: Option<Estimate>, show: impl Fn(f64) -> String) -> String {
    estimate.map_or("-".to_owned(), |estimate| show(estimate.median))
}

fn interval(estimate: Option<Estimate>) -> String {
    let interval = estimate.and_then(|estimate| estimate.interval);
    interval.map_or(String::new(), |i| format!("{} to {}", number(i.low), number(i.high)))
}

/// The trial that represents its point for figures of which a median makes no sense.
pub(crate) fn middle_trial<'d, 'a>(
    digest: &'d Digest<'a>,
    point: &Point<'_>,
) -> Option<&'d Trial<'a>> {
    let mut trials: Vec<&Trial<'a>> = point.counted.iter().map(|at| &digest.trials[*at]).collect();
    trials.sort_by(|a, b| a.summary.transactions_per_s.total_cmp(&b.summary.transactions_per_s));
    trials.get(trials.len().saturating_sub(1) / 2).copied()
}

pub(crate) fn kind_name(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Transaction => "transaction",
        OperationKind::Read => "read",
        OperationKind::Write => "write",
        OperationKind::Other => "other",
    }
}

/// The load generator's cost of each statement, a row for each point.
pub(crate) fn costs(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let mut table = load_columns(digest, Table::new().words("system").words("workload"))
        .numbers("client CPU µs")
        .numbers("user µs")
        .numbers("system µs")
        .numbers("switches")
        .numbers("sent B")
        .numbers("received B")
        .numbers("CPU threads busy");
    let points = digest.points.iter().filter(|point| workload.is_none_or(|w| w == point.workload));
    for point in points {
        let Some(trial) = middle_trial(digest, point) else { continue };
        let Some(cost) = trial.summary.cost_per_query else { continue };
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), number);
        let mut row =
            vec![point.system.to_owned(), point.workload.to_owned(), point.clients.to_string()];
        if digest.is_open() {
            row.push(offered(point));
        }
        row.extend([
            optional(cost.cpu_us()),
            optional(cost.user_us),
            optional(cost.system_us),
            optional(cost.switches),
            number(cost.sent_bytes),
            number(cost.received_bytes),
            optional(trial.summary.client_cpu_threads),
        ]);
        table.row(row);
    }
    // A system in the same process has no network connection.
    table.without_columns(|head, cells| head.ends_with(" B") && cells.iter().all(|c| *c == "0"))
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

/// Failures of one trial by class and code.
pub(crate) fn errors(trial: &Trial<'_>) -> Table {
    let mut table =
        Table::new().words("failure").numbers("retried").numbers("ignored").numbers("fatal");
    for (key, counts) in &trial.summary.errors {
        let cells = [counts.retried, counts.ignored, counts.fatal].map(count);
        table.row([vec![key.to_string()], cells.to_vec()].concat());
    }
    table
}

/// Outages of one trial, on the clock of the plots over time.
pub(crate) fn outages(trial: &Trial<'_>) -> Table {
    let mut table = Table::new()
        .words("outage from")
        .numbers("for")
        .numbers("connections lost")
        .numbers("reconnects");
    let end = trial.record.intervals.last().map_or(0, |interval| interval.end_ns);
    for outage in trial.outages() {
        let length = latency_ns(outage.length_ns(end));
        let open = if outage.end_ns.is_none() { " or more" } else { "" };
        table.row(vec![
            format!("{:.3} s", outage.start_ns as f64 / 1e9),
            format!("{length}{open}"),
            count(outage.failures),
            count(outage.reconnects),
        ]);
    }
    table
}

/// The phases of one trial.
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

/// The figures of one trial without a table of their own.
pub(crate) fn facts(trial: &Trial<'_>) -> Table {
    let summary = &trial.summary;
    let mut table = Table::new().words("figure").words("value");
    let mut fact = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    fact("status", trial.status().to_owned());
    fact("load", trial.record.header.load.description.clone());
    fact("measured for", format!("{} s", number(summary.seconds)));
    fact("transactions", rate_text(summary.transactions, summary.transactions_per_s));
    if let Some(open) = &summary.open {
        fact("offered", format!("{} per s", number(open.offered_per_s)));
        let per_s = summary.transactions_per_s;
        fact("achieved", format!("{} per s", number(per_s)));
        fact("in the system on average", number(open.in_system));
        let mean = |latency: &Latency| {
            latency.known().map_or("-".to_owned(), |known| latency_ns(known.mean_ns as u64))
        };
        fact("response time, mean", mean(&summary.latency));
        fact("service time, mean", mean(&open.service));
        if let Some(lateness) = open.lateness.known() {
            let late = latency_ns(lateness.percentile_ns(99.0).unwrap_or_default());
            let most = latency_ns(lateness.max_ns);
            fact("generator late by", format!("{late} in 99 %, {most} at most"));
        }
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
    if let Some(end) = trial.record.end.as_ref().filter(|end| !end.unfinished.latencies.is_empty())
    {
        let longest = latency_ns(end.unfinished.longest_ns());
        let requests = count(end.unfinished.latencies.count());
        let unanswered = count(end.unfinished.unanswered);
        fact(
            "in flight at the end",
            format!("{requests}, the longest for {longest}; {unanswered} never answered"),
        );
    }
    for (metric, value) in everywhere(trial) {
        if let Some(value) = value {
            fact(metric.label, show(metric.unit, value));
        }
    }
    table
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
