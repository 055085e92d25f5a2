//! A baseline that was measured twice differs from itself: then more than the system decides on the figures.

use crate::several::corrected;
use crate::{Code, Comparison, Finding, Significance, Subject, Tests, Value};

/// A warning for each place at which a baseline differs from itself by the least difference that matters or more, by
/// tests that are corrected for the number of places: a run without such a difference has a warning in one of twenty
/// cases.
pub fn check_baseline_again(
    compared: &[(String, Comparison)],
    least_difference: f64,
) -> Vec<Finding> {
    let least = least_difference.ln_1p();
    let tests = compared.iter().map(|(_, it)| it.ratio.logs.tests(least).difference);
    let p_values = corrected(&tests.collect::<Vec<_>>(), compared.len());
    let differs = |(it, p_value): (&(String, Comparison), f64)| {
        let (place, Comparison { ratio, .. }) = it;
        let tests = Tests { difference: p_value, equality: 1.0 };
        let verdict = Significance::judged(&ratio.logs, least, tests);
        matches!(verdict, Significance::Higher | Significance::Lower).then(|| {
            Finding::about(Subject::Run, Code::BaselineDiffers)
                .with("place", Value::Text(place.clone()))
                .with("change", Value::Change(ratio.ratio - 1.0))
        })
    };
    compared.iter().zip(p_values).filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RoundFigure, compare};

    /// A baseline of 1,000 and another measurement of it, in rounds.
    fn compared(values: &[f64]) -> Comparison {
        let rounds = |value: &dyn Fn(usize) -> f64| -> Vec<RoundFigure> {
            let figure = |at: usize| RoundFigure::exact(at as u32, 0, value(at));
            (0..values.len()).map(figure).collect()
        };
        compare(&rounds(&|_| 1_000.0), &rounds(&|at| values[at]), 0.01).unwrap()
    }

    #[test]
    fn a_baseline_that_differs_from_itself_is_warned_of() {
        // 5 % with a standard error of 0.12 %, and 0.5 %, which does not matter.
        let apart = ("at 4 clients".to_owned(), compared(&[1_050.0, 1_052.0, 1_048.0]));
        let near = ("at 8 clients".to_owned(), compared(&[1_005.0, 1_005.2, 1_004.8]));
        let found = check_baseline_again(&[apart, near.clone()], 0.01);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].value("place"), Some(&Value::Text("at 4 clients".to_owned())));
        let Some(Value::Change(change)) = found[0].value("change") else { panic!("{found:?}") };
        assert!((change - 0.05).abs() < 1e-4);
        assert_eq!(check_baseline_again(&[near], 0.01), []);
        assert_eq!(check_baseline_again(&[], 0.01), []);
    }

    /// A difference of 2 % with a deviation of 0.5 % in three rounds: p = 0.02 alone, which is too much for four.
    #[test]
    fn several_loads_are_corrected_for_each_other() {
        let two = || compared(&[1_020.0, 1_025.0, 1_015.0]);
        assert_eq!(check_baseline_again(&[("one".to_owned(), two())], 0.01).len(), 1);
        let four = [(); 4].map(|()| ("one of four".to_owned(), two()));
        assert_eq!(check_baseline_again(&four, 0.01), []);
    }
}
