//! Sums of a run's intervals since its begin, for each load and phase.

use std::collections::BTreeMap;

use measure::{ErrorClass, Interval, Nanos, Operation, QueryCounts, Traffic, sum};

/// Names of labels, and their values.
pub(super) type Labels = Vec<(&'static str, String)>;

/// Upper bounds of the buckets of latencies: 1 µs to 100 s.
pub(super) const BOUNDS_NS: [Nanos; 25] = {
    let (mut bounds, mut at, mut decade) = ([0; 25], 0, 1_000);
    while at < bounds.len() {
        bounds[at] = decade * [10, 25, 50][at % 3] / 10;
        if at % 3 == 2 {
            decade *= 10;
        }
        at += 1;
    }
    bounds
};

#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// How often it was changed.
    pub(super) version: u64,
    pub(super) plan: String,
    /// The name of the run's folder.
    pub(super) run: String,
    pub(super) trials_planned: Option<usize>,
    pub(super) load_planned_s: Option<f64>,
    /// The number of the current trial, or of the last one, from 1.
    pub(super) trial: Option<usize>,
    /// Trials that have ended, by how.
    pub(super) ended: BTreeMap<&'static str, u64>,
    pub(super) phase: Option<&'static str>,
    /// The load of the current trial.
    pub(super) current: Option<CurrentLoad>,
    pub(super) loads: Vec<LoadCounts>,
}

#[derive(Clone, Debug)]
pub(super) struct CurrentLoad {
    pub(super) labels: Labels,
    pub(super) clients: usize,
    /// Arrivals per second; `None` in a closed loop.
    pub(super) target_per_s: Option<f64>,
}

/// What one load did in all its warm-ups, or in all its measured times.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadCounts {
    /// Those of the load, and the phase.
    pub(super) labels: Labels,
    pub(super) is_open: bool,
    pub(super) seconds: f64,
    pub(super) transactions: u64,
    pub(super) failed: u64,
    pub(super) arrivals: u64,
    pub(super) reconnects: u64,
    pub(super) queries: QueryCounts,
    pub(super) traffic: Traffic,
    pub(super) busy_s: f64,
    /// Errors by class and by how they were handled.
    pub(super) errors: BTreeMap<(ErrorClass, &'static str), u64>,
    pub(super) operations: Vec<OperationCounts>,
}

#[derive(Clone, Debug)]
pub(super) struct OperationCounts {
    pub(super) operation: Operation,
    pub(super) latencies: Buckets,
}

/// A histogram with fixed bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Buckets {
    /// Values at or below each of [`BOUNDS_NS`].
    pub(super) up_to: [u64; BOUNDS_NS.len()],
    pub(super) count: u64,
    pub(super) sum_s: f64,
}

impl Counts {
    /// The sums of a load and phase, which begin at 0.
    pub(super) fn of_load(&mut self, labels: &Labels, is_open: bool) -> &mut LoadCounts {
        let known = self.loads.iter().position(|load| load.labels == *labels);
        let at = known.unwrap_or_else(|| {
            let labels = labels.clone();
            self.loads.push(LoadCounts { labels, is_open, ..LoadCounts::default() });
            self.loads.len() - 1
        });
        &mut self.loads[at]
    }
}

impl LoadCounts {
    /// Adds an interval, or a part of one, of which so many seconds were in none before.
    pub(super) fn add(&mut self, interval: &Interval, operations: &[Operation], seconds: f64) {
        let tally = &interval.tally;
        self.seconds += seconds;
        self.busy_s += tally.busy_ns as f64 / 1e9;
        for (mine, theirs) in [
            (&mut self.transactions, tally.transactions),
            (&mut self.failed, tally.failed_transactions),
            (&mut self.arrivals, tally.arrivals),
            (&mut self.reconnects, tally.reconnects),
            (&mut self.traffic.sent_bytes, tally.traffic.sent_bytes),
            (&mut self.traffic.received_bytes, tally.traffic.received_bytes),
        ] {
            *mine = sum([*mine, theirs]);
        }
        self.queries.add(tally.queries);
        for (key, counts) in &tally.errors {
            let ways =
                [("retried", counts.retried), ("ignored", counts.ignored), ("fatal", counts.fatal)];
            for (handled, count) in ways.into_iter().filter(|(_, count)| *count > 0) {
                let mine = self.errors.entry((key.class, handled)).or_default();
                *mine = sum([*mine, count]);
            }
        }
        if self.operations.is_empty() {
            let empty = |operation: &Operation| OperationCounts {
                operation: operation.clone(),
                latencies: Buckets::default(),
            };
            self.operations = operations.iter().map(empty).collect();
        }
        for (mine, theirs) in self.operations.iter_mut().zip(&tally.operations) {
            mine.latencies.add(&theirs.succeeded);
            mine.latencies.add(&theirs.timed_out);
        }
    }
}

impl Buckets {
    fn add(&mut self, latencies: &measure::LatencyHistogram) {
        if latencies.is_empty() {
            return;
        }
        for (mine, theirs) in self.up_to.iter_mut().zip(latencies.counts_up_to_ns(&BOUNDS_NS)) {
            *mine = sum([*mine, theirs]);
        }
        self.count = sum([self.count, latencies.count()]);
        self.sum_s += latencies.mean_ns() * latencies.count() as f64 / 1e9;
    }
}
