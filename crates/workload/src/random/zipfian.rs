//! Zipf's law over a bounded range, by rejection inversion.

use super::Random;

/// Draws i in 1..=n with probability proportional to 1 / i^e, e >= 0, in constant time and space.
///
/// W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM
/// TOMACS 6(3), 1996: a point is drawn uniformly under the hat function h(x) = x^-e by inverting its integral H,
/// rounded to the nearest i, and accepted if it is in the last h(i) of that i's share of H. H is (x^(1-e) - 1) / (1 -
/// e), whose limit at e = 1 is ln x, so that every exponent works; sysbench 1.1 does the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Zipfian {
    count: f64,
    exponent: f64,
    /// The lower end of H: H(1.5) - h(1), so that 1 is never rejected.
    hat_low: f64,
    /// The upper end of H: H(n + 0.5).
    hat_high: f64,
    /// A rounded value within this distance above the point is accepted without computing H: the paper's s.
    shortcut: f64,
}

impl Zipfian {
    pub(crate) fn new(count: u64, exponent: f64) -> Self {
        let count = count.max(1) as f64;
        let second = inverse_integral(integral(2.5, exponent) - hat(2.0, exponent), exponent);
        Self {
            count,
            exponent,
            hat_low: integral(1.5, exponent) - 1.0,
            hat_high: integral(count + 0.5, exponent),
            shortcut: 2.0 - second,
        }
    }

    /// The same law over another number of items; constants that do not depend on it are kept.
    #[inline]
    pub(crate) fn resize(&mut self, count: u64) {
        self.count = count.max(1) as f64;
        self.hat_high = integral(self.count + 0.5, self.exponent);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count as u64
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.hat_high - random.next_f64() * (self.hat_high - self.hat_low);
            let point = inverse_integral(area, self.exponent);
            let nearest = (point + 0.5).floor().clamp(1.0, self.count);
            let is_accepted = nearest - point <= self.shortcut
                || area >= integral(nearest + 0.5, self.exponent) - hat(nearest, self.exponent);
            if is_accepted {
                return nearest as u64;
            }
        }
    }
}

/// Exponents closer to 1 than this are treated as 1; (x^q - 1) / q then differs from ln x by less than its own
/// rounding.
const NEARLY_ONE: f64 = 1e-12;

fn hat(x: f64, exponent: f64) -> f64 {
    x.powf(-exponent)
}

/// H, the integral of the hat from 1 to x.
fn integral(x: f64, exponent: f64) -> f64 {
    let q = 1.0 - exponent;
    if q.abs() < NEARLY_ONE { x.ln() } else { (q * x.ln()).exp_m1() / q }
}

/// x such that H(x) = `area`.
fn inverse_integral(area: f64, exponent: f64) -> f64 {
    let q = 1.0 - exponent;
    if q.abs() < NEARLY_ONE {
        return area.exp();
    }
    // Rounding may move the product past -1; no x has so small an integral.
    ((q * area).max(-1.0).ln_1p() / q).exp()
}
