//! The report as JSON, for programs: figures in full, units in the keys.

use analysis::{Cost, EdgeSummary, Estimate, Fairness, Summary};
use measure::{LatencyHistogram, Outage};
use record::{Environment, Identity, IntervalRecord};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::comparison::Group;
use crate::comparison_notes;
use crate::conclusion;
use crate::confidence;
use crate::cross_check;
use crate::digest::{Digest, Point, Trial};
use crate::ending;
use crate::fail_if;
use crate::failures;
use crate::figure::Figure;
use crate::figure::catalogue::everywhere;
use crate::finding;
use crate::generators;
use crate::latency_json::{latency, percentile_map};
use crate::loading;
use crate::member_exits;
use crate::messages;
use crate::noise_floor;
use crate::number::percentile_name;
use crate::reading::Reading;
use crate::rounds;
use crate::rules;
use crate::scaling;
use crate::seek;
use crate::server_actions;
use crate::turns;
use crate::variance::{Variance, ratios};
use crate::visible::pretty_json;
use crate::watch;
use crate::windows;

const VERSION: u32 = 1;

/// One JSON object with the run, its points (systems x workloads x clients over repetitions) and its
/// trials.
pub fn json(reading: &Reading<'_>) -> String {
    pretty_json(&Report(reading))
}

/// The report as one object. The objects of a large run take much more memory than their text, so that each trial is
/// written before the next one is made.
struct Report<'d, 'a>(&'d Reading<'a>);

impl Serialize for Report<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for (key, value) in &of_run(self.0) {
            object.serialize_entry(key, value)?;
        }
        object.serialize_entry("trials", &Trials(&self.0.digest))?;
        let findings = self.0.findings.iter().map(finding::json);
        object.serialize_entry("warnings", &findings.collect::<Vec<_>>())?;
        object.end()
    }
}

struct Trials<'d, 'a>(&'d Digest<'a>);

impl Serialize for Trials<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let percentiles = &self.0.run.header.percentiles;
        serializer.collect_seq(self.0.trials.iter().map(|one| trial(one, percentiles)))
    }
}

