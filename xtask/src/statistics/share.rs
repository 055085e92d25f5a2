//! A frequency with its interval.

use std::fmt;

/// So many of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) count: u64,
    pub(super) of: u64,
}

impl Share {
    /// Counts one more.
    pub(super) fn add(&mut self, is_one: bool) {
        self.count += u64::from(is_one);
        self.of += 1;
    }

    /// In per cent; not a number without cases.
    pub(super) fn percent(self) -> f64 {
        100.0 * self.count as f64 / self.of as f64
    }
}

/// In per cent with its 95 % interval. Source: E. B. Wilson, Probable inference, the law of succession, and statistical
/// inference, Journal of the American Statistical Association 22 (1927).
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const Z: f64 = 1.96;
        if self.of == 0 {
            return f.write_str("-");
        }
        let n = self.of as f64;
        let part = self.count as f64 / n;
        let centre = (part + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (part * (1.0 - part) / n + Z * Z / (4.0 * n * n)).sqrt();
        let [part, low, high] = [part, centre - half, centre + half].map(|it| 100.0 * it);
        write!(f, "{part:.1} ({:.1} to {high:.1})", low.max(0.0))
    }
}

/// A frequency with its interval, in per cent.
pub(super) fn percent(count: u64, of: u64) -> String {
    Share { count, of }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Wilson's formula with n = 100: the centre is (0.05 + 0.0192) / 1.0384.
    #[test]
    fn a_frequency_has_wilsons_interval() {
        assert_eq!(percent(5, 100), "5.0 (2.2 to 11.2)");
        assert_eq!(percent(0, 1_000), "0.0 (0.0 to 0.4)");
        assert_eq!(percent(0, 0), "-");
    }
}
