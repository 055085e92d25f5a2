//! The outcome of a trial's load.

use std::io;
use std::time::Duration;

use measure::{Edges, Failure, FailureExamples, LatencyHistogram, Nanos, TimedTurn};

/// The outcome of a trial's load, without its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub ended: LoadEnd,
    /// Each client, in order.
    pub clients: Vec<ClientOutcome>,
    /// What crosses the edges of the measured window.
    pub edges: Edges,
    /// Start delays that the load generator caused: from the intended to the actual start of measured
    /// transactions for which an idle client was waiting. Empty in a closed loop.
    pub lateness: LatencyHistogram,
    /// From the intended to the actual start of every transaction that was due in the window and was sent, the wait
    /// for a client included. Empty in a closed loop.
    pub start_delays: LatencyHistogram,
    /// One failure of a transaction of each class and code.
    pub failures: FailureExamples,
    /// When each transaction ran, in the order of their starts; empty unless the load keeps it.
    pub turns: Vec<TimedTurn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadEnd {
    Complete,
    /// A stop was requested; the results so far are valid.
    Interrupted,
    /// All clients failed before the end; this is the first failure.
    AllClientsFailed(Failure),
    /// A connection broke, and reconnecting is off.
    Disconnected(Failure),
    /// The system under test has exited, with the reason.
    Crashed(String),
    /// No transaction succeeded, for most of the window or at its end.
    Stalled {
        /// How long no transaction succeeded, ns.
        stalled_ns: Nanos,
        window_ns: Nanos,
        /// Since when nothing was answered, on the trial's clock, if that had not ended; else `None`.
        since_ns: Option<Nanos>,
    },
    /// No transaction succeeded at all, warm-up included.
    NoSuccess {
        failed: u64,
        most: Option<Failure>,
    },
    /// Transactions arrived faster than they were answered, until the backlog limit was reached.
    Overloaded {
        /// The number of arrivals that waited for a client, over all workers.
        backlog: u64,
    },
    /// A generator of the load is lost, and the others may not go on without it.
    GeneratorLost {
        generator: String,
        reason: String,
    },
    /// A generator learned too late of an edge of a phase: its phases are not those of the other generators.
    Uneven {
        generator: String,
        late_ns: Nanos,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOutcome {
    /// Measured transactions that succeeded.
    pub events: u64,
    /// The reason for its early end, if any.
    pub failure: Option<Failure>,
}

/// Why a trial's load did not start or was aborted.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A client could not connect or prepare.
    #[error("client {client} of {clients} could not start: {failure}")]
    Start { client: usize, clients: usize, failure: Failure },
    /// Connecting took too long.
    #[error(
        "{clients} clients had not connected and prepared their statements within {timeout:?}: many \
         statements take longer, so raise `--connect-timeout` (connect_timeout in a plan); or the server is \
         overloaded or does not answer"
    )]
    StartTimeout { clients: usize, timeout: Duration },
    /// The system under test exited before the load began.
    #[error("{0}")]
    Crashed(String),
    /// A stop was requested before the load began.
    #[error("interrupted before load began")]
    Interrupted,
    /// The observer could not store the results.
    #[error("cannot keep what is measured: {0}")]
    Observer(#[from] io::Error),
    /// The machine refused a thread, usually because of a limit.
    #[error("cannot start {workers} threads for the load: {cause}")]
    Thread { workers: usize, cause: io::Error },
    /// Generators of the load could not be reached.
    #[error("{0}")]
    Generators(String),
    /// A generator of the load could not start, or was lost before the load began.
    #[error("generator {generator}: {reason}")]
    Generator { generator: String, reason: String },
    #[error("{0}")]
    Loop(Failure),
}
