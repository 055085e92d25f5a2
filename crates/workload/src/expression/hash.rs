//! The hash functions and the permutation of pgbench, with the same values.
//!
//! The algorithms were learnt from PostgreSQL 15's documentation and sources (`src/bin/pgbench/pgbench.c`,
//! `src/common/pg_prng.c`), and are checked against values that pgbench 15 has computed.

use plan::split_mix;

/// The 64-bit FNV-1a hash of the eight bytes of a number, the lowest first (G. Fowler, L. Noll, K. Vo;
/// <http://isthe.com/chongo/tech/comp/fnv/>). The seed changes its start.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    let start = START ^ seed.cast_unsigned();
    let hash = value
        .to_le_bytes()
        .into_iter()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    hash.cast_signed()
}

/// MurmurHash64A of the eight bytes of a number (A. Appleby, <https://github.com/aappleby/smhasher>).
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut key = value.cast_unsigned().wrapping_mul(FACTOR);
    key ^= key >> SHIFT;
    key = key.wrapping_mul(FACTOR);
    let mut hash = seed.cast_unsigned() ^ FACTOR.wrapping_mul(8);
    hash = (hash ^ key).wrapping_mul(FACTOR);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(FACTOR);
    (hash ^ (hash >> SHIFT)).cast_signed()
}

/// The image of a number, modulo `size`, under the permutation of `0..size` that the seed selects: six rounds, each of
/// which mixes the lower half and the upper half and turns the whole range.
///
/// # Errors
/// If there are no numbers to permute.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> Result<i64, String> {
    if size <= 0 {
        return Err("the size of permute is above 0".to_owned());
    }
    if size == 1 {
        return Ok(0);
    }
    let mut random = Xoroshiro::new(seed.cast_unsigned());
    let size = size.cast_unsigned();
    let mut image = value.cast_unsigned() % size;
    let bits = size.ilog2();
    let mask = (1 << bits) - 1;
    // Multiplies by an odd number, flips bits, and turns them by one.
    let mix = |number: u64, (factor, flips): (u64, u64)| {
        let mixed = (number.wrapping_mul(factor & mask | 1) ^ flips) & mask;
        (mixed << 1) & mask | mixed >> (bits - 1)
    };
    for _ in 0..6 {
        let lower = (random.next(), random.next());
        if image <= mask {
            image = mix(image, lower);
        }
        let upper = (random.next(), random.next());
        let from_end = size - 1 - image;
        if from_end <= mask {
            image = size - 1 - mix(from_end, upper);
        }
        image = (image + random.below(size)) % size;
    }
    Ok(image.cast_signed())
}

/// xoroshiro128** (D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021),
/// with the constants of PostgreSQL: shifts 24, 16, 37; multiplication by 5 and 9 around a rotation by 7.
struct Xoroshiro([u64; 2]);

impl Xoroshiro {
    fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| split_mix::next(&mut state)))
    }

    fn next(&mut self) -> u64 {
        let [first, second] = self.0;
        let mixed = second ^ first;
        self.0 = [first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)];
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// A number in `0..size`, where `size` is at least 2: the upper bits, drawn again while they are too large.
    fn below(&mut self, size: u64) -> u64 {
        let shift = (size - 1).leading_zeros();
        loop {
            let drawn = self.next() >> shift;
            if drawn < size {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_visits_every_number_once() {
        for size in (1..70).chain([1023, 1024, 1025]) {
            let mut all: Vec<i64> = (0..size).map(|one| permute(one, size, 7).unwrap()).collect();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..size), "{size}");
        }
        assert!(permute(1, 0, 7).is_err() && permute(1, -5, 7).is_err());
        assert!((0..i64::MAX).contains(&permute(-3, i64::MAX, i64::MIN).unwrap()));
    }
}
