//! The law on published figures, against SciPy, and on sweeps that do not carry it.

use super::*;
use crate::draws::Draws;

const LEAST: f64 = 0.01;

fn level(clients: usize, per_s: &[f64]) -> ScalingLevel {
    ScalingLevel { clients, per_s: per_s.to_vec(), variance_within: None, half_width_within: None }
}

fn law(gamma: f64, alpha: f64, beta: f64, clients: usize) -> f64 {
    let n = clients as f64;
    gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
}

/// A sweep over powers of two whose trials are off the law by these parts.
fn sweep(of: (f64, f64, f64), most: usize, errors: &[f64]) -> Vec<ScalingLevel> {
    let clients = (0..).map(|at| 1_usize << at).take_while(|clients| *clients <= most);
    let of_level = |clients: usize| {
        let per_s: Vec<f64> =
            errors.iter().map(|error| law(of.0, of.1, of.2, clients) * (1.0 + error)).collect();
        level(clients, &per_s)
    };
    clients.map(of_level).collect()
}

fn assert_ranged(name: &str, seen: Ranged, [value, low, high]: [f64; 3]) {
    let is_near = |seen: f64, expected: f64| (seen / expected - 1.0).abs() < 1e-5;
    let is_right = is_near(seen.value, value)
        && is_near(seen.low, low)
        && seen.high.is_some_and(|seen| is_near(seen, high));
    assert!(is_right, "{name}: {seen:?} against {value}, {low} to {high}");
}

/// What SciPy gives for a sweep: gamma, alpha, beta, the clients of the peak, the throughput there, and the gain of
/// twice so many clients.
struct Expected {
    ranges: [[f64; 3]; 6],
    gain_of: f64,
}

fn assert_scaling(found: &Scaling, expected: &Expected) {
    let Peak::Within { clients, per_s } = found.peak else { panic!("{found:?}") };
    let gain = found.gain_of_twice(expected.gain_of);
    let seen = [found.gamma, found.alpha, found.beta, clients, per_s, gain];
    let names = ["gamma", "alpha", "beta", "peak", "highest", "gain"];
    for ((name, seen), expected) in names.into_iter().zip(seen).zip(expected.ranges) {
        assert_ranged(name, seen, expected);
    }
}

const SDM91: Expected = Expected {
    ranges: [
        [67.942_322, 56.757_357, 81.744_606],
        [0.013_452_473, 0.003_425_047_9, 0.026_012_292],
        [0.000_115_110_08, 5.281_831_1e-5, 0.000_177_532_81],
        [92.576_836, 74.781_887, 136.015_83],
        [1_960.793_8, 1_764.250_2, 2_192.818_2],
        [1.270_557_8, 1.199_760_1, 1.347_079_6],
    ],
    gain_of: 36.0,
};

const REPEATED: Expected = Expected {
    ranges: [
        [1_001.924_3, 993.851_18, 1_010.077_4],
        [0.050_557_151, 0.048_612_851, 0.052_525_925],
        [0.000_383_114_37, 0.000_349_493_74, 0.000_416_633_60],
        [49.781_754, 47.777_419, 52.076_463],
        [11_344.476, 11_249.800, 11_441.570],
        [1.255_584_1, 1.250_524_8, 1.260_620_4],
    ],
    gain_of: 16.0,
};

/// Source: SPEC SDM91 on a SPARCcenter 2000 (Gunther, Guerrilla Capacity Planning, 2007, table 5.1); SciPy's curve_fit
/// and least_squares by `testdata/scaling.py`.
#[test]
fn a_published_sweep_is_fitted_as_by_scipy() {
    let measured = [
        (1, 64.9),
        (18, 995.9),
        (36, 1_652.4),
        (72, 1_853.2),
        (108, 1_828.9),
        (144, 1_775.0),
        (216, 1_702.2),
    ];
    let levels: Vec<ScalingLevel> = measured.map(|(n, per_s)| level(n, &[per_s])).to_vec();
    let found = scaling(&levels, LEAST).unwrap();
    assert_scaling(&found, &SDM91);
    assert_eq!(found.quality, Quality { p_value: None, trials: 7, is_repeated: false });
}

