//! The input of summaries and checks: the measurements of one trial.

use measure::{
    Condition, DecidedEnds, Edges, FirstExecutions, Generator, GeneratorClock, GeneratorLoss,
    HostFacts, LatencyHistogram, MemberExit, Nanos, Operation, Outage, Phase, QueryCounts,
    QueryPlan, Rules, Tally, TransactionCounts, TrialStatus, Watched,
};

/// Start (inclusive) and end (exclusive) on the trial's clock.
pub type Window = (Nanos, Nanos);

#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The operations that are timed, in the order of every tally.
    pub operations: &'a [Operation],
    /// Sum of all counts in the measured intervals.
    pub total: &'a Tally,
    /// The measured intervals in order.
    pub slices: &'a [Slice],
    /// Latencies of the transactions that ended in each of these intervals; `None` where each query of the load is
    /// planned, so that intervals are no samples of one state.
    pub latencies: Option<&'a [&'a LatencyHistogram]>,
    /// Each operation in each of these intervals; empty when not known.
    pub operation_slices: &'a [Vec<OperationSlice<'a>>],
    /// Requested percentiles, 0 to 100.
    pub percentiles: &'a [f64],
    pub clients: usize,
    /// Measured transactions of each client; empty when not known.
    pub client_events: &'a [u64],
    /// Clients that left early, without those of lost generators.
    pub clients_lost: usize,
    /// Pause of a client between transactions.
    pub think_time_ns: Nanos,
    /// The workload's own figures and the mix that it must keep.
    pub rules: &'a Rules,
    /// Results of the checks of conditions on the data after the load.
    pub conditions: &'a [Condition],
    /// What crosses the edges of the measured window.
    pub edges: &'a Edges,
    /// Times in which clients had lost the system or no transaction succeeded.
    pub outages: &'a [Outage],
    /// Members of the system that exited, and without which it went on.
    pub member_exits: &'a [MemberExit],
    /// Statements by dyno's count and by the server's, if the server reports them.
    pub statements: Option<CountedStatements>,
    /// What a reader must know of the system's settings.
    pub system_remarks: &'a [String],
    /// What a reader must know of the data, as they were prepared or found.
    pub data_remarks: &'a [&'a str],
    /// Executions that are not like those after them; `None` where all are alike.
    pub first_executions: Option<&'a FirstExecutions>,
    /// Transactions of each operation that succeeded in the warm-up.
    pub warm_up: &'a [u64],
    /// The plans of the load's queries.
    pub plans: &'a [QueryPlan],
    /// Transactions counted by dyno and by the server; `None` where the server counts statements or nothing.
    pub transactions: Option<TransactionCounts>,
    /// End of the load on the clock of the outages, ns.
    pub load_end_ns: Nanos,
    /// Resource use of the load generator during the measured load.
    pub usage: Option<Usage>,
    /// Whether the load generator's own threads ran when they had work to do, where one process offered the load;
    /// `None` when not known.
    pub generator: Option<&'a Generator>,
    /// The generators with a part of the load each; empty where one process offered the whole.
    pub generators: &'a [GeneratorPart<'a>],
    pub interval_ns: Nanos,
    /// The schedule of arrivals; `None` in a closed loop.
    pub open: Option<Offered<'a>>,
    /// Whether the system under test runs in this process, so that dyno's CPU time includes the system's.
    pub is_embedded: bool,
    pub watched: &'a Watched,
    /// Start and end of the measured load on the clock of the watched data.
    pub window: Window,
    /// How the trial ended; `None` when dyno or the machine crashed before.
    pub status: Option<&'a TrialStatus>,
    /// The phase before the load that failed and ended the trial; `None` when none did.
    pub failed_phase: Option<Phase>,
    /// How the phases ended that may end by what is measured.
    pub decided_ends: DecidedEnds,
    pub damage: Option<DamagedFile<'a>>,
}

/// One of the generators of a load, or the process that offered the whole.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorPart<'a> {
    /// Its name; empty for a process that offered the whole.
    pub name: &'a str,
    /// Its host; `None` when not known.
    pub host: Option<&'a HostFacts>,
    /// Measured transactions of each of its clients; empty when not known.
    pub client_events: &'a [u64],
    /// Its event loops; 0 when not known.
    pub workers: usize,
    pub transactions: u64,
    /// Latencies of its transactions that were due in the window; `None` when they are not told apart.
    pub latencies: Option<&'a LatencyHistogram>,
    /// Start delay of its transactions for which an idle client was waiting; `None` in a closed loop.
    pub lateness: Option<&'a LatencyHistogram>,
    /// Whether its own threads ran when they had work to do; `None` when not known.
    pub own: Option<&'a Generator>,
    /// Its resource use during the measured load.
    pub usage: Option<Usage>,
    /// Its clock; `None` where it is the coordinator's.
    pub clock: Option<GeneratorClock>,
    pub lost: Option<&'a GeneratorLoss>,
}

/// The place from which on the record of a trial cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedFile<'a> {
    pub file: &'a str,
    /// The line, from 1; 0 when the damage has no line.
    pub line: usize,
    pub what: &'a str,
}

impl<'a> Measured<'a> {
    /// Every generator; the process that offered the whole load where there are no parts.
    pub(crate) fn each_generator(&self) -> Vec<GeneratorPart<'a>> {
        if !self.generators.is_empty() {
            return self.generators.to_vec();
        }
        vec![GeneratorPart {
            name: "",
            host: None,
            client_events: self.client_events,
            workers: 0,
            transactions: self.total.transactions,
            latencies: None,
            lateness: self.open.map(|offered| offered.lateness),
            own: self.generator,
            usage: self.usage,
            clock: None,
            lost: None,
        }]
    }
}

impl Measured<'_> {
    /// Time in the window that transactions took or waited, summed, ns: the area below the number in the system.
    pub(crate) fn busy_ns(&self) -> f64 {
        let edges = self.edges;
        self.total.busy_ns as f64 - edges.busy_before_ns as f64 + edges.busy_after_ns as f64
    }
}

/// The counts of one measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slice {
    pub seconds: f64,
    pub transactions: u64,
    pub queries: u64,
    /// Transactions that ended in it, failed ones included.
    pub ended: u64,
    /// Time that those took, summed, ns.
    pub busy_ns: Nanos,
    /// Intended starts in it; `None` in a closed loop, and in records that do not have them.
    pub arrivals: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct OperationSlice<'a> {
    pub succeeded: u64,
    /// Latencies of those, and of those that timed out at their time limit.
    pub latencies: &'a LatencyHistogram,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedStatements {
    /// Those that dyno sent and the server answered.
    pub by_dyno: QueryCounts,
    pub by_server: QueryCounts,
}

/// Resource use of the load generator during the measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, ns.
    pub system_ns: Nanos,
    pub switches: u64,
    /// Hardware threads that it could have kept busy: its own threads or the machine's, if these are fewer.
    pub threads: usize,
}

/// The load offered in an open loop.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Mean over the measured time, arrivals a second.
    pub rate_per_s: f64,
    pub is_constant: bool,
    /// Whether arrivals are random (a Poisson process).
    pub is_random: bool,
    /// Start delay of transactions for which an idle client was waiting.
    pub lateness: &'a LatencyHistogram,
    /// Start delay of all transactions that were sent, the wait for a client included.
    pub start_delays: &'a LatencyHistogram,
}
