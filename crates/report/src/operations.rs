//! The tables of operations.

use analysis::{Latency, OperationSummary, OperationWithin, Summary};
use jiff::Timestamp;
use measure::{OperationKind, sum};

use crate::digest::{Digest, Trial};
use crate::number::{TimeUnit, count, number, percentile_name};
use crate::table::Table;
use crate::tables::{load_columns, offered_in};

/// A row for each operation of one workload's points, from the repetition in the middle by
/// throughput.
pub(crate) fn by_point(digest: &Digest<'_>, workload: &str) -> Table {
    let trials: Vec<&Trial<'_>> = digest
        .points
        .iter()
        .filter(|point| point.workload == workload)
        .filter_map(|point| digest.middle_trial(point))
        .collect();
    let means = trials.iter().flat_map(|trial| &trial.summary.operations);
    let unit = TimeUnit::for_smallest(means.map(|operation| operation.latency.mean_ns));
    let mut table = operation_columns(
        load_columns(digest, Table::new().words("system")),
        &digest.run.header.percentiles,
        unit,
    );
    table = table.group().words("began (UTC)").words("ended").remarks();
    let format = time_format(digest, &trials);
    for trial in trials {
        let header = &trial.record.header;
        let mut lead = vec![header.system.clone(), header.clients.to_string()];
        if digest.is_open() {
            lead.push(offered_in(trial));
        }
        let remarks = vec![trial.remark().to_owned()];
        add_operations(
            &mut table,
            trial,
            &RowContext { lead, tail: [measured_between(trial, format), remarks].concat() },
            unit,
        );
    }
    without_empty_time_outs(table).without_empty_remarks()
}

/// Whether a workload has several kinds of transactions: the table of results shows everything otherwise.
pub(crate) fn has_several_transactions(digest: &Digest<'_>, workload: &str) -> bool {
    let trials = digest.trials.iter().filter(|it| it.record.header.workload.name == workload);
    trials.into_iter().any(is_mix)
}

/// The time of day, with the date when any of the times is not on the day on which the run began.
fn time_format(digest: &Digest<'_>, trials: &[&Trial<'_>]) -> &'static str {
    let day = |time: Timestamp| time.strftime("%F").to_string();
    let first = day(digest.run.header.started);
    let mut times = trials.iter().flat_map(|trial| trial.measured()).flatten();
    if times.all(|time| day(time) == first) { "%T" } else { "%F %T" }
}

fn measured_between(trial: &Trial<'_>, format: &str) -> Vec<String> {
    let shown = |time: Option<Timestamp>| time.map(|time| time.strftime(format).to_string());
    trial.measured().map(|time| shown(time).unwrap_or_default()).into()
}

pub(crate) fn of_trial(digest: &Digest<'_>, trial: &Trial<'_>) -> Table {
    let means = trial.summary.operations.iter().map(|operation| operation.latency.mean_ns);
    let unit = TimeUnit::for_smallest(means);
    let mut table = operation_columns(Table::new(), &digest.run.header.percentiles, unit);
    add_operations(&mut table, trial, &RowContext::default(), unit);
    without_empty_time_outs(table)
}

/// Removes the column of time-outs when it has no counts: few workloads have a time limit.
fn without_empty_time_outs(table: Table) -> Table {
    table.without_columns(|head, cells| {
        head == "timed out" && cells.iter().all(|cell| matches!(*cell, "0" | ""))
    })
}

fn operation_columns(table: Table, percentiles: &[f64], unit: TimeUnit) -> Table {
    let mut table = table.words("operation").words("kind").group().numbers("per s").group();
    for name in ["mean", "min"] {
        table = table.numbers(format!("{name} {}", unit.name()));
    }
    for percent in percentiles {
        table = table.numbers(format!("{} {}", percentile_name(*percent), unit.name()));
    }
    table
        .numbers(format!("max {}", unit.name()))
        .group()
        .numbers("succeeded")
        .numbers("timed out")
        .numbers("failed")
}

/// Cells before and after the figures of an operation.
#[derive(Default)]
struct RowContext {
    lead: Vec<String>,
    tail: Vec<String>,
}

