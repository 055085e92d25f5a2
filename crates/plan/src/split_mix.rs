//! SplitMix64: numbers from a seed. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014.

/// The step from one state to the next: the odd integer nearest to 2^64 / golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Advances `state` and returns the next number.
#[inline]
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    mix(*state)
}

/// Mixes all bits: the finalizer of MurmurHash3 in D. Stafford's variant 13.
#[inline]
pub fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_follows_its_published_definition() {
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..2).map(|_| super::next(&mut state)).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
