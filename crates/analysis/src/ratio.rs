//! The ratio of two figures, from rounds in which both were measured.

use crate::moments::mean;
use crate::student::half_width;

/// A ratio over paired rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The geometric mean of the rounds' ratios.
    pub ratio: f64,
    /// Lower end of the 95 % interval; equal to the ratio for one round.
    pub low: f64,
    /// Upper end of the 95 % interval; equal to the ratio for one round.
    pub high: f64,
    /// Lower end of the 90 % interval; equal to the ratio for one round.
    pub low_90: f64,
    /// Upper end of the 90 % interval; equal to the ratio for one round.
    pub high_90: f64,
    /// Number of rounds.
    pub rounds: usize,
}

/// The ratio `numerators / denominators` over paired rounds: disturbances of both in a round cancel. The mean
/// is geometric, so that the inverse ratio has the inverse result. The interval is Student's over the
/// logarithms. `None` without a round, or with a value that is not positive. If the slices differ in length,
/// the longer one is cut to the length of the shorter.
///
/// Source: Fleming and Wallace, How not to lie with statistics, CACM 29 (1986), for the geometric
/// mean; Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013, for intervals of
/// ratios.
pub fn paired_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Ratio> {
    let logs: Option<Vec<f64>> = numerators
        .iter()
        .zip(denominators)
        .map(|(numerator, denominator)| {
            let log = (numerator / denominator).ln();
            (*numerator > 0.0 && *denominator > 0.0 && log.is_finite()).then_some(log)
        })
        .collect();
    let logs = logs?;
    let centre = mean(&logs)?;
    let [half, half_90] = [0.95, 0.90].map(|part| half_width(part, &logs).unwrap_or(0.0));
    Some(Ratio {
        ratio: centre.exp(),
        low: (centre - half).exp(),
        high: (centre + half).exp(),
        low_90: (centre - half_90).exp(),
        high_90: (centre + half_90).exp(),
        rounds: logs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_mean_of_a_half_and_a_double_is_one() {
        let ratio = paired_ratio(&[1.0, 4.0], &[2.0, 2.0]).unwrap();
        assert!((ratio.ratio - 1.0).abs() < 1e-12);
        // The logarithms are -+ ln 2, their deviation ln 2 x sqrt 2: 12.706 x ln 2 = 8.807.
        assert!((ratio.high.ln() - 8.807).abs() < 0.001, "{ratio:?}");
        assert!((ratio.low * ratio.high - 1.0).abs() < 1e-9);
        // 6.314 x ln 2.
        assert!((ratio.high_90.ln() - 4.376).abs() < 0.001, "{ratio:?}");
    }

    #[test]
    fn common_disturbances_cancel_in_paired_ratios() {
        let ratio = paired_ratio(&[11.0, 22.0, 5.5], &[10.0, 20.0, 5.0]).unwrap();
        assert!((ratio.ratio - 1.1).abs() < 1e-12);
        assert!((ratio.high - ratio.low).abs() < 1e-12);
        assert_eq!(ratio.rounds, 3);
    }

    #[test]
    fn pairs_without_a_ratio_are_left_out() {
        assert_eq!(paired_ratio(&[], &[]), None);
        assert_eq!(paired_ratio(&[1.0, 0.0], &[1.0, 1.0]), None);
        assert_eq!(paired_ratio(&[1.0], &[0.0]), None);
    }
}
