//! The end of a session's statements that take too long, or that nothing waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error};

/// SQLite asks once for about so many instructions of its virtual machine, which take less than a millisecond,
/// whether to go on. Most statements end before: they need no reading of the clock.
const INSTRUCTIONS: i32 = 10_000;
/// The least time between two checks of the event loop that a statement blocks.
const CHECK_PERIOD: Duration = Duration::from_millis(5);

/// Interrupts statements that take longer than a time-out, and those that the event loop of their thread gives up.
/// Waits for a lock or for the disk are no instructions: they end by themselves, a wait for a lock by the busy
/// time-out.
pub(super) struct TimeLimit {
    flags: Arc<Flags>,
}

struct Flags {
    /// Whether a statement has begun since SQLite last asked.
    is_new: AtomicBool,
    /// Whether the loop has given a statement up.
    is_given_up: AtomicBool,
}

impl TimeLimit {
    /// Sets the time limit of a connection; without a `timeout` statements may take as long as they need.
    ///
    /// # Errors
    /// When the connection is not usable.
    pub(super) fn set(
        connection: &mut Connection,
        timeout: Option<Duration>,
    ) -> Result<Self, Error> {
        let flags =
            Arc::new(Flags { is_new: AtomicBool::new(true), is_given_up: AtomicBool::new(false) });
        let shared = Arc::clone(&flags);
        let mut deadline: Option<Instant> = None;
        let mut checked_at: Option<Instant> = None;
        let is_over = move || {
            let now = net::origin();
            if shared.is_new.swap(false, Ordering::Relaxed) {
                deadline = timeout.and_then(|timeout| now.checked_add(timeout));
            }
            if checked_at.is_none_or(|last| now.duration_since(last) >= CHECK_PERIOD) {
                checked_at = Some(now);
                if net::must_end() {
                    shared.is_given_up.store(true, Ordering::Relaxed);
                    return true;
                }
            }
            deadline.is_some_and(|deadline| now >= deadline)
        };
        connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
        Ok(Self { flags })
    }

    /// A statement begins.
    #[inline]
    pub(super) fn begin_statement(&self) {
        self.flags.is_new.store(true, Ordering::Relaxed);
    }

    /// Whether the loop has given a statement up: it ends in its next turn, and nothing waits for the answer.
    pub(super) fn has_given_up(&self) -> bool {
        self.flags.is_given_up.load(Ordering::Relaxed)
    }
}
