//! What came of a trial's load.

use std::io;
use std::time::Duration;

use measure::{Failure, LatencyHistogram, QueryCounts, Unfinished};

/// What came of a trial's load, beside its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// Each client, in order.
    pub clients: Vec<ClientOutcome>,
    /// What was in flight when the measured time ended.
    pub unfinished: Unfinished,
    /// Statements that ended after the last interval, which no interval has.
    pub late_queries: QueryCounts,
    /// How late the load generator itself was: measured transactions that a free client waited for,
    /// from their intended start to the actual one. Empty in a closed loop.
    pub lateness: LatencyHistogram,
}

/// How a trial's load ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As planned.
    Complete,
    /// Someone asked for the end; what was measured until then stands.
    Interrupted,
    /// Every client failed before the time was over; the first failure.
    Deserted(Failure),
    /// A connection broke, and none was to be made again.
    Disconnected(Failure),
    /// The system under test is gone, and why.
    Crashed(String),
    /// Transactions arrived faster than they were answered, until so many waited that it had no sense.
    Overloaded {
        /// How many waited for a client, those of all workers.
        backlog: u64,
    },
}

/// What one client did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOutcome {
    /// Measured transactions that succeeded.
    pub events: u64,
    /// Why it left early.
    pub failure: Option<Failure>,
}

/// Why a trial's load never ran or was broken off.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A client could not make ready.
    #[error("client {client} of {clients} could not start: {failure}")]
    Start {
        /// Which.
        client: usize,
        /// Of how many.
        clients: usize,
        /// Why.
        failure: Failure,
    },
    /// Connecting took too long.
    #[error(
        "{clients} clients were not connected within {timeout:?}; the server may be overloaded or \
         not answering"
    )]
    StartTimeout {
        /// How many clients.
        clients: usize,
        /// The bound.
        timeout: Duration,
    },
    /// The system under test went away before load began.
    #[error("{0}")]
    Crashed(String),
    /// Someone asked for the end before load began.
    #[error("interrupted before load began")]
    Interrupted,
    /// The observer could not keep what was measured.
    #[error("cannot keep what is measured: {0}")]
    Observer(#[from] io::Error),
    /// The event loop failed.
    #[error("{0}")]
    Loop(Failure),
}
