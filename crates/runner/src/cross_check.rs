//! Compares the server's own counters with dyno's. They are read when every client is ready, or before clients have
//! sessions where the server counts a session when it ends, and again after the load, in a session of their own or from the
//! server's page of metrics.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::mpsc;
use std::time::Duration;

use driver::{ServerCounters, ServerCounts, Target};
use engine::{Stop, StopLevel, worker_pool};
use measure::{Interval, QueryCounts};
use net::Clock;
use record::{Counted, CrossCheck};
use system::{ProgressEvent, StatementCounters, StatementPages, aside};

/// How long the server may take to report its counters once the run is interrupted.
const INTERRUPTED_BOUND: Duration = Duration::from_millis(500);

pub(crate) struct Check {
    /// `None` where there is no server with counters.
    target: Option<Target>,
    /// The pages on which its servers count statements, if they do.
    pages: Option<StatementPages>,
    stop: Stop,
    before: FirstReading,
    by_dyno: QueryCounts,
}

enum FirstReading {
    /// The load has not begun, or the server does not report it.
    Nothing,
    Read(Reading),
    Failed(String),
}

enum Reading {
    Status(ServerCounters),
    Page(StatementCounters),
}

impl Reading {
    fn since(&self, earlier: &Self) -> Result<ServerCounts, String> {
        match (self, earlier) {
            (Self::Status(now), Self::Status(before)) => {
                now.since(before).map_err(|why| why.to_string())
            }
            (Self::Page(now), Self::Page(before)) => {
                now.since(before).ok_or_else(|| "the server was restarted".to_owned())
            }
            _ => Err("the server reports its counts in another way than before".to_owned()),
        }
    }
}

impl Check {
    pub(crate) fn new(target: Option<Target>, pages: Option<StatementPages>, stop: Stop) -> Self {
        Self { target, pages, stop, before: FirstReading::Nothing, by_dyno: QueryCounts::default() }
    }

    /// Takes the first reading where it belongs before the sessions of the load. `load_is_elsewhere` tells that other
    /// processes have these sessions.
    pub(crate) fn before_sessions(&mut self, load_is_elsewhere: bool) {
        if !self.counts_ended_sessions() {
            return;
        }
        self.before = if load_is_elsewhere {
            let reason = "the transactions of several generators are not counted together";
            FirstReading::Failed(reason.to_owned())
        } else {
            self.first()
        };
    }

    /// Takes the first reading of other servers: all clients are ready, and none has begun.
    pub(crate) fn begin(&mut self) {
        if !self.counts_ended_sessions() {
            self.before = self.first();
        }
    }

    fn counts_ended_sessions(&self) -> bool {
        self.pages.is_none()
            && self.target.as_ref().is_some_and(|it| it.capabilities().counts_ended_sessions)
    }

    fn first(&self) -> FirstReading {
        match self.read() {
            Ok(Some(counters)) => FirstReading::Read(counters),
            Ok(None) if self.is_embedded() => FirstReading::Nothing,
            Ok(None) => {
                FirstReading::Failed("the server does not report what it counts".to_owned())
            }
            Err(reason) => FirstReading::Failed(reason),
        }
    }

    fn is_embedded(&self) -> bool {
        self.target.as_ref().is_none_or(|target| target.capabilities().is_embedded)
    }

    /// Adds dyno's counts of an interval, including those of the warm-up.
    pub(crate) fn add(&mut self, interval: &Interval) {
        self.by_dyno.add(interval.tally.queries);
    }

    /// Takes the second reading after every client has ended; `late` counts answers after the last interval. `None`
    /// when the server does not report its counters.
    pub(crate) fn end(mut self, late: QueryCounts) -> Option<CrossCheck> {
        self.by_dyno.add(late);
        let by_dyno = self.by_dyno;
        let missing =
            |reason: &str| Some(CrossCheck::Missing { reason: reason.to_owned(), by_dyno });
        let before = match &self.before {
            FirstReading::Nothing => return None,
            FirstReading::Failed(reason) => return missing(reason),
            FirstReading::Read(before) => before,
        };
        let after = match self.read() {
            Ok(Some(after)) => after,
            Ok(None) => return missing("the server no longer reports what it counts"),
            Err(reason) => return missing(&reason),
        };
        match after.since(before) {
            Ok(ServerCounts { count: by_server, statements, row_lock_ns, counters }) => {
                let session_statements = statements;
                Some(CrossCheck::Counted(Counted {
                    by_dyno,
                    by_server,
                    session_statements,
                    row_lock_ns,
                    counters,
                }))
            }
            Err(why) => missing(&why),
        }
    }

    /// Asks the server, until it has answered or a stop is requested; for a moment only when a stop was requested before.
    fn read(&self) -> Result<Option<Reading>, String> {
        let (stop, clock, before) = (self.stop.clone(), Clock::monotonic(), self.stop.level());
        let is_over = move || match stop.level() {
            StopLevel::None => false,
            StopLevel::AtOnce => true,
            level => level > before || Duration::from_nanos(clock.now()) >= INTERRUPTED_BOUND,
        };
        // A page costs the server no statement, so it is used wherever there is one.
        if let Some(pages) = self.pages.clone() {
            let mut look = |_: ProgressEvent<'_>| if is_over() { Break(()) } else { Continue(()) };
            let read = aside("asking for the server's counts", &mut look, move || pages.read());
            let page = read.map_err(|cause| cause.to_string())??;
            return Ok(Some(Reading::Page(page)));
        }
        let Some(target) = self.target.clone() else { return Ok(None) };
        let (told, counters) = mpsc::channel();
        let asked = worker_pool::run_until(is_over, |handle| {
            Box::pin(async move {
                // The receiver lives until the answer is taken.
                let _ = told.send(target.counters(&handle).await?);
                Ok(())
            })
        });
        asked.map_err(|failure| failure.to_string())?;
        Ok(counters.try_recv().ok().flatten().map(Reading::Status))
    }
}
