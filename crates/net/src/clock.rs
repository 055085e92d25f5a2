//! The only reader of time on the load path.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use measure::nanos;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::Nanos;

/// A monotonic clock in nanoseconds since its origin: the machine's, or a virtual one that moves
/// only when an event loop has nothing left to do at the present instant.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    /// The origin on the kernel's monotonic clock, ns.
    Monotonic(Nanos),
    Virtual(Rc<Cell<Nanos>>),
}

impl Clock {
    /// The machine's monotonic clock, counted from now.
    pub fn monotonic() -> Self {
        Self(Source::Monotonic(kernel_ns()))
    }

    /// The machine's monotonic clock, counted from `origin`, so that several threads share a scale.
    pub fn since(origin: Instant) -> Self {
        Self(Source::Monotonic(kernel_origin_ns(origin)))
    }

    /// A virtual clock at 0.
    pub fn simulated() -> Self {
        Self(Source::Virtual(Rc::new(Cell::new(0))))
    }

    /// Nanoseconds since the origin.
    #[inline]
    pub fn now(&self) -> Nanos {
        match &self.0 {
            Source::Monotonic(origin) => kernel_ns().saturating_sub(*origin),
            Source::Virtual(now) => now.get(),
        }
    }

    /// Moves a virtual clock forward to `at`; a real one moves by itself.
    pub(crate) fn advance_to(&self, at: Nanos) {
        if let Source::Virtual(now) = &self.0 {
            now.set(now.get().max(at));
        }
    }

    pub(crate) fn is_virtual(&self) -> bool {
        matches!(self.0, Source::Virtual(_))
    }
}

/// An instant of the machine's clock, for [`Clock::since`].
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads time")]
pub fn origin() -> Instant {
    Instant::now()
}

/// The kernel's monotonic clock, ns. An [`Instant`] reads the same clock, but takes three times as long to
/// tell how far it is from another: this is read for every statement.
#[inline]
fn kernel_ns() -> Nanos {
    // The clock exists on every system that this builds for, so there is no error to speak of.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap_or_else(|_| TimeSpec::new(0, 0));
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// Where `origin` lies on the kernel's clock, from the try that was interrupted the least.
fn kernel_origin_ns(origin: Instant) -> Nanos {
    let tries = (0..5).map(|_| {
        let before = kernel_ns();
        let elapsed_ns = nanos(origin.elapsed());
        (kernel_ns() - before, before.saturating_sub(elapsed_ns))
    });
    tries.min().map_or(0, |(_, origin_ns)| origin_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_time_never_goes_back() {
        let clock = Clock::since(origin());
        let times: Vec<Nanos> = (0..1000).map(|_| clock.now()).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn virtual_time_moves_only_forward() {
        let clock = Clock::simulated();
        clock.advance_to(5);
        clock.advance_to(3);
        assert_eq!(clock.now(), 5);
    }
}
