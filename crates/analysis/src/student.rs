//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::moments::standard_deviation;

/// The number below which a value of Student's distribution is with this probability; `None` without degrees of freedom.
pub(crate) fn quantile(probability: f64, degrees_of_freedom: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    Some(distribution.inverse_cdf(probability))
}

/// The probability that a value of Student's distribution is `t` or more; 1 without degrees of freedom, and for a `t` that
/// is no number.
pub(crate) fn upper_tail(t: f64, degrees_of_freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    let distribution = StudentsT::new(0.0, 1.0, degrees_of_freedom);
    // The distribution is symmetric, and its lower tail is not rounded to 1.
    distribution.map_or(1.0, |distribution| distribution.cdf(-t))
}

/// The number t for which a value of Student's distribution is between -t and t with this probability; `None`
/// without degrees of freedom.
pub(crate) fn critical_t(confidence: f64, degrees_of_freedom: usize) -> Option<f64> {
    quantile((1.0 + confidence) / 2.0, degrees_of_freedom as f64)
}

/// The probability that a value of Student's distribution is as far from 0 as `t`, or farther, in either direction; 1
/// without degrees of freedom.
pub(crate) fn p_value(t: f64, degrees_of_freedom: usize) -> f64 {
    (2.0 * upper_tail(t.abs(), degrees_of_freedom as f64)).min(1.0)
}

/// Half the width of the interval of the mean with this confidence, for values that are a sample of a normal
/// distribution; `None` for fewer than two values.
pub(crate) fn half_width(confidence: f64, values: &[f64]) -> Option<f64> {
    let deviation = standard_deviation(values)?;
    Some(critical_t(confidence, values.len() - 1)? * deviation / (values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_not_evidence() {
        assert_eq!(p_value(f64::NAN, 5), 1.0);
    }

    /// Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
    #[test]
    fn critical_values_are_those_of_the_table() {
        for (degrees, expected) in
            [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (100, 1.984)]
        {
            let seen = critical_t(0.95, degrees).unwrap();
            assert!((seen - expected).abs() < 0.000_6, "{degrees}: {seen} against {expected}");
        }
        // The column of the table for 90 % between both ends.
        assert!((critical_t(0.90, 4).unwrap() - 2.132).abs() < 0.000_6);
        assert_eq!(critical_t(0.95, 0), None);
        assert!((p_value(-2.132, 4) - 0.1).abs() < 0.000_1);
        assert_eq!((p_value(0.0, 4), p_value(9.0, 0)), (1.0, 1.0));
    }
}
