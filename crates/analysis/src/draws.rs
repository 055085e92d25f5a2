//! Random numbers for tests that simulate: the same from the same seed.

/// Draws from a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// Between 0 and 1, without both.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((bits ^ (bits >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Normally distributed with mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
