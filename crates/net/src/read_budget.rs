//! The most that one poll of a future may read. A peer that sends faster than dyno reads would otherwise keep the
//! loop from its timers, its tick and its other sockets for as long as it sends.

use std::cell::Cell;

/// The most reads of sockets, of 64 KiB at most, in one poll of a future. The messages of a poll are bounded too,
/// because each has bytes.
pub(crate) const READS_PER_POLL: u32 = 4;

/// The reads that are left to the future that is being polled.
#[derive(Default)]
pub(crate) struct ReadBudget(Cell<u32>);

impl ReadBudget {
    #[inline]
    pub(crate) fn refill(&self) {
        self.0.set(READS_PER_POLL);
    }

    /// Takes one read; `false` when none is left.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}
