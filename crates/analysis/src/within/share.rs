//! The interval of a percentile among independent values: the ranks of its ends, as parts of all values.

use super::NORMAL_95;

/// How often the true percentile may be below the interval, and how often above.
const TAIL: f64 = 0.025;
/// From this variance of the binomial distribution on, its percentiles are computed from the normal distribution.
const VARIANCE_EXACT_MAX: f64 = 100.0;

/// The ranks of both ends of the interval of a percentile at `share` among `count` independent values, as parts of
/// `count`: the lower and the higher ones of [`ranks`] and of the interval by the logarithm of the odds. `None` as with
/// [`ranks`].
pub(super) fn ends(count: u64, share: f64) -> [Option<f64>; 2] {
    let [low, high] = ranks(count, share);
    let half = NORMAL_95 / (count as f64 * share * (1.0 - share)).sqrt();
    let part = |by: f64| share / (share + (1.0 - share) * by.exp());
    [low.map(|low| low.min(part(half))), high.map(|high| high.max(part(-half)))]
}

/// The ranks of the lower and of the upper end of the 95 % interval of the percentile at `share` among `count`
/// independent values, as parts of `count`. `None` where there are too few values for an end: even the smallest or the
/// largest value is beyond the percentile with more than 2.5 %.
///
/// The number B of values at or below the percentile has a binomial distribution, whatever the distribution of the
/// values. The value of rank l is a lower end when P(B < l) is at most 2.5 %, that of rank u an upper end when
/// P(B >= u) is.
///
/// Source: W. J. Conover, Practical Nonparametric Statistics, section 3.2.
pub(super) fn ranks(count: u64, share: f64) -> [Option<f64>; 2] {
    let n = count as f64;
    let variance = n * share * (1.0 - share);
    let (low, high) = if variance > VARIANCE_EXACT_MAX {
        // With the correction of the skewness: Cornish and Fisher, Revue de l'Institut International de Statistique 5
        // (1938).
        let skewness = (1.0 - 2.0 * share) * (NORMAL_95 * NORMAL_95 - 1.0) / 6.0;
        let centre = n * share + skewness + 0.5;
        let half = NORMAL_95 * variance.sqrt();
        ((centre - half).floor(), (centre + half).ceil())
    } else if share <= 0.5 {
        exact(n, share)
    } else {
        // The values above the percentile are the rarer ones.
        let (least, most) = exact(n, 1.0 - share);
        (n + 1.0 - most, n + 1.0 - least)
    };
    [(low >= 1.0).then(|| low / n), (high <= n).then(|| high / n)]
}

/// The largest l with P(B < l) of at most 2.5 %, and the smallest u with P(B >= u) of at most 2.5 %.
fn exact(n: f64, share: f64) -> (f64, f64) {
    let odds = share / (1.0 - share);
    let mut probability = (n * (1.0 - share).ln()).exp();
    let (mut below, mut number, mut low) = (0.0, 0.0, 0.0);
    // `below` is P(B < number).
    while 1.0 - below > TAIL && number <= n {
        if below <= TAIL {
            low = number;
        }
        below += probability;
        probability *= odds * (n - number) / (number + 1.0);
        number += 1.0;
    }
    (low, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Conover's table for the median, as in `estimate`: of 20 values five are skipped at each end.
    #[test]
    fn ranks_of_the_median_are_those_of_the_table() {
        for (count, skipped) in [(6, 0.0), (9, 1.0), (12, 2.0), (20, 5.0), (25, 7.0)] {
            let n = count as f64;
            let expected = [Some((1.0 + skipped) / n), Some((n - skipped) / n)];
            assert_eq!(ranks(count, 0.5), expected, "{count} values");
        }
        assert_eq!(ranks(5, 0.5), [None, None], "the whole range has 93.75 %");
    }

    /// 0.99 ^ 368 is 2.48 %, 0.99 ^ 367 is 2.50 % and a little more.
    #[test]
    fn a_high_percentile_of_few_values_has_no_upper_end() {
        assert_eq!(ranks(367, 0.99)[1], None);
        assert_eq!(ranks(368, 0.99)[1], Some(1.0));
        assert_eq!(ranks(367, 0.01)[0], None);
        assert_eq!(ranks(368, 0.01)[0], Some(1.0 / 368.0));
    }

    #[test]
    fn exact_and_normal_ranks_agree_where_they_meet() {
        for (count, share) in
            [(1_000, 0.1), (1_000, 0.9), (10_000, 0.01), (10_000, 0.99), (390, 0.5)]
        {
            let n = count as f64;
            let exact = if share <= 0.5 {
                exact(n, share)
            } else {
                let (least, most) = exact(n, 1.0 - share);
                (n + 1.0 - most, n + 1.0 - least)
            };
            // A variance just above the bound is computed from the normal distribution.
            let variance = n * share * (1.0 - share);
            let more = (count as f64 * 1.05 * VARIANCE_EXACT_MAX / variance).ceil() as u64;
            let [low, high] = ranks(more, share).map(|end| end.unwrap() * more as f64);
            let wider = (more as f64 / n).sqrt();
            let centre = |count: f64| count * share;
            let (near_low, near_high) =
                ((exact.0 - centre(n)) * wider, (exact.1 - centre(n)) * wider);
            assert!((low - centre(more as f64) - near_low).abs() < 2.0, "{count} {share}");
            assert!((high - centre(more as f64) - near_high).abs() < 2.0, "{count} {share}");
        }
    }

    /// Of 100 values: exp (1.96 / sqrt 9) is 1.922 of the odds of 9, and its inverse.
    #[test]
    fn ends_by_the_odds_count_where_they_are_wider() {
        let [low, high] = ends(100, 0.9).map(Option::unwrap);
        assert!((low - 0.9 / (0.9 + 0.1 * 1.922)).abs() < 1e-3, "{low}");
        let [_, exact] = ranks(100, 0.9).map(Option::unwrap);
        assert!(exact > 0.9 / (0.9 + 0.1 / 1.922), "{exact}");
        assert_eq!(high, exact);
    }

    #[test]
    fn no_values_have_no_interval() {
        assert_eq!(ranks(0, 0.5), [None, None]);
    }
}