fn add_operations(table: &mut Table, trial: &Trial<'_>, around: &RowContext, unit: TimeUnit) {
    for operation in &trial.summary.operations {
        table.row(operation_row(operation, around, unit));
        if let Some(service) = &operation.service {
            table.row(operation_service_row(&operation.name, service, around, unit));
        }
    }
    if is_mix(trial) {
        table.row(operation_row(&total(&trial.summary), around, unit));
        if let Some(open) = &trial.summary.open {
            table.row(operation_service_row(TOTAL, &open.service, around, unit));
        }
    }
}

/// The name of all transactions of a trial together.
pub(crate) const TOTAL: &str = "TOTAL";

fn is_mix(trial: &Trial<'_>) -> bool {
    let operations = trial.summary.operations.iter();
    operations.filter(|operation| operation.kind == OperationKind::Transaction).count() > 1
}

fn total(summary: &Summary) -> OperationSummary {
    let transactions =
        || summary.operations.iter().filter(|one| one.kind == OperationKind::Transaction);
    OperationSummary {
        name: TOTAL.to_owned(),
        kind: OperationKind::Transaction,
        per_s: summary.transactions_per_s,
        succeeded: summary.transactions,
        timed_out: sum(transactions().map(|operation| operation.timed_out)),
        failed: sum(transactions().map(|operation| operation.failed)),
        latency: summary.latency.clone(),
        service: None,
        within: OperationWithin::default(),
    }
}

fn operation_row(operation: &OperationSummary, around: &RowContext, unit: TimeUnit) -> Vec<String> {
    let latency = &operation.latency;
    let mut row = around.lead.clone();
    row.push(operation.name.clone());
    row.push(operation.kind.name().to_owned());
    row.push(number(operation.per_s));
    row.push(unit.show_bounded(latency.mean()));
    row.push(unit.show(latency.min_ns as f64));
    row.extend(
        latency.percentiles.iter().map(|(at, _)| unit.show_bounded(latency.percentile(*at))),
    );
    row.push(unit.show_bounded(latency.max()));
    row.extend([operation.succeeded, operation.timed_out, operation.failed].map(count));
    row.extend(around.tail.iter().cloned());
    row
}

/// The row of service times, from the actual start, below an operation's response times.
fn operation_service_row(
    name: &str,
    service: &Latency,
    around: &RowContext,
    unit: TimeUnit,
) -> Vec<String> {
    let mut row = around.lead.clone();
    row.extend([format!("{name}, from its start"), "service time".to_owned(), String::new()]);
    row.push(unit.show_bounded(service.mean()));
    row.push(unit.show(service.min_ns as f64));
    row.extend(
        service.percentiles.iter().map(|(at, _)| unit.show_bounded(service.percentile(*at))),
    );
    row.push(unit.show_bounded(service.max()));
    if !around.tail.is_empty() {
        row.extend([const { String::new() }; 3]);
        row.extend(around.tail.iter().cloned());
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn several_kinds_of_transactions_have_a_row_each_and_a_total() {
        let mut run = sample::run();
        run.trials.truncate(2);
        for trial in &mut run.trials {
            trial.header.operations[0].name = "update".to_owned();
            trial.header.operations[1].name = "read".to_owned();
            trial.header.operations[1].kind = OperationKind::Transaction;
        }
        let digest = Digest::new(&run);
        assert!(has_several_transactions(&digest, "oltp_point_select"));
        assert!(!has_several_transactions(&Digest::new(&sample::run()), "oltp_point_select"));
        let table = by_point(&digest, "oltp_point_select");
        insta::assert_snapshot!(table.text());
    }

    #[test]
    fn times_show_the_date_when_it_differs_from_the_runs() {
        let mut run = sample::run();
        run.trials.truncate(1);
        let end = run.trials[0].end.as_mut().unwrap();
        end.measure_ended = Some("2026-07-31T00:00:05Z".parse().unwrap());
        let text = by_point(&Digest::new(&run), "oltp_point_select").text();
        assert!(text.contains("2026-07-30 12:00:01  2026-07-31 00:00:05"), "{text}");
    }
}
