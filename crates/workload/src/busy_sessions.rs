//! Sessions with a statement under way. When nothing waits for a statement any more, it is ended on the server: a server
//! does not notice that its client is gone, and what the statement has locked could not be cleaned up.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use driver::{Dialect, Session, Target};
use engine::{Stop, StopLevel, worker_pool};
use measure::Failure;
use net::Clock;

use crate::parallel::as_text;

/// How long a server may take to end statements, and how long after a request to stop at once.
const END_BOUND: Duration = Duration::from_secs(1);
const AT_ONCE_BOUND: Duration = Duration::from_millis(250);

/// The sessions of a step that are at work. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct BusySessions(Arc<Mutex<BTreeSet<BusySession>>>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BusySession {
    /// The index with which it was connected, which determines the server where there are several.
    index: usize,
    number: String,
}

impl BusySessions {
    /// Does `work` on a session, which is busy until the work has ended. It stays so when the work is dropped.
    ///
    /// # Errors
    /// The failure of the work, or of the question for the session's number.
    pub async fn track<T>(
        &self,
        dialect: &Dialect,
        (session, index): (&mut Session, usize),
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(ask) = dialect.session_number else { return work(session).await };
        let rows = session.rows(ask).await?;
        let number = as_text(rows.first().and_then(|row| row.first())).unwrap_or_default();
        let busy = BusySession { index, number };
        self.all().insert(busy.clone());
        let done = work(session).await;
        self.all().remove(&busy);
        done
    }

    /// Ends the statements of the sessions that are still busy. Returns whether the server did it in time.
    pub fn end_statements(&self, target: &Target, stop: &Stop) -> bool {
        let busy = std::mem::take(&mut *self.all());
        if busy.is_empty() {
            return true;
        }
        let (target, stop, clock) = (target.clone(), stop.clone(), Clock::monotonic());
        let is_over = move || {
            let is_urgent = stop.level() == StopLevel::AtOnce;
            let bound = if is_urgent { AT_ONCE_BOUND } else { END_BOUND };
            Duration::from_nanos(clock.now()) >= bound
        };
        let kill = target.dialect().kill;
        let ended = worker_pool::run_until(is_over, |handle| {
            Box::pin(async move {
                for BusySession { index, number } in busy {
                    let mut session = target.connect(&handle, index).await?;
                    // A statement that has ended meanwhile is an error here.
                    let _ = session.run(&kill.replace("{number}", &number)).await;
                    session.close().await;
                }
                Ok(())
            })
        });
        ended.is_ok()
    }

    fn all(&self) -> MutexGuard<'_, BTreeSet<BusySession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
