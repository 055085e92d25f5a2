//! The place that divides a series best: where the values before and after it are of the most different distributions.

/// A place in a series, and how different its sides are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// Number of values before it.
    pub(super) at: usize,
    pub(super) statistic: f64,
}

/// The best of all places; `None` for fewer than two values. The values after a place are compared up to any later one, so
/// that a level which does not last is found too.
///
/// The statistic of `m` values and the `n` after them is `m n / (m + n)` times the energy distance of the two samples: twice
/// the mean distance between them, less the mean distances within each. Source: D. S. Matteson and N. A. James, A
/// nonparametric approach for multiple change point analysis of multivariate data, Journal of the American Statistical
/// Association 109 (2014), equations 5 to 8, with the exponent 1.
pub(super) fn best(values: &[f64]) -> Option<Split> {
    // Of each value, the sum of its distances to all before it.
    let before: Vec<f64> = (0..values.len())
        .map(|at| values[..at].iter().map(|other| (values[at] - other).abs()).sum())
        .collect();
    let mut to_left = vec![0.0; values.len()];
    let mut within_left = 0.0;
    let mut best: Option<Split> = None;
    for at in 1..values.len() {
        within_left += before[at - 1];
        let (mut across, mut within_right) = (0.0, 0.0);
        for last in at..values.len() {
            to_left[last] += (values[at - 1] - values[last]).abs();
            across += to_left[last];
            within_right += before[last] - to_left[last];
            let statistic =
                statistic(at as f64, (last - at + 1) as f64, [across, within_left, within_right]);
            if best.is_none_or(|best| statistic > best.statistic) {
                best = Some(Split { at, statistic });
            }
        }
    }
    best
}

/// Of the sums of all distances between the sides, within the left and within the right one. A single value has no
/// distance within.
fn statistic(left: f64, right: f64, [across, within_left, within_right]: [f64; 3]) -> f64 {
    let all = left + right;
    let within = |sum: f64, own: f64, other: f64| {
        if own > 1.0 { 2.0 * other / all / (own - 1.0) * sum } else { 0.0 }
    };
    2.0 / all * across - within(within_left, left, right) - within(within_right, right, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by loops over all pairs.
    fn by_definition(values: &[f64]) -> Split {
        let mean = |sums: &[f64]| sums.iter().sum::<f64>();
        let mut best = Split { at: 0, statistic: f64::NEG_INFINITY };
        for at in 1..values.len() {
            for end in at + 1..=values.len() {
                let (left, right) = (&values[..at], &values[at..end]);
                let distances = |one: &[f64], other: &[f64]| -> Vec<f64> {
                    one.iter().flat_map(|a| other.iter().map(move |b| (a - b).abs())).collect()
                };
                let (m, n) = (left.len() as f64, right.len() as f64);
                let pairs = |count: f64| (count * (count - 1.0)).max(1.0);
                let energy = 2.0 * mean(&distances(left, right)) / (m * n)
                    - mean(&distances(left, left)) / pairs(m)
                    - mean(&distances(right, right)) / pairs(n);
                let statistic = m * n / (m + n) * energy;
                if statistic > best.statistic + 1e-9 {
                    best = Split { at, statistic };
                }
            }
        }
        best
    }

    #[test]
    fn the_statistic_is_that_of_the_definition() {
        // Apache Otava's test of its calculator has this series (tests/change_point_divisive_test.py).
        let series =
            [0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0];
        let (seen, expected) = (best(&series).unwrap(), by_definition(&series));
        assert_eq!((seen.at, expected.at), (5, 5));
        assert!((seen.statistic / expected.statistic - 1.0).abs() < 1e-12, "{seen:?} {expected:?}");
    }

    #[test]
    fn two_levels_are_divided_where_they_change() {
        // 4 and 4 values 10 apart: 4 x 4 / 8 times twice 10.
        let seen = best(&[5.0, 5.0, 5.0, 5.0, 15.0, 15.0, 15.0, 15.0]).unwrap();
        assert_eq!(seen, Split { at: 4, statistic: 40.0 });
        assert_eq!(best(&[1.0, 3.0]), Some(Split { at: 1, statistic: 2.0 }));
        assert_eq!(best(&[1.0]), None);
        assert_eq!(best(&[]), None);
    }
}
