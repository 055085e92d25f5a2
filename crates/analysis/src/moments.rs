//! Mean and spread of a few values.

/// The arithmetic mean; `None` without values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (divided by n - 1); `None` for fewer than two values.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The median; `None` without values. `sorted` is ascending.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_to_nine_has_mean_five_and_the_textbook_deviation() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        let deviation = standard_deviation(&values).unwrap();
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((mean(&[]), standard_deviation(&[1.0])), (None, None));
    }

    #[test]
    fn median_of_an_even_count_is_the_midpoint() {
        assert_eq!(median_of_sorted(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median_of_sorted(&[]), None);
    }
}
