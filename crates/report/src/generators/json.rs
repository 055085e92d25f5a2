//! The generators of a trial as JSON.

use analysis::{GeneratorSummary, WorkersSummary};
use measure::{ClockComparison, CpuSpan, Generator, GeneratorStall};
use serde_json::{Value, json};

use super::part::Part;
use crate::digest::Trial;
use crate::json::fairness;
use crate::latency_json::latency;

/// Each generator of a trial; `None` where the process of the run offered the load.
pub(crate) fn json(trial: &Trial<'_>) -> Option<Value> {
    let parts: Vec<Value> = Part::of_trial(trial).iter().map(part).collect();
    (!parts.is_empty()).then_some(parts.into())
}

fn part(part: &Part<'_>) -> Value {
    let record = part.record;
    let clients = record.map(|record| &record.clients);
    let comparison = |it: ClockComparison| json!({ "offset_ns": it.offset_ns, "uncertainty_ns": it.uncertainty_ns });
    json!({
        "name": part.name,
        "host": part.host,
        "first_client": clients.map(|clients| clients.start),
        "clients": part.clients,
        "event_loops": part.workers,
        "transactions": record.map(|record| record.transactions),
        "failed_transactions": record.map(|record| record.failed_transactions),
        "transactions_per_s": part.transactions_per_s,
        "latency": latency(part.latency),
        "cpu_threads": part.cpu_threads,
        "generator": part.own.map(|own| summary(own, record.and_then(|it| it.generator.as_ref()))),
        "late": part.lateness.map(latency),
        "clients_fairness": part.fairness.map(fairness),
        "clock": part.clock.map(|clock| json!({
            "start": comparison(clock.start),
            "end": clock.end.map(comparison),
            "moved_ns": clock.drift_ns(),
        })),
        "lost": part.lost,
    })
}

/// Whether the threads of one process, or of several together, ran; `of` is the process.
pub(crate) fn summary<'g>(
    summary: &GeneratorSummary,
    of: impl IntoIterator<Item = &'g Generator>,
) -> Value {
    let stalls = of.into_iter().flat_map(|generator| &generator.stalls);
    json!({
        "oversleep": latency(&summary.oversleep),
        "stalled": summary.stalled,
        "stalls": stalls.map(stall).collect::<Vec<_>>(),
        "workers": summary.workers.as_ref().map(workers),
    })
}

fn stall(stall: &GeneratorStall) -> Value {
    json!({ "start_ns": stall.start_ns, "end_ns": stall.end_ns })
}

fn workers(workers: &WorkersSummary) -> Value {
    let second = |span: &CpuSpan| {
        json!({
            "start_ns": span.start_ns,
            "end_ns": span.end_ns,
            "running": span.running(),
            "waiting": span.waiting(),
        })
    };
    json!({
        "count": workers.count,
        "running_mean": workers.running_mean,
        "running_max": workers.running_max,
        "waiting_mean": workers.waiting_mean,
        "waiting_max": workers.waiting_max,
        "busiest_second": second(&workers.busiest),
        "most_delayed_second": second(&workers.most_delayed),
    })
}
