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
    /// The response times that the workload allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_limits: Vec<LatencyLimit>,
    /// Where this load leaves the definition of the workload, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why this load has none of the scores that its workload defines, a clause each; empty when it has one, and for
    /// workloads that define none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unscored: Vec<String>,
}

/// A rate with a name of its own, such as tpmC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub name: String,
    /// What it counts and what it can be compared with, in a sentence.
    pub meaning: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// The period of the rate, s: 60 for a rate per minute.
    pub period_s: u64,
    /// How it is computed; a rate where nothing else is said.
    #[serde(default, skip_serializing_if = "Formula::is_rate")]
    pub formula: Formula,
    /// The largest possible value, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

/// How a score is computed from the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    #[default]
    Rate,
    /// A period by the geometric mean of the operations' times, times a scale. There is none unless each of them
    /// succeeded.
    Power { scale: f64 },
    /// Successes in a period, times a scale. There is none unless so many of them succeeded.
    Throughput {
        scale: f64,
        /// The successes of a whole load.
        successes: u64,
    },
}

impl Formula {
    pub fn is_rate(&self) -> bool {
        *self == Self::Rate
    }
}

/// The least share of all transactions that some operations must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub name: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// Percent of all transactions that succeeded; 0 where nothing is required.
    pub least_percent: f64,
}

/// The longest response time that a percentile of some operations may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyLimit {
    pub name: String,
    /// The operations whose successes count.
    pub operations: Vec<OperationId>,
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// The longest response time, ns.
    pub most_ns: u64,
}
