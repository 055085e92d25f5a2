//! Bounds on waits that are on the load path: thousands begin and end each second, and nearly none is
//! ever reached. So there is no timer for each. The loop sweeps over all of them every now and then;
//! beginning a wait notes the number of the last sweep, which costs a few instructions and no look at
//! the clock, and a wait that has seen enough sweeps has lasted too long.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use measure::nanos;

use crate::runtime::TaskId;
use crate::{Handle, Nanos};

/// Time between two sweeps. A wait is noticed to be over its bound within twice that.
const SWEEP_NS: Nanos = 20_000_000;

/// In the place of a number of sweeps: no wait goes on.
const AT_REST: u64 = u64::MAX;
/// In the place of a number of sweeps: the wait has lasted too long.
const OVER: u64 = u64::MAX - 1;

/// All waits of one loop that have a bound, side by side: thousands of them fit into the processor's caches.
pub(crate) struct Sweeps {
    /// Sweeps so far.
    count: Cell<u64>,
    /// When the next one is due; only while there is anything to sweep.
    next: Cell<Nanos>,
    waits: RefCell<Vec<Wait>>,
    /// Places in `waits` that nobody has any more.
    free: RefCell<Vec<usize>>,
}

/// One who waits at times.
struct Wait {
    /// The last sweep before the wait in hand began, [`AT_REST`] or [`OVER`].
    since: u64,
    /// How many whole sweeps a wait may see.
    sweeps: u64,
    task: TaskId,
}

/// How long one connection's owner is ready to wait for each answer.
pub struct Patience {
    bound: Duration,
    place: usize,
    handle: Handle,
}

impl Default for Sweeps {
    fn default() -> Self {
        let (waits, free) = (RefCell::default(), RefCell::default());
        Self { count: Cell::new(0), next: Cell::new(Nanos::MAX), waits, free }
    }
}

impl Sweeps {
    /// When the loop shall look at the waits, if there are any.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        self.next.get()
    }

    /// Finds the waits that have lasted too long; their owners are to be polled.
    pub(crate) fn sweep(&self, now: Nanos) -> Vec<TaskId> {
        let count = self.count.get() + 1;
        self.count.set(count);
        let mut impatient = Vec::new();
        for wait in self.waits.borrow_mut().iter_mut() {
            // The sweep after the begin may come at once, so it does not count.
            if wait.since < OVER && count - wait.since > wait.sweeps {
                wait.since = OVER;
                impatient.push(wait.task);
            }
        }
        self.next.set(if self.is_empty() { Nanos::MAX } else { now + SWEEP_NS });
        impatient
    }

    fn is_empty(&self) -> bool {
        self.waits.borrow().len() == self.free.borrow().len()
    }

    /// Finds a place for one more.
    fn place(&self, wait: Wait) -> usize {
        let mut waits = self.waits.borrow_mut();
        if let Some(place) = self.free.borrow_mut().pop() {
            waits[place] = wait;
            return place;
        }
        waits.push(wait);
        waits.len() - 1
    }
}

impl Patience {
    /// For waits of at most `bound` by the future that is being polled.
    pub fn new(handle: &Handle, bound: Duration) -> Self {
        let sweeps = handle.sweeps();
        if sweeps.is_empty() {
            sweeps.next.set(handle.now().saturating_add(SWEEP_NS));
        }
        let place = sweeps.place(Wait {
            since: AT_REST,
            sweeps: nanos(bound).div_ceil(SWEEP_NS).max(1),
            task: handle.current(),
        });
        Self { bound, place, handle: handle.clone() }
    }

    /// How long that is.
    pub fn bound(&self) -> Duration {
        self.bound
    }

    /// A wait begins.
    #[inline]
    pub fn begin(&self) {
        let sweeps = self.handle.sweeps();
        sweeps.waits.borrow_mut()[self.place].since = sweeps.count.get();
    }

    /// It ends.
    #[inline]
    pub fn end(&self) {
        self.handle.sweeps().waits.borrow_mut()[self.place].since = AT_REST;
    }

    /// Whether the wait has lasted longer than its bound. Its owner is polled once when that happens.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.handle.sweeps().waits.borrow()[self.place].since == OVER
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.end();
        self.handle.sweeps().free.borrow_mut().push(self.place);
    }
}

#[cfg(test)]
mod tests;
