//! Ends a phase early: when a stop is requested, or when the phase takes too long.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use engine::{Stop, StopLevel};
use measure::{ErrorClass, Failure};
use plan::show_duration;

/// How long a phase that takes too long may clean up before it is aborted.
const CLEANUP_TIME: Duration = Duration::from_secs(10);

pub(crate) struct PhaseLimit<'a> {
    run: &'a Stop,
    pub(crate) stop: Stop,
    timeout: Option<Duration>,
    is_late: Cell<bool>,
    /// Whether [`PhaseLimit::flow`] has told that it is late.
    is_told: Cell<bool>,
}

impl<'a> PhaseLimit<'a> {
    /// A phase that begins now, and ends early when `run` is stopped.
    pub(crate) fn new(run: &'a Stop, timeout: Option<Duration>) -> Self {
        let (is_late, is_told) = (Cell::new(false), Cell::new(false));
        let limit = Self { run, stop: Stop::new(), timeout, is_late, is_told };
        limit.check_limits(Duration::ZERO);
        limit
    }

    /// Asks the phase to end when its limit is reached or a stop is requested.
    pub(crate) fn check_limits(&self, elapsed: Duration) {
        let late = self.timeout.and_then(|timeout| elapsed.checked_sub(timeout));
        let level = match late {
            Some(late) if late > CLEANUP_TIME => StopLevel::AtOnce,
            Some(_) => StopLevel::Gracefully,
            None => StopLevel::None,
        };
        self.is_late.set(self.is_late.get() || late.is_some());
        while self.stop.level() < level.max(self.run.level()) {
            self.stop.ask();
        }
    }

    /// Whether a step goes on that ends at the first request. It is told of a time-out once, so that it can tidy
    /// up, and of a stop of the run always.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        let is_news = self.is_late.get() && !self.is_told.replace(self.is_late.get());
        match is_news || self.run.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Explains the failure of the phase when its own time-out is the reason.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        self.lateness().unwrap_or(failure)
    }

    /// The same for a step of the system.
    pub(crate) fn explained<T>(&self, done: anyhow::Result<T>) -> anyhow::Result<T> {
        done.map_err(|cause| self.lateness().map_or(cause, anyhow::Error::new))
    }

    fn lateness(&self) -> Option<Failure> {
        let timeout = self.timeout.filter(|_| self.is_late.get() && !self.run.is_asked())?;
        let message = format!("it took longer than {}, its phase_timeout", show_duration(timeout));
        Some(Failure::new(ErrorClass::Timeout, "", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_phase_over_its_limit_is_stopped_then_aborted() {
        let run = Stop::new();
        let limit = PhaseLimit::new(&run, Some(MINUTE));
        let other = Failure::new(ErrorClass::Connection, "", "interrupted");
        for (seconds, level) in [
            (59, StopLevel::None),
            (60, StopLevel::Gracefully),
            (70, StopLevel::Gracefully),
            (71, StopLevel::AtOnce),
        ] {
            limit.check_limits(Duration::from_secs(seconds));
            assert_eq!(limit.stop.level(), level, "{seconds}");
        }
        let failure = limit.explain(other);
        assert_eq!(failure.to_string(), "it took longer than 1m, its phase_timeout");
        assert!(!run.is_asked(), "the run goes on");
    }

    #[test]
    fn a_step_is_told_of_its_time_out_once_and_of_a_stop_until_it_ends() {
        let run = Stop::new();
        let limit = PhaseLimit::new(&run, Some(MINUTE));
        assert!(limit.flow().is_continue());
        limit.check_limits(MINUTE);
        assert!(limit.flow().is_break());
        assert!(limit.flow().is_continue(), "the server is started again");
        let interrupted: anyhow::Result<()> = Err(anyhow::anyhow!("interrupted"));
        let told = limit.explained(interrupted).unwrap_err().to_string();
        assert_eq!(told, "it took longer than 1m, its phase_timeout");
        run.ask();
        assert!(limit.flow().is_break() && limit.flow().is_break());
        assert_eq!(limit.explained(Ok(7)).unwrap(), 7);
    }

    #[test]
    fn the_end_of_the_run_is_the_end_of_the_phase() {
        let run = Stop::new();
        let limit = PhaseLimit::new(&run, None);
        run.ask();
        limit.check_limits(MINUTE);
        assert_eq!(limit.stop.level(), StopLevel::Gracefully);
        run.ask();
        limit.check_limits(MINUTE);
        assert_eq!(limit.stop.level(), StopLevel::AtOnce);
    }
}
