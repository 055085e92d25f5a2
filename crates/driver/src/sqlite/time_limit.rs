//! The time limit of a session's statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error};

/// SQLite asks once for about so many instructions of its virtual machine, which take less than a millisecond,
/// whether to go on. Most statements end before: they need no reading of the clock.
const INSTRUCTIONS: i32 = 10_000;

/// Interrupts statements that take longer than a time-out. Waits for a lock or for the disk are no instructions:
/// they end by themselves, a wait for a lock by the busy time-out.
pub(super) struct TimeLimit {
    /// Whether a statement has begun since SQLite last asked.
    is_new: Arc<AtomicBool>,
}

impl TimeLimit {
    /// Sets the time limit of a connection.
    ///
    /// # Errors
    /// When the connection is not usable.
    pub(super) fn set(connection: &mut Connection, timeout: Duration) -> Result<Self, Error> {
        let is_new = Arc::new(AtomicBool::new(true));
        let begun = Arc::clone(&is_new);
        let mut deadline: Option<Instant> = None;
        let is_over = move || {
            let now = net::origin();
            if begun.swap(false, Ordering::Relaxed) {
                deadline = now.checked_add(timeout);
            }
            deadline.is_some_and(|deadline| now >= deadline)
        };
        connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
        Ok(Self { is_new })
    }

    /// A statement begins.
    #[inline]
    pub(super) fn begin_statement(&self) {
        self.is_new.store(true, Ordering::Relaxed);
    }
}