fn of_run(reading: &Reading<'_>) -> Map<String, Value> {
    let digest = &reading.digest;
    let run = digest.run;
    let header = &run.header;
    let fields = json!({
        "format": "dyno-report",
        "version": VERSION,
        "title": digest.title(),
        "plan": header.plan_name,
        "status": run.status.name(),
        "reason": run.status.reason(),
        "started": header.started.to_string(),
        "ended": run.ended.map(|ended| ended.to_string()),
        "command": header.command,
        "seed": header.seed,
        "dyno": { "version": header.dyno.version, "build": header.dyno.build },
        "trials_planned": header.trials_planned,
        "environment": environment(&header.environment),
        "systems": digest.systems().into_iter().map(system).collect::<Vec<_>>(),
        "fail_if": fail_if::json(&reading.checks),
        "bounds_kept": reading.crossed().is_none(),
        "conclusions": conclusion::json(&reading.conclusions),
        "scalability": scaling::json(&reading.sweeps),
        "seek": seek::json(digest),
        "variants": reading.groups().iter().map(variants).collect::<Vec<_>>(),
        "points": digest.points.iter().map(|p| point(digest, p)).collect::<Vec<_>>(),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Comparison of each variant with the first under each load.
fn variants(group: &Group<'_, '_>) -> Value {
    let of = |point: &Point<'_>, name: &str| {
        let judged_by = group.judged_by(&[point]);
        let judged = group.compare(point, judged_by);
        json!({
            "variant": name,
            "workload": point.workload,
            "clients": point.clients,
            "rate": point.rate.map(ToString::to_string),
            "throughput": compared(group, point, Figure::Throughput),
            "latency": compared(group, point, group.latency()),
            "rounds": judged.map_or(0, |found| found.ratio.rounds),
            "judged_by": judged_by.name(),
            "verdict": judged.map(|found| judged_by.verdict(found.verdict)),
            "within_noise_floor": judged.and_then(|found| {
                noise_floor::is_within(&found, noise_floor::of(group.noise(point, judged_by)))
            }),
            "rounds_needed": judged.and_then(|found| group.rounds_needed(&found)),
            "variance": ratios::json(group, point),
        })
    };
    let rows = group.others().flat_map(|name| {
        group.points(name).into_iter().map(|point| of(point, name)).collect::<Vec<_>>()
    });
    let noise = group.again.map(|name| {
        let of = |point: &Point<'_>| {
            json!({
                "workload": point.workload,
                "clients": point.clients,
                "rate": point.rate.map(ToString::to_string),
                "throughput": compared(group, point, Figure::Throughput),
                "latency": compared(group, point, group.latency()),
            })
        };
        let points = group.points(name).into_iter().map(of);
        json!({ "variant": name, "compared": points.collect::<Vec<_>>() })
    });
    json!({
        "of": group.of,
        "baseline": group.baseline(),
        "least_difference": group.least_difference(),
        "compared": rows.collect::<Vec<_>>(),
        "noise": noise,
        "rounds": rounds::ended(group).map(|ended| ended.json()),
        "too_few_rounds": group.too_few_rounds(),
        "notes": comparison_notes::notes(group),
    })
}

/// How many times the baseline's figure a variant's is, with the geometric means that the ratio is made of.
fn compared(group: &Group<'_, '_>, point: &Point<'_>, figure: Figure) -> Option<Value> {
    let found = group.compare(point, figure)?;
    let ratio = found.ratio;
    let end = |value: f64| ratio.logs.has_interval().then_some(value);
    Some(json!({
        "figure": figure.name(),
        "ratio": ratio.ratio,
        "variant": found.variant,
        "baseline": found.baseline,
        "low_95": end(ratio.low),
        "high_95": end(ratio.high),
        "low_90": end(ratio.low_90),
        "high_90": end(ratio.high_90),
        "noise_floor": noise_floor::of(group.noise(point, figure)).map(f64::exp_m1),
    }))
}

fn environment(environment: &Environment) -> Value {
    let cpu = &environment.cpu;
    json!({
        "hostname": environment.system.hostname,
        "os": environment.system.os,
        "kernel": environment.system.kernel,
        "virtualization": environment.system.virtualization,
        "cpu_model": cpu.model,
        "architecture": cpu.architecture,
        "cores": cpu.cores,
        "threads": cpu.threads,
        "usable_threads": cpu.usable_threads,
        "governor": cpu.governor,
        "memory_bytes": environment.memory_bytes,
        "load_average": environment.load_average,
    })
}

fn system((name, identity): (&str, &Identity)) -> Value {
    let settings: Map<String, Value> = identity
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(value.clone())))
        .collect();
    json!({
        "name": name,
        "product": identity.product,
        "version": identity.version,
        "build": identity.build,
        "storage": identity.storage,
        "settings": settings,
    })
}

fn point(digest: &Digest<'_>, point: &Point<'_>) -> Value {
    let with_interval = |mut value: Value, of: Figure| {
        confidence::add_json(&mut value, of.interval(digest, point));
        value
    };
    let figure = |figure: &dyn Fn(&Summary) -> f64, of| {
        let value = digest.estimate(point, figure).map_or(Value::Null, estimate);
        with_interval(value, of)
    };
    let percentiles: Map<String, Value> = digest
        .run
        .header
        .percentiles
        .iter()
        .map(|percent| {
            let figure = digest.bounded(point, |summary| summary.latency.percentile(*percent));
            let value = with_interval(bounded(figure), Figure::Latency(*percent));
            (format!("{}_ns", percentile_name(*percent)), value)
        })
        .collect();
    json!({
        "system": point.system,
        "workload": point.workload,
        "clients": point.clients,
        "rate": point.rate.map(ToString::to_string),
        "trials": point.trials.len(),
        "trials_counted": point.counted.len(),
        "remarks": digest.remarks(point),
        "transactions_per_s": figure(&|it| it.transactions_per_s, Figure::Throughput),
        "queries_per_s": figure(&|it| it.queries_per_s, Figure::Queries),
        "mean_ns": with_interval(
            bounded(digest.bounded(point, |summary| summary.latency.mean())),
            Figure::Mean,
        ),
        "percentiles": percentiles,
        "variance": Variance::of(digest, point).map(|variance| variance.json()),
        "failed_transactions": digest.sum(point, |summary| summary.failed_transactions),
        "retries": digest.sum(point, |summary| summary.retries),
    })
}

fn estimate(estimate: Estimate) -> Value {
    json!({
        "median": estimate.median,
        "min": estimate.min,
        "max": estimate.max,
        "low_95": estimate.interval.map(|interval| interval.low),
        "high_95": estimate.interval.map(|interval| interval.high),
        "repetitions": estimate.count,
    })
}

