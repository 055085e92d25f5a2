//! Times in which the system under test was away: clients could not reach it, or it answered nothing.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// A period in which clients had lost their connections, or a transaction waited for its answer, and none succeeded. One
/// without a length is no outage: connections broke, and other transactions succeeded all the time. Times are on the
/// trial's clock, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// When the first request was sent that got no answer.
    pub start_ns: Nanos,
    /// The first answer after it; `None` when none came before the trial ended. The start where others were answered.
    pub end_ns: Option<Nanos>,
    /// How many connections broke during the outage; 0 when the system only stood still.
    pub failures: u64,
    /// Connections that were re-established between the start of this outage and the next one.
    pub reconnects: u64,
}

impl Outage {
    /// Whether the system was away, and did not only lose connections while it answered others.
    pub fn is_away(&self) -> bool {
        self.end_ns != Some(self.start_ns)
    }

    /// How long it lasted, in a trial that ended at `trial_end_ns`.
    pub fn length_ns(&self, trial_end_ns: Nanos) -> Nanos {
        self.end_ns.unwrap_or(trial_end_ns).saturating_sub(self.start_ns)
    }
}
