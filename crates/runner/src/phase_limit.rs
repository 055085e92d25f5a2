//! Ends a phase early: when a stop is requested, or when the phase takes too long.

use std::cell::Cell;
use std::time::Duration;

use engine::{Stop, StopLevel};
use measure::{ErrorClass, Failure};
use plan::show_duration;

/// How long a phase that takes too long may clean up before it is aborted.
const CLEANUP_TIME: Duration = Duration::from_secs(10);

/// The limits of one phase in progress.
pub(crate) struct PhaseLimit<'a> {
    run: &'a Stop,
    /// The stop signal of the phase.
    pub(crate) stop: Stop,
    timeout: Option<Duration>,
    is_late: Cell<bool>,
}

impl<'a> PhaseLimit<'a> {
    /// A phase that begins now, and ends early when `run` is stopped.
    pub(crate) fn new(run: &'a Stop, timeout: Option<Duration>) -> Self {
        let limit = Self { run, stop: Stop::new(), timeout, is_late: Cell::new(false) };
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

    /// Explains the failure of the phase when its own time-out is the reason.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        match self.timeout {
            Some(timeout) if self.is_late.get() && !self.run.is_asked() => {
                let timeout = show_duration(timeout);
                let message = format!("it took longer than {timeout}, its phase_timeout");
                Failure::new(ErrorClass::Timeout, "", message)
            }
            _ => failure,
        }
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
