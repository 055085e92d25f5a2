//! Times at which clients could not reach the system under test.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// A period in which clients had lost their connections and none had recovered: from the first failure that
/// broke a connection to the first transaction that was answered on a new one. Times are on the trial's
/// clock, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// The first failure.
    pub start_ns: Nanos,
    /// The first answer after it; `None` when none came before the trial ended.
    pub end_ns: Option<Nanos>,
    /// How many connections broke during the outage.
    pub failures: u64,
    /// Connections that were re-established between the start of this outage and the next one.
    pub reconnects: u64,
}

impl Outage {
    /// How long it lasted, in a trial that ended at `trial_end_ns`.
    pub fn length_ns(&self, trial_end_ns: Nanos) -> Nanos {
        self.end_ns.unwrap_or(trial_end_ns).saturating_sub(self.start_ns)
    }
}