/// A latency over repetitions; `at_least` is there when the median is only a lower bound.
fn bounded(figure: Option<(Estimate, bool)>) -> Value {
    let Some((figure, is_bound)) = figure else { return Value::Null };
    let mut value = estimate(figure);
    if is_bound {
        value["at_least"] = true.into();
    }
    value
}

fn trial(trial: &Trial<'_>, percentiles: &[f64]) -> Value {
    let mut value = identity(trial);
    extend(&mut value, figures(trial));
    extend(
        &mut value,
        json!({
            "messages": messages::json(trial),
            "watched": watch::json::json(trial),
            "findings": trial.findings.iter().map(finding::sentence).collect::<Vec<_>>(),
            "warnings": trial.findings.iter().map(finding::json).collect::<Vec<_>>(),
            "intervals": trial
                .record
                .intervals
                .iter()
                .map(|i| interval(i, percentiles))
                .collect::<Vec<_>>(),
            "confidence_intervals": confidence::of_trial_json(trial, percentiles),
            "validity": trial.validity().name(),
        }),
    );
    for (entry, _, figure) in everywhere(trial) {
        value[entry.key] = figure.into();
    }
    let parts = [
        ("turns", turns::json(trial)),
        ("loaded", loading::json(trial, percentiles)),
        ("decided_ends", ending::json(trial)),
        ("generators", generators::json(trial)),
        ("beside", windows::beside(trial)),
        ("windows", windows::json(trial)),
    ];
    for (key, part) in parts.into_iter().filter_map(|(key, part)| Some((key, part?))) {
        value[key] = part;
    }
    value
}

pub(crate) fn identity(trial: &Trial<'_>) -> Value {
    let header = &trial.record.header;
    let end = trial.record.end.as_ref();
    json!({
        "index": header.index,
        "system": header.system,
        "workload": header.workload.name,
        "workload_kind": header.workload.kind,
        "clients": header.clients,
        "client_cpus": header.load.cpus,
        "repetition": header.repetition + 1,
        "status": trial.status(),
        "reason": trial.reason(),
        "measure_started": end.and_then(|end| end.measure_started).map(|time| time.to_string()),
        "measure_ended": end.and_then(|end| end.measure_ended).map(|time| time.to_string()),
    })
}

/// What was measured over the whole window.
pub(crate) fn figures(trial: &Trial<'_>) -> Value {
    let summary = &trial.summary;
    let end = trial.record.end.as_ref();
    json!({
        "seconds": summary.seconds,
        "open_loop": open_loop(trial),
        "transactions": summary.transactions,
        "transactions_per_s": summary.transactions_per_s,
        "failed_transactions": summary.failed_transactions,
        "failure_rate": summary.failure_rate,
        "retries": summary.retries,
        "reconnects": trial.record.total.reconnects,
        "idle_reconnects": trial.record.total.idle_reconnects,
        "moves": trial.record.total.moves,
        "idle_round_trip_ns": end.and_then(|end| idle_round_trip(&end.idle_round_trips)),
        "outages": trial.outages().iter().map(outage).collect::<Vec<_>>(),
        "member_exits": member_exits::json(trial),
        "server_actions": server_actions::json(trial),
        "cross_check": cross_check::json(trial),
        "why": crate::why::Answer::of(trial).map(|answer| answer.json()),
        "calls": crate::calls::json(trial),
        "own": rules::json(trial),
        "queries": {
            "read": summary.queries.read,
            "write": summary.queries.write,
            "other": summary.queries.other,
            "per_s": summary.queries_per_s,
        },
        "latency": latency(&summary.latency),
        "edges": edges(summary.edges),
        "operations": operations(summary),
        "errors": failures::json(trial),
        "clients_fairness": summary.fairness.map(fairness),
        "littles_law_clients": summary.littles_law.map(|law| law.accounted_for),
        "throughput_variation": summary.throughput_variation,
        "client_cpu_threads": summary.client_cpu_threads,
        "generator": summary.generator.as_ref().map(|own| {
            generators::summary(own, trial.generators().map(|(_, generator)| generator))
        }),
        "cost_per_transaction": summary.cost_per_transaction.map(cost),
        "cost_per_query": summary.cost_per_query.map(cost),
    })
}

/// Adds the fields of an object to another.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
        fields.extend(more);
    }
}

fn idle_round_trip(idle: &LatencyHistogram) -> Option<Value> {
    let value =
        json!({ "count": idle.count(), "min": idle.min_ns(), "median": idle.percentile_ns(50.0) });
    (!idle.is_empty()).then_some(value)
}

