//! The only reader of time on the load path.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use crate::Nanos;

/// A monotonic clock in nanoseconds since its origin: the machine's, or a virtual one that moves
/// only when an event loop has nothing left to do at the present instant.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Monotonic(Instant),
    Virtual(Rc<Cell<Nanos>>),
}

impl Clock {
    /// The machine's monotonic clock, counted from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads time")]
    pub fn monotonic() -> Self {
        Self(Source::Monotonic(Instant::now()))
    }

    /// The machine's monotonic clock, counted from `origin`, so that several threads share a scale.
    pub fn since(origin: Instant) -> Self {
        Self(Source::Monotonic(origin))
    }

    /// A virtual clock at 0.
    pub fn simulated() -> Self {
        Self(Source::Virtual(Rc::new(Cell::new(0))))
    }

    /// Nanoseconds since the origin.
    #[inline]
    pub fn now(&self) -> Nanos {
        match &self.0 {
            Source::Monotonic(origin) => elapsed_ns(*origin),
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

#[inline]
fn elapsed_ns(origin: Instant) -> Nanos {
    let elapsed = origin.elapsed();
    elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
}
