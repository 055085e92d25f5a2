//! One figure out of several repetitions, and how sure it is.

use crate::moments::{mean, median_of_sorted, standard_deviation};
use crate::student::t_95;

/// From so many repetitions on, the interval needs no assumption about how the values are spread:
/// with fewer, even the whole range covers the median with less than 95 %, as 1 - 2^(1 - n).
const RANKS_FROM: usize = 6;

/// A figure from repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median of the repetitions.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many repetitions.
    pub count: usize,
    /// Where the figure lies with 95 % confidence; `None` of one repetition.
    pub interval: Option<Interval95>,
}

/// An interval with 95 % confidence (at least, when it goes by ranks).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval95 {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was made.
    pub method: Method,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Mean and standard deviation with Student's t, for 2 to 5 values; supposes that they are
    /// spread normally, which so few cannot show. Source: Student, The Probable Error of a Mean,
    /// Biometrika 6 (1908).
    StudentT,
    /// Order statistics around the median, from 6 values on; supposes nothing but independence.
    /// Source: Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC 2015,
    /// section 3.1.3.
    Ranks,
}

/// Median and 95 % interval of one figure's repetitions; `None` of nothing. Values that are not
/// finite are left out.
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

fn by_student(values: &[f64]) -> Option<Interval95> {
    let mean = mean(values)?;
    let deviation = standard_deviation(values)?;
    let half = t_95(values.len() - 1)? * deviation / (values.len() as f64).sqrt();
    Some(Interval95 { low: mean - half, high: mean + half, method: Method::StudentT })
}

fn by_ranks(sorted: &[f64]) -> Option<Interval95> {
    let skipped = skipped_ranks(sorted.len());
    let low = *sorted.get(skipped)?;
    let high = *sorted.get(sorted.len() - 1 - skipped)?;
    Some(Interval95 { low, high, method: Method::Ranks })
}

/// How many values may be left out at each end so that the rest still covers the median with 95 %:
/// the largest k with P(B <= k - 1) <= 2.5 %, minus one, where B counts heads of n fair coins.
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
    fn three_values_get_a_student_interval() {
        let estimate = over_repetitions(&[12.0, 10.0, 11.0]).unwrap();
        assert_eq!((estimate.median, estimate.count), (11.0, 3));
        let interval = estimate.interval.unwrap();
        // 11 -+ 4.3027 x 1 / sqrt 3.
        assert!((interval.low - 8.5159).abs() < 0.001, "{interval:?}");
        assert!((interval.high - 13.4841).abs() < 0.001, "{interval:?}");
        assert_eq!(interval.method, Method::StudentT);
    }

    /// Source: the table of ranks for the median in W. J. Conover, Practical Nonparametric
    /// Statistics: n = 6 and 8 take the whole range, 9 skips one value at each end, 12 two, 20 five.
    #[test]
    fn ranks_are_those_of_the_table() {
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
    fn one_value_has_no_interval_and_nothing_has_no_estimate() {
        assert_eq!(over_repetitions(&[5.0]).unwrap().interval, None);
        assert_eq!(over_repetitions(&[]), None);
        assert_eq!(over_repetitions(&[f64::NAN]), None);
    }
}
