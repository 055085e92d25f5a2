//! Whether one of two sides fails more often: Fisher's exact test.

use statrs::distribution::{Discrete, Hypergeometric};

/// Tables whose probability differs by less than this part are as likely: their sums are rounded.
const AS_LIKELY: f64 = 1e-7;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cases {
    pub failed: u64,
    pub all: u64,
}

/// How likely a table as unlikely as this one, or less likely, is when both sides fail equally often: the two-sided test.
/// 1 when one of them has no cases.
///
/// Source: R. A. Fisher, On the interpretation of chi-squared from contingency tables, Journal of the Royal Statistical
/// Society 85 (1922); two-sided as in R and SciPy, over all tables that are no more likely.
pub fn fisher_exact(one: Cases, other: Cases) -> f64 {
    let failed = one.failed + other.failed;
    let Ok(tables) = Hypergeometric::new(one.all + other.all, failed, one.all) else { return 1.0 };
    let seen = tables.pmf(one.failed) * (1.0 + AS_LIKELY);
    let least = failed.saturating_sub(other.all);
    let all = (least..=failed.min(one.all)).map(|number| tables.pmf(number));
    all.filter(|probability| *probability <= seen).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: SciPy 1.17.1, `fisher_exact`, by `testdata/comparison.py`.
    #[test]
    fn p_values_are_those_of_scipy() {
        for (one, other, expected) in [
            ([6, 2], [1, 8], 0.015_220_074_043_603),
            ([0, 8], [6, 2], 0.006_993_006_993_007),
            ([3, 3], [3, 3], 1.0),
            ([0, 5], [0, 7], 1.0),
            ([2, 198], [9, 191], 0.061_813_965_825_287),
        ] {
            let cases = |[failed, others]: [u64; 2]| Cases { failed, all: failed + others };
            let seen = fisher_exact(cases(one), cases(other));
            assert!((seen - expected).abs() < 1e-9, "{one:?} {other:?}: {seen}");
            assert!((fisher_exact(cases(other), cases(one)) - expected).abs() < 1e-9);
        }
        assert_eq!(fisher_exact(Cases::default(), Cases { failed: 1, all: 2 }), 1.0);
    }
}
