//! The columns of report.csv: each head with the function that fills its cells.

use analysis::{Latency, OperationSummary, Summary};
use measure::{OperationKind, sum};
use record::TrialHeader;

use crate::confidence::{self, Confidence};
use crate::digest::Trial;
use crate::failures;
use crate::figure::Figure;
use crate::figure::catalogue::{CATALOGUE, Whole};
use crate::latency_json::lower_bounds;
use crate::number::percentile_name;
use crate::operations::TOTAL;
use crate::tables::kind_name;

pub(super) struct Column {
    pub(super) head: String,
    pub(super) cell: Box<dyn Fn(&Row<'_>) -> String>,
}

/// A trial, or one of its operations.
pub(super) struct Row<'t> {
    trial: &'t Trial<'t>,
    part: Part<'t>,
}

enum Part<'t> {
    /// The whole trial, with the figures that only a whole trial has.
    Whole(Box<Whole<'t>>),
    Operation(&'t OperationSummary),
}

impl<'t> Row<'t> {
    pub(super) fn of_trial(trial: &'t Trial<'t>) -> Self {
        Self { trial, part: Part::Whole(Box::new(Whole::of(trial))) }
    }

    pub(super) fn of_operation(trial: &'t Trial<'t>, operation: &'t OperationSummary) -> Self {
        Self { trial, part: Part::Operation(operation) }
    }

    fn header(&self) -> &'t TrialHeader {
        &self.trial.record.header
    }

    fn latency(&self) -> &Latency {
        match &self.part {
            Part::Whole(whole) => &whole.summary.latency,
            Part::Operation(operation) => &operation.latency,
        }
    }

    /// `None` in a closed loop, where the latency is the service time.
    fn service(&self) -> Option<&Latency> {
        match &self.part {
            Part::Whole(whole) => Some(&whole.open()?.service),
            Part::Operation(operation) => operation.service.as_ref(),
        }
    }

    /// One figure of a whole trial, or its counterpart of an operation.
    fn of<T: ToString>(
        &self,
        trial: impl Fn(&Summary) -> T,
        operation: impl Fn(&OperationSummary) -> T,
    ) -> String {
        match &self.part {
            Part::Whole(whole) => trial(whole.summary).to_string(),
            Part::Operation(of) => operation(of).to_string(),
        }
    }

    /// The 95 % interval of a figure; of an operation, transactions are its successes.
    fn interval(&self, figure: Figure) -> Option<Confidence> {
        match &self.part {
            Part::Whole(whole) => figure.interval_within(&whole.summary.within),
            Part::Operation(operation) => figure.interval_of_operation(&operation.within),
        }
    }

    /// A figure that operations do not have.
    fn whole(&self, of: impl Fn(&Whole<'_>) -> Option<String>) -> String {
        match &self.part {
            Part::Whole(whole) => of(whole).unwrap_or_default(),
            Part::Operation(_) => String::new(),
        }
    }
}

pub(super) fn columns(percentiles: &[f64]) -> Vec<Column> {
    let mut all: Vec<Column> = LEAD.map(|(head, cell)| Column::new(head, cell)).into();
    all.extend(latencies("", percentiles, |row| Some(row.latency())));
    all.push(Column::new("at_least", |row| lower_bounds(row.latency()).join(" ")));
    all.extend(latencies("service_", percentiles, |row| row.service()));
    let figures = CATALOGUE.iter();
    all.extend(figures.map(|it| Column::new(it.key, |row| row.whole(|trial| it.cell(trial)))));
    all.extend(confidence::csv_columns(percentiles).into_iter().map(|(head, figure, end)| {
        Column::new(head, move |row| confidence::csv_cell(row.interval(figure), end))
    }));
    all.extend(TAIL.map(|(head, cell)| Column::new(head, cell)));
    all
}

impl Column {
    fn new(head: impl Into<String>, cell: impl Fn(&Row<'_>) -> String + 'static) -> Self {
        Self { head: head.into(), cell: Box::new(cell) }
    }
}

type Cell = fn(&Row<'_>) -> String;

/// The first columns of every row.
const LEAD: [(&str, Cell); 18] = [
    ("trial", |row| (row.header().index + 1).to_string()),
    ("system", |row| row.header().system.clone()),
    ("product", |row| row.header().identity.product.clone()),
    ("version", |row| row.header().identity.version.clone()),
    ("storage", |row| row.header().identity.storage.clone()),
    ("workload", |row| row.header().workload.name.clone()),
    ("kind", |row| row.header().workload.kind.clone()),
    ("clients", |row| row.header().clients.to_string()),
    ("repetition", |row| (row.header().repetition + 1).to_string()),
    ("status", |row| row.trial.status().to_owned()),
    ("validity", |row| row.trial.validity().name().to_owned()),
    ("operation", |row| row.of(|_| TOTAL.to_owned(), |it| it.name.clone())),
    ("operation_kind", |row| row.of(|_| "transaction", |it| kind_name(it.kind))),
    ("seconds", |row| row.trial.summary.seconds.to_string()),
    ("succeeded", |row| row.of(|it| it.transactions, |it| it.succeeded)),
    ("timed_out", |row| row.of(timed_out, |it| it.timed_out)),
    ("failed", |row| row.of(|it| it.failed_transactions, |it| it.failed)),
    ("per_s", |row| row.of(|it| it.transactions_per_s, |it| it.per_s)),
];

/// The last columns of every row: the kinds of failures with their counts, when the measured load began and ended, UTC,
/// of how many windows the trial is made, the systems that were up beside its own, and its part in a seek.
const TAIL: [(&str, Cell); 8] = [
    ("failures", |row| row.whole(|_| Some(failures::csv_cell(row.trial)))),
    ("measure_started", |row| {
        row.trial.measured()[0].map(|time| time.to_string()).unwrap_or_default()
    }),
    ("measure_ended", |row| {
        row.trial.measured()[1].map(|time| time.to_string()).unwrap_or_default()
    }),
    ("windows", |row| match row.trial.windows.len() {
        0 => String::new(),
        windows => windows.to_string(),
    }),
    ("beside", |row| row.header().beside.join(" ")),
    ("probe", |row| row.header().probe.map_or(String::new(), |it| (it.number + 1).to_string())),
    ("confirming", |row| {
        row.header().probe.map_or(String::new(), |it| it.is_confirming.to_string())
    }),
    ("kept", |row| row.trial.probe.as_ref().map_or(String::new(), |it| it.is_kept.to_string())),
];

/// Mean, percentiles and maximum, and the minimum of latencies; empty when nothing was timed.
fn latencies(
    prefix: &'static str,
    percentiles: &[f64],
    of: for<'r> fn(&'r Row<'_>) -> Option<&'r Latency>,
) -> Vec<Column> {
    let column = |name: &str, get: Box<dyn Fn(&Latency) -> String>| {
        Column::new(format!("{prefix}{name}_ns"), move |row| {
            of(row).and_then(Latency::known).map(&get).unwrap_or_default()
        })
    };
    let mut all = vec![column("mean", Box::new(|it| it.mean_ns.to_string()))];
    if prefix.is_empty() {
        all.push(column("min", Box::new(|it| it.min_ns.to_string())));
    }
    all.extend(percentiles.iter().enumerate().map(|(at, percent)| {
        let value =
            move |it: &Latency| it.percentiles.get(at).map(|(_, it)| it.least_ns.to_string());
        column(&percentile_name(*percent), Box::new(move |it| value(it).unwrap_or_default()))
    }));
    all.push(column("max", Box::new(|it| it.max_ns.to_string())));
    all
}

fn timed_out(summary: &Summary) -> u64 {
    let operations = summary.operations.iter();
    let transactions = operations.filter(|operation| operation.kind == OperationKind::Transaction);
    sum(transactions.map(|operation| operation.timed_out))
}
