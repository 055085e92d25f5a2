//! Random order from a seed.

use crate::split_mix;

/// A small random number generator.
#[derive(Clone, Debug)]
pub struct Shuffle(u64);

impl Shuffle {
    /// The generator of a seed; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The items in a random order; every order is equally likely.
    ///
    /// Source: R. Durstenfeld, Algorithm 235: Random permutation, CACM 7 (1964).
    pub fn of<T: Clone>(&mut self, things: &[T]) -> Vec<T> {
        let mut things = things.to_vec();
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
        things
    }

    /// A number below `bound`; all are equally likely to within `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        let mixed = split_mix::next(&mut self.0);
        // The upper half of the product is uniform over 0..bound.
        usize::try_from((u128::from(mixed) * bound as u128) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_orders_and_all_orders_occur() {
        let orders = |seed| {
            let mut shuffle = Shuffle::new(seed);
            (0..200).map(|_| shuffle.of(&[1, 2, 3])).collect::<Vec<_>>()
        };
        assert_eq!(orders(7), orders(7));
        let mut seen = orders(7);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 6);
    }
}
