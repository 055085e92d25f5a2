//! The 95 % intervals of figures: between the trials of a point, and within a single one.

mod operations;

use analysis::{
    Estimate, INTERVALS_MIN, Interval95, Method, NoInterval, OperationWithin, Summary, Within,
    WithinInterval,
};
use serde_json::{Map, Value, json};

use crate::digest::{Digest, Point, Trial};
use crate::figure::Figure;
use crate::number::{TimeUnit, bounded, count, several};
use crate::table::Table;
use crate::tables::{load_cells, load_columns, name_columns, names};

pub(crate) use operations::{of_operation_json, of_operations};

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Confidence {
    pub(crate) low: f64,
    /// `None`: there is no upper end.
    pub(crate) high: Option<f64>,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Between(Method),
    /// The intervals of one trial, which are worth so many independent samples.
    Within(f64),
}

impl From<Interval95> for Confidence {
    fn from(interval: Interval95) -> Self {
        let Interval95 { low, high, method } = interval;
        Self { low, high: Some(high), origin: Origin::Between(method) }
    }
}

impl From<WithinInterval> for Confidence {
    fn from(interval: WithinInterval) -> Self {
        let WithinInterval { low, high, effective_samples } = interval;
        Self { low, high, origin: Origin::Within(effective_samples) }
    }
}

impl Figure {
    /// Its interval within a trial.
    pub(crate) fn interval_within(self, within: &Within) -> Option<Confidence> {
        let interval = match self {
            Self::Throughput => within.transactions_per_s,
            Self::Queries => within.queries_per_s,
            Self::Mean => within.mean_ns,
            Self::Latency(percent) => within.percentile_ns(percent),
            Self::Other(_) => None,
        };
        interval.map(Confidence::from)
    }

    /// Its interval for an operation within a trial. An operation is itself what is counted: it has no statements.
    pub(crate) fn interval_of_operation(self, within: &OperationWithin) -> Option<Confidence> {
        let interval = match self {
            Self::Throughput => within.per_s,
            Self::Mean => within.mean_ns,
            Self::Latency(percent) => within.percentile_ns(percent),
            Self::Queries | Self::Other(_) => None,
        };
        interval.map(Confidence::from)
    }

    /// Its interval at a point: between the trials that count or, when a single one does, within it.
    pub(crate) fn interval(self, digest: &Digest<'_>, point: &Point<'_>) -> Option<Confidence> {
        if let [only] = point.counted[..] {
            return self.interval_within(&digest.trials[only].summary.within);
        }
        let value = |summary: &Summary| self.value(summary).unwrap_or((f64::NAN, false));
        let estimate: Estimate = match self.is_time() {
            true => digest.bounded(point, value)?.0,
            false => digest.estimate(point, |it| value(it).0)?,
        };
        estimate.interval.map(Confidence::from)
    }
}

impl Confidence {
    /// `95 to 105`; without an upper end `95 or more`.
    pub(crate) fn text(&self, show: impl Fn(f64) -> String) -> String {
        match self.high {
            Some(high) => format!("{} to {}", show(self.low), show(high)),
            None => format!("{} or more", show(self.low)),
        }
    }

    fn json(&self) -> Value {
        let (method, effective_samples) = match self.origin {
            Origin::Between(Method::StudentT) => ("between-trials-student-t", None),
            Origin::Between(Method::Ranks) => ("between-trials-ranks", None),
            Origin::Within(effective_samples) => ("within-trial", Some(effective_samples)),
        };
        let mut value = json!({
            "low": self.low,
            "high": self.high,
            "confidence": 0.95,
            "method": method,
        });
        if let Some(effective_samples) = effective_samples {
            value["effective_samples"] = effective_samples.into();
        }
        value
    }
}

/// The interval of a figure of a point as `interval` of its object; a figure that is null stays so.
pub(crate) fn add_json(figure: &mut Value, interval: Option<Confidence>) {
    if let Value::Object(figure) = figure {
        figure.insert("interval".to_owned(), interval.map_or(Value::Null, |it| it.json()));
    }
}

/// The intervals of a trial's figures, by the names of these; `absent` says why there is none.
pub(crate) fn of_trial_json(trial: &Trial<'_>, percentiles: &[f64]) -> Value {
    let within = &trial.summary.within;
    let of = |figure: Figure| figure.interval_within(within).map_or(Value::Null, |it| it.json());
    let known = Figure::with_intervals(percentiles).into_iter().map(|it| (it.column(), of(it)));
    let mut values: Map<String, Value> = known.collect();
    if let Some(absent) = within.absent {
        values.insert("absent".to_owned(), reason(absent).into());
    }
    values.into()
}

/// Heads of the columns of report.csv, each with the end that it has, of a trial or an operation.
pub(crate) fn csv_columns(percentiles: &[f64]) -> Vec<(String, Figure, End)> {
    let ends = |figure: Figure| {
        let column = move |(end, name)| (format!("{}_{name}", figure.column()), figure, end);
        [(End::Low, "low_95"), (End::High, "high_95")].map(column)
    };
    Figure::with_intervals(percentiles).into_iter().flat_map(ends).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

impl End {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Low => "lower",
            Self::High => "upper",
        }
    }
}

/// An end of an interval; empty when there is none.
pub(crate) fn csv_cell(interval: Option<Confidence>, end: End) -> String {
    let end = interval.and_then(|it| match end {
        End::Low => Some(it.low),
        End::High => it.high,
    });
    end.map_or(String::new(), |end| end.to_string())
}

pub(crate) fn are_known(digest: &Digest<'_>) -> bool {
    let is_known = |point: &Point<'_>| Figure::Throughput.interval(digest, point).is_some();
    digest.is_repeated() || digest.points.iter().any(is_known)
}

