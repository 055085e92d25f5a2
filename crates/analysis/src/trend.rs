//! Whether throughput drifted during the measured time.

use crate::moments::mean;
use crate::student::critical_t;

/// Fewer points than this show no trend.
const POINTS_MIN: usize = 5;

/// A straight line through a series of points at equal distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Rise of the line from the first to the last point, as a part of the mean.
    pub change: f64,
    /// Whether the slope differs from zero with 95 % confidence.
    pub is_significant: bool,
}

/// Fits a line by least squares and tests its slope with Student's t; `None` for fewer than five points or a
/// mean of zero.
///
/// Source: Draper and Smith, Applied Regression Analysis, section 1.4 (the t-test of a slope).
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < POINTS_MIN {
        return None;
    }
    let n = values.len() as f64;
    let y_mean = mean(values).filter(|mean| *mean > 0.0)?;
    let x_mean = (n - 1.0) / 2.0;
    let points = || values.iter().enumerate().map(|(x, y)| (x as f64 - x_mean, y - y_mean));
    let xx: f64 = points().map(|(x, _)| x * x).sum();
    let xy: f64 = points().map(|(x, y)| x * y).sum();
    let slope = xy / xx;
    let residual: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let slope_error = (residual / (n - 2.0) / xx).sqrt();
    let t = critical_t(0.95, values.len() - 2)?;
    Some(Trend {
        change: slope * (n - 1.0) / y_mean,
        is_significant: slope.abs() > t * slope_error && slope != 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_rise_is_a_trend() {
        let seen = trend(&[90.0, 95.0, 100.0, 105.0, 110.0]).unwrap();
        assert!((seen.change - 0.2).abs() < 1e-12);
        assert!(seen.is_significant);
    }

    #[test]
    fn noise_around_a_constant_is_no_trend() {
        let seen = trend(&[100.0, 104.0, 97.0, 103.0, 98.0, 101.0]).unwrap();
        assert!(!seen.is_significant, "{seen:?}");
        let level = trend(&[7.0; 6]).unwrap();
        assert_eq!(level, Trend { change: 0.0, is_significant: false });
    }

    #[test]
    fn too_few_points_have_no_trend() {
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(trend(&[0.0; 9]), None);
    }
}
