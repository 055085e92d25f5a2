//! Whether the counts of a trial agree with each other: different parts of dyno make them, and they are read from
//! different files.

use measure::{OperationKind, OperationTally};
use record::{TrialEnd, TrialRecord, TrialStatus};

use super::{Check, Evidence, Verification};

impl Verification {
    /// Every transaction is in the counters, in the histograms and in the counts of its client; every failed one has
    /// its error; intervals have no gaps.
    pub(super) fn counts(&mut self, trial: &TrialRecord, evidence: &Evidence<'_>) {
        let Some(end) = &trial.end else { return };
        self.figures.transactions += trial.total.transactions;
        let index = trial.header.index;
        let planned = evidence.planned.get(index).map(|planned| planned.length);
        let last = trial.intervals.last().map_or(0, |interval| interval.end_ns);
        let is_complete = end.status == TrialStatus::Complete;
        if !has_no_gaps(trial) {
            self.report(Check::Counts, Some(trial), "its intervals have gaps");
        }
        if is_complete && planned.is_some_and(|length| u128::from(last) != length.as_nanos()) {
            let text = format!("its intervals end at {last} ns, not at {planned:?}");
            self.report(Check::Counts, Some(trial), text);
        }
        for (what, left, right) in equations(trial, end) {
            if left != right {
                let text = format!("{what}: {left} and {right}");
                self.report(Check::Counts, Some(trial), text);
            }
        }
        for client in end.clients.iter().filter_map(|client| client.failure.as_ref()) {
            if is_complete {
                self.report(Check::Counts, Some(trial), format!("a client left: {client}"));
            }
        }
    }
}

fn has_no_gaps(trial: &TrialRecord) -> bool {
    let ends = std::iter::once(0).chain(trial.intervals.iter().map(|interval| interval.end_ns));
    ends.zip(&trial.intervals).all(|(end, interval)| interval.start_ns == end)
}

/// Pairs of counts that must be equal.
fn equations(trial: &TrialRecord, end: &TrialEnd) -> Vec<(&'static str, u64, u64)> {
    let total = &trial.total;
    let sum = |of: &dyn Fn(&OperationTally) -> u64| -> u64 {
        let all = trial.header.operations.iter().zip(&total.operations);
        all.filter(|(it, _)| it.kind == OperationKind::Transaction).map(|(_, it)| of(it)).sum()
    };
    let succeeded = sum(&|tally| tally.succeeded.count());
    let timed_out = sum(&|tally| tally.timed_out.count());
    let failed = sum(&|tally| tally.failed.count());
    let given_up = total.errors.values().map(|counts| counts.ignored + counts.fatal).sum();
    let in_intervals = trial.measured().map(|interval| interval.latencies.count()).sum();
    let is_open = trial.header.load.open.is_some();
    let served = if is_open { total.transactions } else { 0 };
    let mut equations = vec![
        ("transactions, and values of their histograms", total.transactions, succeeded),
        ("the same, and service times", served, sum(&|tally| tally.service.count())),
        ("failed transactions, and values", total.failed_transactions, timed_out + failed),
        ("failed transactions, and errors that gave up", total.failed_transactions, given_up),
        ("latencies of the trial, and of its intervals", succeeded + timed_out, in_intervals),
    ];
    if !end.clients.is_empty() {
        let events = end.clients.iter().map(|client| client.events).sum();
        equations.push(("transactions, and those of clients", total.transactions, events));
    }
    // A workload of one operation sends one statement for each attempt.
    if trial.header.operations.len() == 1 {
        let tries = total.transactions + total.failed_transactions + total.retries();
        equations.push(("statements, and tries of one each", total.queries.total(), tries));
    }
    equations
}
