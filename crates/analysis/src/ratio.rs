//! The ratio of two figures, from rounds in which both were measured or from independent trials.

use crate::contrast::Contrast;
use crate::over_time::TimedValue;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The quotient of the geometric means; over rounds, the geometric mean of the rounds' ratios.
    pub ratio: f64,
    /// Lower end of the 95 % interval; equal to the ratio where one value has no spread.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Lower end of the 90 % interval.
    pub low_90: f64,
    /// Upper end of the 90 % interval.
    pub high_90: f64,
    /// Number of rounds; of independent trials the smaller of both numbers.
    pub rounds: usize,
    /// The difference of the logarithms, which all of it is made of.
    pub logs: Contrast,
}

impl Ratio {
    pub(crate) fn of(logs: Contrast) -> Self {
        let [[low, high], [low_90, high_90]] =
            [0.95, 0.90].map(|confidence| logs.interval(confidence).map(f64::exp));
        let rounds = logs.counts[0].min(logs.counts[1]);
        Self { ratio: logs.difference.exp(), low, high, low_90, high_90, rounds, logs }
    }
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
    Contrast::paired(&quotients(numerators, denominators)?).map(Ratio::of)
}

/// As [`paired_ratio`], with what the order of measuring adds removed where there are rounds enough:
/// [`Contrast::paired_in_order`].
pub(crate) fn paired_ratio_in_order(
    numerators: &[f64],
    denominators: &[f64],
    apart: &[f64],
) -> Option<Ratio> {
    Contrast::paired_in_order(&quotients(numerators, denominators)?, apart).map(Ratio::of)
}

/// The logarithms of the quotients.
fn quotients(numerators: &[f64], denominators: &[f64]) -> Option<Vec<f64>> {
    let pairs = numerators.iter().zip(denominators);
    pairs
        .map(|(numerator, denominator)| {
            let log = (numerator / denominator).ln();
            (*numerator > 0.0 && *denominator > 0.0 && log.is_finite()).then_some(log)
        })
        .collect()
}

/// The ratio `numerators / denominators` of two independent samples, by their geometric means. The interval is Welch's over
/// the logarithms. `None` without values, or with one that is not positive.
pub fn independent_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Ratio> {
    let [numerators, denominators] = [logarithms(numerators)?, logarithms(denominators)?];
    Contrast::independent(&denominators, &numerators).map(Ratio::of)
}

/// As [`independent_ratio`], for values that were measured one after the other: [`Contrast::over_time`].
pub(crate) fn ratio_over_time(
    numerators: &[TimedValue],
    denominators: &[TimedValue],
) -> Option<Ratio> {
    let logarithms = |of: &[TimedValue]| -> Option<Vec<TimedValue>> {
        let values: Vec<f64> = of.iter().map(|it| it.value).collect();
        let logs = logarithms(&values)?.into_iter().zip(of);
        Some(logs.map(|(value, it)| TimedValue { value, ..*it }).collect())
    };
    Contrast::over_time(&logarithms(denominators)?, &logarithms(numerators)?).map(Ratio::of)
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let log = |value: &f64| (*value > 0.0 && value.is_finite()).then(|| value.ln());
    values.iter().map(log).collect()
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

    #[test]
    fn independent_samples_have_the_quotient_of_their_geometric_means() {
        let ratio = independent_ratio(&[2.0, 8.0, 4.0], &[1.0, 4.0]).unwrap();
        assert!((ratio.ratio - 2.0).abs() < 1e-12);
        assert_eq!((ratio.rounds, ratio.logs.counts), (2, [2, 3]));
        assert!((ratio.low * ratio.high - 4.0).abs() < 1e-9, "{ratio:?}");
        let single = independent_ratio(&[3.0], &[1.0, 1.0]).unwrap();
        assert_eq!((single.low, single.high), (single.ratio, single.ratio));
        assert_eq!(independent_ratio(&[1.0, 0.0], &[1.0]), None);
        assert_eq!(independent_ratio(&[], &[1.0]), None);
    }
}
