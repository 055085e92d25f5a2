//! When the rounds of variants end by themselves.

use serde::{Deserialize, Serialize};

use crate::PreciseFigure;

/// Rounds go on until every variant's ratio to the baseline is known well enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundsRule {
    pub goal: RoundsGoal,
    pub figure: PreciseFigure,
    pub at_least: u32,
    pub at_most: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsGoal {
    /// The ratio itself: half the width of its 95 % interval is at most this part of it.
    Width(f64),
    /// Whether the ratio differs from 1, or differs by less than this part.
    Decide(f64),
}
