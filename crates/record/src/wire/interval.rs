//! One line of intervals.jsonl: the counters of an interval. Its histograms are in latency.hlog.

use measure::{
    ErrorClass, ErrorCounts, ErrorKey, Interval, OperationTally, Phase, QueryCounts, Tally, Traffic,
};
use serde::{Deserialize, Serialize};

use super::mirror::mirror;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalLine {
    phase: String,
    start_ns: u64,
    end_ns: u64,
    transactions: u64,
    failed_transactions: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    reconnects: u64,
    queries: QueriesFile,
    traffic: TrafficFile,
    busy_ns: u64,
    pub(crate) operations: Vec<OperationFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorFile>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct QueriesFile {
    read: u64,
    write: u64,
    other: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrafficFile {
    sent_bytes: u64,
    received_bytes: u64,
}

mirror!(QueryCounts, QueriesFile, read, write, other);
mirror!(Traffic, TrafficFile, sent_bytes, received_bytes);

/// How many values the histograms of an operation have in this interval.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OperationFile {
    pub(crate) succeeded: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) timed_out: u64,
    pub(crate) failed: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) service: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Serialize, Deserialize)]
struct ErrorFile {
    class: String,
    code: String,
    retried: u64,
    ignored: u64,
    fatal: u64,
}

/// The line of an interval, with its end of line.
pub(crate) fn interval_line(interval: &Interval) -> String {
    let mut line = serde_json::to_string(&IntervalLine::from(interval))
        .expect("plain structs with text keys always have a JSON form");
    line.push('\n');
    line
}

impl From<&Interval> for IntervalLine {
    fn from(interval: &Interval) -> Self {
        let tally = &interval.tally;
        Self {
            phase: interval.phase.name().to_owned(),
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            transactions: tally.transactions,
            failed_transactions: tally.failed_transactions,
            reconnects: tally.reconnects,
            queries: tally.queries.into(),
            traffic: tally.traffic.into(),
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
            errors: tally.errors.iter().map(ErrorFile::from).collect(),
        }
    }
}

impl From<(&ErrorKey, &ErrorCounts)> for ErrorFile {
    fn from((key, counts): (&ErrorKey, &ErrorCounts)) -> Self {
        Self {
            class: key.class.name().to_owned(),
            code: key.code.clone(),
            retried: counts.retried,
            ignored: counts.ignored,
            fatal: counts.fatal,
        }
    }
}

impl ErrorFile {
    fn into_counts(self) -> Result<(ErrorKey, ErrorCounts), String> {
        let class = ErrorClass::from_name(&self.class)
            .ok_or_else(|| format!("`{}` is no class of errors", self.class))?;
        let counts =
            ErrorCounts { retried: self.retried, ignored: self.ignored, fatal: self.fatal };
        Ok((ErrorKey::new(class, self.code), counts))
    }
}

impl IntervalLine {
    /// The interval with the histograms that were read for it.
    pub(crate) fn into_interval(self, operations: Vec<OperationTally>) -> Result<Interval, String> {
        let phase = Phase::from_name(&self.phase)
            .ok_or_else(|| format!("`{}` is no phase of a trial", self.phase))?;
        if self.end_ns < self.start_ns {
            return Err("the interval ends before it begins".to_owned());
        }
        let errors =
            self.errors.into_iter().map(ErrorFile::into_counts).collect::<Result<_, _>>()?;
        let tally = Tally {
            operations,
            queries: self.queries.into(),
            transactions: self.transactions,
            failed_transactions: self.failed_transactions,
            reconnects: self.reconnects,
            errors,
            traffic: self.traffic.into(),
            busy_ns: self.busy_ns,
        };
        Ok(Interval { phase, start_ns: self.start_ns, end_ns: self.end_ns, tally })
    }
}
