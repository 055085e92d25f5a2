//! The times of a trial.

use jiff::{SignedDuration, Timestamp};
use measure::{Nanos, Phase};
use record::TrialRecord;

use super::Evidence;
use crate::soak::soak_server::AppliedDisturbance;

/// A time, such as that which belongs to a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Span {
    /// Whether a disturbance overlaps this time.
    pub(super) fn meets(&self, done: &AppliedDisturbance) -> bool {
        done.from <= self.until && done.until >= self.from
    }
}

/// The spans of all trials, each from the end of the previous trial to the start of the next.
pub(super) fn spans(evidence: &Evidence<'_>) -> Vec<Span> {
    let mut from = evidence.began;
    let trials = evidence.trials.iter().enumerate();
    let span = trials.map(|(index, trial)| {
        let later = evidence.trials[index + 1..].iter().flat_map(|trial| &trial.phases);
        let until = later.map(|phase| phase.started).min().unwrap_or(evidence.ended);
        let span = Span { from, until };
        // A trial that could not begin has still prepared its data.
        let prepared = trial.phases.iter().filter(|phase| phase.phase < Phase::WarmUp);
        let prepared = prepared.map(|phase| phase.started + phase.duration).max();
        from = load_end(trial).or(prepared).unwrap_or(from);
        span
    });
    span.collect()
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
