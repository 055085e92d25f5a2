//! The load generator's own state while it offers load.

use serde::{Deserialize, Serialize};

use crate::{LatencyHistogram, Nanos};

/// Whether the load generator's threads ran when they had work to do. Times are on the trial's clock, warm-up
/// included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// How much later than intended a thread woke that slept for a few milliseconds at a time, in the measured load.
    pub oversleep: LatencyHistogram,
    /// Times in which that thread did not run although it was due, in order, those of the warm-up included. Of very
    /// many the longest are kept.
    pub stalls: Vec<GeneratorStall>,
    /// The worker threads in their order, in the measured load; empty when the kernel does not report their CPU.
    pub workers: Vec<WorkerCpu>,
}

/// A time in which the load generator did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorStall {
    /// When it was due to run.
    pub start_ns: Nanos,
    /// When it ran again.
    pub end_ns: Nanos,
}

impl GeneratorStall {
    pub fn length_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// How long it lasted from `from_ns` to `to_ns`.
    pub fn within(&self, from_ns: Nanos, to_ns: Nanos) -> Nanos {
        self.end_ns.min(to_ns).saturating_sub(self.start_ns.max(from_ns))
    }
}

/// The CPU of one worker thread. Source: `schedstat` of proc(5), which is `sched_info` of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerCpu {
    /// Over the measured load, or until the thread ended.
    pub whole: CpuSpan,
    /// The second in which it ran most; the whole when that is shorter.
    pub busiest: CpuSpan,
    /// The second in which it waited most; the whole when that is shorter.
    pub most_delayed: CpuSpan,
}

/// What a thread had of a CPU in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSpan {
    /// Where the span begins.
    pub start_ns: Nanos,
    pub end_ns: Nanos,
    pub running_ns: Nanos,
    /// Time in which the thread could have run and waited for a CPU.
    pub waiting_ns: Nanos,
}

impl CpuSpan {
    /// The part of the span on a CPU, 0 to 1; 0 of an empty span.
    pub fn running(&self) -> f64 {
        self.part(self.running_ns)
    }

    /// The part of the span that was spent waiting for a CPU, 0 to 1; 0 of an empty span.
    pub fn waiting(&self) -> f64 {
        self.part(self.waiting_ns)
    }

    fn part(&self, time_ns: Nanos) -> f64 {
        let length_ns = self.end_ns.saturating_sub(self.start_ns);
        if length_ns > 0 { time_ns as f64 / length_ns as f64 } else { 0.0 }
    }
}
