//! The server's own counters beside dyno's: read just before the load begins, when every client is
//! ready, and after it, by a session of its own.

use std::sync::mpsc;

use driver::Target;
use driver::mysql::ServerCounters;
use engine::{Stop, crew};
use measure::{Interval, QueryCounts};
use record::{Counted, CrossCheck};

/// A check in progress.
pub(crate) struct Check {
    /// `None` where there is no server that could tell.
    target: Option<Target>,
    stop: Stop,
    before: Before,
    by_dyno: QueryCounts,
}

/// The first reading.
enum Before {
    /// The load has not begun, or the server does not tell.
    Nothing,
    Read(ServerCounters),
    Failed(String),
}

impl Check {
    /// A check of the load on `target`.
    pub(crate) fn new(target: Option<Target>, stop: Stop) -> Self {
        Self { target, stop, before: Before::Nothing, by_dyno: QueryCounts::default() }
    }

    /// All clients are ready, and none has begun.
    pub(crate) fn begin(&mut self) {
        self.before = match self.read() {
            Ok(Some(counters)) => Before::Read(counters),
            Ok(None) => Before::Nothing,
            Err(reason) => Before::Failed(reason),
        };
    }

    /// Adds what dyno counted in an interval, of the warm-up too.
    pub(crate) fn add(&mut self, interval: &Interval) {
        self.by_dyno.add(interval.tally.queries);
    }

    /// Every client has ended; `late` is what was answered after the last interval. `None` when the
    /// server does not tell.
    pub(crate) fn end(mut self, late: QueryCounts) -> Option<CrossCheck> {
        self.by_dyno.add(late);
        let missing = |reason: &str| Some(CrossCheck::Missing(reason.to_owned()));
        let before = match &self.before {
            Before::Nothing => return None,
            Before::Failed(reason) => return missing(reason),
            Before::Read(before) => before,
        };
        let after = match self.read() {
            Ok(Some(after)) => after,
            Ok(None) => return missing("the server no longer tells what it has counted"),
            Err(reason) => return missing(&reason),
        };
        let Some(counts) = after.since(before) else {
            return missing("the server was started anew, or its counters were set back");
        };
        Some(CrossCheck::Counted(Counted {
            by_dyno: self.by_dyno,
            by_server: counts.statements,
            counters: counts.counters,
        }))
    }

    /// Asks the server, until it has answered or someone wants to stop at once.
    fn read(&self) -> Result<Option<ServerCounters>, String> {
        let Some(target) = self.target.clone() else { return Ok(None) };
        let (told, counters) = mpsc::channel();
        let asked = crew::run_one(&self.stop, |handle| {
            Box::pin(async move {
                // The receiver lives until the answer is taken.
                let _ = told.send(target.counters(&handle).await?);
                Ok(())
            })
        });
        asked.map_err(|failure| failure.to_string())?;
        Ok(counters.try_recv().ok().flatten())
    }
}
