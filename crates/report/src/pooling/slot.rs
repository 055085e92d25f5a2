//! The place of a window's measured time on the clock of the pooled trial.

use measure::Nanos;
use record::TrialRecord;

/// The measured time of a window on its own clock, and where it begins on the clock of all windows together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) begin_ns: Nanos,
    pub(super) end_ns: Nanos,
    pub(super) at_ns: Nanos,
}

impl Slot {
    /// That of a window that follows on `at_ns`; empty when nothing was measured.
    pub(super) fn of(window: &TrialRecord, at_ns: Nanos) -> Self {
        let begin_ns = window.measured().next().map_or(0, |interval| interval.start_ns);
        let ends = window.measured().map(|interval| interval.end_ns);
        Self { begin_ns, end_ns: ends.max().unwrap_or_default().max(begin_ns), at_ns }
    }

    /// Where the next window begins.
    pub(super) fn until_ns(self) -> Nanos {
        self.at_ns.saturating_add(self.end_ns - self.begin_ns)
    }

    /// A time of the window's clock on the clock of all windows.
    pub(super) fn shifted(self, ns: Nanos) -> Nanos {
        self.at_ns.saturating_add(ns.saturating_sub(self.begin_ns))
    }

    /// The same of a time that may lie outside the measured time: it counts as at its begin or its end.
    pub(super) fn within(self, ns: Nanos) -> Nanos {
        self.shifted(ns.clamp(self.begin_ns, self.end_ns))
    }

    /// Whether a span of time has a part in the measured time.
    pub(super) fn overlaps(self, from_ns: Nanos, to_ns: Nanos) -> bool {
        from_ns < self.end_ns && to_ns > self.begin_ns
    }
}
