//! The times of a trial.

use jiff::{SignedDuration, Timestamp};
use measure::{Nanos, Phase};
use record::TrialRecord;

use super::Evidence;
use crate::soak::soak_server::AppliedDisturbance;

/// The time that belongs to a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// A time after everything that dyno did before it connected this trial's clients, except the idle round trips.
    pub quiet: Timestamp,
    /// From the end of the previous trial to the start of the next.
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Span {
    /// Whether a disturbance overlaps this time.
    pub(super) fn meets(&self, done: &AppliedDisturbance) -> bool {
        overlaps(done, self.from, self.until)
    }
}

/// The spans of all trials.
pub(super) fn spans(evidence: &Evidence<'_>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::with_capacity(evidence.trials.len());
    let mut last_end = evidence.began;
    for (index, trial) in evidence.trials.iter().enumerate() {
        let next = evidence.trials[index + 1..].iter().find_map(first_word);
        let until = next.unwrap_or(evidence.ended);
        let prepared = trial.phases.iter().filter(|phase| phase.phase < Phase::WarmUp);
        let prepared = prepared.map(|phase| phase.started + phase.duration);
        let quiet = prepared.chain([last_end]).max().unwrap_or(last_end);
        spans.push(Span { quiet, from: last_end, until });
        // A trial that could not begin has still prepared its data.
        last_end = load_end(trial).unwrap_or(quiet);
    }
    spans
}

fn first_word(trial: &TrialRecord) -> Option<Timestamp> {
    trial.phases.iter().map(|phase| phase.started).min()
}

/// The start of its load on the wall clock: 0 on the trial's clock.
pub(super) fn load_start(trial: &TrialRecord) -> Option<Timestamp> {
    let is_load = |phase: Phase| matches!(phase, Phase::WarmUp | Phase::Measure);
    let phases = trial.phases.iter().filter(|phase| is_load(phase.phase));
    phases.map(|phase| phase.started).min()
}

/// When all its clients had ended.
pub(super) fn load_end(trial: &TrialRecord) -> Option<Timestamp> {
    trial.end.as_ref()?.measure_ended
}

/// A time on the trial's clock.
pub(super) fn at(start: Timestamp, offset_ns: Nanos) -> Timestamp {
    start + SignedDuration::from_nanos(i64::try_from(offset_ns).unwrap_or(i64::MAX))
}

pub(super) fn overlaps(done: &AppliedDisturbance, from: Timestamp, until: Timestamp) -> bool {
    done.from <= until && done.until >= from
}
