//! Each request distribution against its definition: Pearson's chi-square with fixed seeds.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::*;

const DRAWS: u32 = 200_000;
const RECORDS: u64 = 500;
/// This key decides which records are popular.
const KEY: u64 = 11;

const RANGE: Range = Range { first: 100, count: RECORDS, expected: 0, records: 100 + RECORDS };

fn chooser(request: Request, range: Range) -> Chooser {
    Chooser::new(request, range, KEY, &Arc::default())
}

/// How often each record is drawn, from the first on, when `there` records exist.
fn draws(request: Request, range: Range, there: u64) -> Vec<u32> {
    let mut chooser = chooser(request, range);
    let mut random = Random::new(20_261_122);
    let mut seen = vec![0; there as usize];
    for _ in 0..DRAWS {
        seen[(chooser.draw(&mut random, range.first + there) - range.first) as usize] += 1;
    }
    seen
}

/// The p-value of the counts against the weights of records. Adjacent records are merged until each cell expects at
/// least ten, as the chi-square approximation requires.
fn p_value(seen: &[u32], weights: &[f64]) -> f64 {
    assert_eq!(seen.len(), weights.len());
    let scale = f64::from(DRAWS) / weights.iter().sum::<f64>();
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut count, mut expected) = (0.0, 0.0);
    for (i, weight) in weights.iter().enumerate() {
        count += f64::from(seen[i]);
        expected += weight * scale;
        let rest: f64 = weights[i + 1..].iter().sum::<f64>() * scale;
        if expected >= 10.0 && (rest >= 10.0 || i + 1 == weights.len()) {
            statistic += (count - expected).powi(2) / expected;
            cells += 1;
            (count, expected) = (0.0, 0.0);
        }
    }
    assert_eq!(count, 0.0, "draws where the definition allows (nearly) none");
    1.0 - ChiSquared::new(f64::from(cells - 1)).unwrap().cdf(statistic)
}

/// Not rejected at the 1 % level; one wrong constant gives a p-value of practically 0.
fn assert_fits(seen: &[u32], weights: &[f64]) {
    let p = p_value(seen, weights);
    assert!(p > 0.01, "p = {p}");
}

fn zipf(exponent: f64, count: u64) -> Vec<f64> {
    (1..=count).map(|rank| (rank as f64).powf(-exponent)).collect()
}

/// Zipf's law with the ranks assigned by [`Permutation`].
fn spread(weights: &[f64]) -> Vec<f64> {
    let permutation = Permutation::new(weights.len() as u64, KEY);
    let mut spread = vec![0.0; weights.len()];
    for (rank, weight) in (0..).zip(weights) {
        spread[permutation.of(rank) as usize] = *weight;
    }
    spread
}

#[test]
fn uniform_is_flat() {
    let seen = draws(Request::Uniform, RANGE, RECORDS);
    assert_fits(&seen, &vec![1.0; RECORDS as usize]);
}

#[test]
fn zipfian_has_true_ranks_spread_over_the_records() {
    let seen = draws(Request::Zipfian, RANGE, RECORDS);
    assert_fits(&seen, &spread(&zipf(0.99, RECORDS)));
    assert!(p_value(&seen, &spread(&zipf(0.97, RECORDS))) < 1e-6, "the constant is 0.99");
}

#[test]
fn zipfian_chooses_only_acknowledged_records() {
    let range = Range { expected: 100, ..RANGE };
    let law = spread(&zipf(0.99, RECORDS + 100));
    assert_fits(&draws(Request::Zipfian, range, RECORDS), &law[..RECORDS as usize]);
    assert_fits(&draws(Request::Zipfian, range, RECORDS + 100), &law);
}

#[test]
fn latest_follows_the_last_acknowledged_record() {
    for there in [RECORDS, RECORDS + 77] {
        let mut law = zipf(0.99, there);
        law.reverse();
        assert_fits(&draws(Request::Latest, RANGE, there), &law);
    }
}

#[test]
fn latest_adjusts_its_distribution_to_every_insert() {
    // The distribution changes with the inserts. Draws are counted by the record's age, and the expected counts sum
    // the laws in force.
    let mut chooser = chooser(Request::Latest, RANGE);
    let mut random = Random::new(3);
    let mut seen = vec![0_u32; 50];
    let mut weights = vec![0.0; 50];
    for draw in 0..u64::from(DRAWS) {
        let there = RECORDS + draw / 100;
        let record = chooser.draw(&mut random, RANGE.first + there);
        let age = RANGE.first + there - 1 - record;
        seen[(age as usize).min(49)] += 1;
        if draw % 100 == 0 {
            let law = zipf(0.99, there);
            let sum: f64 = law.iter().sum();
            (0..49).for_each(|age| weights[age] += law[age] / sum);
            weights[49] += law[49..].iter().sum::<f64>() / sum;
        }
    }
    assert_fits(&seen, &weights);
}

#[test]
fn hotspot_gives_a_fifth_of_the_records_four_fifths_of_the_draws() {
    let request = Request::Hotspot { data: 0.2, operations: 0.8 };
    let hot = RECORDS / 5;
    let cold = RECORDS - hot;
    let weight = |record: u64| if record < hot { 0.8 / hot as f64 } else { 0.2 / cold as f64 };
    let law: Vec<f64> = (0..RECORDS).map(weight).collect();
    assert_fits(&draws(request, RANGE, RECORDS), &law);
    for (data, operations) in [(0.0, 0.8), (1.0, 0.2)] {
        let seen = draws(Request::Hotspot { data, operations }, RANGE, RECORDS);
        assert_fits(&seen, &vec![1.0; RECORDS as usize]);
    }
}

#[test]
fn exponential_lets_95_percent_fall_on_its_fraction() {
    let request = Request::Exponential { percentile: 95.0, fraction: 0.25 };
    let seen = draws(request, RANGE, RECORDS);
    let ratio = (0.05_f64.ln() / (0.25 * RANGE.records as f64)).exp();
    let law: Vec<f64> =
        (0..RECORDS).map(|record| ratio.powf((RECORDS - 1 - record) as f64)).collect();
    assert_fits(&seen, &law);
    let newest: u32 = seen[(RECORDS - RANGE.records / 4) as usize..].iter().sum();
    let share = f64::from(newest) / f64::from(DRAWS);
    assert!((0.945..0.955).contains(&share), "{share}");
}

#[test]
fn sequential_goes_round_over_all_clients() {
    let sequence = Arc::default();
    let range = Range { first: 10, count: 4, expected: 0, records: 14 };
    let mut clients: Vec<Chooser> =
        (0..2).map(|_| Chooser::new(Request::Sequential, range, KEY, &sequence)).collect();
    let mut random = Random::new(1);
    let drawn: Vec<u64> = (0..6).map(|i| clients[i % 2].draw(&mut random, 14)).collect();
    assert_eq!(drawn, [10, 11, 12, 13, 10, 11]);
}

#[test]
fn only_existing_records_are_chosen() {
    let requests = [
        Request::Uniform,
        Request::Sequential,
        Request::Zipfian,
        Request::Latest,
        Request::Exponential { percentile: 95.0, fraction: 0.9 },
    ];
    let mut random = Random::new(1);
    for request in requests {
        let mut chooser = chooser(request, Range { expected: 900, ..RANGE });
        for there in [1, 2, 499] {
            for _ in 0..200 {
                let record = chooser.draw(&mut random, RANGE.first + there);
                assert!(
                    (RANGE.first..RANGE.first + there).contains(&record),
                    "{request:?} {record}"
                );
            }
        }
    }
}
