//! When one transaction ran, for loads with so few of them that each is kept.

use serde::{Deserialize, Serialize};

use crate::{Nanos, OperationId};

/// One transaction of a client, with its times on the trial's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedTurn {
    /// The client's index, from 0.
    pub client: usize,
    pub operation: OperationId,
    pub start_ns: Nanos,
    /// When it was answered or given up.
    pub end_ns: Nanos,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_failed: bool,
}

impl TimedTurn {
    pub fn length_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.start_ns)
    }
}
