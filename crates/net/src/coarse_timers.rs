//! Coarse time-outs for requests. Thousands of waits begin and end each second, and nearly all end in time,
//! so there is no timer for each. The loop sweeps over all waits at a fixed period. The start of a wait
//! stores the number of the last sweep, which takes a few instructions and does not read the clock. A wait
//! has timed out after a number of sweeps.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use measure::nanos;

use crate::Nanos;
use crate::task::TaskId;

/// Time between two sweeps. A time-out is noticed within twice that.
pub(crate) const SWEEP_NS: Nanos = 20_000_000;

/// Instead of a number of sweeps: there is no wait.
const IDLE: u64 = u64::MAX;
/// Instead of a number of sweeps: the wait has timed out.
const EXPIRED: u64 = u64::MAX - 1;

/// All waits of one loop that have a time-out, in one array, so that thousands fit into the processor's
/// caches.
pub(crate) struct CoarseTimers {
    count: Cell<u64>,
    /// When the next sweep is due; [`Nanos::MAX`] without waits.
    next: Cell<Nanos>,
    waits: RefCell<Vec<Wait>>,
    /// Unused places in `waits`.
    free: RefCell<Vec<usize>>,
}

/// The time-out of one connection.
struct Wait {
    /// The last sweep before the current wait began, [`IDLE`] or [`EXPIRED`].
    since: u64,
    /// How many sweeps a wait may last.
    sweeps: u64,
    task: TaskId,
}

impl Default for CoarseTimers {
    fn default() -> Self {
        let (waits, free) = (RefCell::default(), RefCell::default());
        Self { count: Cell::new(0), next: Cell::new(Nanos::MAX), waits, free }
    }
}

impl CoarseTimers {
    /// When the next sweep is due; [`Nanos::MAX`] without waits.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        self.next.get()
    }

    /// Marks the waits that have timed out, and returns the futures to poll.
    pub(crate) fn sweep(&self, now: Nanos) -> Vec<TaskId> {
        let count = self.count.get() + 1;
        self.count.set(count);
        let mut expired = Vec::new();
        for wait in self.waits.borrow_mut().iter_mut() {
            // The first sweep can come right after the start, so it does not count.
            if wait.since < EXPIRED && count - wait.since > wait.sweeps {
                wait.since = EXPIRED;
                expired.push(wait.task);
            }
        }
        self.next.set(if self.is_empty() { Nanos::MAX } else { now + SWEEP_NS });
        expired
    }

    fn is_empty(&self) -> bool {
        self.waits.borrow().len() == self.free.borrow().len()
    }

    /// How many places there are, used or not.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.waits.borrow().len()
    }

    /// Adds a time-out of `bound` for waits of `task`, and returns its place.
    pub(crate) fn add(&self, task: TaskId, bound: Duration, now: impl FnOnce() -> Nanos) -> usize {
        if self.is_empty() {
            self.next.set(now().saturating_add(SWEEP_NS));
        }
        let wait = Wait { since: IDLE, sweeps: nanos(bound).div_ceil(SWEEP_NS).max(1), task };
        let mut waits = self.waits.borrow_mut();
        if let Some(place) = self.free.borrow_mut().pop() {
            waits[place] = wait;
            return place;
        }
        waits.push(wait);
        waits.len() - 1
    }

    #[inline]
    pub(crate) fn begin(&self, place: usize) {
        self.waits.borrow_mut()[place].since = self.count.get();
    }

    #[inline]
    pub(crate) fn end(&self, place: usize) {
        self.waits.borrow_mut()[place].since = IDLE;
    }

    /// Whether the wait has timed out.
    #[inline]
    pub(crate) fn is_over(&self, place: usize) -> bool {
        self.waits.borrow()[place].since == EXPIRED
    }

    pub(crate) fn remove(&self, place: usize) {
        self.end(place);
        self.free.borrow_mut().push(place);
    }
}