/// The interval of every figure, a row for each point that has any, for one workload when it is given.
pub(crate) fn table(digest: &Digest<'_>, workload: Option<&str>) -> Table {
    let points = digest.points.iter().filter(|it| workload.is_none_or(|name| name == it.workload));
    let points: Vec<&Point<'_>> = points.collect();
    let figures = Figure::with_intervals(&digest.run.header.percentiles);
    let trials = points.iter().flat_map(|point| &point.counted).map(|at| &digest.trials[*at]);
    let unit = TimeUnit::for_smallest(trials.map(|trial| trial.summary.latency.mean_ns));
    let mut table = load_columns(digest, name_columns(workload)).words("from");
    for figure in &figures {
        table = table.group().numbers(figure.unit_name(unit));
    }
    for point in points {
        let intervals: Vec<Option<Confidence>> =
            figures.iter().map(|figure| figure.interval(digest, point)).collect();
        let Some(any) = intervals.iter().flatten().next() else { continue };
        let mut row = names(point, workload);
        row.extend(load_cells(digest, point));
        row.push(any.source(point.counted.len()));
        row.extend(figures.iter().zip(&intervals).map(|(figure, interval)| {
            let text = interval.map(|it| it.text(|value| figure.show(value, unit)));
            text.unwrap_or_else(|| "-".to_owned())
        }));
        table.row(row);
    }
    table
}

impl Confidence {
    fn source(&self, trials: usize) -> String {
        match self.origin {
            Origin::Between(_) => several(trials as u64, "trial", "trials"),
            Origin::Within(_) => "within the trial".to_owned(),
        }
    }
}

/// What the intervals of a run's figures hold for; `None` when there are none.
pub(crate) fn note(digest: &Digest<'_>) -> Option<&'static str> {
    let of = |point: &Point<'_>| Figure::Throughput.interval(digest, point);
    let origins: Vec<Origin> = digest.points.iter().filter_map(of).map(|it| it.origin).collect();
    let is_within = |origin: &Origin| matches!(origin, Origin::Within(_));
    match (origins.iter().any(is_within), origins.iter().all(is_within)) {
        (false, true) => None,
        (false, false) if is_started_once(digest) => Some(
            "95 % intervals are between trials that share a start of the system: what another start changes is not in \
             them.",
        ),
        (false, false) => Some("95 % intervals are between trials."),
        (true, true) => Some(
            "95 % intervals are each within one trial, from how its figures vary over time: what differs from trial to \
             trial is not in them, and repetitions show it.",
        ),
        (true, false) => Some(
            "95 % intervals of loads with a single trial are within it, from how its figures vary over time: what \
             differs from trial to trial is not in them. The others are between trials.",
        ),
    }
}

/// Whether the trials of a load share a start of their system. Only variants are started for each round.
fn is_started_once(digest: &Digest<'_>) -> bool {
    digest.points.iter().all(|point| point.variant.is_none())
}

/// Why no figure of a trial has an interval.
fn reason(absent: NoInterval) -> String {
    match absent {
        NoInterval::FewIntervals(intervals) => format!(
            "the measured time has {}, and {INTERVALS_MIN} are needed to see how it varies",
            several(intervals as u64, "interval", "intervals")
        ),
        NoInterval::ChangingRate => "the offered rate changes over the measured time".to_owned(),
        NoInterval::PlannedQueries => "each query is planned, none is a sample".to_owned(),
    }
}

/// The figures of a trial with their intervals, in a table; empty when nothing was measured.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Table {
    let (summary, within) = (&trial.summary, &trial.summary.within);
    let percentiles: Vec<f64> = summary.latency.percentiles.iter().map(|it| it.0).collect();
    let unit = TimeUnit::for_smallest([summary.latency.mean_ns]);
    let mut table = Table::new()
        .words("figure")
        .numbers("value")
        .numbers("95 % interval")
        .numbers("effective samples");
    if summary.latency.known().is_none() || within.absent.is_some() {
        return table;
    }
    for figure in Figure::with_intervals(&percentiles) {
        let Some((value, is_bound)) = figure.value(summary) else { continue };
        let interval = figure.interval_within(within);
        let worth = interval.as_ref().map(|it| figure.worth(it, trial)).unwrap_or_default();
        table.row(vec![
            figure.unit_name(unit),
            bounded(figure.show(value, unit), is_bound),
            interval.map_or("-".to_owned(), |it| it.text(|value| figure.show(value, unit))),
            worth,
        ]);
    }
    table
}

impl Figure {
    /// The independent samples that the data of an interval are worth, of all.
    fn worth(self, interval: &Confidence, trial: &Trial<'_>) -> String {
        let Origin::Within(effective_samples) = interval.origin else { return String::new() };
        let effective_samples = match effective_samples.round() as u64 {
            0 => "less than 1".to_owned(),
            samples => count(samples),
        };
        match self {
            Self::Latency(_) => {
                let all = trial.summary.latency.count;
                format!("{} of {}", effective_samples, several(all, "value", "values"))
            }
            _ => {
                let all = trial.record.measured().count() as u64;
                format!("{} of {}", effective_samples, several(all, "interval", "intervals"))
            }
        }
    }
}

/// What the intervals of a trial are, or why it has none; `None` when nothing was measured.
pub(crate) fn of_trial_note(trial: &Trial<'_>) -> Option<String> {
    trial.summary.latency.known()?;
    Some(match trial.summary.within.absent {
        Some(absent) => format!("The figures have no 95 % intervals: {}.", reason(absent)),
        None => "95 % intervals are within this trial, from how its figures vary over time; its data are worth as many \
                 independent samples as shown. What differs from trial to trial is not in them."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests;
