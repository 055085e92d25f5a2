//! The 95 % intervals of the operations of one trial.

use analysis::{Latency, OperationSummary};
use serde_json::{Map, Value};

use super::{Confidence, Estimated};
use crate::digest::Trial;
use crate::number::{TimeUnit, number};
use crate::table::Table;

/// The figures of an operation whose latencies have these percentiles.
fn figures(latency: &Latency) -> Vec<Estimated> {
    let percentiles: Vec<f64> = latency.percentiles.iter().map(|(percent, _)| *percent).collect();
    let all = Estimated::all(&percentiles).into_iter();
    all.filter(|figure| *figure != Estimated::Queries).collect()
}

/// Its intervals, by the names of the figures.
pub(crate) fn of_operation_json(operation: &OperationSummary) -> Value {
    let known = figures(&operation.latency).into_iter().map(|figure| {
        let key = match figure {
            Estimated::Transactions => "per_s".to_owned(),
            _ => figure.key(),
        };
        (key, figure.of_operation(&operation.within).map_or(Value::Null, |it| it.json()))
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
            Estimated::Transactions => "per s".to_owned(),
            figure => figure.head(unit),
        });
    }
    if operations.len() < 2 {
        return table;
    }
    for operation in operations {
        let intervals: Vec<Option<Confidence>> =
            figures.iter().map(|figure| figure.of_operation(&operation.within)).collect();
        if intervals.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![operation.name.clone()];
        row.extend(figures.iter().zip(intervals).map(|(figure, interval)| {
            let show = |value| match figure {
                Estimated::Transactions => number(value),
                _ => unit.show(value),
            };
            interval.map_or_else(|| "-".to_owned(), |it| it.text(show))
        }));
        table.row(row);
    }
    table
}
