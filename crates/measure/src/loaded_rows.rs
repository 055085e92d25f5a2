//! What loading the data of a workload took.

use std::time::Duration;

use crate::LatencyHistogram;

/// Rows that were loaded into tables, and the INSERTs that carried them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedRows {
    pub rows: u64,
    /// From the start of the first transaction with rows to the end of the last one, over all sessions.
    pub duration: Duration,
    /// Time of each INSERT, from its sending to its answer. Over a network an INSERT carries many rows.
    pub inserts: LatencyHistogram,
}
