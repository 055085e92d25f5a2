//! A weighted average of distributions that have the shape of Student's t: what is known of a figure under several models
//! of its noise, none of which is known to be right.

use crate::student::{critical_t, quantile, upper_tail};

/// Distances are exact to this part.
const PRECISION: f64 = 1e-4;

/// Student's t around several centres, in several widths. The degrees of freedom are those of each.
#[derive(Debug)]
pub(crate) struct TMixture {
    pub(crate) degrees_of_freedom: usize,
    pub(crate) parts: Vec<(f64, TPart)>,
}

/// One of the distributions, which stands beside its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TPart {
    pub(crate) centre: f64,
    pub(crate) standard_error: f64,
}

/// One Student's t in place of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OneT {
    pub(crate) standard_error: f64,
    pub(crate) degrees_of_freedom: f64,
}

impl TMixture {
    fn weights(&self) -> f64 {
        self.parts.iter().map(|(weight, _)| weight).sum()
    }

    pub(crate) fn centre(&self) -> f64 {
        self.parts.iter().map(|(weight, part)| weight * part.centre).sum::<f64>() / self.weights()
    }

    /// The distance from the mean of the centres within which a value is with this confidence; 0 without degrees of
    /// freedom.
    pub(crate) fn half_width(&self, confidence: f64) -> f64 {
        let Some(critical) = critical_t(confidence, self.degrees_of_freedom) else { return 0.0 };
        let centre = self.centre();
        let offset = |part: &TPart| (part.centre - centre).abs();
        let errors = || self.parts.iter().map(|(_, part)| part.standard_error);
        let farthest = self.parts.iter().map(|(_, part)| offset(part)).fold(0.0, f64::max);
        let mut low = critical * errors().fold(f64::INFINITY, f64::min);
        let mut high = critical * errors().fold(0.0, f64::max) + farthest;
        let weights = self.weights();
        while high > low * (1.0 + PRECISION) {
            let middle = f64::midpoint(low, high);
            let beyond = |(weight, part): &(f64, TPart)| {
                let tail = |distance: f64| {
                    upper_tail(distance / part.standard_error, self.degrees_of_freedom as f64)
                };
                weight * (tail(middle - offset(part)) + tail(middle + offset(part)))
            };
            let beyond: f64 = self.parts.iter().map(beyond).sum();
            if beyond > (1.0 - confidence) * weights { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// The Student's t that has the same 95 % and 99 % intervals, with no more degrees of freedom than the parts have.
    /// Uncertain widths make long tails, which are those of fewer degrees of freedom.
    pub(crate) fn as_one(&self) -> Option<OneT> {
        let [inner, outer] = [0.95, 0.99].map(|confidence| self.half_width(confidence));
        let critical = |degrees: f64| Some((quantile(0.975, degrees)?, quantile(0.995, degrees)?));
        let (mut low, mut high) = (1.0, self.degrees_of_freedom as f64);
        while high > low * (1.0 + PRECISION) {
            let middle = f64::midpoint(low, high);
            let (near, far) = critical(middle)?;
            if far * inner > outer * near { low = middle } else { high = middle }
        }
        let degrees_of_freedom = f64::midpoint(low, high);
        let standard_error = inner / critical(degrees_of_freedom)?.0;
        Some(OneT { standard_error, degrees_of_freedom })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixture(parts: &[[f64; 3]]) -> TMixture {
        let part = |[weight, centre, standard_error]: &[f64; 3]| {
            (*weight, TPart { centre: *centre, standard_error: *standard_error })
        };
        TMixture { degrees_of_freedom: 9, parts: parts.iter().map(part).collect() }
    }

    #[test]
    fn one_part_has_students_interval() {
        let one = mixture(&[[2.0, 5.0, 3.0]]);
        let half = one.half_width(0.95);
        assert!((half - 3.0 * 2.262_157).abs() < 1e-3, "{half}");
        assert_eq!(one.centre(), 5.0);
        let found = one.as_one().unwrap();
        assert!((found.standard_error - 3.0).abs() < 0.01, "{found:?}");
        assert!((found.degrees_of_freedom - 9.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn parts_of_several_widths_have_longer_tails_than_one() {
        let both = mixture(&[[1.0, 0.0, 1.0], [1.0, 0.0, 3.0]]);
        let half = both.half_width(0.95);
        assert!(half > 2.262 && half < 3.0 * 2.262, "{half}");
        let one = both.as_one().unwrap();
        assert!(one.degrees_of_freedom < 6.0, "{one:?}");
        for confidence in [0.95, 0.99] {
            let critical = quantile((1.0 + confidence) / 2.0, one.degrees_of_freedom).unwrap();
            let near = critical * one.standard_error / both.half_width(confidence);
            assert!((near - 1.0).abs() < 1e-3, "{confidence}: {near}");
        }
    }

    /// Half of all values are around -2 and half around 2, far apart: 95 % of them are where 5 % of each half are on the
    /// outer side.
    #[test]
    fn centres_that_differ_are_in_the_width() {
        let apart = mixture(&[[1.0, -2.0, 0.1], [1.0, 2.0, 0.1]]);
        // 1.833 is the 95 % point of Student's t with 9 degrees of freedom.
        assert!((apart.half_width(0.95) - 2.183_3).abs() < 1e-3, "{}", apart.half_width(0.95));
    }
}
