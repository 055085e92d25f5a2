//! A simulated system whose response times are set in the plan.

/// Servers behind one queue, first come, first served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedSystem {
    /// How many requests are served at once, at least 1.
    pub servers: usize,
    /// Service times, ns; requests use them in turn, cyclically. Not empty.
    pub service_times_ns: Vec<u64>,
    /// Periods without service, in order and disjoint.
    pub stalls: Vec<Stall>,
}

/// A period in which every server is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its start on the trial's clock, warm-up included, ns.
    pub at_ns: u64,
    /// Its length, ns.
    pub length_ns: u64,
}
