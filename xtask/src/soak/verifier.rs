//! Verifies one run: compares dyno's record with the disturbances of its server, the statements on the wire, and the
//! plan. Pure: all input comes as values.

mod counts;
mod outages;
mod server;
mod span;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use record::{TrialRecord, TrialStatus};

use self::span::Span;
use super::memory::Memory;
use super::meter::Meter;
use super::process::DynoExit;
use super::soak_server::AppliedDisturbance;

/// What the plan requires of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub workload: String,
    pub clients: usize,
    pub repetition: u32,
    /// Warm-up and measured load.
    pub length: Duration,
}

/// The evidence about a run.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub planned: &'a [Planned],
    pub trials: &'a [TrialRecord],
    pub done: &'a [AppliedDisturbance],
    /// Statements that dyno sent.
    pub sent: &'a Meter,
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
    /// They agree with the statements on the wire.
    Wire,
    /// Every outage was detected.
    Outages,
    /// Memory did not grow.
    Memory,
}

/// One violated check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub check: Check,
    /// The trial's index in the run.
    pub trial: Option<usize>,
    pub text: String,
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
    /// Trials whose server was restarted, so that only the wire counts are compared.
    pub by_wire: usize,
    /// Disturbances that had to be detected as outages.
    pub outages: usize,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verification {
    pub violations: Vec<Violation>,
    pub figures: Figures,
}

/// Verifies a run.
pub(super) fn verify(evidence: &Evidence<'_>) -> Verification {
    let mut verification = Verification::default();
    let spans = span::spans(evidence);
    verification.trials(evidence, &spans);
    verification.process(evidence);
    for (trial, span) in evidence.trials.iter().zip(&spans) {
        verification.counts(trial, evidence);
        verification.server(trial, span, evidence);
        verification.outages(trial, evidence);
    }
    verification.memory(evidence.memory);
    verification
}

impl Verification {
    fn report(&mut self, check: Check, trial: Option<&TrialRecord>, text: impl Into<String>) {
        let trial = trial.map(|trial| trial.header.index);
        self.violations.push(Violation { check, trial, text: text.into() });
    }

    /// Every trial of the plan is in the record, at its index, with an outcome.
    fn trials(&mut self, evidence: &Evidence<'_>, spans: &[Span]) {
        let Evidence { planned, trials, .. } = evidence;
        if planned.len() != trials.len() {
            let text = format!("{} trials are recorded of {} planned", trials.len(), planned.len());
            self.report(Check::Trials, None, text);
        }
        for (index, (trial, planned)) in trials.iter().zip(*planned).enumerate() {
            let header = &trial.header;
            let is_it = header.index == index
                && header.workload.name == planned.workload
                && header.clients == planned.clients
                && header.repetition == planned.repetition;
            if !is_it {
                let text = format!("trial {index} of the plan is another: {planned:?}");
                self.report(Check::Trials, Some(trial), text);
            }
        }
        self.outcomes(evidence, spans);
    }

    /// A trial may fail when it was disturbed. There may be one failure for each disturbance: before the next trial,
    /// dyno waits until the server is back.
    fn outcomes(&mut self, evidence: &Evidence<'_>, spans: &[Span]) {
        let mut excuses: Vec<&AppliedDisturbance> = evidence.done.iter().collect();
        for (trial, span) in evidence.trials.iter().zip(spans) {
            if let Some(damage) = &trial.damage {
                self.report(Check::Trials, Some(trial), damage.to_string());
            }
            match trial.end.as_ref().map(|end| &end.status) {
                Some(TrialStatus::Complete) => self.figures.complete += 1,
                None => self.report(Check::Trials, Some(trial), "it has no outcome"),
                Some(other) => {
                    let excuse = excuses.iter().position(|done| span.meets(done));
                    match excuse.filter(|_| matches!(other, TrialStatus::Failed(_))) {
                        Some(excuse) => {
                            excuses.remove(excuse);
                            self.figures.failed += 1;
                        }
                        None => {
                            let text = format!("no disturbance of its own excuses it: {other:?}");
                            self.report(Check::Trials, Some(trial), text);
                        }
                    }
                }
            }
        }
    }

    /// dyno exited by itself, in time, and its exit code shows whether a trial failed.
    fn process(&mut self, evidence: &Evidence<'_>) {
        let is_failed = |trial: &TrialRecord| {
            trial.end.as_ref().is_none_or(|end| end.status != TrialStatus::Complete)
        };
        let expected = i32::from(evidence.trials.iter().any(is_failed));
        match evidence.ending {
            DynoExit::Killed(why) => self.report(Check::Process, None, format!("it hung: {why}")),
            DynoExit::Exited(code) if *code != Some(expected) => {
                let text = format!("it ended with {code:?} where {expected} is due");
                self.report(Check::Process, None, text);
            }
            DynoExit::Exited(_) => {}
        }
        if evidence.took > evidence.due {
            let text = format!("it took {:?}, at most {:?} were due", evidence.took, evidence.due);
            self.report(Check::Process, None, text);
        }
    }

    fn memory(&mut self, memory: Option<Memory>) {
        match memory {
            None => self.report(Check::Memory, None, "it was not seen in every quarter"),
            Some(memory) if memory.is_checked() && memory.is_leak() => {
                let text = format!(
                    "{} bytes held between trials in the second quarter, {} in the last",
                    memory.held_in_second_bytes, memory.held_in_last_bytes
                );
                self.report(Check::Memory, None, text);
            }
            Some(_) => {}
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trial {
            Some(trial) => write!(f, "{:?}, trial {trial:04}: {}", self.check, self.text),
            None => write!(f, "{:?}: {}", self.check, self.text),
        }
    }
}
