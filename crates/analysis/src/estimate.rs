//! One figure from several repetitions, and its uncertainty.

use crate::moments::{mean, median_of_sorted};
use crate::student::half_width;

/// From this number of repetitions on, the interval needs no assumption about the distribution of the values.
/// With fewer, even the whole range covers the median with less than 95 %, as 1 - 2^(1 - n).
const RANKS_FROM: usize = 6;

/// A figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    pub count: usize,
    /// The 95 % interval; `None` for one repetition, and for fewer than six with a zero among them.
    pub interval: Option<Interval95>,
}

/// An interval with 95 % confidence (at least 95 % with [`Method::Ranks`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval95 {
    pub low: f64,
    pub high: f64,
    pub method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Geometric mean with Student's t over the logarithms, for 2 to 5 values. Assumes that the logarithms are
    /// normally distributed, which so few values cannot show. Rates and times are positive, and logarithms keep
    /// the whole interval positive; an interval over the values themselves could include negative ones.
    /// Sources: Student, The Probable Error of a Mean, Biometrika 6 (1908); Limpert, Stahel and Abbt,
    /// Log-normal Distributions across the Sciences, BioScience 51 (2001), for the logarithms.
    StudentT,
    /// Order statistics around the median, for 6 values or more; assumes only independence. Source: Hoefler and
    /// Belli, Scientific Benchmarking of Parallel Computing Systems, SC 2015, section 3.1.3.
    Ranks,
}

/// Median and 95 % interval of the repetitions of a figure that is never negative; `None` without values.
/// Values that are not finite are left out.
pub fn over_repetitions(values: &[f64]) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let interval = if sorted.len() < RANKS_FROM { by_student(&sorted) } else { by_ranks(&sorted) };
    Some(Estimate {
        median: median_of_sorted(&sorted)?,
        min: *sorted.first()?,
        max: *sorted.last()?,
        count: sorted.len(),
        interval,
    })
}

/// `None` when one of the values is zero, such as the throughput of a trial in which nothing was done: zero has
/// no logarithm, and its cause is not random spread.
fn by_student(values: &[f64]) -> Option<Interval95> {
    if values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (centre, half) = (mean(&logs)?, half_width(0.95, &logs)?);
    let [low, high] = [centre - half, centre + half].map(f64::exp);
    Some(Interval95 { low, high, method: Method::StudentT })
}

fn by_ranks(sorted: &[f64]) -> Option<Interval95> {
    let skipped = skipped_ranks(sorted.len());
    let low = *sorted.get(skipped)?;
    let high = *sorted.get(sorted.len() - 1 - skipped)?;
    Some(Interval95 { low, high, method: Method::Ranks })
}

/// Number of values that can be left out at each end so that the rest still covers the median with 95 %: the
/// largest k with P(B <= k - 1) <= 2.5 %, minus one, where B is the number of heads of n fair coins.
fn skipped_ranks(n: usize) -> usize {
    let mut probability = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for heads in 0..n {
        below += probability;
        if below > 0.025 {
            return heads.saturating_sub(1);
        }
        probability *= (n - heads) as f64 / (heads + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_values_get_a_student_interval_over_their_logarithms() {
        let estimate = over_repetitions(&[20.0, 10.0, 40.0]).unwrap();
        assert_eq!((estimate.median, estimate.count), (20.0, 3));
        let interval = estimate.interval.unwrap();
        // The logarithms are ln 20 and ln 20 -+ ln 2, so that their deviation is ln 2:
        // 20 x 2 ^ (-+ 4.3027 / sqrt 3).
        assert!((interval.low - 3.5746).abs() < 0.001, "{interval:?}");
        assert!((interval.high - 111.90).abs() < 0.01, "{interval:?}");
        assert_eq!(interval.method, Method::StudentT);
    }

    #[test]
    fn log_interval_of_two_values_stays_above_zero() {
        // Over the values themselves it would be 100 -+ 12.706 x 20, with a negative low end.
        let interval = over_repetitions(&[80.0, 120.0]).unwrap().interval.unwrap();
        // The logarithms differ by ln 1.5: sqrt 9600 x 1.5 ^ (-+ 12.7062 / 2).
        assert!((interval.low - 7.4544).abs() < 0.001, "{interval:?}");
        assert!((interval.high - 1287.84).abs() < 0.1, "{interval:?}");
    }

    #[test]
    fn a_zero_value_gives_a_median_without_interval() {
        let estimate = over_repetitions(&[0.0, 5.0, 6.0]).unwrap();
        assert_eq!((estimate.median, estimate.min, estimate.interval), (5.0, 0.0, None));
    }

    #[test]
    fn nearly_equal_values_get_the_plain_student_interval() {
        let interval = over_repetitions(&[999.0, 1000.0, 1001.0]).unwrap().interval.unwrap();
        // 1000 -+ 4.3027 x 1 / sqrt 3.
        assert!((interval.low - 997.516).abs() < 0.01, "{interval:?}");
        assert!((interval.high - 1002.484).abs() < 0.01, "{interval:?}");
    }

    /// Source: the table of ranks for the median in W. J. Conover, Practical Nonparametric Statistics: n = 6
    /// and 8 use the whole range, 9 skips one value at each end, 12 two, 20 five.
    #[test]
    fn interval_ranks_match_the_published_table() {
        let table = [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5), (25, 7)];
        for (n, skipped) in table {
            assert_eq!(skipped_ranks(n), skipped, "{n} values");
        }
    }

    #[test]
    fn many_values_get_an_interval_by_ranks() {
        let values: Vec<f64> = (1..=9).map(f64::from).collect();
        let interval = over_repetitions(&values).unwrap().interval.unwrap();
        assert_eq!((interval.low, interval.high, interval.method), (2.0, 8.0, Method::Ranks));
    }

    #[test]
    fn one_value_has_no_interval_and_no_values_have_no_estimate() {
        assert_eq!(over_repetitions(&[5.0]).unwrap().interval, None);
        assert_eq!(over_repetitions(&[]), None);
        assert_eq!(over_repetitions(&[f64::NAN]), None);
    }
}
