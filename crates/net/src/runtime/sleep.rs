//! A wait for a point in time.

use std::cmp::Reverse;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Handle;
use crate::Nanos;
use crate::task::TaskId;

/// Waits for a point in time.
pub struct Sleep<'a> {
    pub(super) handle: &'a Handle,
    pub(super) at: Nanos,
    /// The future whose timer is set.
    pub(super) set_for: Option<TaskId>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        let Self { handle, at, set_for } = &mut *self;
        if handle.now() >= *at {
            *set_for = None;
            return Poll::Ready(());
        }
        if set_for.is_none() {
            handle.0.timers.borrow_mut().push(Reverse((*at, handle.current())));
            *set_for = Some(handle.current());
        }
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        let Some(task) = self.set_for else { return };
        // A future that no longer waits must not be polled. This case is rare, and there are few timers.
        let entry = Reverse((self.at, task));
        let mut is_found = false;
        self.handle.0.timers.borrow_mut().retain(|timer| {
            let is_this = !is_found && *timer == entry;
            is_found |= is_this;
            !is_this
        });
    }
}
