//! The input of summaries and checks: the measurements of one trial.

use measure::{
    Condition, LatencyHistogram, Nanos, Operation, Outage, Rules, Tally, TrialStatus, Unfinished,
    Watched,
};

/// Start (inclusive) and end (exclusive) on the trial's clock.
pub type Window = (Nanos, Nanos);

/// The measurements of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The operations that are timed, in the order of every tally.
    pub operations: &'a [Operation],
    /// Sum of all counts in the measured intervals.
    pub total: &'a Tally,
    /// The measured intervals in order.
    pub slices: &'a [Slice],
    /// Requested percentiles, 0 to 100.
    pub percentiles: &'a [f64],
    /// Concurrent clients.
    pub clients: usize,
    /// Measured transactions of each client; empty when not known.
    pub client_events: &'a [u64],
    /// Clients that left early.
    pub clients_lost: usize,
    /// Pause of a client between transactions.
    pub think_time_ns: Nanos,
    /// The workload's own figures and the mix that it must keep.
    pub rules: &'a Rules,
    /// Results of the checks of conditions on the data after the load.
    pub conditions: &'a [Condition],
    /// Transactions that were due in the measured time and were not answered in it.
    pub unfinished: &'a Unfinished,
    /// Times in which clients had lost the system.
    pub outages: &'a [Outage],
    /// Statements that the server counted minus those that dyno counted, if the server reports them.
    pub server_difference: Option<i64>,
    /// End of the load on the clock of the outages, ns.
    pub load_end_ns: Nanos,
    /// Resource use of the load generator during the measured load.
    pub usage: Option<Usage>,
    /// The schedule of arrivals; `None` in a closed loop.
    pub open: Option<Offered<'a>>,
    /// Whether the system under test runs in this process, so that dyno's CPU time includes the system's.
    pub is_embedded: bool,
    /// The watched data.
    pub watched: &'a Watched,
    /// Start and end of the measured load on the clock of the watched data.
    pub window: Window,
    /// How the trial ended; `None` when dyno or the machine crashed before.
    pub status: Option<&'a TrialStatus>,
}

/// The throughput of one measured interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Its length, s.
    pub seconds: f64,
    /// Transactions that succeeded in it.
    pub transactions: u64,
}

/// Resource use of the load generator during the measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, ns.
    pub system_ns: Nanos,
    /// Context switches.
    pub switches: u64,
    /// Hardware threads that it could have kept busy: its own threads or the machine's, if these are fewer.
    pub threads: usize,
}

/// The load offered in an open loop.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Mean over the measured time, arrivals a second.
    pub rate_per_s: f64,
    /// Whether the rate is constant.
    pub is_constant: bool,
    /// Whether arrivals are random (a Poisson process).
    pub is_random: bool,
    /// Start delay of transactions for which an idle client was waiting.
    pub lateness: &'a LatencyHistogram,
}
