//! When the rounds of variants end by themselves.

use serde::{Deserialize, Serialize};

use crate::PreciseFigure;

/// Rounds go on until every variant's ratio to the baseline is known well enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundsRule {
    /// What is to be known.
    pub goal: RoundsGoal,
    /// The figure whose ratio it is.
    pub figure: PreciseFigure,
    /// The fewest rounds.
    pub at_least: u32,
    /// The most rounds.
    pub at_most: u32,
}

/// What is to be known of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsGoal {
    /// The ratio itself: half the width of its 95 % interval is at most this part of it.
    Width(f64),
    /// Whether the ratio differs from 1, or differs by less than this part.
    Decide(f64),
}
