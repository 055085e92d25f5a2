//! The keying and think times of terminals: clause 5.2.5.

use net::Nanos;

use super::deck::Kind;
use crate::random::Random;

const SECOND_NS: Nanos = 1_000_000_000;
/// A think time is cut at this multiple of its mean (clause 5.2.5.4).
const THINK_CUT: f64 = 10.0;

/// Keying time before a transaction (clause 5.2.5.7).
pub(super) fn keying_ns(kind: Kind) -> Nanos {
    let seconds = match kind {
        Kind::NewOrder => 18,
        Kind::Payment => 3,
        Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 2,
    };
    seconds * SECOND_NS
}

/// Mean think time after a transaction (clause 5.2.5.7).
fn think_mean_ns(kind: Kind) -> Nanos {
    let seconds = match kind {
        Kind::NewOrder | Kind::Payment => 12,
        Kind::OrderStatus => 10,
        Kind::Delivery | Kind::StockLevel => 5,
    };
    seconds * SECOND_NS
}

/// A think time: -log(r) times the mean, cut at ten times the mean (clause 5.2.5.4).
pub(super) fn think_ns(kind: Kind, random: &mut Random) -> Nanos {
    // 1 - U is in (0, 1], so its logarithm is finite.
    let times = -(1.0 - random.next_f64()).ln();
    (times.min(THINK_CUT) * think_mean_ns(kind) as f64) as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_have_the_specified_mean_and_cutoff() {
        let mut random = Random::new(4);
        let all: Vec<Nanos> = (0..200_000).map(|_| think_ns(Kind::Payment, &mut random)).collect();
        let mean_s = all.iter().sum::<Nanos>() as f64 / all.len() as f64 / 1e9;
        // The mean of a distribution that is cut at ten means is 1 - e^-10 of the mean.
        assert!((mean_s - 12.0).abs() < 0.12, "{mean_s}");
        assert!(all.iter().all(|think| *think <= 120 * SECOND_NS));
        let below = all.iter().filter(|think| (**think as f64) < 12e9 * 2.0_f64.ln()).count();
        assert!((below as f64 / 200_000.0 - 0.5).abs() < 0.01, "{below}");
    }
}
