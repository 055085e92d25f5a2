//! Chance from a seed.

/// A small generator: splitmix64. Source: Steele, Lea, Flood, Fast splittable pseudorandom number
/// generators, OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct Shuffle(u64);

impl Shuffle {
    /// What a seed makes; the same every time.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The things in a new order; each order is as likely as any other.
    ///
    /// Source: R. Durstenfeld, Algorithm 235: Random permutation, CACM 7 (1964).
    pub fn of<T: Clone>(&mut self, things: &[T]) -> Vec<T> {
        let mut things = things.to_vec();
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
        things
    }

    /// A number below `bound`, each as likely as any other to within `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper half of the product is even over 0..bound.
        usize::try_from((u128::from(mixed) * bound as u128) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_orders_and_every_order_comes() {
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
