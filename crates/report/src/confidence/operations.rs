//! The 95 % intervals of the operations of one trial.

use analysis::{Latency, OperationSummary};
use serde_json::{Map, Value};

use super::Confidence;
use crate::digest::Trial;
use crate::figure::Figure;
use crate::number::TimeUnit;
use crate::table::Table;

/// The figures of an operation whose latencies have these percentiles.
fn figures(latency: &Latency) -> Vec<Figure> {
    let percentiles: Vec<f64> = latency.percentiles.iter().map(|(percent, _)| *percent).collect();
    let all = Figure::with_intervals(&percentiles).into_iter();
    all.filter(|figure| *figure != Figure::Queries).collect()
}

/// Its intervals, by the names of the figures.
pub(crate) fn of_operation_json(operation: &OperationSummary) -> Value {
    let known = figures(&operation.latency).into_iter().map(|figure| {
        let key = match figure {
            Figure::Throughput => "per_s".to_owned(),
            _ => figure.column(),
        };
        (key, figure.interval_of_operation(&operation.within).map_or(Value::Null, |it| it.json()))
    });
    known.collect::<Map<String, Value>>().into()
}

/// A row for each operation of a trial that has intervals; empty where the trial has a single one, which is the
/// transaction.
pub(crate) fn of_operations(trial: &Trial<'_>) -> Table {
    let operations = &trial.summary.operations;
    let unit = TimeUnit::for_smallest(operations.iter().map(|it| it.latency.mean_ns));
    let figures = figures(&trial.summary.latency);
    let mut table = Table::new().words("operation");
    for figure in &figures {
        table = table.group().numbers(match figure {
            Figure::Throughput => "per s".to_owned(),
            figure => figure.unit_name(unit),
        });
    }
    if operations.len() < 2 {
        return table;
    }
    for operation in operations {
        let intervals: Vec<Option<Confidence>> =
            figures.iter().map(|figure| figure.interval_of_operation(&operation.within)).collect();
        if intervals.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![operation.name.clone()];
        row.extend(figures.iter().zip(intervals).map(|(figure, interval)| {
            interval.map_or("-".to_owned(), |it| it.text(|value| figure.show(value, unit)))
        }));
        table.row(row);
    }
    table
}
