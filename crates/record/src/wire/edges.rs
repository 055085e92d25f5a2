//! `end.edges` of trial.json.

use measure::{Edges, Nanos, OperationTally, QueryCounts, StuckClients, Tally};
use serde::{Deserialize, Serialize};

use super::interval::{ErrorFile, error_files, errors};
use crate::hlog::{decode, encode};

/// Histograms are encoded as in latency.hlog; empty ones are absent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EdgesFile {
    before: Vec<OperationFile>,
    drain: DrainFile,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unanswered: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unsent: String,
    busy_before_ns: Nanos,
    busy_after_ns: Nanos,
    #[serde(default, skip_serializing_if = "StuckClients::is_empty")]
    stuck: StuckClients,
}

#[derive(Debug, Serialize, Deserialize)]
struct DrainFile {
    transactions: u64,
    failed_transactions: u64,
    queries: QueryCounts,
    operations: Vec<OperationFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OperationFile {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    succeeded: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    timed_out: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    failed: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    service: String,
}

impl From<&Edges> for EdgesFile {
    fn from(edges: &Edges) -> Self {
        let drain = &edges.drain;
        Self {
            before: edges.before.iter().map(OperationFile::from).collect(),
            drain: DrainFile {
                transactions: drain.transactions,
                failed_transactions: drain.failed_transactions,
                queries: drain.queries,
                operations: drain.operations.iter().map(OperationFile::from).collect(),
                errors: error_files(drain),
            },
            unanswered: encode(&edges.unanswered),
            unsent: encode(&edges.unsent),
            busy_before_ns: edges.busy_before_ns,
            busy_after_ns: edges.busy_after_ns,
            stuck: edges.stuck.clone(),
        }
    }
}

impl EdgesFile {
    pub(super) fn into_edges(self) -> Result<Edges, String> {
        let operations = |files: Vec<OperationFile>| {
            files.into_iter().map(OperationFile::into_tally).collect::<Result<Vec<_>, String>>()
        };
        let DrainFile { transactions, failed_transactions, queries, .. } = self.drain;
        Ok(Edges {
            before: operations(self.before)?,
            drain: Tally {
                operations: operations(self.drain.operations)?,
                transactions,
                failed_transactions,
                queries,
                errors: errors(self.drain.errors),
                ..Tally::default()
            },
            unanswered: decode(&self.unanswered)?,
            unsent: decode(&self.unsent)?,
            busy_before_ns: self.busy_before_ns,
            busy_after_ns: self.busy_after_ns,
            stuck: self.stuck,
        })
    }
}

impl From<&OperationTally> for OperationFile {
    fn from(tally: &OperationTally) -> Self {
        Self {
            succeeded: encode(&tally.succeeded),
            timed_out: encode(&tally.timed_out),
            failed: encode(&tally.failed),
            service: encode(&tally.service),
        }
    }
}

impl OperationFile {
    fn into_tally(self) -> Result<OperationTally, String> {
        Ok(OperationTally {
            succeeded: decode(&self.succeeded)?,
            timed_out: decode(&self.timed_out)?,
            failed: decode(&self.failed)?,
            service: decode(&self.service)?,
        })
    }
}
