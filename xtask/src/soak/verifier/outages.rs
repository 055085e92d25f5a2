//! Whether the record contains every outage that the disturbances caused.

use std::time::Duration;

use record::TrialRecord;

use super::span::{at, load_end, load_start, overlaps};
use super::{Check, Evidence, Verification};
use crate::soak::schedule::Disturbance;
use crate::soak::soak_server::AppliedDisturbance;

/// An absence of the server of this length within a trial's load must be detected.
const GONE: Duration = Duration::from_secs(1);
/// So must a silence of this length: a statement that is sent at its start times out within it.
const SILENT: Duration = Duration::from_millis(1_200);

impl Verification {
    pub(super) fn outages(&mut self, trial: &TrialRecord, evidence: &Evidence<'_>) {
        let Some(start) = load_start(trial) else { return };
        let Some(last) = trial.intervals.last() else { return };
        let load_until = at(start, last.end_ns);
        for done in evidence.done {
            let Some(least) = least(done) else { continue };
            let within = done.until.min(load_until).duration_since(done.from.max(start));
            if within.is_negative() || within.unsigned_abs() < least {
                continue;
            }
            self.figures.outages += 1;
            let is_found = trial.outages.iter().any(|outage| {
                let from = at(start, outage.start_ns);
                // An outage that was not over when the trial ended lasts until the end of the trial.
                let until = outage.end_ns.map(|end_ns| at(start, end_ns)).or(load_end(trial));
                overlaps(done, from, until.unwrap_or(load_until))
            });
            if !is_found {
                let text = format!(
                    "the server was {} at {}, and none of its outages says so: {:?}",
                    done.disturbance, done.from, trial.outages
                );
                self.report(Check::Outages, Some(trial), text);
            }
        }
    }
}

/// How much of a disturbance must be within a load so that it must be detected; `None` when the clients need not lose
/// the server.
fn least(done: &AppliedDisturbance) -> Option<Duration> {
    match done.disturbance {
        Disturbance::Kill(_) => Some(GONE),
        Disturbance::Stop(_) | Disturbance::Stall(_) => Some(SILENT),
        Disturbance::Cut(_) | Disturbance::ReadOnly(_) => None,
    }
}
