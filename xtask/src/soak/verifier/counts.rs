//! Whether the counts of a trial agree with each other (different parts of dyno make them, and they are read from
//! different files), and with the server's.
//!
//! dyno and the server count the same statements, except for those whose outcome is unknown:
//! - Each lost connection leaves one statement unanswered. dyno counts it; the server may or may not have run it.
//! - A write that a read-only server refuses is answered, so dyno counts it; the server counts it only if it had
//!   begun to execute, as a COMMIT has.
//! - A transaction without an answer at the end of the trial may have run one statement that dyno does not count.
//!
//! The soak test's own statements are of kinds that no workload has, so they are subtracted. A restarted server
//! counts from zero: for such a trial there is nothing to compare with.

use std::time::Duration;

use measure::{OperationKind, OperationTally};
use record::{Counted, CrossCheck, TrialEnd, TrialRecord, TrialStatus};

use super::times::{Span, load_end, load_start};
use super::{Check, Evidence, Verification};
use crate::soak::schedule::Disturbance;
use crate::soak::soak_plan::READ_ONLY_CODE;

/// Kinds of the soak's own statements: KILL, SHOW PROCESSLIST, SET.
const OWN: [&str; 3] = ["Com_kill", "Com_show_processlist", "Com_set_option"];

impl Verification {
    /// Every transaction is in the counters, in the histograms and in the counts of its client; every failed one has
    /// its error; intervals have no gaps.
    pub(super) fn counts(&mut self, trial: &TrialRecord, planned: Duration) {
        let Some(end) = &trial.end else { return };
        self.figures.transactions += trial.total.transactions;
        let mut wrong = Vec::new();
        let ends = std::iter::once(0).chain(trial.intervals.iter().map(|it| it.end_ns));
        if ends.zip(&trial.intervals).any(|(end, interval)| interval.start_ns != end) {
            wrong.push("its intervals have gaps".to_owned());
        }
        if end.status == TrialStatus::Complete {
            let last = Duration::from_nanos(trial.intervals.last().map_or(0, |it| it.end_ns));
            if last != planned {
                wrong.push(format!("its intervals end at {last:?}, not at {planned:?}"));
            }
            let failures = end.clients.iter().filter_map(|client| client.failure.as_ref());
            wrong.extend(failures.map(|failure| format!("a client left: {failure}")));
        }
        let equations = equations(trial, end).into_iter();
        let unequal = equations.filter(|(_, left, right)| left != right);
        wrong.extend(unequal.map(|(what, left, right)| format!("{what}: {left} and {right}")));
        for text in wrong {
            self.report(Check::Counts, Some(trial), text);
        }
    }

    /// dyno has compared its statements with the server's, and they are the same.
    pub(super) fn server(&mut self, trial: &TrialRecord, span: &Span, evidence: &Evidence<'_>) {
        let Some(end) = &trial.end else { return };
        let (Some(from), Some(until)) = (load_start(trial), load_end(trial)) else { return };
        let lost = trial.outages.iter().map(|outage| outage.failures).sum();
        self.figures.lost += lost;
        let text = match &end.cross_check {
            Some(CrossCheck::Counted(counted)) => {
                self.figures.statements += counted.by_dyno.total();
                let was_killed = evidence.done.iter().any(|done| {
                    matches!(done.disturbance, Disturbance::Kill(_))
                        && (from..=until).contains(&done.from)
                });
                if was_killed {
                    "the server was restarted, and dyno compared all the same".to_owned()
                } else {
                    let Some(text) = self.difference(trial, end, counted, lost) else { return };
                    text
                }
            }
            Some(CrossCheck::Missing { reason, by_dyno }) => {
                self.figures.statements += by_dyno.total();
                self.figures.uncompared += 1;
                if evidence.done.iter().any(|done| span.meets(done)) {
                    return;
                }
                format!("nobody disturbed it, and yet it has no check: {reason}")
            }
            None => "the server tells, and it was not asked".to_owned(),
        };
        self.report(Check::Server, Some(trial), text);
    }

    /// What is wrong with the difference between both counts, if anything.
    fn difference(
        &mut self,
        trial: &TrialRecord,
        end: &TrialEnd,
        counted: &Counted,
        lost: u64,
    ) -> Option<String> {
        let own = counted.counters.iter().filter(|(name, _)| OWN.contains(&name.as_str()));
        let own: u64 = own.map(|(_, count)| *count).sum();
        let difference = counted.difference() - own.cast_signed();
        let errors = trial.intervals.iter().flat_map(|interval| &interval.tally.errors);
        let errors = errors.chain(&end.edges.drain.errors);
        let refused = errors.filter(|(key, _)| key.code == READ_ONLY_CODE);
        let refused: u64 = refused.map(|(_, counts)| counts.total()).sum();
        let unanswered = end.edges.unanswered.count().cast_signed();
        let allowed = -(lost + refused).cast_signed()..=unanswered;
        if difference == 0 {
            self.figures.equal += 1;
        } else if allowed.contains(&difference) {
            self.figures.bounded += 1;
        } else {
            return Some(format!(
                "the server counted {difference:+} statements, which is not within {allowed:?}: {counted:?}"
            ));
        }
        None
    }
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
