//! Whether a figure changed from one level to another during the measured time, in spite of noise that lasts.

use crate::moments::mean;

/// Fewer points than this show no change of level.
const POINTS_MIN: usize = 10;
/// More points than this are joined to groups, so that what lasts for a few intervals does not count several times.
const POINTS_MAX: usize = 100;
/// The statistic from which on a change is significant. White noise reaches 122 in one of a thousand series (Shao and
/// Zhang, table 1). Noise that lasts reaches more, up to that of a random walk, of which one in a hundred reaches about
/// 400.
const CRITICAL: f64 = 500.0;
/// A series whose deviations are smaller than this part of its mean is constant: what is left is rounding.
const ROUNDING: f64 = 1e-9;

/// A change of a series from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelChange {
    /// Number of points before the change.
    pub(crate) at: usize,
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) points: usize,
}

/// The change of level of a series, if there is one that noise does not explain and that two levels describe better
/// than a straight line does. Of a long series the place is right to a hundredth of its length.
///
/// The statistic is the largest CUSUM (E. S. Page, Continuous inspection schemes, Biometrika 41, 1954), squared, over
/// the sums of squares of the CUSUMs within the two parts. Noise that lasts raises both alike, so that no variance
/// and no autocorrelation has to be estimated. Source: X. Shao and X. Zhang, Testing for change points in time
/// series, Journal of the American Statistical Association 105 (2010), equations 4 and 5.
pub(crate) fn level_change(values: &[f64]) -> Option<LevelChange> {
    let size = values.len().div_ceil(POINTS_MAX).max(1);
    let groups: Vec<f64> = values.chunks_exact(size).filter_map(mean).collect();
    let (at, statistic) = largest_statistic(&groups)?;
    let is_found = statistic > CRITICAL && has_two_levels(&groups, at);
    let at = at * size;
    let (before, after) = (mean(&values[..at])?, mean(&values[at..])?);
    is_found.then_some(LevelChange { at, before, after, points: values.len() })
}

/// The number of points before the likeliest change, and the statistic there; `None` for too few points and for a
/// constant series.
fn largest_statistic(values: &[f64]) -> Option<(usize, f64)> {
    let centre = mean(values).filter(|_| values.len() >= POINTS_MIN)?;
    let largest = values.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
    if largest <= ROUNDING * centre.abs() {
        return None;
    }
    let scaled: Vec<f64> = values.iter().map(|value| (value - centre) / largest).collect();
    let places = (1..scaled.len()).map(|at| (at, statistic(&scaled, at)));
    places.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The squared CUSUM of a centred series after so many points, over the sums of squares within both parts.
fn statistic(centred: &[f64], at: usize) -> f64 {
    let points = centred.len() as f64;
    let (before, after) = centred.split_at(at);
    let cusum: f64 = before.iter().sum();
    let within = (squared_cusums(before) + squared_cusums(after)) / points.powi(2);
    // Two constant parts have no noise at all.
    cusum.powi(2) / points / within.max(f64::MIN_POSITIVE)
}

/// The sum of the squares of all partial sums of a series after its mean. That of the reversed series is the same.
fn squared_cusums(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or_default();
    let mut sum = 0.0;
    let mut squares = 0.0;
    for value in values {
        sum += value - centre;
        squares += sum * sum;
    }
    squares
}

/// Whether two levels leave less of the series unexplained than a straight line does.
fn has_two_levels(values: &[f64], at: usize) -> bool {
    let level = |part: &[f64]| -> f64 {
        let centre = mean(part).unwrap_or_default();
        part.iter().map(|value| (value - centre).powi(2)).sum()
    };
    let (before, after) = values.split_at(at);
    level(before) + level(after) < off_line(values)
}

/// The sum of squares that a straight line leaves, by least squares.
fn off_line(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let centre = mean(values).unwrap_or_default();
    let points =
        || values.iter().enumerate().map(|(at, value)| (at as f64 - middle, value - centre));
    let slope =
        points().map(|(x, y)| x * y).sum::<f64>() / points().map(|(x, _)| x * x).sum::<f64>();
    points().map(|(x, y)| (y - slope * x).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|(count, level)| vec![*level; *count]).collect()
    }

    #[test]
    fn two_levels_are_found_where_they_change() {
        let seen = level_change(&levels(&[(7, 100.0), (5, 80.0)])).unwrap();
        assert_eq!(seen, LevelChange { at: 7, before: 100.0, after: 80.0, points: 12 });
    }

    #[test]
    fn the_statistic_is_that_of_the_definition() {
        // Of (-1, -2, 1, 2) at 2: the CUSUM is -3; within the parts the partial sums are 0.5, 0 and -0.5, 0.
        // 9 / 4 over (0.25 + 0.25) / 16.
        let seen = statistic(&[-1.0, -2.0, 1.0, 2.0], 2);
        assert!((seen - 72.0).abs() < 1e-9, "{seen}");
        assert_eq!(squared_cusums(&[3.0, 1.0, 2.0]), squared_cusums(&[2.0, 1.0, 3.0]));
    }

    #[test]
    fn a_constant_series_and_one_of_few_points_have_no_step() {
        assert_eq!(level_change(&[0.1; 30]), None);
        assert_eq!(level_change(&levels(&[(5, 100.0), (4, 50.0)])), None);
        assert_eq!(level_change(&[]), None);
    }

    #[test]
    fn a_straight_line_is_no_step() {
        let line: Vec<f64> = (0..30).map(|at| 100.0 + f64::from(at)).collect();
        assert_eq!(level_change(&line), None);
        assert!(off_line(&line) < 1e-9);
    }

    #[test]
    fn a_peak_that_passes_is_no_step() {
        assert_eq!(level_change(&levels(&[(10, 100.0), (10, 150.0), (10, 100.0)])), None);
    }

    #[test]
    fn a_long_series_is_joined_to_groups() {
        let seen = level_change(&levels(&[(600, 100.0), (400, 120.0)])).unwrap();
        assert_eq!((seen.at, seen.points), (600, 1_000));
        assert!((seen.after / seen.before - 1.2).abs() < 1e-12);
    }
}
