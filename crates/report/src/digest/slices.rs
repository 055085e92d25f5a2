//! The intervals of a trial in the form that summaries take.

use analysis::{OperationSlice, Slice};
use measure::Phase;
use record::{IntervalRecord, TrialRecord};

/// The measured intervals.
pub(super) fn slices(record: &TrialRecord) -> Vec<Slice> {
    let slice = |interval: &IntervalRecord| Slice {
        seconds: interval.seconds(),
        transactions: interval.tally.transactions,
        queries: interval.tally.queries.total(),
        ended: interval.tally.transactions + interval.tally.failed_transactions,
        busy_ns: interval.tally.busy_ns,
        // Records without arrivals have zeros; a rate that falls to zero has them in some intervals only.
        arrivals: (record.total.arrivals > 0).then_some(interval.tally.arrivals),
    };
    record.measured().map(slice).collect()
}

/// Transactions of each operation that succeeded in the warm-up.
pub(super) fn warm_up(record: &TrialRecord) -> Vec<u64> {
    let warm_up = || record.intervals.iter().filter(|interval| interval.phase == Phase::WarmUp);
    let count = |at: usize| warm_up().filter_map(|it| Some(it.operation(at)?.0)).sum();
    (0..record.header.operations.len()).map(count).collect()
}

/// An operation in each of them.
pub(super) fn operation_slices(record: &TrialRecord, at: usize) -> Vec<OperationSlice<'_>> {
    let of = record.measured().filter_map(|interval| interval.operation(at));
    of.map(|(succeeded, latencies)| OperationSlice { succeeded, latencies }).collect()
}
