//! The clock of the load path, which reads time nowhere else.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use measure::nanos;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::Nanos;

/// A monotonic clock in nanoseconds since its origin: the machine's, or a virtual one, which moves only when
/// its event loop has nothing left to do at the current time.
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

    /// The machine's monotonic clock since `origin`, so that several threads use the same scale.
    pub fn since(origin: Instant) -> Self {
        Self(Source::Monotonic(kernel_origin_ns(origin)))
    }

    /// A virtual clock at 0.
    pub fn simulated() -> Self {
        Self(Source::Virtual(Rc::new(Cell::new(0))))
    }

    /// The time on this clock that `kernel_ns` is on the kernel's monotonic clock; 0 for one before the origin. A
    /// virtual clock has no such origin.
    pub fn of_kernel(&self, kernel_ns: Nanos) -> Nanos {
        match &self.0 {
            Source::Monotonic(origin) => kernel_ns.saturating_sub(*origin),
            Source::Virtual(_) => kernel_ns,
        }
    }

    /// The time on the kernel's monotonic clock that `at` is on this one.
    pub fn to_kernel(&self, at: Nanos) -> Nanos {
        match &self.0 {
            Source::Monotonic(origin) => at.saturating_add(*origin),
            Source::Virtual(_) => at,
        }
    }

    /// The machine's monotonic clock since a time on the kernel's, which may be in the future: until then it is 0.
    pub fn since_kernel(kernel_ns: Nanos) -> Self {
        Self(Source::Monotonic(kernel_ns))
    }

    /// Nanoseconds since the origin.
    #[inline]
    pub fn now(&self) -> Nanos {
        match &self.0 {
            Source::Monotonic(origin) => kernel_ns().saturating_sub(*origin),
            Source::Virtual(now) => now.get(),
        }
    }

    /// Moves a virtual clock forward to `at`; does nothing to a real one.
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

/// The kernel's monotonic clock, ns. An [`Instant`] reads the same clock, but computing a difference from it
/// takes three times as long, and the clock is read for every statement.
#[inline]
pub fn kernel_ns() -> Nanos {
    // The clock exists on all supported systems, so this does not fail.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap_or_else(|_| TimeSpec::new(0, 0));
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// The time of `origin` on the kernel's clock, from the fastest of several readings.
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
    fn clocks_of_one_machine_agree_through_the_kernel() {
        let (one, other) = (Clock::monotonic(), Clock::monotonic());
        assert_eq!(one.of_kernel(one.to_kernel(5_000)), 5_000);
        assert_eq!(one.of_kernel(0), 0, "before its origin");
        let at = one.now();
        assert!(other.of_kernel(one.to_kernel(at)) <= other.now());
    }

    #[test]
    fn virtual_time_moves_only_forward() {
        let clock = Clock::simulated();
        clock.advance_to(5);
        clock.advance_to(3);
        assert_eq!(clock.now(), 5);
    }
}
