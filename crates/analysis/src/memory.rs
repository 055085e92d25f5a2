//! Noise that lasts: how long it may remember, in values, and how strong its waves then are. Its correlation falls
//! with the distance d as exp(-d / memory).

/// How long noise may last, at least, in values: so long noise is considered however short the series is.
const MEMORY_CONSIDERED: f64 = 11.0;
/// The same as a part of the series: noise that lasts longer than this part is a drift, which has its own test.
const MEMORY_SHARE: f64 = 0.25;
/// The shortest memory that is considered beside none: neighbours have a correlation of a quarter.
const MEMORY_MIN: f64 = 0.7;
/// Memories that are considered beside none, with equal ratios.
const MEMORIES: usize = 12;
/// The weight of noise without memory against each of these. With it, and the numbers above, intervals of independent
/// values are hardly too wide, and those of values with a memory of four to five are not too narrow.
const WEIGHT_OF_NONE: f64 = 5.0;
/// A memory that is so much less likely than the likeliest has no effect.
const LIKELIHOOD_MIN: f64 = 1e-4;

/// Noise of one memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    correlation: f64,
    /// How likely it is before anything is known of the series, up to a factor.
    weight: f64,
}

impl Memory {
    /// Each memory that is considered for a series of so many values. The first is none.
    pub(crate) fn all(count: usize) -> impl Iterator<Item = Self> {
        Self::up_to((MEMORY_SHARE * count as f64).max(MEMORY_CONSIDERED), WEIGHT_OF_NONE)
    }

    /// None, with its weight against each of the others, and memories up to the longest one, in values.
    pub(crate) fn up_to(longest: f64, weight_of_none: f64) -> impl Iterator<Item = Self> {
        let of = move |step: usize| {
            let part = step as f64 / (MEMORIES - 1) as f64;
            let values = MEMORY_MIN * (longest / MEMORY_MIN).powf(part);
            Self { correlation: (-1.0 / values).exp(), weight: 1.0 }
        };
        let none = Self { correlation: 0.0, weight: weight_of_none };
        std::iter::once(none).chain((0..MEMORIES).map(of))
    }

    /// The correlation of two values that are so far apart, as a part of the distance of neighbours.
    pub(crate) fn correlation_at(self, distance: f64) -> f64 {
        self.correlation.powf(distance)
    }

    /// The variances of the first waves of a series of `count` values, each as a part of that of a wave without end.
    pub(crate) fn variances(self, waves: usize, count: usize) -> Vec<f64> {
        (1..=waves).map(|wave| variance(self.correlation, wave, count)).collect()
    }

    pub(crate) fn log_weight(self) -> f64 {
        self.weight.ln()
    }
}

/// What goes with each of these memories that matters, with the weight of that memory, up to a factor. `of` gives it with
/// the logarithm of the memory's weight times its likelihood.
pub(crate) fn likely<T>(
    memories: impl Iterator<Item = Memory>,
    of: impl Fn(Memory) -> (f64, T),
) -> Vec<(f64, T)> {
    let all: Vec<(f64, T)> = memories.map(of).collect();
    let best = all.iter().map(|(log_weight, _)| *log_weight).fold(f64::NEG_INFINITY, f64::max);
    let weighted = all.into_iter().map(|(log_weight, it)| ((log_weight - best).exp(), it));
    weighted.filter(|(weight, _)| *weight > LIKELIHOOD_MIN).collect()
}

/// The variance of a wave as a part of the variance of a wave without end: the spectrum of a first-order
/// autoregression, whose next value is the last one times the correlation plus noise.
fn variance(correlation: f64, wave: usize, count: usize) -> f64 {
    let cosine = (std::f64::consts::PI * wave as f64 / count as f64).cos();
    (1.0 - correlation).powi(2) / (1.0 - 2.0 * correlation * cosine + correlation.powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the spectrum s / (1 - 2 r cos w + r^2) over its value at 0, at w = pi / 2: (1 - r)^2 / (1 + r^2).
    #[test]
    fn the_variance_of_a_wave_is_that_of_an_autoregression() {
        assert!((variance(0.5, 4, 8) - 0.25 / 1.25).abs() < 1e-12);
        assert_eq!(variance(0.0, 3, 8), 1.0);
    }

    #[test]
    fn memories_that_are_a_thousand_times_less_likely_still_count() {
        let all: Vec<Memory> = Memory::all(80).collect();
        assert_eq!((all.len(), all[0].correlation), (13, 0.0));
        // A quarter of 80 values.
        assert!((all[12].correlation - (-1.0_f64 / 20.0).exp()).abs() < 1e-12);
        let of = |memory: Memory| if memory == all[0] { (0.0, 1) } else { (-7.0, 2) };
        let found = likely(Memory::all(80), of);
        assert_eq!((found.len(), found[0]), (13, (1.0, 1)));
        let unlikely = |it| if it == all[0] { (0.0, 1) } else { (-10.0, 2) };
        assert!(likely(Memory::all(80), unlikely).len() == 1);
    }
}
