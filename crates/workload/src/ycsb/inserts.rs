//! Numbers of the records that clients insert, and the point up to which inserts are acknowledged.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::News;

use crate::LoadPart;

/// How many numbers of its own a generator may take beyond its oldest unacknowledged insert. Those that differ by a
/// multiple of this share an entry.
const WINDOW: usize = 1 << 20;
/// The first missing number of a generator that has told none.
const NONE_MISSING: u64 = u64::MAX;

/// Hands out the numbers of new records, and tracks the first record without an acknowledged insert. All operations
/// are atomic, and none blocks.
///
/// Missing numbers come first, then those after the last record. When several generators insert, each takes its
/// positions of this sequence, and learns from the others' news how far theirs are inserted.
#[derive(Debug)]
pub(super) struct Inserts {
    part: LoadPart,
    start: OnceLock<Start>,
    /// The number after the last record, before `start` is known.
    guess: u64,
    /// Numbers that this generator has handed out.
    taken: AtomicU64,
    /// The number of these that are acknowledged without a gap, from the first on.
    done: AtomicU64,
    /// The first of this generator's numbers that is not.
    own_end: AtomicU64,
    /// The first such number of the others, as far as they have told.
    others_end: AtomicU64,
    /// What each of the others has told of its own.
    told_ends: Box<[AtomicU64]>,
    /// The number after the highest that they have handed out.
    others_next: AtomicU64,
    /// For each of this generator's numbers, counted and modulo the window: the last such one that was acknowledged,
    /// plus 1.
    acknowledged: Box<[AtomicU64]>,
}

/// The content of the table at the start of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Missing numbers below `next`, ascending: inserts of an earlier trial that was cut short, or whose generators were
    /// of different speeds.
    pub(super) missing: Vec<u64>,
    /// The number after the highest existing record.
    pub(super) next: u64,
}

impl Start {
    /// The number at a position of the sequence of new records.
    #[inline]
    fn number(&self, position: u64) -> u64 {
        match self.missing.get(usize::try_from(position).unwrap_or(usize::MAX)) {
            Some(missing) => *missing,
            None => self.next.saturating_add(position - self.missing.len() as u64),
        }
    }

    #[inline]
    fn position(&self, number: u64) -> u64 {
        match number.checked_sub(self.next) {
            Some(after) => after + self.missing.len() as u64,
            None => self.missing.partition_point(|missing| *missing < number) as u64,
        }
    }
}

impl Inserts {
    /// For a table that is expected to hold every record below `end`, and whose last one is before `guess`; no query has
    /// confirmed it yet.
    pub(super) fn new(part: LoadPart, (end, guess): (u64, u64), are_offered: bool) -> Self {
        let places = if are_offered && !part.is_coordinator() { WINDOW } else { 1 };
        let others = if part.is_whole() || !are_offered { 0 } else { part.generators };
        let told = |generator| if generator == part.generator { NONE_MISSING } else { end };
        Self {
            part,
            start: OnceLock::new(),
            guess,
            taken: AtomicU64::new(0),
            done: AtomicU64::new(0),
            own_end: AtomicU64::new(if part.is_coordinator() { NONE_MISSING } else { end }),
            others_end: AtomicU64::new(if part.is_whole() { NONE_MISSING } else { end }),
            told_ends: (0..others).map(|generator| AtomicU64::new(told(generator))).collect(),
            others_next: AtomicU64::new(0),
            acknowledged: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Sets the content of the table, once, before the first record is taken. All generators find the same, because none
    /// inserts before all have looked.
    pub(super) fn begin(&self, start: Start) {
        self.own_end.store(start.number(self.part.position(0)), Ordering::SeqCst);
        for (generator, told) in self.told_ends.iter().enumerate() {
            told.fetch_max(start.number(generator as u64), Ordering::SeqCst);
        }
        if let Some(own) = self.told_ends.get(self.part.generator) {
            own.store(NONE_MISSING, Ordering::SeqCst);
        }
        self.hear_ends();
        // Only one client of a trial sets it.
        let _ = self.start.set(start);
    }

    #[inline]
    pub(super) fn take(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let position = self.part.position(taken);
        self.start.get().map_or_else(|| self.end() + position, |start| start.number(position))
    }

    /// Records that this number, one of this generator's, exists.
    #[inline]
    pub(super) fn acknowledge(&self, number: u64) {
        let Some(start) = self.start.get() else { return };
        let count = start.position(number) / self.part.step();
        self.place(count).store(count + 1, Ordering::SeqCst);
        // The client whose number is at the end moves the end forward, over all recorded numbers that follow. Stores
        // and loads have one order for all clients, so of two simultaneous clients one sees the other's store.
        loop {
            let done = self.done.load(Ordering::SeqCst);
            if self.place(done).load(Ordering::SeqCst) != done + 1 {
                return;
            }
            let order = Ordering::SeqCst;
            if self.done.compare_exchange(done, done + 1, order, order).is_ok() {
                self.own_end.fetch_max(start.number(self.part.position(done + 1)), order);
            }
        }
    }

    /// The first number whose record may be missing.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.own_end.load(Ordering::Relaxed).min(self.others_end.load(Ordering::Relaxed))
    }

    /// The number after the highest that has been handed out.
    pub(super) fn next(&self) -> u64 {
        let others = self.others_next.load(Ordering::Relaxed);
        self.own_next().unwrap_or(self.guess).max(others)
    }

    /// The same, of this generator's alone; `None` while the content of the table is not known.
    fn own_next(&self) -> Option<u64> {
        let start = self.start.get()?;
        let last = self.taken.load(Ordering::Relaxed).checked_sub(1);
        let after = last.map_or(start.next, |last| start.number(self.part.position(last)) + 1);
        Some(after.max(start.next))
    }

    fn hear_ends(&self) {
        let ends = self.told_ends.iter().map(|told| told.load(Ordering::SeqCst));
        if let Some(first) = ends.min() {
            self.others_end.fetch_max(first, Ordering::SeqCst);
        }
    }

    fn place(&self, count: u64) -> &AtomicU64 {
        &self.acknowledged[count as usize % self.acknowledged.len()]
    }
}

impl News for Inserts {
    /// What the other generators must know: the first of this one's numbers without an acknowledged insert, and the
    /// number after the highest that it has handed out.
    fn tell(&self) -> Vec<u64> {
        let news = |next| vec![self.own_end.load(Ordering::SeqCst), next];
        self.own_next().map_or_else(Vec::new, news)
    }

