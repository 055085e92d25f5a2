//! When the system under test was away.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// A stretch of a trial in which clients had lost the system and none had it back: from the first
/// failure that cost a client its connection to the first transaction that such a client got answered
/// again. Times are on the trial's clock, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// The first failure.
    pub start_ns: Nanos,
    /// The first answer after it; `None` when none came before the trial ended.
    pub end_ns: Option<Nanos>,
    /// Clients that lost their connection in it.
    pub failures: u64,
    /// Connections that were made again since it began, until the next one began.
    pub reconnects: u64,
}

impl Outage {
    /// How long it lasted, in a trial that ended at `trial_end_ns`.
    pub fn length_ns(&self, trial_end_ns: Nanos) -> Nanos {
        self.end_ns.unwrap_or(trial_end_ns).saturating_sub(self.start_ns)
    }
}