fn edges(edges: EdgeSummary) -> Value {
    json!({
        "before": edges.before,
        "succeeded_after": edges.succeeded_after,
        "failed_after": edges.failed_after,
        "unanswered": edges.unanswered,
        "unsent": edges.unsent,
    })
}

/// The offered rate, and service times next to the response times of `latency`; null in a closed loop.
fn open_loop(trial: &Trial<'_>) -> Option<Value> {
    let summary = trial.summary.open.as_ref()?;
    let open = trial.record.header.load.open.as_ref()?;
    Some(json!({
        "rate": open.rate.to_string(),
        "arrivals": open.arrivals.name(),
        "backlog_max": open.backlog_max,
        "offered_per_s": summary.offered_per_s,
        "arrived_per_s": summary.arrived_per_s,
        "achieved_per_s": trial.summary.transactions_per_s,
        "in_system": summary.in_system,
        "service": latency(&summary.service),
        "generator_late": latency(&summary.lateness),
        "start_delay": latency(&summary.start_delays),
    }))
}

fn operations(summary: &Summary) -> Vec<Value> {
    let operation = |operation: &analysis::OperationSummary| {
        json!({
            "name": operation.name,
            "kind": operation.kind.name(),
            "per_s": operation.per_s,
            "succeeded": operation.succeeded,
            "timed_out": operation.timed_out,
            "failed": operation.failed,
            "latency": latency(&operation.latency),
            "service": operation.service.as_ref().map(latency),
            "confidence_intervals": confidence::of_operation_json(operation),
        })
    };
    summary.operations.iter().map(operation).collect()
}

fn cost(cost: Cost) -> Value {
    json!({
        "user_us": cost.user_us,
        "system_us": cost.system_us,
        "context_switches": cost.switches,
        "sent_bytes": cost.sent_bytes,
        "received_bytes": cost.received_bytes,
    })
}

fn outage(outage: &Outage) -> Value {
    json!({
        "start_ns": outage.start_ns,
        "end_ns": outage.end_ns,
        "failures": outage.failures,
        "reconnects": outage.reconnects,
    })
}

pub(crate) fn fairness(fairness: Fairness) -> Value {
    json!({
        "mean": fairness.mean,
        "standard_deviation": fairness.standard_deviation,
        "min": fairness.min,
        "max": fairness.max,
    })
}

fn interval(interval: &IntervalRecord, percentiles: &[f64]) -> Value {
    let tally = &interval.tally;
    let latencies = &interval.latencies;
    let values_ns = latencies.percentiles_ns(percentiles.iter().copied());
    let known = values_ns.into_iter().map(|value_ns| (!latencies.is_empty()).then_some(value_ns));
    let values = percentiles.iter().copied().zip(known);
    let mut value = json!({
        "phase": interval.phase.name(),
        "start_ns": interval.start_ns,
        "end_ns": interval.end_ns,
        "transactions": tally.transactions,
        "failed_transactions": tally.failed_transactions,
        "queries": tally.queries.total(),
        "retries": tally.retries(),
        "percentiles": percentile_map(values),
    });
    if !interval.generators.is_empty() {
        value["generators"] = interval.generators.clone().into();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_json() {
        let mut run = sample::run();
        // One trial is enough to show the format.
        run.trials.truncate(1);
        insta::assert_snapshot!(json(&Reading::new(&run)));
    }

    #[test]
    fn missing_values_are_null_not_zero() {
        let run = sample::failed();
        let value: Value = serde_json::from_str(&json(&Reading::new(&run))).unwrap();
        let latency = &value["trials"][0]["latency"];
        assert_eq!(latency["count"], 0);
        for figure in ["mean_ns", "min_ns", "max_ns"] {
            assert_eq!(latency[figure], Value::Null, "{latency}");
        }
        assert_eq!(latency["percentiles"]["p99_ns"], Value::Null, "{latency}");
        assert_eq!(value["trials"][0]["seconds"].to_string(), "0.0");
    }

    #[test]
    fn it_is_one_object_with_every_trial() {
        let value: Value = serde_json::from_str(&json(&Reading::new(&sample::run()))).unwrap();
        assert_eq!(value["trials"].as_array().unwrap().len(), 8);
        assert_eq!(value["points"][0]["transactions_per_s"]["repetitions"], 1);
    }
}
