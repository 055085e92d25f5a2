//! What summaries and checks begin with: one trial as it was measured.

use measure::{
    Condition, LatencyHistogram, Nanos, Operation, Outage, Rules, Tally, TrialStatus, Unfinished,
    Watched,
};

/// From inclusive, to exclusive, on the trial's clock.
pub type Window = (Nanos, Nanos);

/// The measurements of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was timed, in the order of every tally.
    pub operations: &'a [Operation],
    /// Everything counted in the measured intervals.
    pub total: &'a Tally,
    /// The measured intervals in order.
    pub slices: &'a [Slice],
    /// The percentiles asked for, 0 to 100.
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
    /// What was found of the conditions on the data after the load.
    pub conditions: &'a [Condition],
    /// What was in flight when the measured time ended.
    pub unfinished: &'a Unfinished,
    /// When clients had lost the system.
    pub outages: &'a [Outage],
    /// How many statements more the server counted than dyno, if it reports it.
    pub server_difference: Option<i64>,
    /// Where the load ended on the clock of the outages, ns.
    pub load_end_ns: Nanos,
    /// What the load generator used during the measured load.
    pub usage: Option<Usage>,
    /// What was offered whether or not a client was free; `None` in a closed loop.
    pub open: Option<Offered<'a>>,
    /// Whether the system under test runs in this process, so that its CPU time is dyno's.
    pub is_embedded: bool,
    /// What was watched beside the load.
    pub watched: &'a Watched,
    /// From where to where the measured load went, on the clock of what was watched.
    pub window: Window,
    /// How the trial ended; `None` when dyno or the machine went down before.
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

/// What the load generator used during the measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, ns.
    pub system_ns: Nanos,
    /// Context switches.
    pub switches: u64,
    /// Hardware threads that it could have kept busy: the smaller of its threads and the machine's.
    pub threads: usize,
}

/// The load offered in an open loop.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Mean over the measured time, arrivals a second.
    pub rate_per_s: f64,
    /// Whether the rate is the same all the time.
    pub is_constant: bool,
    /// Whether arrivals are spread at random around the rate (a Poisson process).
    pub is_random: bool,
    /// Start delay of transactions for which an idle client was waiting.
    pub lateness: &'a LatencyHistogram,
}
