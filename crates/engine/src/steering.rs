//! What the coordinator of a load steers, and how: the workers of its own process, or generators in others.

use std::ops::Range;
use std::time::Duration;

use measure::Phase;
use net::{Clock, Nanos};

use crate::report::UnitReport;

/// Those who offer the load. Each is a unit, which reports for itself: a worker of this process, or a generator.
pub(crate) trait Steering {
    /// Whether the units are generators in other processes.
    fn are_generators(&self) -> bool;

    fn workers(&self) -> Vec<Range<usize>>;

    fn clients(&self, unit: usize) -> Range<usize>;

    fn name(&self, unit: usize) -> String;

    fn goes_on_without(&self, unit: usize) -> bool;

    /// How long after its end an interval waits for units that have not closed it.
    fn hold(&self, interval: Duration) -> Duration;

    /// Waits for the next report, and returns it with the number of its unit; `None` when none came in time.
    ///
    /// # Errors
    /// When no more reports will come.
    fn next(&mut self, wait: Duration) -> Result<Option<(usize, Told)>, AllGone>;

    /// Lets the load begin, and returns when it does on `clock`.
    fn start(&mut self, clock: &Clock) -> Nanos;

    /// Ends a phase of which enough was seen with an interval that ended at `seen`, as soon as all units can end it
    /// together. `now` is the time of the trial.
    fn end_phase(&mut self, phase: Phase, seen: Nanos, now: Nanos);

    /// The window is to end early: one unit has seen that it must, or the user.
    fn end_soon(&mut self, now: Nanos, by: Ending);

    /// The load ends at once.
    fn abandon(&mut self);

    /// An interval was passed on: those that wait for that go on.
    fn seen(&mut self);

    /// Wakes units that sleep, so that they see what has changed.
    fn wake(&self);
}

pub(crate) enum Told {
    Report(UnitReport),
    Lost(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Unit,
    Interrupt,
}

/// No unit is left that could report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllGone;
