//! Bounds on waits that are on the load path: thousands begin and end each second, and nearly none is
//! ever reached. So there is no timer for each. The loop sweeps over all of them every now and then;
//! beginning a wait notes the number of the last sweep, which costs a few instructions and no look at
//! the clock, and a wait that has seen enough sweeps has lasted too long.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use crate::runtime::TaskId;
use crate::{Handle, Nanos};

/// Time between two sweeps. A wait is noticed to be over its bound within twice that.
const SWEEP_NS: Nanos = 20_000_000;

/// No wait goes on.
const AT_REST: u64 = u64::MAX;

/// All waits of one loop that have a bound.
pub(crate) struct Sweeps {
    /// Sweeps so far.
    count: Cell<u64>,
    /// When the next one is due; only while there is anything to sweep.
    next: Cell<Nanos>,
    waits: RefCell<Vec<Weak<Wait>>>,
}

/// One who waits at times.
struct Wait {
    /// How many whole sweeps a wait may see.
    sweeps: u64,
    /// The last sweep before the wait in hand began.
    since: Cell<u64>,
    is_over: Cell<bool>,
    task: Cell<TaskId>,
}

/// How long one connection's owner is ready to wait for each answer.
pub struct Patience {
    bound: Duration,
    wait: Rc<Wait>,
    handle: Handle,
}

impl Default for Sweeps {
    fn default() -> Self {
        Self { count: Cell::new(0), next: Cell::new(Nanos::MAX), waits: RefCell::default() }
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
        let mut waits = self.waits.borrow_mut();
        waits.retain(|wait| {
            let Some(wait) = wait.upgrade() else { return false };
            let since = wait.since.get();
            // The sweep after the begin may come at once, so it does not count.
            if since != AT_REST && count - since > wait.sweeps && !wait.is_over.replace(true) {
                impatient.push(wait.task.get());
            }
            true
        });
        self.next.set(if waits.is_empty() { Nanos::MAX } else { now + SWEEP_NS });
        impatient
    }
}

impl Patience {
    /// For waits of at most `bound` by the future that is being polled.
    pub fn new(handle: &Handle, bound: Duration) -> Self {
        let bound_ns = u64::try_from(bound.as_nanos()).unwrap_or(Nanos::MAX);
        let wait = Rc::new(Wait {
            sweeps: bound_ns.div_ceil(SWEEP_NS).max(1),
            since: Cell::new(AT_REST),
            is_over: Cell::new(false),
            task: Cell::new(handle.current()),
        });
        let sweeps = handle.sweeps();
        if sweeps.waits.borrow().is_empty() {
            sweeps.next.set(handle.now().saturating_add(SWEEP_NS));
        }
        sweeps.waits.borrow_mut().push(Rc::downgrade(&wait));
        Self { bound, wait, handle: handle.clone() }
    }

    /// How long that is.
    pub fn bound(&self) -> Duration {
        self.bound
    }

    /// A wait begins.
    #[inline]
    pub fn begin(&self) {
        self.wait.since.set(self.handle.sweeps().count.get());
        self.wait.is_over.set(false);
    }

    /// It ends.
    #[inline]
    pub fn end(&self) {
        self.wait.since.set(AT_REST);
    }

    /// Whether the wait has lasted longer than its bound. Its owner is polled once when that happens.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.wait.is_over.get()
    }
}

#[cfg(test)]
mod tests;
