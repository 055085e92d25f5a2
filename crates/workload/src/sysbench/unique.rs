//! Ids that never repeat, in an order that looks random.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::LoadPart;
use crate::random::Random;

/// The largest prime below 2^32 that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

/// Maps 0..2^32 one to one onto itself. Squares modulo a prime p = 3 mod 4 are distinct for 0..=p/2, and so are their
/// negatives for the rest (J. Preshing, "How to Generate a Sequence of Unique Random Integers", 2012); the five
/// numbers past the prime are not changed.
fn permute(number: u32) -> u32 {
    let x = u64::from(number);
    if x >= PRIME {
        return number;
    }
    let square = x * x % PRIME;
    let image = if x <= PRIME / 2 { square } else { PRIME - square };
    image as u32
}

/// A sequence of all 32-bit numbers without repetition, shared by the clients of a trial. Which client gets which
/// number depends on their speed; the sequence depends only on the seed. Generators take its numbers in turn.
#[derive(Debug)]
pub(super) struct UniqueNumbers {
    part: LoadPart,
    next: AtomicU32,
    first: u32,
    offset: u32,
}

impl UniqueNumbers {
    pub(super) fn new(seed: u64, part: LoadPart) -> Self {
        let bits = Random::of_part(seed, &[u64::from(u32::MAX)]).next_u64();
        let next = AtomicU32::new(part.position(0) as u32);
        Self { part, next, first: bits as u32, offset: (bits >> 32) as u32 }
    }

    /// Skips as many numbers as an earlier trial with the same seed can have used for `count` rows, unless more are taken
    /// already. With several generators, one of them may have inserted all.
    pub(super) fn skip(&self, count: u64) {
        let next = self.part.position(count);
        self.next.fetch_max(next.try_into().unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn take(&self) -> u32 {
        let step = self.part.step() as u32;
        let index = self.next.fetch_add(step, Ordering::Relaxed).wrapping_add(self.first);
        permute(permute(index).wrapping_add(self.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_do_not_repeat_and_a_seed_repeats_them() {
        let whole = || UniqueNumbers::new(5, LoadPart::default());
        let (one, two) = (whole(), whole());
        let numbers: Vec<u32> = (0..100_000).map(|_| one.take()).collect();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
        two.skip(99_999);
        assert_eq!(two.take(), numbers[99_999]);
    }

    #[test]
    fn generators_take_the_numbers_of_one_process_and_skip_what_any_of_them_has_used() {
        let whole = UniqueNumbers::new(5, LoadPart::default());
        let expected: HashSet<u32> = (0..3_000).map(|_| whole.take()).collect();
        let part = |generator| UniqueNumbers::new(5, LoadPart { generator, generators: 3 });
        let taken: Vec<u32> =
            (0..3).map(part).flat_map(|all| (0..1_000).map(move |_| all.take())).collect();
        assert_eq!(taken.len(), expected.len());
        assert_eq!(taken.into_iter().collect::<HashSet<u32>>(), expected);
        // In the first trial only the last generator inserts rows, in the second one all do.
        let first = part(2);
        let mut used: HashSet<u32> = (0..1_000).map(|_| first.take()).collect();
        for again in (0..3).map(part) {
            again.skip(1_000);
            (0..1_000).for_each(|_| assert!(used.insert(again.take())));
        }
    }

    #[test]
    fn the_permutation_is_one_to_one_at_its_ends() {
        let ends = (0..1000).chain(u32::MAX - 1000..=u32::MAX);
        let middle = (PRIME / 2) as u32 - 1000..(PRIME / 2) as u32 + 1000;
        let all: Vec<u32> = ends.chain(middle).map(permute).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
