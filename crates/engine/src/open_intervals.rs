//! The intervals of all units of a load (workers, or generators), merged, until they are passed on.
//!
//! An interval is passed on when every unit has closed it. When a unit stands still, the others' part is passed
//! on after a bounded time; what the unit had counted in it follows. Counters and histograms add up, so that the
//! parts of an interval are exactly the interval.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use measure::{Interval, Tally, nanos};
use net::Nanos;

/// The intervals that were not passed on, and how far each unit is.
pub(crate) struct OpenIntervals {
    workers: Vec<Range<usize>>,
    /// For each unit, how many intervals it has closed.
    closed: Vec<usize>,
    done: Vec<bool>,
    open: BTreeMap<usize, Open>,
    /// How many intervals were passed on, whole or in part.
    passed_on: usize,
    /// How long after its end an interval waits for units.
    hold_ns: Nanos,
}

/// An interval with the parts of those that have closed it.
struct Open {
    merged: Interval,
    /// Workers that their own unit had missed when it closed the interval.
    missing: Vec<usize>,
}

impl OpenIntervals {
    /// The open intervals of units with these workers each.
    pub(crate) fn new(workers: Vec<Range<usize>>, hold: Duration) -> Self {
        Self {
            closed: vec![0; workers.len()],
            done: vec![false; workers.len()],
            workers,
            open: BTreeMap::new(),
            passed_on: 0,
            hold_ns: nanos(hold),
        }
    }

    /// How many intervals were passed on, whole or in part.
    pub(crate) fn passed_on(&self) -> usize {
        self.passed_on
    }

    pub(crate) fn has_running(&self) -> bool {
        self.done.contains(&false)
    }

    pub(crate) fn done(&mut self, unit: usize) {
        self.done[unit] = true;
    }

    /// A unit has closed interval `index`, without the parts of some of its workers. Returns its part when the
    /// others' was passed on before, unless it is empty.
    pub(crate) fn close(
        &mut self,
        unit: usize,
        index: usize,
        interval: Interval,
        missing: Vec<usize>,
    ) -> Option<Interval> {
        self.closed[unit] = index + 1;
        if index < self.passed_on {
            let nothing = Tally::new(interval.tally.operations.len());
            return (interval.tally != nothing).then_some(interval);
        }
        match self.open.get_mut(&index) {
            None => {
                self.open.insert(index, Open { merged: interval, missing });
            }
            Some(open) => {
                open.merged.end_ns = open.merged.end_ns.max(interval.end_ns);
                open.merged.tally.merge(&interval.tally);
                open.missing.extend(missing);
            }
        }
        None
    }

    /// Adds what a worker had counted in an interval that its own unit has closed without it. Returns it when that
    /// interval was passed on before.
    pub(crate) fn add_late(&mut self, late: Interval) -> Option<Interval> {
        let open = self.open.values_mut().find(|open| open.merged.start_ns == late.start_ns);
        let Some(open) = open else { return Some(late) };
        open.merged.end_ns = open.merged.end_ns.max(late.end_ns);
        open.merged.tally.merge(&late.tally);
        None
    }

    /// The next interval, if every unit has closed it, and the workers whose part is missing.
    pub(crate) fn take_whole(&mut self) -> Option<(Interval, Vec<usize>)> {
        if self.late().next().is_some() { None } else { self.take() }
    }

