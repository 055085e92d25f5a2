//! The end of a session's statements that take too long, or that nothing waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error};

use super::Config;

/// SQLite asks once for about so many instructions of its virtual machine, which take less than a millisecond,
/// whether to go on. Most statements end before: they need no reading of the clock.
const INSTRUCTIONS: i32 = 10_000;
/// The time between two checks of the event loop while a statement waits for a lock.
const LOCK_CHECK_PERIOD: Duration = Duration::from_millis(20);
/// The least time between two checks of the event loop that a statement blocks.
const CHECK_PERIOD: Duration = Duration::from_millis(5);

/// The pauses between attempts to get a lock, ms; the last one repeats. They are SQLite's own (`sqliteDefaultBusyCallback`
/// in its main.c).
const LOCK_PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Interrupts statements that take longer than a time-out, and those that the event loop of their thread gives up, also
/// while they wait for a lock. Waits for the disk end by themselves.
pub(super) struct TimeLimit {
    flags: Arc<Flags>,
}

struct Flags {
    /// Whether a statement has begun since SQLite last asked.
    is_new: AtomicBool,
    is_given_up: AtomicBool,
}

impl Flags {
    /// Whether the event loop of this thread gives the statement up.
    fn must_end(&self) -> bool {
        let must_end = net::must_end();
        if must_end {
            self.is_given_up.store(true, Ordering::Relaxed);
        }
        must_end
    }

    /// Waits before another attempt to get a lock, after `attempt` of them; returns whether there is one.
    fn waits_for_lock(&self, attempt: i32, bound: Duration) -> bool {
        let Some(mut left) = pause(usize::try_from(attempt).unwrap_or(0), bound) else {
            return false;
        };
        while !left.is_zero() {
            if self.must_end() {
                return false;
            }
            let slice = left.min(LOCK_CHECK_PERIOD);
            thread::sleep(slice);
            left -= slice;
        }
        true
    }
}

/// The pause after so many attempts to get a lock; `None` when all pauses together have reached `bound`.
fn pause(attempts: usize, bound: Duration) -> Option<Duration> {
    let last = LOCK_PAUSES_MS[LOCK_PAUSES_MS.len() - 1];
    let at = |attempt: usize| LOCK_PAUSES_MS.get(attempt).copied().unwrap_or(last);
    let listed: u64 = LOCK_PAUSES_MS.iter().take(attempts).sum();
    let repeated = attempts.saturating_sub(LOCK_PAUSES_MS.len()) as u64 * last;
    let left = bound.checked_sub(Duration::from_millis(listed + repeated))?;
    Some(left.min(Duration::from_millis(at(attempts)))).filter(|pause| !pause.is_zero())
}

impl TimeLimit {
    /// Sets the time limit of a connection; without a `timeout` statements may take as long as they need. A statement
    /// waits for a lock for the busy time-out of `config`.
    ///
    /// # Errors
    /// When the connection is not usable.
    pub(super) fn set(
        connection: &mut Connection,
        config: &Config,
        timeout: Option<Duration>,
    ) -> Result<Self, Error> {
        let flags =
            Arc::new(Flags { is_new: AtomicBool::new(true), is_given_up: AtomicBool::new(false) });
        let (shared, bound) = (Arc::clone(&flags), config.busy_timeout);
        connection.busy_handler(Some(move |attempt| shared.waits_for_lock(attempt, bound)))?;
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
                if shared.must_end() {
                    return true;
                }
            }
            deadline.is_some_and(|deadline| now >= deadline)
        };
        connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
        Ok(Self { flags })
    }

    #[inline]
    pub(super) fn begin_statement(&self) {
        self.flags.is_new.store(true, Ordering::Relaxed);
    }

    /// Whether the loop has given a statement up: it ends in its next turn, and nothing waits for the answer.
    pub(super) fn has_given_up(&self) -> bool {
        self.flags.is_given_up.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_for_a_lock_grow_and_add_up_to_the_busy_time_out() {
        let ms = Duration::from_millis;
        let all = |bound| -> Vec<Duration> {
            (0..).map_while(|attempts| pause(attempts, bound)).collect()
        };
        assert!(all(Duration::ZERO).is_empty());
        assert_eq!(all(ms(20)), [1, 2, 5, 10, 2].map(ms));
        assert_eq!(all(ms(5_000)).iter().sum::<Duration>(), ms(5_000));
        assert_eq!(all(ms(5_000)).len(), 12 + 47, "328 ms in twelve pauses, then 100 ms each");
        assert_eq!(pause(1_000_000, Duration::MAX), Some(ms(100)));
    }

    #[test]
    fn a_wait_for_a_lock_ends_when_the_event_loop_gives_the_statement_up() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            busy_timeout: Duration::from_secs(3600),
            ..Config::new(folder.path().join("data.db"))
        };
        let open = || super::super::Session::open(&config, None).unwrap();
        let (mut holder, mut waiter) = (open(), open());
        holder.run("BEGIN IMMEDIATE").unwrap();
        let _check = net::BlockingCheck::set(|| true);
        let failure = waiter.run("BEGIN IMMEDIATE").unwrap_err();
        assert!(failure.message.ends_with("data.db: interrupted"), "{failure}");
        assert!(waiter.has_given_up() && !holder.has_given_up());
    }
}
