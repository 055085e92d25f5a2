//! Each request distribution against its definition: Pearson's chi-square with fixed seeds.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::*;

const DRAWS: u32 = 200_000;
const RECORDS: u64 = 500;
const POPULAR: Popular = Popular { seed: 11, hash: KeyScheme::Ycsb };
const ZIPFIAN: Request = Request::Zipfian(Zipf::Exact);
const YCSB_ZIPFIAN: Request = Request::Zipfian(Zipf::Ycsb);

const RANGE: Range = Range { first: 100, count: RECORDS, expected: 0, records: 100 + RECORDS };

fn chooser(request: Request, range: Range) -> Chooser {
    Chooser::new(request, range, POPULAR, (&Arc::default(), LoadPart::default()))
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
#[track_caller]
fn assert_fits(seen: &[u32], weights: &[f64]) {
    let p = p_value(seen, weights);
    assert!(p > 0.01, "p = {p}");
}

fn zipf(exponent: f64, count: u64) -> Vec<f64> {
    (1..=count).map(|rank| (rank as f64).powf(-exponent)).collect()
}

/// Zipf's law with the ranks assigned by [`Permutation`].
fn spread(weights: &[f64]) -> Vec<f64> {
    let permutation = Permutation::new(weights.len() as u64, POPULAR.seed);
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
    let seen = draws(ZIPFIAN, RANGE, RECORDS);
    assert_fits(&seen, &spread(&zipf(0.99, RECORDS)));
    assert!(p_value(&seen, &spread(&zipf(0.97, RECORDS))) < 1e-6, "the constant is 0.99");
}

#[test]
fn zipfian_chooses_only_acknowledged_records() {
    let range = Range { expected: 100, ..RANGE };
    let law = spread(&zipf(0.99, RECORDS + 100));
    assert_fits(&draws(ZIPFIAN, range, RECORDS), &law[..RECORDS as usize]);
    assert_fits(&draws(ZIPFIAN, range, RECORDS + 100), &law);
}

/// A draw among all records that a huge `operationcount` promises would be repeated some million times.
#[test]
fn a_zipfian_of_a_huge_operation_count_draws_from_twice_the_records() {
    let range = Range { expected: 1_000_000_000, ..RANGE };
    let law = |items| spread(&zipf(0.99, items));
    assert_fits(&draws(ZIPFIAN, range, RECORDS), &law(2 * RECORDS)[..RECORDS as usize]);
    let all = 2 * RECORDS;
    assert_fits(&draws(ZIPFIAN, range, all), &law(2 * RECORDS));
    let more = 3 * RECORDS;
    assert_fits(&draws(ZIPFIAN, range, more), &law(4 * RECORDS)[..more as usize]);
    let shares = ycsb_shares(POPULAR.hash, 2 * RECORDS + 1);
    assert_fits(&draws(YCSB_ZIPFIAN, range, RECORDS), &shares[..RECORDS as usize]);
}

#[test]
fn a_zipfian_grows_with_its_records_up_to_the_expected_ones() {
    let range = Range { count: 10, expected: 90, ..RANGE };
    let mut extent = Extent::new(range);
    let mut grown = |there| {
        extent.grow(there);
        extent.records
    };
    assert_eq!([1, 20, 21, 41, 81, 1_000].map(&mut grown), [20, 20, 40, 80, 100, 100]);
    let few = Extent::new(Range { count: 100, expected: 30, ..RANGE });
    assert_eq!(few.records, 130);
    let endless = Extent::new(Range { count: u64::MAX, expected: 30, ..RANGE });
    assert_eq!(endless.records, u64::MAX);
}

#[test]
fn an_exponential_over_few_records_is_cut_off_without_repeating_draws() {
    let request = Request::Exponential { percentile: 95.0, fraction: 0.8571428571 };
    // With a mean of millions of records, five hundred are nearly equally likely.
    let range = Range { records: 100_000_000, ..RANGE };
    assert_fits(&draws(request, range, RECORDS), &vec![1.0; RECORDS as usize]);
}

/// The weights of 10^10 ranks, by the Euler-Maclaurin formula after the first thousand: the rest of a sum of f is its
/// integral, half of each end's f, and f' / 12 at the ends, here exact to 10^-12.
#[test]
fn the_weights_of_ycsbs_ranks_have_the_published_sum() {
    let exponent = ZIPFIAN_EXPONENT;
    let (from, to) = (1_000.0_f64, 1e10_f64);
    let weight = |rank: f64| rank.powf(-exponent);
    let slope = |rank: f64| -exponent * rank.powf(-exponent - 1.0);
    let first: f64 = (1..1_000).map(|rank| weight(f64::from(rank))).sum();
    let integral = (to.powf(1.0 - exponent) - from.powf(1.0 - exponent)) / (1.0 - exponent);
    let ends = (weight(from) + weight(to)) / 2.0 + (slope(to) - slope(from)) / 12.0;
    let sum = first + integral + ends;
    assert!((sum - YCSB_WEIGHTS).abs() < 1e-9, "{sum}");
}

/// The share of the hottest `ranks` of YCSB's ranks in all requests, as [`GrayZipfian`] defines it.
fn ycsb_share(ranks: u64) -> f64 {
    let first_two = 1.0 + 0.5_f64.powf(ZIPFIAN_EXPONENT);
    let rest = |rank: u64| 1.0 - (rank as f64 / YCSB_RANKS as f64).powf(1.0 - ZIPFIAN_EXPONENT);
    match ranks {
        0 => 0.0,
        1 => 1.0 / YCSB_WEIGHTS,
        _ => 1.0 - rest(ranks) / rest(2) * (1.0 - first_two / YCSB_WEIGHTS),
    }
}

/// Shares of the records under YCSB's zipfian: the hottest million ranks one by one, and the others evenly. Each record
/// has thousands of the others, whose sum differs between records by less than a hundredth of the record's share.
fn ycsb_shares(hash: KeyScheme, places: u64) -> Vec<f64> {
    const ONE_BY_ONE: u64 = 1_000_000;
    let rest = (1.0 - ycsb_share(ONE_BY_ONE)) / places as f64;
    let mut shares = vec![rest; places as usize];
    for rank in 0..ONE_BY_ONE {
        let place = (hash.hash(rank) % places) as usize;
        shares[place] += ycsb_share(rank + 1) - ycsb_share(rank);
    }
    shares
}

#[test]
fn ycsbs_zipfian_hashes_ten_thousand_million_ranks_to_the_records() {
    for hash in KeyScheme::ALL {
        let popular = Popular { hash, ..POPULAR };
        let mut chooser =
            Chooser::new(YCSB_ZIPFIAN, RANGE, popular, (&Arc::default(), LoadPart::default()));
        let mut random = Random::new(20_261_122);
        let mut seen = vec![0; RECORDS as usize];
        for _ in 0..DRAWS {
            let record = chooser.draw(&mut random, RANGE.first + RECORDS);
            seen[(record - RANGE.first) as usize] += 1;
        }
        // The place after the last record is counted among the places, and drawn again.
        let law = ycsb_shares(hash, RECORDS + 1);
        assert_fits(&seen, &law[..RECORDS as usize]);
        let law = ycsb_shares(hash, RECORDS);
        assert!(p_value(&seen, &law) < 1e-6, "the range of both tools is one longer");
    }
}

/// 1 / z of all requests fall on rank 1 and 2^-0.99 / z on rank 2, z = 26.469: 3.778 % and 1.902 %. They are the
/// records hash(0) and hash(1) modulo 1,001, with a thousandth each of the other ranks.
#[test]
fn the_hottest_of_a_thousand_records_gets_four_percent_of_ycsbs_requests_and_thirteen_of_the_exact()
{
    let range = Range { first: 0, count: 1_000, expected: 0, records: 1_000 };
    let seen = draws(YCSB_ZIPFIAN, range, 1_000);
    let share = |record: u64| f64::from(seen[record as usize]) / f64::from(DRAWS);
    let hottest = KeyScheme::Ycsb.hash(0) % 1_001;
    let second = KeyScheme::Ycsb.hash(1) % 1_001;
    assert_eq!(
        (hottest, second),
        (6_284_781_860_667_377_211 % 1_001, 8_517_097_267_634_966_620 % 1_001)
    );
    let law = ycsb_shares(KeyScheme::Ycsb, 1_001);
    let of_law = |record: u64| law[record as usize];
    for (record, least) in [(hottest, 0.037_78), (second, 0.019_02)] {
        // Five standard deviations of a share of 4 % in 200,000 draws are 0.22 %.
        assert!((share(record) - of_law(record)).abs() < 0.002_2, "{record}: {}", share(record));
        assert!((0.0..0.003).contains(&(of_law(record) - least)), "{record}: {}", of_law(record));
    }
    let exact = draws(ZIPFIAN, range, 1_000);
    let most = f64::from(*exact.iter().max().unwrap()) / f64::from(DRAWS);
    assert!((0.127..0.133).contains(&most), "{most}");
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
        (0..2).map(|_| sequential(range, &sequence, LoadPart::default())).collect();
    let mut random = Random::new(1);
    let drawn: Vec<u64> = (0..6).map(|i| clients[i % 2].draw(&mut random, 14)).collect();
    assert_eq!(drawn, [10, 11, 12, 13, 10, 11]);
}

fn sequential(range: Range, sequence: &Arc<AtomicU64>, part: LoadPart) -> Chooser {
    Chooser::new(Request::Sequential, range, POPULAR, (sequence, part))
}

#[test]
fn sequential_generators_ask_for_each_record_once_in_a_round() {
    let range = Range { first: 10, count: 7, expected: 0, records: 17 };
    let part = |generator| LoadPart { generator, generators: 3 };
    let mut drawn: Vec<u64> = (0..3)
        .flat_map(|generator| {
            let mut chooser = sequential(range, &Arc::default(), part(generator));
            (0..7).map(move |_| chooser.draw(&mut Random::new(1), 17)).collect::<Vec<u64>>()
        })
        .collect();
    assert_eq!(drawn[..7], [10, 13, 16, 12, 15, 11, 14]);
    drawn.sort_unstable();
    let three_rounds: Vec<u64> = (10..17).flat_map(|record| [record; 3]).collect();
    assert_eq!(drawn, three_rounds);
}

#[test]
fn only_existing_records_are_chosen() {
    let requests = [
        Request::Uniform,
        Request::Sequential,
        ZIPFIAN,
        YCSB_ZIPFIAN,
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
