//! Non-uniform random numbers: NURand of clause 2.1.6, and its constants.

use crate::random::Random;

/// The constants C of clause 2.1.6, one for each field; they stay the same for a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    /// For the last names of customers, A = 255.
    pub(super) last_name: u64,
    pub(super) customer: u64,
    pub(super) item: u64,
}

/// The constants A for last names, numbers of customers, numbers of items (clause 2.1.6).
const LAST_NAME_A: u64 = 255;
const CUSTOMER_A: u64 = 1023;
const ITEM_A: u64 = 8191;

/// The distance between the last-name constants of the load and of the run. Clause 2.1.6.1 requires 65 to 119, but
/// not 96 and not 112.
const LAST_NAME_DELTA: u64 = 85;

/// The random stream of the constants, independent of other draws from the seed.
const STREAM: u64 = 0xC;

impl Constants {
    pub(super) fn of_load(seed: u64) -> Self {
        let mut random = Random::of_part(seed, &[STREAM]);
        Self {
            last_name: random.below(LAST_NAME_A + 1),
            customer: random.below(CUSTOMER_A + 1),
            item: random.below(ITEM_A + 1),
        }
    }

    /// The constants for running on data of this seed. Clause 2.1.6.1 relates the last-name constants of load and
    /// run, and leaves the others free.
    pub(super) fn of_run(seed: u64) -> Self {
        let load = Self::of_load(seed);
        let raised = load.last_name + LAST_NAME_DELTA;
        let last_name =
            if raised <= LAST_NAME_A { raised } else { load.last_name - LAST_NAME_DELTA };
        Self { last_name, ..load }
    }

    #[inline]
    pub(super) fn last_name(&self, random: &mut Random) -> u64 {
        nurand(LAST_NAME_A, 0, 999, self.last_name, random)
    }

    /// A customer's number, 1 to 3,000.
    #[inline]
    pub(super) fn customer(&self, random: &mut Random) -> i64 {
        nurand(CUSTOMER_A, 1, 3_000, self.customer, random).cast_signed()
    }

    /// An item's number, 1 to 100,000.
    #[inline]
    pub(super) fn item(&self, random: &mut Random) -> i64 {
        nurand(ITEM_A, 1, 100_000, self.item, random).cast_signed()
    }
}

/// NURand(A, x, y) = (((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x, clause 2.1.6.
#[inline]
fn nurand(a: u64, x: u64, y: u64, c: u64, random: &mut Random) -> u64 {
    let few = random.below(a + 1);
    let all = x + random.below(y - x + 1);
    ((few | all) + c) % (y - x + 1) + x
}

/// A whole number from `low` to `high`, each equally likely.
#[inline]
pub(super) fn uniform(random: &mut Random, low: i64, high: i64) -> i64 {
    low + random.below((high - low + 1).cast_unsigned()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    /// The probability of each of x..=y, by enumerating every pair of the two draws.
    fn probabilities(a: u64, x: u64, y: u64, c: u64) -> Vec<f64> {
        let count = y - x + 1;
        let mut pairs = vec![0_u64; count as usize];
        for few in 0..=a {
            for all in x..=y {
                pairs[(((few | all) + c) % count) as usize] += 1;
            }
        }
        let all = (a + 1) as f64 * count as f64;
        pairs.into_iter().map(|pairs| pairs as f64 / all).collect()
    }

    /// The probability of a worse fit. Adjacent cells are merged until each expects at least ten.
    fn p_value(seen: &[u64], probabilities: &[f64]) -> f64 {
        let draws = seen.iter().sum::<u64>() as f64;
        let (mut statistic, mut cells) = (0.0, 0.0);
        let (mut count, mut expected) = (0.0, 0.0);
        for (seen, probability) in seen.iter().zip(probabilities) {
            count += *seen as f64;
            expected += draws * probability;
            if expected >= 10.0 {
                statistic += (count - expected) * (count - expected) / expected;
                cells += 1.0;
                (count, expected) = (0.0, 0.0);
            }
        }
        1.0 - ChiSquared::new(cells - 1.0).unwrap().cdf(statistic)
    }

    fn fits(a: u64, x: u64, y: u64, c: u64, draws: usize) {
        let mut random = Random::new(2_026);
        let mut seen = vec![0_u64; (y - x + 1) as usize];
        for _ in 0..draws {
            seen[(nurand(a, x, y, c, &mut random) - x) as usize] += 1;
        }
        let p = p_value(&seen, &probabilities(a, x, y, c));
        assert!(p > 0.001, "NURand({a}, {x}, {y}) with C = {c}: p = {p}");
    }

    #[test]
    fn draws_follow_the_definition() {
        fits(LAST_NAME_A, 0, 999, 123, 200_000);
        fits(CUSTOMER_A, 1, 3_000, 259, 300_000);
        // A test cannot enumerate all pairs of the items; a part of them has the same form.
        fits(511, 1, 10_000, 77, 400_000);
    }

    #[test]
    fn the_constant_of_a_run_keeps_its_distance_from_that_of_the_load() {
        for seed in 0..2_000 {
            let (load, run) = (Constants::of_load(seed), Constants::of_run(seed));
            assert!(load.last_name <= LAST_NAME_A && run.last_name <= LAST_NAME_A);
            assert!(load.customer <= CUSTOMER_A && load.item <= ITEM_A);
            let delta = load.last_name.abs_diff(run.last_name);
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{delta}");
        }
    }
}
