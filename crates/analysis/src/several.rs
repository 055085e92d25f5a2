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
}
