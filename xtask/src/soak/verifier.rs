//! Verifies one run: compares dyno's record with the disturbances of its server, the server's counters, and the plan.
//! Pure: all input comes as values.

mod counts;
#[cfg(test)]
mod tests;
mod times;

use std::time::Duration;

use jiff::Timestamp;
use record::{TrialRecord, TrialStatus};

use self::times::Span;
use super::memory::Memory;
use super::process::DynoExit;
use super::schedule::Disturbance;
use super::soak_server::AppliedDisturbance;

/// An absence of the server of this length within a trial's load must be detected.
const GONE: Duration = Duration::from_secs(1);
/// So must a silence of this length: a statement that is sent at its start times out within it.
const SILENT: Duration = Duration::from_millis(1_200);

/// What the plan requires of a trial: its workload, clients and repetition.
pub(super) type Planned = (String, usize, u32);

/// The evidence about a run.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub planned: &'a [Planned],
    /// Warm-up and measured load of a trial.
    pub length: Duration,
    pub trials: &'a [TrialRecord],
    pub done: &'a [AppliedDisturbance],
    /// From the first output of the run to the last.
    pub began: Timestamp,
    pub ended: Timestamp,
    pub ending: &'a DynoExit,
    /// How long dyno took, and how long it may take at most.
    pub took: Duration,
    pub due: Duration,
    pub memory: Option<Memory>,
}

/// The checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// dyno exited in time and with the right exit code.
    Process,
    /// Every planned trial is in the record, with an outcome.
    Trials,
    /// The counts of a trial agree with each other.
    Counts,
    /// They agree with the server's own counts.
    Server,
    /// Every outage was detected.
    Outages,
    /// Memory did not grow.
    Memory,
}

/// The numbers of what was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub complete: usize,
    /// Trials that could not begin or continue because of a disturbance.
    pub failed: usize,
    pub transactions: u64,
    /// Statements, warm-up included.
    pub statements: u64,
    /// Connections that were lost.
    pub lost: u64,
    /// Trials for which the server counted exactly the same statements.
    pub equal: usize,
    /// Trials whose difference is within the number of statements with an unknown outcome.
    pub bounded: usize,
    /// Trials without a comparison, such as those whose server was restarted.
    pub uncompared: usize,
    /// Disturbances that had to be detected as outages.
    pub outages: usize,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verification {
    /// The violated checks, and how.
    pub violations: Vec<(Check, String)>,
    pub figures: Figures,
}

/// Verifies a run.
pub(super) fn verify(evidence: &Evidence<'_>) -> Verification {
    let mut verification = Verification::default();
    let spans = times::spans(evidence);
    verification.trials(evidence);
    verification.outcomes(evidence, &spans);
    verification.process(evidence);
    for (trial, span) in evidence.trials.iter().zip(&spans) {
        verification.counts(trial, evidence.length);
        verification.server(trial, span, evidence);
        verification.outages(trial, evidence);
    }
    verification.memory(evidence.memory);
    verification
}

impl Verification {
    fn report(&mut self, check: Check, trial: Option<&TrialRecord>, text: impl Into<String>) {
        let of = trial.map_or_else(String::new, |it| format!("trial {:04}: ", it.header.index));
        self.violations.push((check, of + &text.into()));
    }

    /// Every trial of the plan is in the record, at its index.
    fn trials(&mut self, Evidence { planned, trials, .. }: &Evidence<'_>) {
        if planned.len() != trials.len() {
            let text = format!("{} trials are recorded of {} planned", trials.len(), planned.len());
            self.report(Check::Trials, None, text);
        }
        for (index, (trial, planned)) in trials.iter().zip(*planned).enumerate() {
            let it = &trial.header;
            let recorded = (it.workload.name.clone(), it.clients, it.repetition);
            if it.index != index || recorded != *planned {
                let text = format!("trial {index} of the plan is another: {planned:?}");
                self.report(Check::Trials, Some(trial), text);
            }
        }
    }

    /// Every trial has an outcome. It may fail when it was disturbed. There may be one failure for each disturbance:
    /// before the next trial, dyno waits until the server is back.
    fn outcomes(&mut self, evidence: &Evidence<'_>, spans: &[Span]) {
        let mut excuses: Vec<&AppliedDisturbance> = evidence.done.iter().collect();
        for (trial, span) in evidence.trials.iter().zip(spans) {
            if let Some(damage) = &trial.damage {
                self.report(Check::Trials, Some(trial), damage.to_string());
            }
            let status = trial.end.as_ref().map(|end| &end.status);
            let excuse = match status {
                Some(TrialStatus::Complete) => {
                    self.figures.complete += 1;
                    continue;
                }
                Some(TrialStatus::Failed(_)) => excuses.iter().position(|it| span.meets(it)),
                _ => None,
            };
            if let Some(excuse) = excuse {
                excuses.remove(excuse);
                self.figures.failed += 1;
            } else {
                let text = format!("no disturbance of its own excuses its outcome: {status:?}");
                self.report(Check::Trials, Some(trial), text);
            }
        }
    }

    /// dyno exited by itself, in time, and its exit code shows whether a trial failed.
    fn process(&mut self, evidence: &Evidence<'_>) {
        let is_complete = |trial: &TrialRecord| {
            trial.end.as_ref().is_some_and(|end| end.status == TrialStatus::Complete)
        };
        let expected = Some(i32::from(!evidence.trials.iter().all(is_complete)));
        if *evidence.ending != DynoExit::Exited(expected) {
            let text = format!("{:?} where {expected:?} is due", evidence.ending);
            self.report(Check::Process, None, text);
        }
        if evidence.took > evidence.due {
            let text = format!("it took {:?}, at most {:?} were due", evidence.took, evidence.due);
            self.report(Check::Process, None, text);
        }
    }

    /// The record contains every outage that the disturbances caused.
    fn outages(&mut self, trial: &TrialRecord, evidence: &Evidence<'_>) {
        let Some(start) = times::load_start(trial) else { return };
        let Some(last) = trial.intervals.last() else { return };
        let load = Span { from: start, until: times::at(start, last.end_ns) };
        for done in evidence.done {
            // How much of it must be within the load so that the clients lose the server.
            let least = match done.disturbance {
                Disturbance::Kill(_) => GONE,
                Disturbance::Stop(_) | Disturbance::Stall(_) => SILENT,
                Disturbance::Cut(_) | Disturbance::ReadOnly(_) => continue,
            };
            let within = done.until.min(load.until).duration_since(done.from.max(start));
            if within.is_negative() || within.unsigned_abs() < least {
                continue;
            }
            self.figures.outages += 1;
            let is_found = trial.outages.iter().any(|outage| {
                // An outage that was not over when the trial ended lasts until the end of the trial.
                let end = outage.end_ns.map(|end_ns| times::at(start, end_ns));
                let until = end.or(times::load_end(trial)).unwrap_or(load.until);
                Span { from: times::at(start, outage.start_ns), until }.meets(done)
            });
            if !is_found {
                let text = format!("{done:?} is not among its outages: {:?}", trial.outages);
                self.report(Check::Outages, Some(trial), text);
            }
        }
    }

    fn memory(&mut self, memory: Option<Memory>) {
        match memory {
            None => self.report(Check::Memory, None, "it was not seen in every quarter"),
            Some(memory) if memory.is_leak() => {
                self.report(Check::Memory, None, format!("it grew between trials: {memory:?}"));
            }
            Some(_) => {}
        }
    }
}
