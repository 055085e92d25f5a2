//! The intervals of all workers, merged, until they are passed on.
//!
//! An interval is passed on when every worker has closed it. When a worker stands still, the others' part is passed
//! on after a bounded time; what the worker had counted in it follows. Counters and histograms add up, so that the
//! parts of an interval are exactly the interval.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Interval, Tally, nanos};
use net::Nanos;

/// How long an interval waits for a worker that has not closed it, at least. Threads that share few cores can be this
/// late without standing still.
const HOLD_MIN: Duration = Duration::from_secs(1);

/// The intervals that were not passed on, and how far each worker is.
pub(crate) struct OpenIntervals {
    /// For each worker, how many intervals it has closed.
    closed: Vec<usize>,
    done: Vec<bool>,
    open: BTreeMap<usize, Interval>,
    /// How many intervals were passed on, whole or in part.
    passed_on: usize,
    /// How long after its end an interval waits for workers.
    hold_ns: Nanos,
}

impl OpenIntervals {
    pub(crate) fn new(workers: usize, interval: Duration) -> Self {
        Self {
            closed: vec![0; workers],
            done: vec![false; workers],
            open: BTreeMap::new(),
            passed_on: 0,
            hold_ns: nanos(interval.max(HOLD_MIN)),
        }
    }

    /// Whether a worker still runs.
    pub(crate) fn has_running(&self) -> bool {
        self.done.contains(&false)
    }

    /// A worker has ended.
    pub(crate) fn done(&mut self, worker: usize) {
        self.done[worker] = true;
    }

    /// A worker has closed interval `index`. Returns its part when the others' was passed on before, unless it is
    /// empty.
    pub(crate) fn close(
        &mut self,
        worker: usize,
        index: usize,
        interval: Interval,
    ) -> Option<Interval> {
        self.closed[worker] = index + 1;
        if index < self.passed_on {
            let nothing = Tally::new(interval.tally.operations.len());
            return (interval.tally != nothing).then_some(interval);
        }
        match self.open.get_mut(&index) {
            None => {
                self.open.insert(index, interval);
            }
            Some(merged) => {
                merged.end_ns = merged.end_ns.max(interval.end_ns);
                merged.tally.merge(&interval.tally);
            }
        }
        None
    }

    /// The next interval, if every worker has closed it.
    pub(crate) fn take_whole(&mut self) -> Option<Interval> {
        let is_whole = |closed: &usize, done: &bool| *done || *closed > self.passed_on;
        let mut workers = self.closed.iter().zip(&self.done);
        workers.all(|(closed, done)| is_whole(closed, done)).then(|| self.take())?
    }

    /// The next interval without the workers that have not closed it, when they have had enough time by `now`, and
    /// these workers.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<(Interval, Vec<usize>)> {
        let next = self.open.get(&self.passed_on)?;
        if now < next.end_ns.saturating_add(self.hold_ns) {
            return None;
        }
        let workers = self.closed.iter().zip(&self.done).enumerate();
        let late = workers.filter(|(_, (closed, done))| !**done && **closed <= self.passed_on);
        let late = late.map(|(worker, _)| worker).collect();
        self.take().map(|interval| (interval, late))
    }

    fn take(&mut self) -> Option<Interval> {
        let interval = self.open.remove(&self.passed_on)?;
        self.passed_on += 1;
        Some(interval)
    }
}

#[cfg(test)]
mod tests {
    use measure::Phase;

    use super::*;

    const S: Nanos = 1_000_000_000;

    /// Interval `index` of one second, with so many transactions.
    fn interval(index: usize, transactions: u64) -> Interval {
        let start_ns = index as u64 * S;
        let tally = Tally { transactions, ..Tally::new(1) };
        Interval { phase: Phase::Measure, start_ns, end_ns: start_ns + S, tally }
    }

    fn open_intervals(workers: usize) -> OpenIntervals {
        OpenIntervals::new(workers, Duration::from_secs(1))
    }

    #[test]
    fn an_interval_is_passed_on_when_every_worker_has_closed_it() {
        let mut open = open_intervals(2);
        assert_eq!(open.close(0, 0, interval(0, 3)), None);
        assert_eq!(open.take_whole(), None);
        assert_eq!(open.close(1, 0, interval(0, 4)), None);
        assert_eq!(open.take_whole(), Some(interval(0, 7)));
        assert_eq!(open.take_whole(), None);
        // A worker that has ended closes no more.
        open.close(0, 1, interval(1, 1));
        assert_eq!(open.take_whole(), None);
        open.done(1);
        assert_eq!(open.take_whole(), Some(interval(1, 1)));
        assert!(open.has_running());
        open.done(0);
        assert!(!open.has_running());
    }

    #[test]
    fn intervals_do_not_wait_for_a_worker_that_stands_still_and_its_part_follows() {
        let mut open = open_intervals(3);
        for index in 0..3 {
            open.close(0, index, interval(index, 3));
            open.close(2, index, interval(index, 4));
        }
        // The first one ends after 1 s and waits for 1 s.
        assert_eq!(open.take_overdue(2 * S - 1), None);
        assert_eq!(open.take_overdue(2 * S), Some((interval(0, 7), vec![1])));
        assert_eq!(open.take_overdue(2 * S), None);
        assert_eq!(open.take_overdue(3 * S), Some((interval(1, 7), vec![1])));
        // The worker closes all three: what it counted in the first follows, and the second was empty.
        assert_eq!(open.close(1, 0, interval(0, 5)), Some(interval(0, 5)));
        assert_eq!(open.close(1, 1, interval(1, 0)), None);
        assert_eq!(open.close(1, 2, interval(2, 1)), None);
        assert_eq!(open.take_whole(), Some(interval(2, 8)));
    }

    #[test]
    fn longer_intervals_wait_for_their_own_length_and_nothing_closed_is_never_overdue() {
        let mut open = OpenIntervals::new(2, Duration::from_secs(10));
        assert_eq!(open.take_overdue(Nanos::MAX), None);
        open.close(1, 0, interval(0, 1));
        assert_eq!(open.take_overdue(11 * S - 1), None);
        assert_eq!(open.take_overdue(11 * S), Some((interval(0, 1), vec![0])));
    }
}
