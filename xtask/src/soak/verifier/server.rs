//! Whether dyno's count of statements equals the server's and that of the proxy.
//!
//! They are equal except for statements whose outcome is unknown:
//! - Each lost connection leaves one statement unanswered. dyno counts it; it may or may not have been sent, and the
//!   server may or may not have run it.
//! - A write that a read-only server refuses is answered, so dyno counts it; the server counts it only if it had
//!   begun to execute, as a COMMIT has.
//! - A transaction without an answer at the end of the trial may have run one statement that dyno does not count.
//!
//! The soak test's own statements are of kinds that no workload has, so they are subtracted. A restarted server
//! counts from zero; for such a trial only the wire counts are compared, within the same bounds.

use std::ops::RangeInclusive;

use record::{Counted, CrossCheck, TrialEnd, TrialRecord};

use super::span::{Span, load_end, load_start, overlaps};
use super::{Check, Evidence, Verification};
use crate::soak::schedule::Disturbance;
use crate::soak::soak_plan::READ_ONLY_CODE;

/// Kinds of the soak's own statements: KILL, SHOW PROCESSLIST, SET.
const OWN: [&str; 3] = ["Com_kill", "Com_show_processlist", "Com_set_option"];

impl Verification {
    pub(super) fn server(&mut self, trial: &TrialRecord, span: &Span, evidence: &Evidence<'_>) {
        let Some(end) = &trial.end else { return };
        let (Some(from), Some(until)) = (load_start(trial), load_end(trial)) else { return };
        let unknown = Unknown::of(trial, end);
        self.figures.lost += unknown.lost;
        let was_killed = evidence.done.iter().any(|done| {
            matches!(done.disturbance, Disturbance::Kill(_))
                && from <= done.from
                && done.from <= until
        });
        let by_dyno = match &end.cross_check {
            Some(CrossCheck::Counted(counted)) => {
                if was_killed {
                    let text = "the server was restarted, and dyno compared all the same";
                    self.report(Check::Server, Some(trial), text);
                } else {
                    self.difference(trial, counted, &unknown);
                }
                counted.by_dyno
            }
            Some(CrossCheck::Missing { reason, by_dyno }) => {
                self.figures.by_wire += 1;
                if !evidence.done.iter().any(|done| span.meets(done)) {
                    let text = format!("nobody disturbed it, and yet it has no check: {reason}");
                    self.report(Check::Server, Some(trial), text);
                }
                *by_dyno
            }
            None => {
                self.report(Check::Server, Some(trial), "the server tells, and it was not asked");
                return;
            }
        };
        self.figures.statements += by_dyno.total();
        let was_disturbed = evidence.done.iter().any(|done| overlaps(done, span.quiet, from));
        let idle = idle_statements(end, was_disturbed);
        let sent = evidence.sent.between(span.quiet, until).saturating_sub(*idle.start());
        let difference = signed(by_dyno.total()) - signed(sent);
        let unsure = signed(idle.end() - idle.start());
        let allowed = -unknown.unanswered() - unsure..=signed(unknown.lost);
        if !allowed.contains(&difference) {
            let text = format!(
                "dyno counted {} statements and sent {sent}: {difference:+} is not within {allowed:?}",
                by_dyno.total()
            );
            self.report(Check::Wire, Some(trial), text);
        }
    }

    fn difference(&mut self, trial: &TrialRecord, counted: &Counted, unknown: &Unknown) {
        let own = counted.counters.iter().filter(|(name, _)| OWN.contains(&name.as_str()));
        let own: u64 = own.map(|(_, count)| *count).sum();
        let difference = counted.difference() - signed(own);
        let allowed = unknown.of_the_server();
        if difference == 0 {
            self.figures.equal += 1;
        } else if allowed.contains(&difference) {
            self.figures.bounded += 1;
        } else {
            let text = format!(
                "the server counted {difference:+} statements, which is not within {allowed:?}: {counted:?}"
            );
            self.report(Check::Server, Some(trial), text);
        }
    }
}

/// The number of statements that the idle round trips sent just before the load, which dyno does not count: the timed
/// ones and one before them. If they were disturbed, the last one may have had no answer.
fn idle_statements(end: &TrialEnd, was_disturbed: bool) -> RangeInclusive<u64> {
    let timed = end.idle_round_trips.count();
    let answered = if timed == 0 { 0 } else { timed + 1 };
    if was_disturbed { answered..=timed + 2 } else { answered..=answered }
}

/// The number of statements whose outcome is unknown.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    /// Unanswered, on connections that were lost.
    lost: u64,
    /// Answered with a refusal.
    refused: u64,
    /// Of transactions that had no answer when the trial ended.
    unanswered: u64,
}

impl Unknown {
    fn of(trial: &TrialRecord, end: &TrialEnd) -> Self {
        let errors = trial.intervals.iter().flat_map(|interval| &interval.tally.errors);
        let errors = errors.chain(&end.edges.drain.errors);
        let refused = errors.filter(|(key, _)| key.code == READ_ONLY_CODE);
        Self {
            lost: trial.outages.iter().map(|outage| outage.failures).sum(),
            refused: refused.map(|(_, counts)| counts.total()).sum(),
            unanswered: end.edges.unanswered.count(),
        }
    }

    fn unanswered(&self) -> i64 {
        signed(self.unanswered)
    }

    fn of_the_server(&self) -> RangeInclusive<i64> {
        -signed(self.lost + self.refused)..=self.unanswered()
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
