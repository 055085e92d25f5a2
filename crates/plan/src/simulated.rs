//! A simulated system: its answers take the times that the plan gives.

/// Servers behind one queue, first come, first served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedSystem {
    /// How many requests are served at once, at least 1.
    pub servers: usize,
    /// Service times, ns; requests take them in turn, over and over. Not empty.
    pub service_times_ns: Vec<u64>,
    /// Stretches of time in which nothing is served, in their order and apart.
    pub stalls: Vec<Stall>,
}

/// A stretch of time in which every server stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins on the trial's clock, warm-up included, ns.
    pub at_ns: u64,
    /// How long it lasts, ns.
    pub length_ns: u64,
}