    /// The next interval without the units that have not closed it, when they have had enough time by `now`, and
    /// the workers whose part is missing.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<(Interval, Vec<usize>)> {
        let next = self.open.get(&self.passed_on)?;
        if now < next.merged.end_ns.saturating_add(self.hold_ns) {
            return None;
        }
        let late: Vec<usize> = self.late().flat_map(|unit| self.workers[unit].clone()).collect();
        let (interval, mut missing) = self.take()?;
        missing.extend(late);
        missing.sort_unstable();
        Some((interval, missing))
    }

    /// The units that have not closed the next interval and still may.
    fn late(&self) -> impl Iterator<Item = usize> {
        let units = self.closed.iter().zip(&self.done).enumerate();
        let late = units.filter(|(_, (closed, done))| !**done && **closed <= self.passed_on);
        late.map(|(unit, _)| unit)
    }

    fn take(&mut self) -> Option<(Interval, Vec<usize>)> {
        let Open { merged, missing } = self.open.remove(&self.passed_on)?;
        self.passed_on += 1;
        Some((merged, missing))
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
        let each = (0..workers).map(|worker| worker..worker + 1);
        OpenIntervals::new(each.collect(), Duration::from_secs(1))
    }

    /// A unit closes an interval with so many transactions, and none of its workers is missing.
    fn close(open: &mut OpenIntervals, unit: usize, index: usize, count: u64) -> Option<Interval> {
        open.close(unit, index, interval(index, count), Vec::new())
    }

    fn whole(index: usize, transactions: u64) -> Option<(Interval, Vec<usize>)> {
        Some((interval(index, transactions), Vec::new()))
    }

    #[test]
    fn an_interval_is_passed_on_when_every_worker_has_closed_it() {
        let mut open = open_intervals(2);
        assert_eq!(close(&mut open, 0, 0, 3), None);
        assert_eq!(open.take_whole(), None);
        assert_eq!(close(&mut open, 1, 0, 4), None);
        assert_eq!(open.take_whole(), whole(0, 7));
        assert_eq!(open.take_whole(), None);
        // A worker that has ended closes no more.
        close(&mut open, 0, 1, 1);
        assert_eq!(open.take_whole(), None);
        open.done(1);
        assert_eq!(open.take_whole(), whole(1, 1));
        assert!(open.has_running());
        open.done(0);
        assert!(!open.has_running());
    }

    #[test]
    fn intervals_do_not_wait_for_a_worker_that_stands_still_and_its_part_follows() {
        let mut open = open_intervals(3);
        for index in 0..3 {
            close(&mut open, 0, index, 3);
            close(&mut open, 2, index, 4);
        }
        // The first one ends after 1 s and waits for 1 s.
        assert_eq!(open.take_overdue(2 * S - 1), None);
        assert_eq!(open.take_overdue(2 * S), Some((interval(0, 7), vec![1])));
        assert_eq!(open.take_overdue(2 * S), None);
        assert_eq!(open.take_overdue(3 * S), Some((interval(1, 7), vec![1])));
        // The worker closes all three: what it counted in the first follows, and the second was empty.
        assert_eq!(close(&mut open, 1, 0, 5), Some(interval(0, 5)));
        assert_eq!(close(&mut open, 1, 1, 0), None);
        assert_eq!(close(&mut open, 1, 2, 1), None);
        assert_eq!(open.take_whole(), whole(2, 8));
        assert_eq!(open.passed_on(), 3);
    }

    #[test]
    fn a_late_part_is_never_passed_on_before_its_interval() {
        let mut open = OpenIntervals::new(vec![0..2, 2..3], Duration::from_secs(1));
        open.close(0, 0, interval(0, 1), vec![1]);
        open.close(0, 1, interval(1, 1), Vec::new());
        assert_eq!(open.add_late(interval(0, 4)), None);
        open.close(1, 0, interval(0, 2), Vec::new());
        assert_eq!(open.take_whole(), Some((interval(0, 7), vec![1])));
        assert_eq!(open.add_late(interval(0, 8)), Some(interval(0, 8)));
    }

    #[test]
    fn longer_intervals_wait_longer_and_nothing_closed_is_never_overdue() {
        let mut open = OpenIntervals::new(vec![0..1, 1..2], Duration::from_secs(10));
        assert_eq!(open.take_overdue(Nanos::MAX), None);
        close(&mut open, 1, 0, 1);
        assert_eq!(open.take_overdue(11 * S - 1), None);
        assert_eq!(open.take_overdue(11 * S), Some((interval(0, 1), vec![0])));
    }

    #[test]
    fn the_missing_workers_of_generators_are_those_they_miss_and_all_of_a_silent_one() {
        let mut open = OpenIntervals::new(vec![0..2, 2..5, 5..6], Duration::from_secs(1));
        open.close(0, 0, interval(0, 1), vec![1]);
        open.close(2, 0, interval(0, 2), Vec::new());
        assert_eq!(open.take_overdue(2 * S), Some((interval(0, 3), vec![1, 2, 3, 4])));
        // A generator that reports without one of its workers has closed the interval.
        open.close(0, 1, interval(1, 1), vec![0]);
        open.close(1, 0, interval(0, 0), Vec::new());
        open.close(1, 1, interval(1, 4), Vec::new());
        open.close(2, 1, interval(1, 2), Vec::new());
        assert_eq!(open.take_whole(), Some((interval(1, 7), vec![0])));
    }
}
