//! Answers that are held for a while, and how late timers are: for loads that look for what a system waits for.

use std::cell::Cell;

use crate::{Handle, Nanos, Sleep};

#[derive(Default)]
pub(crate) struct Holds {
    /// How long an answer that leaves a transaction open is held, and one of how many is.
    hold: Cell<(Nanos, u32)>,
    /// How long all were held together, ns.
    held_ns: Cell<Nanos>,
    /// The last draw of which one.
    draw: Cell<u64>,
    /// Timers that ended, and how much later than asked the kernel made them, summed, ns.
    late_timers: Cell<(u64, Nanos)>,
}

impl Holds {
    /// Counts a timer that was due `at`, of a loop that last began to sleep at `slept_at`.
    #[inline]
    pub(crate) fn timer_ended(&self, at: Nanos, now: Nanos, slept_at: Nanos) {
        // What was due before the loop slept is late by the loop's own work.
        let late_ns = if at > slept_at { now - at } else { 0 };
        let (timers, sum_ns) = self.late_timers.get();
        self.late_timers.set((timers + 1, sum_ns + late_ns));
    }
}

impl Handle {
    /// From now on sessions hold one of so many answers that leave a transaction open for so long, 0 for not at all.
    pub fn hold_transactions(&self, hold_ns: Nanos, every: u32) {
        self.holds().hold.set((hold_ns, every.max(1)));
    }

    /// Whether the answer of a session is held that leaves a transaction open, as `is_open` tells. It is drawn, so that
    /// no place in a transaction is preferred.
    #[inline]
    pub fn draws_hold(&self, is_open: impl FnOnce() -> bool) -> bool {
        let (hold_ns, every) = self.holds().hold.get();
        hold_ns > 0 && is_open() && self.is_drawn(every)
    }

    fn is_drawn(&self, every: u32) -> bool {
        // Knuth's linear congruence; its upper bits are the random ones.
        let draw = &self.holds().draw;
        draw.set(draw.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        (draw.get() >> 33).is_multiple_of(u64::from(every))
    }

    /// Waits for as long as an answer is held, and counts it.
    pub fn hold(&self) -> Sleep<'_> {
        let holds = self.holds();
        let (hold_ns, _) = holds.hold.get();
        holds.held_ns.set(holds.held_ns.get() + hold_ns);
        self.sleep_until(self.now().saturating_add(hold_ns))
    }

    /// How many timers have ended since the last call, and how much later than asked the kernel made them, summed, ns: what
    /// the loop's own work adds is left out.
    pub fn take_late_timers(&self) -> (u64, Nanos) {
        self.holds().late_timers.take()
    }

    /// How long answers were held since the last call, summed, ns.
    pub fn take_held_ns(&self) -> Nanos {
        self.holds().held_ns.take()
    }
}
