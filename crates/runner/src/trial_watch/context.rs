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

    /// The same as [`Self::each_period`], and calls `look` in between, which says when it wants to look again, if ever.
    pub(super) fn each_period_and_look<S>(
        &self,
        source: &mut S,
        look: impl Fn(&mut S) -> Option<Duration>,
        mut read: impl FnMut(&mut S) -> Result<Continue>,
    ) -> Result<()> {
        let mut read_at: Nanos = 0;
        let mut look_at: Option<Nanos> = None;
        loop {
            let now = self.clock.now();
            let until = look_at.map_or(read_at, |look_at| look_at.min(read_at));
            let command =
                self.commands.recv_timeout(Duration::from_nanos(until.saturating_sub(now)));
            let is_due = match command {
                Ok(WatchCommand::Read | WatchCommand::End) => true,
                Err(RecvTimeoutError::Timeout) => read_at <= self.clock.now(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            if !is_due || look_at.is_none() {
                look_at = look(source).map(|pause| self.clock.now().saturating_add(nanos(pause)));
            }
            if is_due {
                if read(source)? == Continue::No || command == Ok(WatchCommand::End) {
                    return Ok(());
                }
                read_at = self.next();
            }
        }
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
