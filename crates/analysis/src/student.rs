//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::moments::standard_deviation;

/// The number t for which a value of Student's distribution is between -t and t with 95 % probability; `None`
/// without degrees of freedom.
pub(crate) fn t_95(degrees_of_freedom: usize) -> Option<f64> {
    if degrees_of_freedom == 0 {
        return None;
    }
    let distribution = StudentsT::new(0.0, 1.0, degrees_of_freedom as f64).ok()?;
    Some(distribution.inverse_cdf(0.975))
}

/// Half the width of the 95 % confidence interval of the mean, for values that are a sample of a normal
/// distribution; `None` for fewer than two values.
pub(crate) fn half_width_95(values: &[f64]) -> Option<f64> {
    let deviation = standard_deviation(values)?;
    Some(t_95(values.len() - 1)? * deviation / (values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
    #[test]
    fn critical_values_are_those_of_the_table() {
        for (degrees, expected) in
            [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (100, 1.984)]
        {
            let seen = t_95(degrees).unwrap();
            assert!((seen - expected).abs() < 0.000_6, "{degrees}: {seen} against {expected}");
        }
        assert_eq!(t_95(0), None);
    }
}
