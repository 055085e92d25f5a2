//! The uncertainty of the mean of values that follow each other and depend on each other, such as the counts of
//! successive intervals: a queue that is long now is long a second later.

use crate::memory::{Memory, likely};
use crate::t_mixture::{TMixture, TPart};
use crate::trend::cosine_waves;

/// Half the width of the 95 % interval of the mean of a stationary series; 0 for constant values, and for fewer than
/// two.
///
/// The model is noise whose correlation falls with the distance d as exp(-d / memory). The cosine waves of such a series
/// are independent of each other and of its mean, and the variance of each follows from the memory and that of the mean.
/// For a given memory, the mean has a Student's t with as many degrees of freedom as there are waves. As the memory is
/// not known, the probability that the mean is off by so much is averaged over memories, weighted with their likelihood.
/// A short series cannot tell a long memory from none, and has a wide interval; it needs no choice of a batch's length.
///
/// Sources: U. K. Müller, HAC corrections for strongly autocorrelated time series, Journal of Business and Economic
/// Statistics 32 (2014), for the waves, the model and the average over memories; E. Lazarus, D. J. Lewis, J. H. Stock and
/// M. W. Watson, HAR inference: recommendations for practice, the same, 36 (2018), for cosine waves with Student's t.
pub(super) fn half_width(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let scale = 2.0 / values.len() as f64;
    let squares: Vec<f64> = cosine_waves(values).map(|wave| scale * wave * wave).collect();
    if squares.iter().sum::<f64>() <= 0.0 {
        return 0.0;
    }
    let parts = likely(Memory::all(values.len()), |memory| {
        let Fit { log_weight, standard_error } = Fit::of(&squares, values.len(), memory);
        (log_weight, TPart { centre: 0.0, standard_error })
    });
    TMixture { degrees_of_freedom: squares.len(), parts }.half_width(0.95)
}

/// The variance of the mean of a stationary series, without a tendency to either side: the mean square of the longest
/// waves, 0.4 n^(2/3) of them. The half width above is wider than this variance, because it allows for what a series
/// cannot show. 0 for fewer than two values.
///
/// Source: E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson, as above.
pub(super) fn variance_of_mean(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let n = values.len() as f64;
    let count = (0.4 * n.powf(2.0 / 3.0)).round().max(1.0);
    let waves = cosine_waves(values).take(count as usize);
    let squares: f64 = waves.map(|wave| 2.0 / n * wave * wave).sum();
    squares / count / n
}

/// The mean of a series under noise of one memory.
struct Fit {
    standard_error: f64,
    /// Weight times likelihood, up to a factor, with the noise's size integrated out.
    log_weight: f64,
}

impl Fit {
    fn of(squares: &[f64], count: usize, memory: Memory) -> Self {
        let variances = memory.variances(squares.len(), count);
        let scaled = squares.iter().zip(&variances).map(|(square, variance)| square / variance);
        let (sum, waves) = (scaled.sum::<f64>(), squares.len() as f64);
        let logs: f64 = variances.iter().map(|variance| variance.ln()).sum();
        Self {
            standard_error: (sum / waves / count as f64).sqrt(),
            log_weight: memory.log_weight() - 0.5 * (logs + waves * sum.ln()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_memory_the_waves_have_the_variance_of_the_values() {
        let values = [3.0, 5.0, 4.0, 8.0, 1.0, 9.0];
        let waves: f64 = cosine_waves(&values).map(|wave| wave * wave * 2.0 / 6.0).sum();
        // All n - 1 waves together are the sum of squared deviations: mean 5, squares 4 + 0 + 1 + 9 + 16 + 16.
        assert!((waves - 46.0).abs() < 1e-9, "{waves}");
        let squares: Vec<f64> = cosine_waves(&values).map(|it| it * it / 3.0).collect();
        let none = Memory::all(6).next().unwrap();
        let fit = Fit::of(&squares, 6, none);
        // The usual standard error: sqrt (46 / 5 / 6).
        assert!((fit.standard_error - (46.0_f64 / 30.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn constant_values_have_no_uncertainty() {
        assert_eq!(half_width(&[7.0; 20]), 0.0);
        assert_eq!((half_width(&[1.0]), half_width(&[])), (0.0, 0.0));
    }
}
