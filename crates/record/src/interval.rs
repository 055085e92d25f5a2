//! An interval in memory after it was read back.
//!
//! A histogram of three digits takes more than a hundred kilobytes, nearly all of it zeros, and a long run has
//! tens of thousands of them. An interval therefore keeps only the values that occurred, and only those of its
//! transactions. Other operations are added up over the trial.

use measure::{Interval, LatencyHistogram, Nanos, Operation, Phase, SIGNIFICANT_DIGITS, Tally};

/// The results of all clients between two points of a trial's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRecord {
    /// [`Phase::WarmUp`] or [`Phase::Measure`].
    pub phase: Phase,
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// The counters, without operations: their histograms are in [`crate::TrialRecord::total`].
    pub tally: Tally,
    /// Latencies of its transactions, all kinds together: of those that succeeded, and of those that timed out
    /// at their time limit.
    pub latencies: Latencies,
}

/// The values of a histogram that occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Value (the upper end of its bucket) and its count, ascending.
    counts: Vec<(Nanos, u64)>,
}

impl IntervalRecord {
    /// Keeps the necessary parts of an interval.
    pub fn new(interval: &Interval, operations: &[Operation]) -> Self {
        let tally = &interval.tally;
        let latencies = Latencies::from(&tally.transaction_latencies(operations));
        let tally = Tally {
            operations: Vec::new(),
            errors: tally.errors.clone(),
            queries: tally.queries,
            transactions: tally.transactions,
            failed_transactions: tally.failed_transactions,
            arrivals: tally.arrivals,
            reconnects: tally.reconnects,
            traffic: tally.traffic,
            busy_ns: tally.busy_ns,
        };
        let Interval { phase, start_ns, end_ns, .. } = *interval;
        Self { phase, start_ns, end_ns, tally, latencies }
    }

    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }
}

impl From<&LatencyHistogram> for Latencies {
    fn from(histogram: &LatencyHistogram) -> Self {
        let counts = histogram.as_hdr().iter_recorded();
        let counts = counts.map(|step| (step.value_iterated_to(), step.count_at_value()));
        Self { counts: counts.collect() }
    }
}

impl Latencies {
    /// The histogram of several intervals together, exactly.
    pub fn merged<'a>(of: impl IntoIterator<Item = &'a Self>) -> LatencyHistogram {
        let mut all = hdrhistogram::Histogram::new(SIGNIFICANT_DIGITS)
            .expect("three significant digits are within the library's range of 0 to 5");
        all.auto(true);
        for (value, count) in of.into_iter().flat_map(|latencies| &latencies.counts) {
            all.record_n(*value, *count)
                .expect("a value that came out of a histogram of the same kind fits in");
        }
        LatencyHistogram::from_hdr(all)
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_round_trips_through_its_values() {
        let mut histogram = LatencyHistogram::new();
        (1..5_000_u64).for_each(|step| histogram.record(step * step * 997));
        histogram.record(3_600_000_000_000);
        let apart = Latencies::from(&histogram);
        assert_eq!(apart.count(), 5_000);
        let whole = Latencies::merged([&apart]);
        assert_eq!(whole, histogram);
        assert_eq!(whole.mean_ns().to_bits(), histogram.mean_ns().to_bits());
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!(Latencies::merged([&apart, &apart]), twice);
        assert!(Latencies::merged([]).is_empty());
    }
}
