//! Whether the load generator's own threads ran when they had work to do.

use measure::{CpuSpan, Nanos, WorkerCpu, sum};

use crate::Measured;
use crate::latency::{Latency, latency, per};

/// What the load generator observed of itself in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorSummary {
    /// How much later than intended a thread woke that slept for a few milliseconds at a time, with p99.
    pub oversleep: Latency,
    /// The part of the measured time in which that thread did not run although it was due, 0 to 1.
    pub stalled: f64,
    /// CPU of the worker threads; `None` when the kernel does not report it, and of too short a window.
    pub workers: Option<WorkersSummary>,
}

/// CPU of the worker threads, as parts of the time, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkersSummary {
    /// Number of workers.
    pub count: usize,
    /// Mean of all on a CPU.
    pub running_mean: f64,
    /// On a CPU, of the worker with the most.
    pub running_max: f64,
    /// Mean of all waiting for a CPU.
    pub waiting_mean: f64,
    /// Waiting for a CPU, of the worker with the most.
    pub waiting_max: f64,
    /// The second in which a worker ran most, of all workers.
    pub busiest: CpuSpan,
    /// The second in which a worker waited most, of all workers.
    pub most_delayed: CpuSpan,
}

pub(crate) fn summarize(measured: &Measured<'_>) -> Option<GeneratorSummary> {
    let generator = measured.generator?;
    let (from, to) = measured.window;
    let stalled_ns = sum(generator.stalls.iter().map(|stall| stall.within(from, to)));
    Some(GeneratorSummary {
        oversleep: latency(&generator.oversleep, &[99.0]),
        stalled: per(stalled_ns as f64, to.saturating_sub(from) as f64),
        workers: workers(&generator.workers),
    })
}

/// The kernel counts a wait when it ends, so in a shorter time the count says little.
const SPAN_MIN_NS: Nanos = 100_000_000;

/// `None` without workers, and when one of them was read over too short a time.
fn workers(workers: &[WorkerCpu]) -> Option<WorkersSummary> {
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
