//! Runs one property on many inputs.

use std::env;

use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::variations::variations;

/// Inputs for each target when `PROPTEST_CASES` does not say how many.
const CASES: u32 = 400;
/// Seed of the inputs when `PROPTEST_RNG_SEED` does not say which.
const SEED: u64 = 1;

/// Checks a property on each of these real inputs and on variations of them, the same each time. An input
/// that breaks it is made as small as possible before it is shown.
///
/// # Panics
/// When the property does not hold.
pub fn check(seeds: Vec<Vec<u8>>, property: fn(&[u8])) {
    seeds.iter().for_each(|seed| property(seed));
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let checked = TestRunner::new(config).run(&variations(seeds), |input| {
        property(&input);
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_two_zeros(bytes: &[u8]) {
        assert!(!bytes.windows(2).any(|pair| pair == [0, 0]), "two zeros");
    }

    #[test]
    #[should_panic(expected = "minimal failing input: [\n    0,\n    0,\n")]
    fn an_input_that_breaks_a_property_is_shown_in_a_small_form() {
        check(vec![b"SELECT 1".to_vec(), b"\0x = [2]".to_vec()], no_two_zeros);
    }

    #[test]
    #[should_panic(expected = "two zeros")]
    fn real_inputs_are_checked_as_they_are() {
        check(vec![vec![0, 0]], no_two_zeros);
    }
}
