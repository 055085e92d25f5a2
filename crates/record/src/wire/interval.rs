//! One line of intervals.jsonl: the counters of an interval. Its histograms are in latency.hlog.

use std::collections::BTreeMap;
use std::mem;

use measure::{
    ErrorCounts, ErrorKey, Interval, OperationTally, Phase, QueryCounts, Tally, Traffic,
};
use serde::{Deserialize, Serialize};

use crate::generator::GENERATORS_MAX;
use crate::values::{at_most, is_default};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalLine {
    pub(crate) phase: Phase,
    start_ns: u64,
    end_ns: u64,
    transactions: u64,
    failed_transactions: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    reconnects: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    idle_reconnects: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    moves: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    arrivals: u64,
    queries: QueryCounts,
    traffic: Traffic,
    busy_ns: u64,
    pub(crate) operations: Vec<OperationFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorFile>,
    /// The workers that had not closed the interval; what they had counted in it is in later lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing_workers: Vec<usize>,
    /// Transactions of each of several generators that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    generators: Vec<u64>,
}

/// Number of values in each histogram of an operation in this interval.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OperationFile {
    pub(crate) succeeded: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) timed_out: u64,
    pub(crate) failed: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) service: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ErrorFile {
    #[serde(flatten)]
    key: ErrorKey,
    #[serde(flatten)]
    counts: ErrorCounts,
}

pub(super) fn error_files(tally: &Tally) -> Vec<ErrorFile> {
    let errors = tally.errors.iter();
    errors.map(|(key, counts)| ErrorFile { key: key.clone(), counts: *counts }).collect()
}

pub(super) fn errors(files: Vec<ErrorFile>) -> BTreeMap<ErrorKey, ErrorCounts> {
    files.into_iter().map(|it| (it.key, it.counts)).collect()
}

/// The line of an interval without the counts of these workers, with the transactions of each of several generators,
/// including the line end.
pub(crate) fn interval_line(
    interval: &Interval,
    missing: &[usize],
    generators: Vec<u64>,
) -> String {
    let line = IntervalLine { missing_workers: missing.to_vec(), generators, ..interval.into() };
    let mut line =
        serde_json::to_string(&line).expect("plain structs with text keys always have a JSON form");
    line.push('\n');
    line
}

impl From<&Interval> for IntervalLine {
    fn from(interval: &Interval) -> Self {
        let tally = &interval.tally;
        Self {
            phase: interval.phase,
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            transactions: tally.transactions,
            failed_transactions: tally.failed_transactions,
            reconnects: tally.reconnects,
            idle_reconnects: tally.idle_reconnects,
            moves: tally.moves,
            arrivals: tally.arrivals,
            queries: tally.queries,
            traffic: tally.traffic,
            busy_ns: tally.busy_ns,
            operations: tally
                .operations
                .iter()
                .map(|operation| OperationFile {
                    succeeded: operation.succeeded.count(),
                    timed_out: operation.timed_out.count(),
                    failed: operation.failed.count(),
                    service: operation.service.count(),
                })
                .collect(),
            errors: error_files(tally),
            missing_workers: Vec::new(),
            generators: Vec::new(),
        }
    }
}

impl IntervalLine {
    /// Takes the transactions of each of several generators.
    ///
    /// # Errors
    /// When they are more than any plan has.
    pub(crate) fn take_generators(&mut self) -> Result<Vec<u64>, String> {
        at_most("generators", self.generators.len(), GENERATORS_MAX)?;
        Ok(mem::take(&mut self.generators))
    }

    /// Combines the counters with the histograms of the interval.
    pub(crate) fn into_interval(self, operations: Vec<OperationTally>) -> Result<Interval, String> {
        if self.end_ns < self.start_ns {
            return Err("the interval ends before it begins".to_owned());
        }
        let tally = Tally {
            operations,
            queries: self.queries,
            transactions: self.transactions,
            failed_transactions: self.failed_transactions,
            reconnects: self.reconnects,
            idle_reconnects: self.idle_reconnects,
            moves: self.moves,
            arrivals: self.arrivals,
            errors: errors(self.errors),
            traffic: self.traffic,
            busy_ns: self.busy_ns,
        };
        Ok(Interval { phase: self.phase, start_ns: self.start_ns, end_ns: self.end_ns, tally })
    }
}

#[cfg(test)]
mod tests {
    use measure::ErrorClass;

    use super::*;

    #[test]
    fn names_in_files_are_those_of_tables() {
        for phase in Phase::ALL {
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.name());
        }
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
