//! Each distribution against its definition: Pearson's chi-square with fixed seeds.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::{Draw, GrayZipfian, Random, Shape};

const DRAWS: u32 = 200_000;

/// The p-value of `DRAWS` draws from 1..=n against the probability of each number. Adjacent numbers are merged until
/// each cell expects at least ten, as the chi-square approximation requires.
fn p_value(shape: Shape, probabilities: &[f64]) -> f64 {
    let draw = Draw::new(shape, 1, probabilities.len() as i64);
    p_value_of(probabilities, |random| draw.draw(random) as u64)
}

/// The same for numbers that `draw` draws.
fn p_value_of(probabilities: &[f64], mut draw: impl FnMut(&mut Random) -> u64) -> f64 {
    let mut random = Random::new(20_261_121);
    let mut seen = vec![0_u32; probabilities.len()];
    for _ in 0..DRAWS {
        seen[draw(&mut random) as usize - 1] += 1;
    }
    let sum: f64 = probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "the definition's probabilities sum to {sum}");
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut count, mut expected) = (0.0, 0.0);
    for (i, probability) in probabilities.iter().enumerate() {
        count += f64::from(seen[i]);
        expected += probability * f64::from(DRAWS);
        let rest: f64 = probabilities[i + 1..].iter().sum::<f64>() * f64::from(DRAWS);
        if expected >= 10.0 && (rest >= 10.0 || i + 1 == probabilities.len()) {
            statistic += (count - expected).powi(2) / expected;
            cells += 1;
            (count, expected) = (0.0, 0.0);
        }
    }
    assert_eq!(count, 0.0, "draws where the definition allows (nearly) none");
    assert!(cells > 5, "too few cells for a test");
    1.0 - ChiSquared::new(f64::from(cells - 1)).unwrap().cdf(statistic)
}

/// Not rejected at the 1 % level; one wrong constant gives a p-value of practically 0.
fn assert_fits(shape: Shape, probabilities: &[f64]) {
    let p = p_value(shape, probabilities);
    assert!(p > 0.01, "{shape:?}: p = {p}");
}

/// Probabilities of 0..n for [x], from the distribution function of x over [0, n].
fn rounded_down(n: usize, cdf: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|i| cdf((i + 1) as f64) - cdf(i as f64)).collect()
}

/// Distribution function of the mean of `rounds` uniform draws (Irwin-Hall, scaled).
fn bates(rounds: u32, x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    if x > 0.5 {
        return 1.0 - bates(rounds, 1.0 - x);
    }
    let sum = x * f64::from(rounds);
    let (mut total, mut choose, mut factorial) = (0.0, 1.0, 1.0);
    for k in 0..=rounds {
        if f64::from(k) <= sum {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            total += sign * choose * (sum - f64::from(k)).powi(rounds as i32);
        }
        choose *= f64::from(rounds - k) / f64::from(k + 1);
        factorial *= f64::from(k.max(1));
    }
    total / factorial
}

#[test]
fn uniform_is_flat() {
    assert_fits(Shape::Uniform, &[1.0 / 100.0; 100]);
    assert!(p_value(Shape::Zipfian { exponent: 0.1 }, &[1.0 / 100.0; 100]) < 1e-6);
}

#[test]
fn gaussian_is_the_mean_of_twelve() {
    let n = 100;
    let bell = rounded_down(n, |x| bates(12, x / n as f64));
    assert_fits(Shape::Gaussian { rounds: 12 }, &bell);
    assert!(p_value(Shape::Gaussian { rounds: 11 }, &bell) < 1e-6);
}

/// [`Shape::Special`]'s definition for a quarter bell and three quarters centre.
fn special(n: usize, width: f64) -> Vec<f64> {
    let t = (n - 1) as f64;
    let d = t * width;
    let center = |x: f64| ((x - (t - d) / 2.0) / (d + 1.0) - 0.25).clamp(0.0, 0.75);
    rounded_down(n, |x| 0.25 * bates(12, x / t) + center(x))
}

