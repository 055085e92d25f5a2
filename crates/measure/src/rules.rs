//! What a workload's own rules make of its operations.

use serde::{Deserialize, Serialize};

use crate::OperationId;

/// A workload's own figures and the mix that it must keep; most workloads have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Figures beside those that every workload has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Shares of all transactions that operations must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// Whether clients wait between transactions for times of the workload's own, so that throughput and
    /// latency do not account for all of a client's time.
    pub has_waits: bool,
}

/// A rate with a name of its own, such as tpmC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Its name.
    pub name: String,
    /// What it counts and what it may be compared with, in a sentence.
    pub meaning: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// The period that it is a rate for, s: 60 for a rate per minute.
    pub period_s: u64,
    /// The most that it can be, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

/// A share of all transactions that operations must have at least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// What the operations are called together.
    pub name: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// Percent of all transactions that succeeded; 0 where nothing is required.
    pub least_percent: f64,
}
