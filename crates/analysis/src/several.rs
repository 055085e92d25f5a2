//! Corrections for many tests at once.

/// The p-values of several tests, corrected so that the chance of any wrong rejection among them is at most the level
/// that they are compared with. No more than `true_at_most` of the hypotheses can be true at the same time; with as
/// many as there are tests this is Holm's method.
///
/// Sources: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
/// (1979); J. P. Shaffer, Modified sequentially rejective multiple test procedures, Journal of the American
/// Statistical Association 81 (1986), for hypotheses that cannot all be true.
pub fn corrected(p_values: &[f64], true_at_most: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let left = (p_values.len() - rank).min(true_at_most);
        largest = largest.max(p_values[at] * left as f64).min(1.0);
        corrected[at] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contrast, Significance, Tests};

    fn assert_near(seen: &[f64], expected: &[f64]) {
        let is_near = |(seen, expected): (&f64, &f64)| (seen - expected).abs() < 1e-12;
        assert!(seen.len() == expected.len() && seen.iter().zip(expected).all(is_near), "{seen:?}");
    }

    /// Source: statsmodels 0.15.0, `multipletests(method="holm")`, by `testdata/comparison.py`.
    #[test]
    fn corrected_values_are_those_of_holm() {
        let p_values = [0.01, 0.04, 0.03, 0.005, 0.2, 0.03];
        assert_near(&corrected(&p_values, 6), &[0.05, 0.12, 0.12, 0.03, 0.2, 0.12]);
        assert_near(&corrected(&[0.9, 0.6], 2), &[1.0, 1.0]);
        assert!(corrected(&[], 0).is_empty());
    }

    #[test]
    fn hypotheses_that_exclude_each_other_count_once() {
        // Two pairs, of each of which one is true at most: two times the first two p-values, where Holm takes four and
        // three times.
        let p_values = [0.001, 0.9, 0.02, 0.8];
        assert_near(&corrected(&p_values, 2), &[0.002, 1.0, 0.04, 1.0]);
        assert_near(&corrected(&p_values, 4), &[0.004, 1.0, 0.06, 1.0]);
    }

    /// Values that are normally distributed, by twelve uniform ones of Knuth's MMIX generator (The Art of Computer
    /// Programming 2, section 3.3.4).
    fn normal(state: &mut u64) -> f64 {
        let mut uniform = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    /// Families of six comparisons of 5 and 7 values with different spreads. Three have no difference, three one of
    /// exactly the least that matters, so that each verdict but one of a difference there is wrong.
    #[test]
    fn any_verdict_of_a_family_is_wrong_in_one_of_twenty_at_most() {
        const FAMILIES: usize = 2_000;
        const LEAST: f64 = 0.1;
        let mut state = 1;
        let mut is_wrong = || {
            let contrasts: Vec<Contrast> = (0..6)
                .map(|at| {
                    let spread = [0.01, 0.05, 0.5][at % 3];
                    let difference = if at < 3 { 0.0 } else { LEAST };
                    let baseline: Vec<f64> = (0..5).map(|_| spread * normal(&mut state)).collect();
                    let other = (0..7).map(|_| difference + 0.5 * spread * normal(&mut state));
                    Contrast::independent(&baseline, &other.collect::<Vec<_>>()).unwrap()
                })
                .collect();
            let tests = contrasts.iter().map(|it| it.tests(LEAST));
            let p_values: Vec<f64> = tests.flat_map(|it| [it.difference, it.equality]).collect();
            let corrected = corrected(&p_values, contrasts.len());
            let verdicts = contrasts.iter().zip(corrected.chunks(2)).map(|(contrast, pair)| {
                let tests = Tests { difference: pair[0], equality: pair[1] };
                Significance::judged(contrast, LEAST, tests)
            });
            verdicts.enumerate().any(|(at, verdict)| match verdict {
                Significance::Higher => at < 3,
                Significance::Lower => true,
                Significance::Equal => at >= 3,
                Significance::Undecided | Significance::TooFewRounds => false,
            })
        };
        let wrong = (0..FAMILIES).filter(|_| is_wrong()).count();
        // Three standard deviations above 5 %.
        assert!(wrong <= 100 + 29, "{wrong} of {FAMILIES}");
        assert!(wrong > 0, "the correction is not so strict that nothing is ever decided");
    }
}
