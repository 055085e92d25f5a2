//! A timer that is more precise than the event loop's own wait, whose time-out is rounded up to whole
//! milliseconds. Without it every intended start of an open loop would be up to a millisecond late.
//!
//! On Linux it is a file that becomes readable (timerfd_create(2)). Its registration is edge-triggered, so the file
//! need not be read: each expiry is a separate edge. Other systems have only the rounded wait.

use mio::{Registry, Token};

use crate::Nanos;

/// The precise timer of one loop. The kernel's timer is created when it is first set.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    timer: Timer,
    /// The time that it is set for, so that it is not set twice for the same time; 0 when it is not set.
    set_for: Nanos,
}

#[derive(Debug, Default)]
enum Timer {
    #[default]
    Unused,
    #[cfg(target_os = "linux")]
    Ready(nix::sys::timerfd::TimerFd),
    /// The kernel refused, usually because of the limit of open files. The rounded wait is used.
    Unavailable,
}

impl Alarm {
    /// Wakes the loop with an event for `token` at `at`, on the clock whose time is now `now`.
    pub(crate) fn set(&mut self, at: Nanos, now: Nanos, registry: &Registry, token: Token) {
        let Some(length_ns) = at.checked_sub(now).filter(|length| *length > 0) else { return };
        if self.set_for == at {
            return;
        }
        self.set_for = at;
        if matches!(self.timer, Timer::Unused) {
            self.timer = Timer::watched(registry, token);
        }
        self.timer.start(length_ns);
    }

    #[cfg(test)]
    pub(crate) fn set_for(&self) -> Nanos {
        self.set_for
    }

    /// Notes that the timer has expired. If the loop's clock has not reached the time yet, the timer can be
    /// set for it again.
    pub(crate) fn on_fired(&mut self) {
        self.set_for = 0;
    }
}

#[cfg(target_os = "linux")]
impl Timer {
    fn watched(registry: &Registry, token: Token) -> Self {
        Self::try_watched(registry, token).map_or(Self::Unavailable, Self::Ready)
    }

    fn try_watched(
        registry: &Registry,
        token: Token,
    ) -> std::io::Result<nix::sys::timerfd::TimerFd> {
        use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
        use std::os::fd::{AsFd, AsRawFd};

        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let file = timer.as_fd().as_raw_fd();
        registry.register(&mut mio::unix::SourceFd(&file), token, mio::Interest::READABLE)?;
        Ok(timer)
    }

    fn start(&mut self, length_ns: Nanos) {
        use nix::sys::time::TimeSpec;
        use nix::sys::timerfd::{Expiration, TimerSetTimeFlags};

        let Self::Ready(timer) = self else { return };
        let length = TimeSpec::from_duration(std::time::Duration::from_nanos(length_ns));
        if timer.set(Expiration::OneShot(length), TimerSetTimeFlags::empty()).is_err() {
            *self = Self::Unavailable;
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Timer {
    fn watched(_registry: &Registry, _token: Token) -> Self {
        Self::Unavailable
    }

    fn start(&mut self, _length_ns: Nanos) {}
}
