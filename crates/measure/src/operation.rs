//! What is timed: the operations of a workload.

use serde::{Deserialize, Serialize};

/// An operation's place in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperationId(pub u16);

/// What an operation counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// A whole unit of the workload's work: it counts as a transaction, and its rate is the
    /// throughput.
    Transaction,
    /// A statement that reads.
    Read,
    /// A statement that writes.
    Write,
    /// A statement that does neither, such as BEGIN and COMMIT.
    Other,
}

/// One kind of event with a latency of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name in tables and files, such as `point_select`.
    pub name: String,
    /// What it counts as.
    pub kind: OperationKind,
}

impl Operation {
    /// Names an operation.
    pub fn new(name: impl Into<String>, kind: OperationKind) -> Self {
        Self { name: name.into(), kind }
    }
}
