//! The length of a phase.

use std::time::Duration;

use jiff::Timestamp;
use measure::Phase;
use net::Clock;
use record::PhaseRecord;

/// Measures the duration of a phase with both clocks.
pub(crate) struct PhaseTimer {
    phase: Phase,
    started: Timestamp,
    clock: Clock,
}

impl PhaseTimer {
    pub(crate) fn start(phase: Phase) -> Self {
        Self { phase, started: Timestamp::now(), clock: Clock::monotonic() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    pub(crate) fn stop(&self) -> PhaseRecord {
        let duration = self.elapsed();
        let (phase, started) = (self.phase, self.started);
        PhaseRecord { phase, started, duration, loaded_again: 0, loaded: None }
    }
}
