//! Whether the load generators' own threads ran when they had work to do, and what each generator did.

use measure::{CpuSpan, Generator, LatencyHistogram, Nanos, WorkerCpu, sum};

use crate::Measured;
use crate::latency::{Latency, latency, per};
use crate::summary::{Fairness, fairness};

/// What the load generator observed of itself in the measured time: one process, or several together.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorSummary {
    /// How much later than intended a thread woke that slept for a few milliseconds at a time, with p99.
    pub oversleep: Latency,
    /// The part of the measured time in which that thread did not run although it was due, 0 to 1; of several
    /// processes the mean.
    pub stalled: f64,
    /// CPU of the worker threads; `None` when the kernel does not report it, and of too short a window.
    pub workers: Option<WorkersSummary>,
}

/// CPU of the worker threads, as parts of the time, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkersSummary {
    pub count: usize,
    pub running_mean: f64,
    /// On a CPU, of the worker with the most.
    pub running_max: f64,
    pub waiting_mean: f64,
    /// Waiting for a CPU, of the worker with the most.
    pub waiting_max: f64,
    /// The second in which a worker ran most, of all workers.
    pub busiest: CpuSpan,
    /// The second in which a worker waited most, of all workers.
    pub most_delayed: CpuSpan,
}

/// What one of several generators did in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorFigures {
    pub transactions_per_s: f64,
    /// Latency of its transactions that were due in the window, without those that were never answered.
    pub latency: Latency,
    /// How evenly its clients were served; `None` when not known or with one client.
    pub fairness: Option<Fairness>,
    /// Start delay of its transactions for which an idle client was waiting, with p99; none in a closed loop.
    pub lateness: Latency,
    /// CPU that it kept busy on average, in hardware threads.
    pub cpu_threads: Option<f64>,
    /// What it observed of itself; `None` when not known.
    pub own: Option<GeneratorSummary>,
}

/// All generators together; `None` when none of them observed itself.
pub(crate) fn pooled(measured: &Measured<'_>) -> Option<GeneratorSummary> {
    let each = measured.each_generator();
    let known: Vec<&Generator> = each.iter().filter_map(|one| one.own).collect();
    summary(measured, &known)
}

/// Each generator by itself, in their order; of a load that one process offered alone that process.
pub(crate) fn each(measured: &Measured<'_>, seconds: f64) -> Vec<GeneratorFigures> {
    let none = LatencyHistogram::new();
    let figures = |one: &crate::GeneratorPart<'_>| GeneratorFigures {
        transactions_per_s: per(one.transactions as f64, seconds),
        latency: latency(one.latencies.unwrap_or(&none), measured.percentiles),
        fairness: fairness(one.client_events),
        lateness: latency(one.lateness.unwrap_or(&none), &[99.0]),
        cpu_threads: one
            .usage
            .filter(|_| seconds > 0.0)
            .map(|usage| sum([usage.user_ns, usage.system_ns]) as f64 / 1e9 / seconds),
        own: summary(measured, one.own.as_slice()),
    };
    measured.each_generator().iter().map(figures).collect()
}

/// Of these processes together; `None` without any.
fn summary(measured: &Measured<'_>, all: &[&Generator]) -> Option<GeneratorSummary> {
    if all.is_empty() {
        return None;
    }
    let (from, to) = measured.window;
    let stalls = all.iter().flat_map(|generator| &generator.stalls);
    let stalled_ns = sum(stalls.map(|stall| stall.within(from, to)));
    let workers: Vec<WorkerCpu> =
        all.iter().flat_map(|generator| &generator.workers).copied().collect();
    let oversleep = LatencyHistogram::sum(all.iter().map(|generator| &generator.oversleep));
    Some(GeneratorSummary {
        oversleep: latency(&oversleep, &[99.0]),
        stalled: per(stalled_ns as f64, to.saturating_sub(from) as f64 * all.len() as f64),
        workers: workers_summary(&workers),
    })
}

/// The kernel counts a wait when it ends, so in a shorter time the count says little.
const SPAN_MIN_NS: Nanos = 100_000_000;

/// `None` without workers, and when one of them was read over too short a time.
fn workers_summary(workers: &[WorkerCpu]) -> Option<WorkersSummary> {
    let length_ns = |span: &CpuSpan| span.end_ns.saturating_sub(span.start_ns);
    if workers.iter().any(|worker| length_ns(&worker.whole) < SPAN_MIN_NS) {
        return None;
    }
    let mean = |of: fn(&CpuSpan) -> f64| {
        workers.iter().map(|worker| of(&worker.whole)).sum::<f64>() / workers.len() as f64
    };
    let highest = |of: fn(&CpuSpan) -> f64, span: fn(&WorkerCpu) -> CpuSpan| {
        workers.iter().map(span).max_by(|one, other| of(one).total_cmp(&of(other)))
    };
    Some(WorkersSummary {
        count: workers.len(),
        running_mean: mean(CpuSpan::running),
        running_max: highest(CpuSpan::running, |worker| worker.whole)?.running(),
        waiting_mean: mean(CpuSpan::waiting),
        waiting_max: highest(CpuSpan::waiting, |worker| worker.whole)?.waiting(),
        busiest: highest(CpuSpan::running, |worker| worker.busiest)?,
        most_delayed: highest(CpuSpan::waiting, |worker| worker.most_delayed)?,
    })
}
