//! The shapes of distributions, each with the formula that defines it.

/// The distribution of a whole number in `low..=high`.
///
/// In the formulas U is uniform in [0, 1), drawn again at each occurrence, the range has n = high - low + 1 numbers,
/// and [x] is x rounded down. The first five are sysbench 1.0's (its `src/sb_rand.c`), the last two pgbench's
/// (PostgreSQL 15 documentation, pgbench, "Built-In Functions").
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Every number is equally likely: low + [n U].
    Uniform,
    /// A bell around the middle, the mean of `rounds` uniform draws (Bates' distribution):
    /// low + [n (U + ... + U) / rounds].
    Gaussian {
        /// Draws that are averaged: `rand-spec-iter`.
        rounds: u32,
    },
    /// A bell around the middle for 100 - `center_share_percent` of all draws; the others are
    /// uniform over a few numbers in the middle. With t = high - low and U one draw:
    /// - when U < 1 - share: low + [t (V + ... + V) / rounds], V uniform;
    /// - else, with d = t width: low + [U (d + 1) + t / 2 - d / 2]. It is the same U, so that of the
    ///   d + 1 numbers only the upper `share` are ever drawn, as in sysbench.
    Special {
        /// Draws that are averaged: `rand-spec-iter`.
        rounds: u32,
        /// Width of the middle, percent of the range: `rand-spec-pct`.
        center_width_percent: f64,
        /// Share of draws in the middle, percent: `rand-spec-res`.
        center_share_percent: f64,
    },
    /// Few numbers at the low end are drawn often: low + [n U^p], p = ln h / ln (1 - h). A share h of the numbers
    /// gets 1 - h of the draws.
    Pareto {
        /// Between 0 and 1: `rand-pareto-h`.
        h: f64,
    },
    /// Number low + i - 1 is drawn with a probability proportional to 1 / i^exponent, i = 1..n.
    Zipfian {
        /// At least 0 (0 is uniform): `rand-zipfian-exp`.
        exponent: f64,
    },
    /// Decreases exponentially from the low end: probability proportional to exp(-`decay` (x - low) / n), over x in
    /// [low, high + 1) rounded down.
    Exponential {
        /// Greater than 0: how often the density falls by a factor of e over the range.
        decay: f64,
    },
    /// The normal distribution truncated at `deviations` standard deviations on either side of the middle, stretched
    /// over the range and rounded down.
    Normal {
        /// Greater than 0; pgbench requires at least 2.
        deviations: f64,
    },
}

impl Shape {
    /// sysbench's default: special, 12 rounds, 75 % of draws within the middle 1 %.
    pub const SPECIAL: Self =
        Self::Special { rounds: 12, center_width_percent: 1.0, center_share_percent: 75.0 };

    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian { .. } => "gaussian",
            Self::Special { .. } => "special",
            Self::Pareto { .. } => "pareto",
            Self::Zipfian { .. } => "zipfian",
            Self::Exponential { .. } => "exponential",
            Self::Normal { .. } => "normal",
        }
    }
}
