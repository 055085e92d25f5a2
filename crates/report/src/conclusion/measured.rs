//! What was found without a comparison: capacities, throughput and latency under one load, sets of queries, and how
//! near the load came to what its path carries.

use analysis::{OperationSummary, Value, is_set_of_operations};
use measure::OperationKind;

use super::swept::is_swept;
use super::trials::{behind, not_believed};
use super::words::Code;
use super::{Conclusion, Place, Values, latency, percentile, text};
use crate::ceiling::{Mode, part};
use crate::digest::{Digest, Point, Trial, load_text};
use crate::scaling::Sweep;
use crate::why::Answer;
use crate::{composite, seek};

/// At most this many of the longest queries are named.
const QUERIES_MAX: usize = 3;

pub(super) fn seeks(digest: &Digest<'_>) -> Vec<Conclusion> {
    let of_one = |(at, sought): (usize, &seek::Sought<'_, '_>)| {
        let mut values: Values = vec![("of", text(sought.name(digest)))];
        let capacity = sought.capacity();
        if let Some(it) = capacity {
            values.extend([
                ("per_s", Value::Number(it.per_s)),
                ("low_95", Value::Number(it.per_s_low)),
                ("high_95", Value::Number(it.per_s_high)),
                ("load", Value::Number(it.load)),
            ]);
        }
        values.push(("answer", text(sought.sentences())));
        let code = if capacity.is_some() { Code::Capacity } else { Code::CapacityUnknown };
        Conclusion::new(code, values, Some(Place::Seek(at)))
    };
    seek::all(digest).iter().enumerate().map(of_one).collect()
}

/// Throughput and latency of every point that no other answer is about.
pub(super) fn others(digest: &Digest<'_>, sweeps: &[Sweep]) -> Vec<Conclusion> {
    if digest.run.header.seek.is_some() {
        return Vec::new();
    }
    let is_compared = |point: &Point<'_>| {
        let is_other = |other: &Point<'_>| {
            other.variant.is_none()
                && other.system != point.system
                && other.workload == point.workload
        };
        point.variant.is_some() || digest.points.iter().any(is_other)
    };
    let points = digest.points.iter().filter(|point| !point.counted.is_empty());
    let points = points.filter(|point| !is_compared(point) && !is_swept(digest, sweeps, point));
    points.filter_map(|point| of_point(digest, point)).collect()
}

/// A set of queries has other answers.
fn of_point(digest: &Digest<'_>, point: &Point<'_>) -> Option<Conclusion> {
    let middle = digest.middle_trial(point)?;
    if is_set_of_operations(&middle.record.header.workload.rules) {
        return None;
    }
    let nothing = not_believed(digest, &[point], point.system, Some(point.workload));
    if nothing.is_some() {
        return nothing;
    }
    let throughput = digest.estimate(point, |summary| summary.transactions_per_s)?;
    let mut values = vec![
        ("system", text(point.system)),
        ("workload", text(point.workload)),
        ("load", text(load_text(point.clients, point.rate))),
        ("per_s", Value::Number(throughput.median)),
        ("event", text(digest.event_of(point.workload).per_second())),
    ];
    if let Some(interval) = throughput.interval {
        values
            .extend([("low", Value::Number(interval.low)), ("high", Value::Number(interval.high))]);
    }
    values.push(("percentile", Value::Percentile(percentile(digest)?)));
    values.extend(latency(digest, point, ["latency_ns", "more"]));
    if let Some((value, name)) = digest.score(point) {
        values.extend([("score", Value::Number(value)), ("score_name", text(name))]);
    }
    values.extend(behind(digest, &[point]));
    let place = Place::Trial(index(digest, middle));
    Some(Conclusion::new(Code::Measured, values, Some(place)))
}

fn index(digest: &Digest<'_>, of: &Trial<'_>) -> usize {
    digest.trials.iter().position(|trial| std::ptr::eq(trial, of)).unwrap_or_default()
}

/// The scores of sets of queries, and the queries that took longest.
pub(super) fn sets_of_queries(digest: &Digest<'_>) -> Vec<Conclusion> {
    let scores = composite::sentences(digest).into_iter();
    let scores =
        scores.map(|told| Conclusion::new(Code::Composite, vec![("answer", text(told))], None));
    let mut first_points: Vec<&Point<'_>> = Vec::new();
    for point in &digest.points {
        let key = (point.system, point.workload);
        if !first_points.iter().any(|known| (known.system, known.workload) == key) {
            first_points.push(point);
        }
    }
    scores.chain(first_points.into_iter().filter_map(|point| slowest(digest, point))).collect()
}

/// The longest queries of the trial in the middle; `None` for a load that is no set of queries.
fn slowest(digest: &Digest<'_>, point: &Point<'_>) -> Option<Conclusion> {
    let trial = digest.middle_trial(point)?;
    if !is_set_of_operations(&trial.record.header.workload.rules) {
        return None;
    }
    let operations = trial.summary.operations.iter();
    let is_query = |it: &&OperationSummary| {
        it.kind == OperationKind::Transaction && it.latency.known().is_some()
    };
    let mut queries: Vec<&OperationSummary> = operations.filter(is_query).collect();
    queries.sort_by(|one, other| other.latency.mean_ns.total_cmp(&one.latency.mean_ns));
    let time = |of: &[&OperationSummary]| -> f64 {
        of.iter().map(|it| it.latency.mean_ns * it.latency.count as f64).sum()
    };
    let longest = &queries[..queries.len().min(QUERIES_MAX)];
    let named = |it: &&OperationSummary| {
        format!("{} ({})", it.name, crate::number::latency(it.latency.mean_ns))
    };
    let values = vec![
        ("system", text(point.system)),
        ("workload", text(point.workload)),
        ("queries", text(longest.iter().map(named).collect::<Vec<_>>().join(", "))),
        ("share", Value::Part(time(longest) / time(&queries))),
    ];
    let place = Place::Trial(index(digest, trial));
    (!longest.is_empty()).then(|| Conclusion::new(Code::SlowestQueries, values, Some(place)))
}

/// What holds each system back, by experiment.
pub(super) fn limits(digest: &Digest<'_>) -> Vec<Conclusion> {
    let of_trial = |trial: &Trial<'_>| {
        let answer = Answer::of(trial)?;
        let mut values = vec![
            ("trial", text(trial.name())),
            ("verdict", text(answer.code())),
            ("answer", text(answer.sentence())),
        ];
        values.extend(answer.values());
        Some(Conclusion::new(Code::Limit, values, Some(Place::Limits)))
    };
    digest.trials.iter().filter_map(of_trial).collect()
}

/// The trial that came nearest to what its path carries.
pub(super) fn ceiling(digest: &Digest<'_>) -> Option<Conclusion> {
    let parts = digest.trials.iter().filter_map(|trial| Some((trial, part(trial, Mode::Single)?)));
    let (trial, single) = parts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let mut values = vec![("trial", text(trial.name())), ("single", Value::Part(single))];
    let pipelined = part(trial, Mode::Pipelined).map(|part| ("pipelined", Value::Part(part)));
    values.extend(pipelined);
    Some(Conclusion::new(Code::PathReached, values, Some(Place::Ceilings)))
}
