//! How fast the machine itself is while no load runs.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The machine's speed before and after the load of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpeed {
    /// When the load had not begun.
    pub before: SpeedSample,
    /// When it was over.
    pub after: SpeedSample,
}

/// CPU time of fixed work, as the median of many pieces on a CPU, and the geometric mean over the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedSample {
    /// Of a piece of arithmetic on 128 KiB of memory, ns.
    pub arithmetic_ns: f64,
    /// Of a round trip over the loopback interface within one thread, ns.
    pub round_trip_ns: f64,
    /// The CPUs that it was measured on, at the same time.
    pub cpus: usize,
    /// How long that took, ns.
    pub length_ns: Nanos,
    /// CPU time of all of it, ns.
    pub cost_ns: Nanos,
}

impl MachineSpeed {
    /// CPU time of the arithmetic around the load, ns: the geometric mean of both samples.
    pub fn arithmetic_ns(&self) -> f64 {
        (self.before.arithmetic_ns * self.after.arithmetic_ns).sqrt()
    }

    /// CPU time of a round trip around the load, likewise.
    pub fn round_trip_ns(&self) -> f64 {
        (self.before.round_trip_ns * self.after.round_trip_ns).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_around_a_load_is_the_geometric_mean_of_both_samples() {
        let sample = |arithmetic_ns, round_trip_ns| SpeedSample {
            arithmetic_ns,
            round_trip_ns,
            cpus: 2,
            length_ns: 50_000_000,
            cost_ns: 100_000_000,
        };
        let speed = MachineSpeed { before: sample(20.0, 900.0), after: sample(80.0, 1_600.0) };
        assert_eq!((speed.arithmetic_ns(), speed.round_trip_ns()), (40.0, 1_200.0));
    }
}
