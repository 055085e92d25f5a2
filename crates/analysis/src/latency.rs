//! Summary of a latency histogram.

use measure::{LatencyHistogram, Nanos};

/// Summary of latencies, ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// The smallest.
    pub min_ns: Nanos,
    /// The largest.
    pub max_ns: Nanos,
    /// Each requested percentile with its value.
    pub percentiles: Vec<(f64, Nanos)>,
}

impl Latency {
    /// Returns `None` without values: the figures are zeros then, and were not measured.
    pub fn known(&self) -> Option<&Self> {
        (self.count > 0).then_some(self)
    }

    /// The value of a requested percentile.
    pub fn percentile_ns(&self, percent: f64) -> Option<Nanos> {
        self.percentiles.iter().find(|(asked, _)| *asked == percent).map(|(_, value)| *value)
    }
}

pub(crate) fn latency(histogram: &LatencyHistogram, percentiles: &[f64]) -> Latency {
    Latency {
        count: histogram.count(),
        mean_ns: histogram.mean_ns(),
        min_ns: histogram.min_ns(),
        max_ns: histogram.max_ns(),
        percentiles: percentiles
            .iter()
            .map(|percent| (*percent, histogram.percentile_ns(*percent)))
            .collect(),
    }
}

/// A quotient; 0 when the divisor is 0.
pub(crate) fn per(count: f64, of: f64) -> f64 {
    if of > 0.0 { count / of } else { 0.0 }
}
