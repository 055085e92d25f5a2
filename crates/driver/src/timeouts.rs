//! Time-outs of sessions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long a session waits for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// From the first packet to the end of the login.
    pub connect: Duration,
    /// For the answer to each statement; `None` waits forever. A statement that takes longer fails with
    /// [`measure::ErrorClass::Timeout`] and makes its session unusable, because the answer may still arrive. An
    /// embedded database ends it between two steps of its work.
    pub query: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), query: None }
    }
}