/// Source: as above.
#[test]
fn repeated_trials_are_fitted_as_by_scipy() {
    let levels = [
        level(1, &[1_012.0, 991.0, 1_003.0]),
        level(2, &[1_897.0, 1_921.0, 1_880.0]),
        level(4, &[3_489.0, 3_450.0, 3_531.0]),
        level(8, &[5_805.0, 5_890.0, 5_731.0]),
        level(16, &[8_720.0, 8_590.0, 8_655.0]),
        level(32, &[10_990.0, 10_790.0, 10_905.0]),
        level(64, &[11_080.0, 11_290.0, 11_190.0]),
    ];
    let found = scaling(&levels, LEAST).unwrap();
    assert_scaling(&found, &REPEATED);
    let p_value = found.quality.p_value.unwrap();
    assert!((p_value - 0.966_545_621_6).abs() < 1e-6, "{p_value}");
    assert_eq!((found.quality.trials, found.quality.is_repeated), (21, true));
    // The curve passes between the trials: no level is off by more than 2 %.
    assert!(found.levels.iter().all(|level| level.deviation().abs() < 0.02), "{found:?}");
}

#[test]
fn a_sweep_on_the_law_gives_its_coefficients() {
    // The peak: the root of 0.96 / 0.0006 = 1,600.
    let found = scaling(&sweep((500.0, 0.04, 0.0006), 128, &[0.0, 0.0]), LEAST).unwrap();
    let Peak::Within { clients, per_s } = found.peak else { panic!("{found:?}") };
    assert!((clients.value - 40.0).abs() < 1e-3 && (found.alpha.value - 0.04).abs() < 1e-6);
    // 500 x 40 / (1 + 0.04 x 39 + 0.0006 x 40 x 39) = 20,000 / 3.496.
    assert!((per_s.value - 20_000.0 / 3.496).abs() < 1e-2, "{per_s:?}");
    // From 16 to 32 clients: 2 x (1 + 0.6 + 0.144) / (1 + 1.24 + 0.5952).
    let gain = found.gain_of_twice(16.0);
    assert!((gain.value - 2.0 * 1.744 / 2.835_2).abs() < 1e-6, "{gain:?}");
}

#[test]
fn a_sweep_that_ends_before_its_peak_has_a_bound() {
    // The peak is at the root of 0.99 / 0.00001, 315 clients.
    let errors = [-0.01, 0.004, 0.009];
    let found = scaling(&sweep((100.0, 0.01, 1e-5), 64, &errors), LEAST).unwrap();
    let Peak::Beyond { clients_low } = found.peak else { panic!("{found:?}") };
    assert!((64.0..=315.0).contains(&clients_low), "{clients_low}");
    // Without coherency there is no peak at all.
    let found = scaling(&sweep((100.0, 0.02, 0.0), 64, &errors), LEAST).unwrap();
    assert!(matches!(found.peak, Peak::Beyond { clients_low } if clients_low > 64.0), "{found:?}");
    assert!(found.beta.low == 0.0 && found.beta.value < 1e-5, "{found:?}");
}

#[test]
fn throughput_that_falls_from_the_first_client_on_has_its_peak_there() {
    let found = scaling(&sweep((100.0, 1.5, 0.01), 32, &[-0.002, 0.002]), LEAST).unwrap();
    let Peak::Within { clients, per_s } = found.peak else { panic!("{found:?}") };
    assert_eq!((clients.value, clients.low), (1.0, 1.0));
    assert!((per_s.value - 100.0).abs() < 1.0, "{per_s:?}");
}

