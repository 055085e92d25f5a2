//! When a watch thread reads its source, and until when.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::Result;
use measure::{Nanos, nanos};
use net::Clock;

use super::log::{Continue, WatchLog};

/// The context of a watch thread.
pub(super) struct WatchContext<'a> {
    pub(super) clock: &'a Clock,
    pub(super) commands: &'a Receiver<WatchCommand>,
    pub(super) log: &'a WatchLog,
    pub(super) period: Duration,
}

impl WatchContext<'_> {
    /// The next whole period, so that readings align with the intervals; the one after it when that would come at
    /// once. Missed periods are not made up for.
    pub(super) fn next(&self) -> Nanos {
        next(self.clock.now(), self.period)
    }

    /// Calls `read` at once, in each period and at the edges of phases, until the command to end, or until it writes
    /// to no record any more.
    pub(super) fn each_period(&self, mut read: impl FnMut() -> Result<Continue>) -> Result<()> {
        let mut read_at: Nanos = 0;
        loop {
            let wait = Duration::from_nanos(read_at.saturating_sub(self.clock.now()));
            let command = self.commands.recv_timeout(wait);
            if command == Err(RecvTimeoutError::Disconnected) {
                return Ok(());
            }
            if read()? == Continue::No || command == Ok(WatchCommand::End) {
                return Ok(());
            }
            read_at = self.next();
        }
    }
}

/// A command to a watch thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchCommand {
    /// A phase begins: take a reading at its edge.
    Read,
    /// The load is over: take a last reading and end.
    End,
}

/// The next whole period.
pub(super) fn next(now: Nanos, period: Duration) -> Nanos {
    let period = nanos(period).max(1);
    (now.saturating_add(period / 2) / period + 1).saturating_mul(period)
}
