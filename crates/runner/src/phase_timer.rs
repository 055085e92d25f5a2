//! The length of a phase.

use std::time::Duration;

use jiff::Timestamp;
use measure::{Nanos, Phase};
use net::Clock;
use record::PhaseRecord;

/// Measures the duration of a phase with both clocks.
pub(crate) struct PhaseTimer {
    phase: Phase,
    started: Timestamp,
    clock: Clock,
    /// How long the phase had lasted when the clock began.
    before_ns: Nanos,
}

impl PhaseTimer {
    pub(crate) fn start(phase: Phase) -> Self {
        Self::started_before(phase, 0)
    }

    /// A timer of a phase that began so long ago.
    pub(crate) fn started_before(phase: Phase, ago_ns: Nanos) -> Self {
        let started = before_now(ago_ns);
        Self { phase, started, clock: Clock::monotonic(), before_ns: ago_ns }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.before_ns + self.clock.now())
    }

    pub(crate) fn stop(&self) -> PhaseRecord {
        self.stopped_before(0)
    }

    pub(crate) fn stopped_before(&self, ago_ns: Nanos) -> PhaseRecord {
        let duration = self.elapsed().saturating_sub(Duration::from_nanos(ago_ns));
        let (phase, started) = (self.phase, self.started);
        PhaseRecord { phase, started, duration, loaded_again: 0, loaded: None, remarks: Vec::new() }
    }
}

pub(crate) fn before_now(ago_ns: Nanos) -> Timestamp {
    let now = Timestamp::now();
    now.checked_sub(Duration::from_nanos(ago_ns)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_lasts_from_its_begin_to_its_end_whenever_they_are_told() {
        let outer = Clock::monotonic();
        let timer = PhaseTimer::started_before(Phase::WarmUp, 300_000_000);
        let phase = timer.stopped_before(100_000_000);
        let at_least = Duration::from_millis(200);
        let at_most = at_least + Duration::from_nanos(outer.now());
        assert!((at_least..=at_most).contains(&phase.duration), "{phase:?}");
        let ago = Timestamp::now().duration_since(phase.started).as_millis();
        assert!(ago >= 299, "{ago} ms");
        assert_eq!(timer.stopped_before(u64::MAX).duration, Duration::ZERO);
    }
}
