//! Runs one property on many inputs.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::corpus;
use crate::variations::variations;

/// Inputs that are made for each target.
const CASES: u32 = 400;
/// Seed of these inputs when `PROPTEST_RNG_SEED` does not say which.
const SEED: u64 = 1;

/// A property of bytes; it panics when it does not hold, and returns whether the bytes were refused.
pub(crate) type Property = fn(&[u8]) -> bool;

/// Checks the property of a target on the inputs of its corpus and on variations of them, the same each time. A search of
/// `cargo xtask fuzz` runs in place of that when the test was built for it.
///
/// # Panics
/// When the property does not hold, or the first input of the corpus is refused: then a search would have to find by chance
/// what a reader takes.
pub fn check(target: &str, property: Property) {
    let corpus = corpus::read(target);
    #[cfg(fuzzing)]
    if crate::engine::run(&corpus, property) {
        return;
    }
    check_inputs(corpus, property);
}

/// Checks a property on these inputs and on variations of them. An input that breaks it is shown; one that was made is
/// made as small as possible before.
fn check_inputs(corpus: Vec<Vec<u8>>, property: Property) {
    for (at, input) in corpus.iter().enumerate() {
        let line = || corpus::line(input);
        let checked = catch_unwind(AssertUnwindSafe(|| property(input)));
        let Ok(is_refused) = checked else { panic!("an input breaks the property: {}", line()) };
        assert!(at > 0 || !is_refused, "the first input is refused: {}", line());
    }
    let mut config = Config { failure_persistence: None, cases: CASES, ..Config::default() };
    if env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let checked = TestRunner::new(config).run(&variations(corpus), |input| {
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

    fn no_two_zeros(bytes: &[u8]) -> bool {
        assert!(!bytes.windows(2).any(|pair| pair == [0, 0]), "two zeros");
        false
    }

    #[test]
    #[should_panic(expected = "minimal failing input: [\n    0,\n    0,\n")]
    fn an_input_that_breaks_a_property_is_shown_in_a_small_form() {
        check_inputs(vec![b"SELECT 1".to_vec(), b"\0x = [2]".to_vec()], no_two_zeros);
    }

    #[test]
    #[should_panic(expected = "the first input is refused: x")]
    fn a_corpus_begins_with_what_is_read() {
        check_inputs(vec![b"x".to_vec(), b"y".to_vec()], |bytes| bytes == b"x");
    }

    #[test]
    #[should_panic(expected = "an input breaks the property: a\\x00\\x00")]
    fn the_inputs_of_a_corpus_are_checked_as_they_are() {
        check_inputs(vec![b"a\0\0".to_vec()], no_two_zeros);
    }
}
