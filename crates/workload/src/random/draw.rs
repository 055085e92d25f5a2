//! Draws whole numbers from a range.

use std::f64::consts::PI;

use super::zipfian::Zipfian;
use super::{Random, Shape};

/// A distribution over a range of whole numbers, with precomputed constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    low: i64,
    /// The size of the range, minus one.
    last: u64,
    formula: Formula,
}

/// A [`Shape`] with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Formula {
    Uniform,
    Gaussian { rounds: u32 },
    Special { rounds: u32, bell_share: f64, width: f64 },
    Pareto { power: f64 },
    Zipfian(Zipfian),
    Exponential { decay: f64, lowest: f64 },
    Normal { deviations: f64 },
}

impl Draw {
    /// A `shape` over `low..=high`; always `low` if `high` is below `low`.
    pub fn new(shape: Shape, low: i64, high: i64) -> Self {
        let last = high.max(low).abs_diff(low);
        let formula = match shape {
            Shape::Uniform => Formula::Uniform,
            Shape::Gaussian { rounds } => Formula::Gaussian { rounds },
            Shape::Special { rounds, center_width_percent, center_share_percent } => {
                Formula::Special {
                    rounds,
                    bell_share: 1.0 - center_share_percent / 100.0,
                    width: last as f64 * center_width_percent / 100.0,
                }
            }
            Shape::Pareto { h } => Formula::Pareto { power: h.ln() / (1.0 - h).ln() },
            Shape::Zipfian { exponent } => {
                Formula::Zipfian(Zipfian::new(last.saturating_add(1), exponent))
            }
            Shape::Exponential { decay } => Formula::Exponential { decay, lowest: (-decay).exp() },
            Shape::Normal { deviations } => Formula::Normal { deviations },
        };
        Self { low, last, formula }
    }

    #[inline]
    pub fn draw(&self, random: &mut Random) -> i64 {
        // Wrapping: a range may be wider than an i64; the sum is always within the range.
        self.low.wrapping_add_unsigned(self.offset(random))
    }

    #[inline]
    fn offset(&self, random: &mut Random) -> u64 {
        let last = self.last as f64;
        let count = last + 1.0;
        let offset = match self.formula {
            Formula::Uniform => return self.uniform(random),
            Formula::Zipfian(zipfian) => return (zipfian.draw(random) - 1).min(self.last),
            Formula::Gaussian { rounds } => count * mean_of(rounds, random),
            Formula::Special { rounds, bell_share, width } => {
                let choice = random.next_f64();
                if choice < bell_share {
                    last * mean_of(rounds, random)
                } else {
                    choice * (width + 1.0) + (last - width) / 2.0
                }
            }
            Formula::Pareto { power } => count * random.next_f64().powf(power),
            Formula::Exponential { decay, lowest } => {
                let uniform = 1.0 - random.next_f64();
                count * -(lowest + (1.0 - lowest) * uniform).ln() / decay
            }
            Formula::Normal { deviations } => count * normal_within(deviations, random),
        };
        // Rounded down; sums of rounded terms may barely reach the end of the range.
        (offset as u64).min(self.last)
    }

    #[inline]
    fn uniform(&self, random: &mut Random) -> u64 {
        match self.last.checked_add(1) {
            Some(count) => random.below(count),
            None => random.next_u64(),
        }
    }
}

/// The mean of `rounds` uniform draws from [0, 1).
#[inline]
fn mean_of(rounds: u32, random: &mut Random) -> f64 {
    let sum: f64 = (0..rounds).map(|_| random.next_f64()).sum();
    sum / f64::from(rounds.max(1))
}

/// A normal deviate truncated at `deviations` on either side, mapped to [0, 1). G. Box and M. Muller, "A Note on the
/// Generation of Random Normal Deviates", Annals of Mathematical Statistics 29, 1958.
fn normal_within(deviations: f64, random: &mut Random) -> f64 {
    loop {
        // 1 - U is in (0, 1], so its logarithm is finite.
        let radius = (-2.0 * (1.0 - random.next_f64()).ln()).sqrt();
        let deviate = radius * (2.0 * PI * random.next_f64()).sin();
        if deviate >= -deviations && deviate < deviations {
            return (deviate + deviations) / (2.0 * deviations);
        }
    }
}
