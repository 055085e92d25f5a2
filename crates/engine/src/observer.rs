//! Who receives the results of a trial.

use std::io;

use measure::{Edges, GeneratorStall, Interval, LatencyHistogram, Nanos, Outage, Phase};

#[derive(Clone, Copy, Debug)]
pub struct GeneratorEnd<'a> {
    /// What crosses the edges of the measured window.
    pub edges: &'a Edges,
    /// As [`crate::Outcome::lateness`].
    pub lateness: &'a LatencyHistogram,
    /// As [`crate::Outcome::start_delays`].
    pub start_delays: &'a LatencyHistogram,
}

/// Receives the results of a trial while it runs.
pub trait TrialObserver {
    /// All clients are ready, and none has started. Not called in virtual time.
    ///
    /// # Errors
    /// When the observer cannot continue; the trial ends.
    fn ready(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Load of this phase has begun: [`Phase::WarmUp`] or [`Phase::Measure`]. That was `late_ns` ago: on a busy machine this
    /// is not told at once. 0 in virtual time.
    ///
    /// # Errors
    /// When the observer cannot continue; the trial ends.
    fn begins(&mut self, phase: Phase, late_ns: Nanos) -> io::Result<()>;

    /// An interval is closed and merged over all workers; they come in order.
    ///
    /// # Errors
    /// When it cannot store the interval, such as on a full disk; the trial ends.
    fn interval(&mut self, interval: &Interval) -> io::Result<()>;

    /// Whether the phase of the last interval is over, because enough was seen. Called after each interval. A phase
    /// that [`crate::PhaseEnds`] lets end early then ends with the intervals that workers have begun; another goes
    /// on.
    fn has_enough(&mut self) -> bool {
        false
    }

    /// A part of an interval: in the interval's turn that of all workers but those that are `missing`, which stand
    /// still; later what one of these had counted in it, with none missing. The parts add up to the interval.
    ///
    /// # Errors
    /// As [`TrialObserver::interval`].
    fn part(&mut self, part: &Interval, _missing: &[usize]) -> io::Result<()> {
        self.interval(part)
    }

    /// All outages so far. Called after an interval in which they have changed, and once more before the end.
    ///
    /// # Errors
    /// When it cannot store them; the trial ends.
    fn outages(&mut self, _outages: &[Outage]) -> io::Result<()> {
        Ok(())
    }

    /// A generator of the load is lost, at this time of the trial; 0 before the start. What it had not reported is
    /// lost with it.
    fn generator_lost(&mut self, _generator: usize, _at: Nanos, _reason: &str) {}

    /// What one of several generators has counted in an interval, or in a part of it, before that is merged.
    fn generator_interval(&mut self, _generator: usize, _part: &Interval) {}

    /// What one of several generators has told at its end, before that is merged.
    fn generator_end(&mut self, _generator: usize, _end: &GeneratorEnd<'_>) {}

    /// The measured window is over, since `late_ns` as in [`TrialObserver::begins`]; requests in flight may still be
    /// answered, and intervals passed on.
    ///
    /// # Errors
    /// When the observer cannot continue.
    fn ends(&mut self, late_ns: Nanos) -> io::Result<()>;

    /// Times in which the load generator itself did not run, in order, on the trial's clock. Called once, when all
    /// clients have ended.
    fn own_stalls(&mut self) -> Vec<GeneratorStall> {
        Vec::new()
    }

    /// The reason why the system under test has exited, if it has; this ends the trial at once. Called several times
    /// a second.
    fn crash(&mut self) -> Option<String> {
        None
    }
}
