//! Random numbers from a seed: random orders, and tests that simulate. The same seed always gives the same ones.

/// Draws from a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// A number below `count`, each as likely as the others.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Between 0 and 1, without both.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((bits ^ (bits >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1.
    #[cfg(test)]
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Normally distributed with mean 0 and deviation 1.
    #[cfg(test)]
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
