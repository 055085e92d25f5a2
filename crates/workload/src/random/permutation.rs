//! A keyed one-to-one map of whole numbers, to spread popular records over a key space.

use plan::split_mix::mix;

/// Rounds over both halves. Three make a Feistel network a pseudo-random permutation if its round functions are
/// random (M. Luby and C. Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom Functions", SIAM J.
/// Comput. 17(2), 1988). These round functions are only well mixed, so there are more rounds.
const ROUNDS: usize = 6;

/// A permutation of `0..count` that a key selects.
///
/// It is an unbalanced Feistel network over as many bits as `count` needs. A result beyond the end is mapped again
/// until it is within the range (cycle walking: J. Black and P. Rogaway, "Ciphers with Arbitrary Finite Domains",
/// CT-RSA 2002), with fewer than two passes on average. A hash of the number would instead map several numbers to one
/// and leave others out, which changes the distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    count: u64,
    right_bits: u32,
    left_mask: u64,
    right_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..count` that `key` selects.
    pub fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let right_bits = bits.div_ceil(2);
        let mut state = super::Random::new(key);
        Self {
            count,
            right_bits,
            left_mask: mask(bits - right_bits),
            right_mask: mask(right_bits),
            keys: std::array::from_fn(|_| state.next_u64()),
        }
    }

    /// The image of `index`, which is below the count.
    #[inline]
    pub fn of(&self, index: u64) -> u64 {
        if index >= self.count {
            return index;
        }
        let mut place = self.once(index);
        while place >= self.count {
            place = self.once(place);
        }
        place
    }

    #[inline]
    fn once(&self, number: u64) -> u64 {
        let (mut left, mut right) = (number >> self.right_bits, number & self.right_mask);
        for [first, second] in self.keys.as_chunks::<2>().0 {
            left ^= mix(right ^ first) & self.left_mask;
            right ^= mix(left ^ second) & self.right_mask;
        }
        left << self.right_bits | right
    }
}

fn mask(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |power| power - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(count: u64, key: u64) -> Vec<u64> {
        let permutation = Permutation::new(count, key);
        (0..count).map(|index| permutation.of(index)).collect()
    }

    #[test]
    fn a_permutation_visits_every_number_once() {
        for count in (1..600).chain([4095, 4096, 4097, 100_000]) {
            let mut image = image(count, 7);
            image.sort_unstable();
            assert!(image.iter().copied().eq(0..count), "{count}");
        }
    }

    #[test]
    fn each_key_has_its_own_repeatable_permutation() {
        assert_eq!(image(1000, 1), image(1000, 1));
        let same = image(1000, 1).iter().zip(image(1000, 2)).filter(|(a, b)| **a == *b).count();
        assert!(same < 10, "{same} of 1,000 stay");
    }

    #[test]
    fn the_first_hundred_are_spread_evenly() {
        // The images of the hundred most popular of a million, for many keys: uniform over ten parts by chi-square
        // with 9 degrees of freedom, whose 99.9 % point is 27.9.
        let mut seen = [0_u32; 10];
        for key in 0..200 {
            let permutation = Permutation::new(1_000_000, key);
            (0..100).for_each(|rank| seen[(permutation.of(rank) / 100_000) as usize] += 1);
        }
        let expected = 2000.0;
        let statistic: f64 =
            seen.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(statistic < 27.9, "{seen:?}: {statistic}");
    }

    #[test]
    fn the_widest_range_works_and_a_number_outside_stays() {
        let permutation = Permutation::new(u64::MAX, 3);
        assert_ne!(permutation.of(1), permutation.of(2));
        assert_eq!(Permutation::new(5, 3).of(9), 9);
        assert_eq!(Permutation::new(0, 3).of(0), 0);
    }
}
