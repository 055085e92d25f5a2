//! A slice of a trial's time.

use serde::{Deserialize, Serialize};

use crate::{Nanos, Tally};

/// The parts of a trial, each timed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Making and filling tables.
    Prepare,
    /// Checking that the data is what the workload needs.
    Verify,
    /// Load that is left out of the results.
    WarmUp,
    /// Load that the results are computed from.
    Measure,
    /// Checking the conditions that the data must satisfy after the load.
    Check,
    Cleanup,
}

impl Phase {
    /// Every phase in its order.
    pub const ALL: [Self; 6] =
        [Self::Prepare, Self::Verify, Self::WarmUp, Self::Measure, Self::Check, Self::Cleanup];

    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Verify => "verify",
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::Check => "check",
            Self::Cleanup => "cleanup",
        }
    }
}

/// What all clients together did between two points of a trial's clock, which starts at 0 with the
/// first load, warm-up included. An event belongs to the interval in which it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// [`Phase::WarmUp`] or [`Phase::Measure`].
    pub phase: Phase,
    /// Where it begins, inclusive.
    pub start_ns: Nanos,
    /// Where it ends, exclusive.
    pub end_ns: Nanos,
    pub tally: Tally,
}

impl Interval {
    pub fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }
}
