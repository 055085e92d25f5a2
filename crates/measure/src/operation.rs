//! The operations of a workload, which are what is timed.

use serde::{Deserialize, Serialize};

/// An operation's place in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperationId(pub u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// One complete unit of the workload. It counts as a transaction, and the rate of transactions is the
    /// throughput.
    Transaction,
    Read,
    Write,
    /// A statement that does neither, such as BEGIN and COMMIT.
    Other,
    /// No statement, but a wait that belongs to a transaction, such as a pause in it or the opening of its connection.
    Wait,
}

impl OperationKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Read => "read",
            Self::Write => "write",
            Self::Other => "other",
            Self::Wait => "wait",
        }
    }
}

/// One kind of event with a latency of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name in tables and files, such as `point_select`.
    pub name: String,
    pub kind: OperationKind,
}

impl Operation {
    pub fn new(name: impl Into<String>, kind: OperationKind) -> Self {
        Self { name: name.into(), kind }
    }
}
