//! The exit of a server of a system that goes on without it.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// A server that was started for the system, one of several or the only one, and exited by itself during a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberExit {
    /// Its name, the same as that of its watched process, such as `tikv-2`.
    pub member: String,
    pub role: String,
    /// When its process exited, on the trial's clock, warm-up included; `None` when that was before the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<Nanos>,
    pub status: String,
    /// The end of its log; empty when nothing was logged, and when it was killed, which it cannot log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
}
