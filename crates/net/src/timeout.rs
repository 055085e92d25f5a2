//! The time-out of the answers on one connection.

use std::time::Duration;

use crate::Handle;

/// The time-out for each answer on one connection.
pub struct Timeout {
    bound: Duration,
    /// Its place among the loop's coarse timers.
    place: usize,
    handle: Handle,
}

impl Timeout {
    /// A time-out of `bound` for waits of the future that is being polled.
    pub fn new(handle: &Handle, bound: Duration) -> Self {
        let place = handle.coarse_timers().add(handle.current(), bound, || handle.now());
        Self { bound, place, handle: handle.clone() }
    }

    pub fn bound(&self) -> Duration {
        self.bound
    }

    #[inline]
    pub fn begin(&self) {
        self.handle.coarse_timers().begin(self.place);
    }

    #[inline]
    pub fn end(&self) {
        self.handle.coarse_timers().end(self.place);
    }

    /// Whether the wait has timed out. The future is polled once when that happens.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.handle.coarse_timers().is_over(self.place)
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        self.handle.coarse_timers().remove(self.place);
    }
}

#[cfg(test)]
mod tests;