#[test]
fn too_few_numbers_of_clients_are_refused() {
    let few =
        |most: usize, errors: &[f64]| scaling(&sweep((100.0, 0.1, 0.01), most, errors), LEAST);
    let refused = |levels, needed| Err(NoScaling::FewLevels { levels, needed });
    assert_eq!(few(4, &[0.0, 0.01]), refused(3, 4));
    assert_eq!(few(8, &[0.0]), refused(4, 5));
    assert!(few(8, &[-0.005, 0.005]).is_ok() && few(16, &[0.0]).is_ok());
    assert_eq!(scaling(&[], LEAST), refused(0, 5));
}

#[test]
fn a_level_without_throughput_is_refused() {
    let mut levels = sweep((100.0, 0.1, 0.01), 32, &[0.0, 0.01]);
    levels[3].per_s[1] = 0.0;
    assert_eq!(scaling(&levels, LEAST), Err(NoScaling::NoThroughput(8)));
    levels[3].per_s[1] = f64::NAN;
    assert_eq!(scaling(&levels, LEAST), Err(NoScaling::NoThroughput(8)));
}

/// Four servers without a queue: throughput grows to four clients and then not at all, which no curve of the law does.
#[test]
fn a_corner_is_not_a_curve_of_the_law() {
    let corner = |clients: usize| {
        let per_s = 100.0 * clients.min(4) as f64;
        level(clients, &[0.998 * per_s, 1.002 * per_s])
    };
    let levels = [1, 2, 3, 4, 6, 8, 16, 32].map(corner);
    let Err(NoScaling::LackOfFit { p_value, clients, deviation }) = scaling(&levels, LEAST) else {
        panic!("a corner was fitted")
    };
    assert!(p_value < 0.01 && clients == 4 && deviation > 0.05, "{p_value} {clients} {deviation}");
}

#[test]
fn deviations_below_the_least_difference_do_not_speak_against_the_law() {
    let mut levels = sweep((500.0, 0.04, 0.0006), 128, &[-1e-5, 1e-5]);
    for (at, level) in levels.iter_mut().enumerate() {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        level.per_s.iter_mut().for_each(|per_s| *per_s *= 1.0 + 0.004 * sign);
    }
    assert!(matches!(scaling(&levels, 0.001), Err(NoScaling::LackOfFit { .. })));
    assert!(scaling(&levels, LEAST).unwrap().quality.p_value.unwrap() > 0.05);
}

#[test]
fn throughput_that_grows_faster_than_the_clients_is_refused() {
    let levels = sweep((100.0, -0.02, 0.0004), 16, &[-0.001, 0.001]);
    assert!(
        matches!(scaling(&levels, LEAST), Err(NoScaling::NegativeContention { alpha_high }) if alpha_high < 0.0)
    );
    let levels = sweep((100.0, 0.2, -0.0005), 64, &[-0.001, 0.001]);
    assert!(
        matches!(scaling(&levels, LEAST), Err(NoScaling::NegativeCoherency { beta_high }) if beta_high < 0.0)
    );
}

/// Single trials vary by 2 % between each other, of which 1 % is seen within them.
#[test]
fn single_trials_are_weighted_by_what_is_within_them_and_what_they_share() {
    let mut draws = Draws(7);
    let (mut covered, mut told) = (0, 0);
    for _ in 0..100 {
        let clients = [1, 2, 4, 8, 16, 32, 64, 128];
        let levels = clients.map(|clients| {
            let error = (0.01 * draws.normal() + 0.01 * draws.normal()).exp();
            let per_s = vec![law(1_000.0, 0.05, 0.0004, clients) * error];
            ScalingLevel {
                clients,
                per_s,
                variance_within: Some(1e-4),
                half_width_within: Some(0.0196),
            }
        });
        if let Ok(found) = scaling(&levels, LEAST) {
            told += 1;
            let has = found.alpha.low <= 0.05 && found.alpha.high.is_none_or(|high| 0.05 <= high);
            covered += usize::from(has);
        }
    }
    assert!(told >= 92, "{told}");
    // Three standard deviations below 95 %.
    assert!(covered as f64 >= 0.88 * told as f64, "{covered} of {told}");
}
