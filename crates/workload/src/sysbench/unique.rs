//! Ids that never repeat, in an order that looks random.

use std::sync::atomic::{AtomicU32, Ordering};

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
/// number depends on their speed; the sequence depends only on the seed.
#[derive(Debug)]
pub(super) struct UniqueNumbers {
    next: AtomicU32,
    first: u32,
    offset: u32,
}

impl UniqueNumbers {
    pub(super) fn new(seed: u64) -> Self {
        let bits = Random::of_part(seed, &[u64::from(u32::MAX)]).next_u64();
        Self { next: AtomicU32::new(0), first: bits as u32, offset: (bits >> 32) as u32 }
    }

    /// Skips the first `count` numbers, unless more are taken already: an earlier trial with the same seed has used
    /// them for rows.
    pub(super) fn skip(&self, count: u64) {
        self.next.fetch_max(count.try_into().unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// The next number.
    #[inline]
    pub(super) fn take(&self) -> u32 {
        let index = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(self.first);
        permute(permute(index).wrapping_add(self.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_do_not_repeat_and_a_seed_repeats_them() {
        let (one, two) = (UniqueNumbers::new(5), UniqueNumbers::new(5));
        let numbers: Vec<u32> = (0..100_000).map(|_| one.take()).collect();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
        two.skip(99_999);
        assert_eq!(two.take(), numbers[99_999]);
    }

    #[test]
    fn the_permutation_is_one_to_one_at_its_ends() {
        let ends = (0..1000).chain(u32::MAX - 1000..=u32::MAX);
        let middle = (PRIME / 2) as u32 - 1000..(PRIME / 2) as u32 + 1000;
        let all: Vec<u32> = ends.chain(middle).map(permute).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
