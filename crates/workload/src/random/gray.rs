//! Zipf's law over a range of any size, approximately, where the sum of its weights is known.

use super::Random;

/// Draws i in 1..=n with a probability of about 1 / (i^e z), where z = 1 + 2^-e + ... + n^-e, in constant time and
/// space.
///
/// J. Gray, P. Sundaresan, S. Englert, K. Baclawski and P. Weinberger, "Quickly Generating Billion-Record Synthetic
/// Databases", SIGMOD 1994: 1 and 2 have exactly their probabilities, 1 / z and 2^-e / z. For the others the sum of the
/// weights is replaced by a curve of the same form as their integral, which meets it after 2 and at n: the
/// probability of at most i is 1 - (1 - (i / n)^(1-e)) / h, h = (1 - (2 / n)^(1-e)) / (1 - (1 + 2^-e) / z). Use
/// [`super::Zipfian`] for the exact law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GrayZipfian {
    count: f64,
    weights: f64,
    /// 1 + 2^-e.
    first_two: f64,
    slope: f64,
    /// 1 / (1 - e).
    power: f64,
}

impl GrayZipfian {
    /// The law over 1..=`count` with `exponent`, which is not 1; `weights` is the sum z of its weights.
    pub(crate) fn new(count: u64, exponent: f64, weights: f64) -> Self {
        let count = count as f64;
        let first_two = 1.0 + 0.5_f64.powf(exponent);
        let slope = (1.0 - (2.0 / count).powf(1.0 - exponent)) / (1.0 - first_two / weights);
        Self { count, weights, first_two, slope, power: 1.0 / (1.0 - exponent) }
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        let uniform = random.next_f64();
        let weight = uniform * self.weights;
        if weight < 1.0 {
            return 1;
        }
        if weight < self.first_two {
            return 2;
        }
        1 + (self.count * (1.0 - self.slope * (1.0 - uniform)).powf(self.power)) as u64
    }
}
