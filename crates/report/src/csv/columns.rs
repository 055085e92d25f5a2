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

pub(crate) struct Column {
    pub(crate) head: String,
    /// What is in it.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test makes docs/figures.md of it"))]
    pub(crate) meaning: String,
    pub(super) cell: Box<dyn Fn(&Row<'_>) -> String>,
}

/// A trial, or one of its operations.
pub(crate) struct Row<'t> {
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

pub(crate) fn columns(percentiles: &[f64]) -> Vec<Column> {
    let mut all: Vec<Column> =
        LEAD.map(|(head, meaning, cell)| Column::new(head, meaning, cell)).into();
    all.extend(latencies("", "response times", percentiles, |row| Some(row.latency())));
    let meaning = "latencies of this row that are known only from below";
    all.push(Column::new("at_least", meaning, |row| lower_bounds(row.latency()).join(" ")));
    let of = "service times, from the actual start; empty in a closed loop";
    all.extend(latencies("service_", of, percentiles, |row| row.service()));
    let figures = CATALOGUE.iter();
    all.extend(
        figures.map(|it| Column::new(it.key, it.label, |row| row.whole(|trial| it.cell(trial)))),
    );
    all.extend(confidence::csv_columns(percentiles).into_iter().map(|(head, figure, end)| {
        let of = figure.column();
        let meaning = format!("{} end of the 95 % interval of `{of}` within the trial", end.name());
        Column::new(head, meaning, move |row| confidence::csv_cell(row.interval(figure), end))
    }));
    all.extend(TAIL.map(|(head, meaning, cell)| Column::new(head, meaning, cell)));
    all
}

impl Column {
    fn new(
        head: impl Into<String>,
        meaning: impl Into<String>,
        cell: impl Fn(&Row<'_>) -> String + 'static,
    ) -> Self {
        Self { head: head.into(), meaning: meaning.into(), cell: Box::new(cell) }
    }
}

type Cell = fn(&Row<'_>) -> String;

/// The first columns of every row.
const LEAD: [(&str, &str, Cell); 18] = [
    ("trial", "number of the trial, from 1", |row| (row.header().index + 1).to_string()),
    ("system", "name of the system", |row| row.header().system.clone()),
    ("product", "product as the system reports it", |row| row.header().identity.product.clone()),
    ("version", "its version", |row| row.header().identity.version.clone()),
    ("storage", "where and how it stores data", |row| row.header().identity.storage.clone()),
    ("workload", "name of the workload", |row| row.header().workload.name.clone()),
    ("kind", "kind of the workload", |row| row.header().workload.kind.clone()),
    ("clients", "concurrent clients", |row| row.header().clients.to_string()),
    ("repetition", "which repetition, from 1", |row| (row.header().repetition + 1).to_string()),
    ("status", "how the trial ended", |row| row.trial.status().to_owned()),
    ("validity", "valid, doubtful or invalid", |row| row.trial.validity().name().to_owned()),
    ("operation", "`TOTAL` in the row of the whole trial; else the operation", |row| {
        row.of(|_| TOTAL.to_owned(), |it| it.name.clone())
    }),
    ("operation_kind", "transaction, read, write, other or wait", |row| {
        row.of(|_| "transaction", |it| it.kind.name())
    }),
    ("seconds", "measured time", |row| row.trial.summary.seconds.to_string()),
    ("succeeded", "successes; in the first row transactions", |row| {
        row.of(|it| it.transactions, |it| it.succeeded)
    }),
    ("timed_out", "time-outs", |row| row.of(timed_out, |it| it.timed_out)),
    ("failed", "failures; in the first row with time-outs", |row| {
        row.of(|it| it.failed_transactions, |it| it.failed)
    }),
    ("per_s", "successes per second", |row| row.of(|it| it.transactions_per_s, |it| it.per_s)),
];

/// The last columns of every row.
const TAIL: [(&str, &str, Cell); 8] = [
    ("failures", "kinds of failures with their counts", |row| {
        row.whole(|_| Some(failures::csv_cell(row.trial)))
    }),
    ("measure_started", "begin of the measured load, UTC", |row| {
        row.trial.measured()[0].map(|time| time.to_string()).unwrap_or_default()
    }),
    ("measure_ended", "its end, UTC", |row| {
        row.trial.measured()[1].map(|time| time.to_string()).unwrap_or_default()
    }),
    ("windows", "windows that the trial is made of", |row| match row.trial.windows.len() {
        0 => String::new(),
        windows => windows.to_string(),
    }),
    ("beside", "systems that were up beside its own", |row| row.header().beside.join(" ")),
    ("probe", "number of the probe in a seek, from 1", |row| {
        row.header().probe.map_or(String::new(), |it| (it.number + 1).to_string())
    }),
    ("confirming", "whether the trial confirms a seek's capacity", |row| {
        row.header().probe.map_or(String::new(), |it| it.is_confirming.to_string())
    }),
    ("kept", "whether the probe kept its bounds", |row| {
        row.trial.probe.as_ref().map_or(String::new(), |it| it.is_kept.to_string())
    }),
];

/// Mean, percentiles and maximum, and the minimum of latencies; empty when nothing was timed.
fn latencies(
    prefix: &'static str,
    times: &str,
    percentiles: &[f64],
    of: for<'r> fn(&'r Row<'_>) -> Option<&'r Latency>,
) -> Vec<Column> {
    let column = |name: &str, get: Box<dyn Fn(&Latency) -> String>| {
        let whole_name = match name {
            "min" => "minimum",
            "max" => "maximum",
            name => name,
        };
        let meaning = format!("{whole_name} of the {times}");
        Column::new(format!("{prefix}{name}_ns"), meaning, move |row| {
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
