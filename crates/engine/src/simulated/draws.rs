//! Random draws of the simulated system.

use std::f64::consts::TAU;

use plan::{ServiceDistribution, split_mix};

#[derive(Clone, Copy, Debug)]
pub(super) struct Draws(u64);

impl Draws {
    /// The draws of one purpose, independent of those of others with the same seed.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self(split_mix::mix(seed ^ split_mix::mix(purpose.wrapping_mul(split_mix::STEP))))
    }

    /// Above 0 and below 1.
    pub(super) fn uniform(&mut self) -> f64 {
        ((split_mix::next(&mut self.0) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// With mean 1, by inversion.
    pub(super) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// With mean 0 and standard deviation 1. Source: Box and Muller, Annals of Mathematical Statistics 29 (1958).
    pub(super) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Pareto with mean 1 and a shape above 1, by inversion.
    pub(super) fn pareto(&mut self, shape: f64) -> f64 {
        (shape - 1.0) / shape * self.uniform().powf(-1.0 / shape)
    }

    /// The factor of a request's service time, with mean 1.
    pub(super) fn service(&mut self, distribution: ServiceDistribution) -> f64 {
        match distribution {
            ServiceDistribution::Constant => 1.0,
            ServiceDistribution::Exponential => self.exponential(),
            ServiceDistribution::Lognormal { variation } => {
                let variance = (1.0 + variation * variation).ln();
                (variance.sqrt() * self.normal() - variance / 2.0).exp()
            }
            // The squared variation is 1 / (shape (shape - 2)).
            ServiceDistribution::Pareto { variation } => {
                self.pareto(1.0 + (1.0 + (variation * variation).recip()).sqrt())
            }
            ServiceDistribution::Bimodal { variation } => {
                let squared = variation * variation;
                let is_slow = self.uniform() < 0.25 / (squared + 0.25);
                if is_slow { 1.0 + 2.0 * squared } else { 0.5 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_factors_have_mean_one_and_the_variation_set() {
        let variation = 0.8;
        for (distribution, expected) in [
            (ServiceDistribution::Constant, 0.0),
            (ServiceDistribution::Exponential, 1.0),
            (ServiceDistribution::Lognormal { variation }, 0.8),
            (ServiceDistribution::Pareto { variation: 0.3 }, 0.3),
            (ServiceDistribution::Bimodal { variation }, 0.8),
        ] {
            let mut draws = Draws::new(5, 0);
            let n = 200_000;
            let values: Vec<f64> = (0..n).map(|_| draws.service(distribution)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let deviation = (squares / f64::from(n)).sqrt();
            assert!((mean - 1.0).abs() < 0.01, "{distribution:?}: {mean}");
            assert!((deviation - expected).abs() < 0.04, "{distribution:?}: {deviation}");
        }
    }
}
