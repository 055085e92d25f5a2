//! Numbers of the records that clients insert, and the point up to which inserts are acknowledged.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many numbers may follow the oldest unacknowledged insert. Numbers that differ by a multiple of this share an
/// entry.
const WINDOW: usize = 1 << 20;

/// Hands out the numbers of new records, and tracks the first record without an acknowledged insert. All operations
/// are atomic, and none blocks.
#[derive(Debug)]
pub(super) struct Inserts {
    start: OnceLock<Start>,
    taken: AtomicU64,
    /// Every record before this one exists.
    end: AtomicU64,
    /// For each number modulo the window: the last such number that was acknowledged, plus 1.
    acknowledged: Box<[AtomicU64]>,
}

/// The content of the table at the start of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Missing numbers below `next`: inserts of an earlier trial that was cut short.
    pub(super) missing: Vec<u64>,
    /// The number after the highest existing record.
    pub(super) next: u64,
}

impl Inserts {
    /// For a table that is expected to hold every record below `end`; no query has confirmed it yet.
    pub(super) fn new(end: u64, are_offered: bool) -> Self {
        let places = if are_offered { WINDOW } else { 1 };
        Self {
            start: OnceLock::new(),
            taken: AtomicU64::new(0),
            end: AtomicU64::new(end),
            acknowledged: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Sets the content of the table, once, before the first record is taken.
    pub(super) fn begin(&self, start: Start) {
        let end = start.missing.first().copied().unwrap_or(start.next);
        self.end.store(end, Ordering::SeqCst);
        for there in (end..start.next).filter(|number| !start.missing.contains(number)) {
            self.note(there);
        }
        // Only the first client of a trial sets it.
        let _ = self.start.set(start);
    }

    /// A number that no other client gets.
    #[inline]
    pub(super) fn take(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let Some(start) = self.start.get() else { return self.end() + taken };
        match start.missing.get(usize::try_from(taken).unwrap_or(usize::MAX)) {
            Some(missing) => *missing,
            None => start.next + taken - start.missing.len() as u64,
        }
    }

    /// Records that this number exists.
    #[inline]
    pub(super) fn acknowledge(&self, number: u64) {
        self.note(number);
        // The client whose number is at the end moves the end forward, over all recorded numbers that follow. Stores
        // and loads have one order for all clients, so of two simultaneous clients one sees the other's store.
        loop {
            let end = self.end.load(Ordering::SeqCst);
            if self.place(end).load(Ordering::SeqCst) != end + 1 {
                return;
            }
            let _ = self.end.compare_exchange(end, end + 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// The first number whose record may be missing.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// The first number that has not been handed out.
    pub(super) fn next(&self) -> u64 {
        let taken = self.taken.load(Ordering::Relaxed);
        match self.start.get() {
            Some(start) => start.next + taken.saturating_sub(start.missing.len() as u64),
            None => self.end() + taken,
        }
    }

    fn note(&self, number: u64) {
        self.place(number).store(number + 1, Ordering::SeqCst);
    }

    fn place(&self, number: u64) -> &AtomicU64 {
        &self.acknowledged[number as usize % self.acknowledged.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(missing: &[u64], next: u64) -> Inserts {
        let inserts = Inserts::new(100, true);
        inserts.begin(Start { missing: missing.to_vec(), next });
        inserts
    }

    #[test]
    fn the_end_advances_only_over_contiguous_acknowledgements() {
        let inserts = begun(&[], 100);
        let taken: Vec<u64> = (0..4).map(|_| inserts.take()).collect();
        assert_eq!(taken, [100, 101, 102, 103]);
        let mut ends = vec![inserts.end()];
        for number in [101, 103, 100, 102] {
            inserts.acknowledge(number);
            ends.push(inserts.end());
        }
        assert_eq!(ends, [100, 100, 100, 102, 104]);
        assert_eq!(inserts.next(), 104);
    }

    #[test]
    fn records_skipped_by_an_earlier_trial_are_inserted_first() {
        let inserts = begun(&[101, 103], 106);
        assert_eq!(inserts.end(), 101);
        let taken: Vec<u64> = (0..3).map(|_| inserts.take()).collect();
        assert_eq!(taken, [101, 103, 106]);
        inserts.acknowledge(101);
        assert_eq!(inserts.end(), 103);
        inserts.acknowledge(103);
        assert_eq!(inserts.end(), 106);
        assert_eq!(inserts.next(), 107);
    }

    #[test]
    fn many_threads_lose_no_acknowledgement() {
        let inserts = begun(&[], 0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        inserts.acknowledge(inserts.take());
                    }
                });
            }
        });
        assert_eq!(inserts.end(), 200_000);
    }
}