#[test]
fn special_is_a_bell_curve_with_a_dense_centre() {
    assert_fits(Shape::SPECIAL, &special(100, 0.01));
    assert_fits(Shape::SPECIAL, &special(1001, 0.01));
    let wide =
        Shape::Special { rounds: 12, center_width_percent: 20.0, center_share_percent: 75.0 };
    assert_fits(wide, &special(1001, 0.2));
    assert!(p_value(wide, &special(1001, 0.21)) < 1e-6);
}

#[test]
fn pareto_gives_a_fifth_of_the_numbers_four_fifths_of_the_draws() {
    let n = 100;
    let power = 0.2_f64.ln() / 0.8_f64.ln();
    let pareto = rounded_down(n, |x| (x / n as f64).powf(1.0 / power));
    assert!((pareto[..20].iter().sum::<f64>() - 0.8).abs() < 1e-9);
    assert_fits(Shape::Pareto { h: 0.2 }, &pareto);
}

#[test]
fn zipfian_follows_zipfs_law_for_any_exponent() {
    for exponent in [0.0, 0.5, 0.8, 1.0, 1.1, 2.5] {
        let weights: Vec<f64> = (1..=200).map(|i| f64::from(i).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        assert_fits(Shape::Zipfian { exponent }, &law);
    }
}

/// The shares of ranks 1 and 2 are exact, and 3 of 200 has 15.5 % more than Zipf's law gives it.
#[test]
fn grays_zipfian_follows_its_formula_and_is_near_zipfs_law() {
    let (n, exponent) = (200, 0.99);
    let weights: Vec<f64> = (1..=n).map(|i| f64::from(i).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    let first_two = weights[0] + weights[1];
    let left = |i: i32| 1.0 - (f64::from(i) / f64::from(n)).powf(1.0 - exponent);
    let at_most = |i: i32| 1.0 - left(i) / left(2) * (1.0 - first_two / sum);
    let mut law = vec![weights[0] / sum, weights[1] / sum];
    law.extend((3..=n).map(|i| at_most(i) - at_most(i - 1)));
    let gray = GrayZipfian::new(n as u64, exponent, sum);
    let p = p_value_of(&law, |random| gray.draw(random));
    assert!(p > 0.01, "p = {p}");
    let exact: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
    assert!(p_value_of(&exact, |random| gray.draw(random)) < 1e-6);
    assert!((law[2] / exact[2] - 1.155).abs() < 0.001, "{}", law[2] / exact[2]);
}

#[test]
fn exponential_falls_as_pgbench_says() {
    let (n, decay) = (100, 5.0);
    let cdf = |x: f64| (1.0 - (-decay * x / n as f64).exp()) / (1.0 - (-decay).exp());
    assert_fits(Shape::Exponential { decay }, &rounded_down(n, cdf));
}

#[test]
fn normal_is_cut_off_as_pgbench_says() {
    let (n, deviations) = (100, 2.5);
    let phi = |x: f64| Normal::standard().cdf(x);
    let cdf = |x: f64| {
        let z = deviations * (2.0 * x / n as f64 - 1.0);
        (phi(z) - phi(-deviations)) / (2.0 * phi(deviations) - 1.0)
    };
    assert_fits(Shape::Normal { deviations }, &rounded_down(n, cdf));
}

#[test]
fn every_shape_stays_within_its_range() {
    let shapes = [
        Shape::Uniform,
        Shape::Gaussian { rounds: 12 },
        Shape::SPECIAL,
        Shape::Pareto { h: 0.2 },
        Shape::Zipfian { exponent: 0.8 },
        Shape::Exponential { decay: 1.0 },
        Shape::Normal { deviations: 2.0 },
    ];
    let ranges = [(1, 1), (1, 2), (-3, 3), (5, 4), (i64::MIN, i64::MAX), (i64::MAX - 1, i64::MAX)];
    let mut random = Random::new(1);
    for shape in shapes {
        for (low, high) in ranges {
            let draw = Draw::new(shape, low, high);
            for _ in 0..1000 {
                let drawn = draw.draw(&mut random);
                assert!((low..=high.max(low)).contains(&drawn), "{shape:?} {low} {high} {drawn}");
            }
        }
    }
}
