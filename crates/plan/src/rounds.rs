//! Orders of variants over rounds. They are balanced, so that a drift of the machine adds the same to each variant,
//! and drawn by chance, so that no period of the machine meets the same variant each time.

use crate::Shuffle;

/// An order for each of so many rounds.
///
/// Rounds come in pairs, the second of which is the first backwards: A B, B A. Over each pair the mean place of
/// all things is the same, so a linear drift cancels. Over a whole block (as many rounds as there are things, or
/// twice as many when their number is odd) each thing has each place equally often, and each follows each other
/// equally often. Which thing is which, and the order of the pairs, is drawn anew for each block.
///
/// Source: E. J. Williams, Experimental designs balanced for the estimation of residual effects of treatments,
/// Australian Journal of Scientific Research A 2 (1949).
pub fn balanced_rounds<T: Clone>(
    shuffle: &mut Shuffle,
    things: &[T],
    rounds: usize,
) -> Vec<Vec<T>> {
    let mut orders = Vec::with_capacity(rounds);
    while orders.len() < rounds && !things.is_empty() {
        orders.extend(block(shuffle, things));
    }
    orders.truncate(rounds);
    orders
}

fn block<T: Clone>(shuffle: &mut Shuffle, things: &[T]) -> Vec<Vec<T>> {
    let things = shuffle.of(things);
    shuffle
        .of(&pair_starts(things.len()))
        .into_iter()
        .flat_map(|start| pair(&things, start))
        .collect()
}

/// The rows of the square that begin a pair. With an even number the other half of the rows are these backwards.
fn pair_starts(count: usize) -> Vec<usize> {
    let pairs = if count.is_multiple_of(2) { count / 2 } else { count };
    (0..pairs).collect()
}

/// A row of the square (start, start + 1, start - 1, start + 2 and so on, round the circle), and the same backwards.
fn pair<T: Clone>(things: &[T], start: usize) -> [Vec<T>; 2] {
    let count = things.len();
    let zigzag = |place: usize| {
        let step = place.div_ceil(2);
        if place.is_multiple_of(2) { count - step } else { step }
    };
    let row: Vec<T> =
        (0..count).map(|place| things[(start + zigzag(place)) % count].clone()).collect();
    let backwards = row.iter().rev().cloned().collect();
    [row, backwards]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const SEEDS: std::ops::Range<u64> = 0..200;

    fn orders(seed: u64, count: usize, rounds: usize) -> Vec<Vec<usize>> {
        let things: Vec<usize> = (0..count).collect();
        balanced_rounds(&mut Shuffle::new(seed), &things, rounds)
    }

    fn block_length(count: usize) -> usize {
        if count.is_multiple_of(2) { count } else { 2 * count }
    }

    #[test]
    fn the_second_round_of_each_pair_is_the_first_backwards() {
        for (seed, count) in SEEDS.flat_map(|seed| (2..=7).map(move |count| (seed, count))) {
            for pair in orders(seed, count, 4 * count).chunks(2) {
                let backwards: Vec<usize> = pair[1].iter().rev().copied().collect();
                assert_eq!(pair[0], backwards, "seed {seed}, {count} variants");
            }
        }
    }

    #[test]
    fn over_a_block_each_variant_has_each_place_and_follows_each_other_equally_often() {
        for (seed, count) in SEEDS.flat_map(|seed| (2..=7).map(move |count| (seed, count))) {
            let length = block_length(count);
            for block in orders(seed, count, 2 * length).chunks(length) {
                let (mut places, mut follows) = (BTreeMap::new(), BTreeMap::new());
                for order in block {
                    order.iter().enumerate().for_each(|at| *places.entry(at).or_insert(0) += 1);
                    order.windows(2).for_each(|two| *follows.entry(two.to_vec()).or_insert(0) += 1);
                }
                let each = length / count;
                assert_eq!(places.len(), count * count);
                assert_eq!(follows.len(), count * (count - 1));
                assert!(places.values().chain(follows.values()).all(|times| *times == each));
            }
        }
    }

    #[test]
    fn every_order_is_equally_likely_in_the_first_round() {
        let mut seen = BTreeMap::new();
        for seed in 0..6_000 {
            *seen.entry(orders(seed, 3, 5).remove(0)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        // 1,000 of each are expected, with a standard deviation of 29.
        assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }

    #[test]
    fn a_seed_repeats_its_orders_and_rounds_may_end_within_a_block() {
        assert_eq!(orders(7, 3, 5), orders(7, 3, 5));
        assert_eq!(orders(7, 3, 5).len(), 5);
        assert_eq!(orders(7, 1, 3), [[0], [0], [0]]);
        assert_eq!(orders(7, 0, 3), [[0; 0]; 0]);
    }
}