    fn hear(&self, generator: usize, news: &[u64]) {
        let (Some(told), &[end, next]) = (self.told_ends.get(generator), news) else { return };
        told.fetch_max(end, Ordering::SeqCst);
        self.others_next.fetch_max(next, Ordering::SeqCst);
        self.hear_ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(missing: &[u64], next: u64) -> Inserts {
        let inserts = Inserts::new(LoadPart::default(), (100, 100), true);
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

    fn parts(generators: usize, start: &Start) -> Vec<Inserts> {
        let part = |generator| LoadPart { generator, generators };
        let begun = |generator| {
            let inserts = Inserts::new(part(generator), (5, start.next), true);
            inserts.begin(start.clone());
            inserts
        };
        (0..generators).map(begun).collect()
    }

    /// Tells every generator's news to all others, and to the process that coordinates them.
    fn tell_all(all: &[Inserts], coordinator: &Inserts) {
        for (from, inserts) in all.iter().enumerate() {
            let news = inserts.tell();
            let others = all.iter().enumerate().filter(|(to, _)| *to != from);
            others.for_each(|(_, other)| other.hear(from, &news));
            coordinator.hear(from, &news);
        }
    }

    #[test]
    fn generators_read_only_what_all_have_told_to_be_inserted() {
        let start = Start { missing: vec![7], next: 10 };
        let all = parts(2, &start);
        let coordinator = Inserts::new(LoadPart::of_coordinator(2), (5, 10), true);
        assert_eq!((coordinator.end(), coordinator.next()), (5, 10), "nothing is told");
        // The sequence is 7, 10, 11, 12, 13: the first generator has 7, 11 and 13, the second one 10 and 12.
        assert_eq!([all[0].take(), all[1].take(), all[0].take()], [7, 10, 11]);
        assert_eq!([all[0].end(), all[1].end()], [7, 7]);
        all[0].acknowledge(7);
        all[0].acknowledge(11);
        assert_eq!([all[0].end(), all[1].end()], [10, 7], "10 is the other's");
        tell_all(&all, &coordinator);
        assert_eq!([all[0].end(), all[1].end(), coordinator.end()], [10, 10, 10]);
        all[1].acknowledge(10);
        assert_eq!([all[0].end(), all[1].end()], [10, 12]);
        tell_all(&all, &coordinator);
        assert_eq!([all[0].end(), all[1].end(), coordinator.end()], [12, 12, 12]);
        assert_eq!(coordinator.next(), 12);
    }

    proptest::proptest! {
        // Each generator's window is 8 MiB.
        #![proptest_config(proptest::test_runner::Config::with_cases(48))]

        #[test]
        fn generators_take_each_number_once_and_never_read_a_missing_one(
            generators in 1_usize..=5,
            missing in proptest::collection::btree_set(100_u64..140, 0..12),
            steps in proptest::collection::vec((0_usize..5, 0_u8..4, 0_usize..8), 0..150),
        ) {
            let start = Start { missing: missing.iter().copied().collect(), next: 140 };
            let all = parts(generators, &start);
            let coordinator = Inserts::new(LoadPart::of_coordinator(generators), (100, 140), true);
            let mut pending = vec![Vec::new(); generators];
            let mut there: std::collections::BTreeSet<u64> =
                (100..140).filter(|number| !missing.contains(number)).collect();
            let mut taken = Vec::new();
            for (generator, action, choice) in steps {
                let generator = generator % generators;
                let mine: &mut Vec<u64> = &mut pending[generator];
                match action {
                    0 | 1 => {
                        let number = all[generator].take();
                        taken.push(number);
                        mine.push(number);
                    }
                    2 if !mine.is_empty() => {
                        let number = mine.swap_remove(choice % mine.len());
                        there.insert(number);
                        all[generator].acknowledge(number);
                    }
                    _ => tell_all(&all, &coordinator),
                }
                for inserts in all.iter().chain([&coordinator]) {
                    let end = inserts.end();
                    assert!((100..end).all(|number| there.contains(&number)), "{end}: {there:?}");
                }
            }
            // What is not inserted at the end is inserted, and then all are there.
            for (generator, mine) in pending.iter().enumerate() {
                mine.iter().for_each(|number| all[generator].acknowledge(*number));
            }
            tell_all(&all, &coordinator);
            let mut sorted = taken.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), taken.len(), "each number once");
            assert!(taken.iter().all(|number| missing.contains(number) || *number >= 140));
            // The first number that none has taken is the end for all.
            let sequence = |position| start.number(position);
            let first_free = (0..).map(sequence).find(|number| !sorted.contains(number)).unwrap();
            assert!(all.iter().chain([&coordinator]).all(|inserts| inserts.end() == first_free));
        }
    }
}
