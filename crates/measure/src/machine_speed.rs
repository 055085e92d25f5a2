//! How fast the machine itself is while no load runs.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The machine's speed before the load of a trial: CPU time of fixed work, as the median of many pieces on a CPU, and the
/// geometric mean over the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpeed {
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
