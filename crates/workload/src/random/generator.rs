//! The generator: xoshiro256++ 1.0, seeded through SplitMix64.

use plan::split_mix;

/// A stream of random numbers.
///
/// xoshiro256++ by D. Blackman and S. Vigna ("Scrambled Linear Pseudorandom Number Generators", ACM
/// TOMS 47(4), 2021, section 5.1: shifts 17, 45; rotation 23), whose state is filled from SplitMix64
/// (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), as
/// its authors advise. Not for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self { state: std::array::from_fn(|_| split_mix::next(&mut state)) }
    }

    /// The stream for one part of a seed's data, such as client 7, or row 12 of table 3. Streams of different parts
    /// are independent.
    pub fn of_part(seed: u64, part: &[u64]) -> Self {
        let mut state = seed;
        for &number in part {
            state = split_mix::next(&mut state) ^ number.wrapping_mul(split_mix::STEP);
        }
        Self::new(split_mix::next(&mut state))
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// A number in `0..count`. All are equally likely to within `count` / 2^64 (the high half of a 64 x 64 bit
    /// product; D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019, without its
    /// rejection). 0 if `count` is 0.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(count);
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_its_published_definition() {
        // The first outputs from the state 1, 2, 3, 4, computed from the paper's formulas: rotl(1 + 4, 23) + 1, and
        // so on. The tests of crate rand_xoshiro use the same ones.
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn parts_of_a_seed_repeat_and_differ() {
        let first = |part: &[u64]| Random::of_part(42, part).next_u64();
        assert_eq!(first(&[1, 2]), first(&[1, 2]));
        let parts: [&[u64]; 6] = [&[], &[0], &[1], &[0, 1], &[1, 0], &[1, 1]];
        let mut all: Vec<u64> = parts.into_iter().map(first).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6);
    }
}
