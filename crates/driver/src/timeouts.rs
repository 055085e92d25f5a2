//! How long a server may take.

use std::time::Duration;

/// Bounds on what a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first packet until the login is through.
    pub connect: Duration,
    /// For the answer to each statement; `None` waits for ever. A statement that takes longer fails with
    /// [`measure::ErrorClass::Timeout`] and leaves its session of no more use, because the answer may
    /// still come. An embedded database has no such bound.
    pub query: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), query: None }
    }
}
