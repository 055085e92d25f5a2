//! The noise floor in words: how far a baseline that every round measured twice differs from itself.

use analysis::{Comparison, Significance};

use crate::number::percent;

pub(crate) const HEAD: &str = "noise floor";

/// Marks a verdict on a difference that is not larger.
pub(crate) const WITHIN: &str = ", within the noise floor";

pub(crate) const NOTE: &str = "Noise floor: every round measured the baseline twice, and this is the end of the 95 % interval of that \
                               ratio that is farther from 1. A difference that is not larger cannot be told from \
                               none here, whatever its verdict.";

/// The noise floor that a comparison of equals shows, as a logarithm.
pub(crate) fn of(again: Option<Comparison>) -> Option<f64> {
    again?.ratio.logs.noise_floor()
}

/// It as a relative difference.
pub(crate) fn show(floor: f64) -> String {
    percent(floor.exp_m1())
}

/// Whether a verdict is on a difference that is not larger than the floor; `None` where it is on none, or there is no floor.
pub(crate) fn is_within(found: &Comparison, floor: Option<f64>) -> Option<bool> {
    let is_difference = matches!(found.verdict, Significance::Higher | Significance::Lower);
    let size = found.ratio.logs.difference.abs();
    floor.filter(|_| is_difference).map(|floor| size <= floor)
}

/// The mark of a verdict; empty where there is none.
pub(crate) fn mark(is_within: Option<bool>) -> &'static str {
    if is_within == Some(true) { WITHIN } else { "" }
}
