//! Scores and mix rules that a workload defines.

use serde::{Deserialize, Serialize};

use crate::OperationId;

/// The scores of a workload and the transaction mix that it requires; most workloads have neither.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Scores beside the figures that every workload has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Required shares of the transaction mix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// Whether the workload makes clients wait between transactions, so that throughput and latency do not
    /// account for all of a client's time.
    pub has_waits: bool,
}

/// A rate with a name of its own, such as tpmC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Its name.
    pub name: String,
    /// What it counts and what it can be compared with, in a sentence.
    pub meaning: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// The period of the rate, s: 60 for a rate per minute.
    pub period_s: u64,
    /// The largest possible value, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

/// The least share of all transactions that some operations must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The common name of the operations.
    pub name: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// Percent of all transactions that succeeded; 0 where nothing is required.
    pub least_percent: f64,
}
