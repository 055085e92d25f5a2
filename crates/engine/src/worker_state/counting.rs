//! Counting what ends: in the open interval, and at the edges of the measured window.

use std::sync::mpsc;

use measure::{Interval, OperationTally, Phase, QueryCounts, Tally};
use net::Nanos;

use super::WorkerState;
use crate::control::Share;
use crate::report::UnitReport;

/// The interval that events are counted in.
pub(super) struct Open {
    pub(super) index: usize,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) last_event: Nanos,
    pub(super) tally: Tally,
    /// Arrivals that had waited for a client when the interval began.
    pub(super) waiting: u64,
    /// Statements that are not timed apart from their transaction: they count when it ends.
    pub(super) pending: QueryCounts,
}

impl Open {
    pub(super) fn take_pending(&mut self) {
        self.tally.queries.add(std::mem::take(&mut self.pending));
    }
}

/// The part of the trial in which an event ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    WarmUp,
    Measured,
    /// After the measured window.
    Drain,
}

impl WorkerState {
    /// [`WorkerState::counting_at`] for a transaction. One of more than a limited number ends after the window.
    #[inline]
    pub(super) fn counting_turn(
        &self,
        now: Nanos,
        due: Nanos,
        event: impl Fn(&mut Tally),
    ) -> Counted {
        let at = now - self.origin.get();
        self.catch_up(at);
        let is_in_window = at < self.control.end() && !self.control.window.is_warm_up(at);
        let share = if is_in_window { self.control.ends(at) } else { Share::One };
        if share == Share::None {
            let pending = std::mem::take(&mut self.open.borrow_mut().pending);
            self.counting_in_drain(pending, due, event);
            return Counted::Drain;
        }
        let counted = self.counting_at(now, due, event);
        if share == Share::Last {
            self.control.end_at(at);
        }
        counted
    }

    /// Lets `event` count an event that was due at `due` and ends at `now`, in the current interval. What crosses an edge
    /// of the measured window counts there too.
    #[inline]
    pub(super) fn counting_at(
        &self,
        now: Nanos,
        due: Nanos,
        event: impl Fn(&mut Tally),
    ) -> Counted {
        let at = now - self.origin.get();
        self.catch_up(at);
        let mut open = self.open.borrow_mut();
        if at >= self.control.end() {
            let pending = std::mem::take(&mut open.pending);
            self.counting_in_drain(pending, due, event);
            return Counted::Drain;
        }
        open.take_pending();
        open.last_event = at;
        event(&mut open.tally);
        if self.control.window.is_warm_up(at) {
            return Counted::WarmUp;
        }
        if self.is_warm_up(due) {
            self.counting_before(event);
        }
        Counted::Measured
    }

    /// Counts an event that was due before the window and ended in it.
    #[cold]
    fn counting_before(&self, event: impl Fn(&mut Tally)) {
        let mut tally = Tally::new(self.kinds.len());
        event(&mut tally);
        for (all, one) in self.edges.borrow_mut().before.iter_mut().zip(&tally.operations) {
            all.merge(one);
        }
    }

    /// Counts an event that ended after the window. Its latency and its transaction count only if it was due in it.
    #[cold]
    fn counting_in_drain(&self, pending: QueryCounts, due: Nanos, event: impl Fn(&mut Tally)) {
        let mut tally = Tally::new(self.kinds.len());
        event(&mut tally);
        tally.queries.add(pending);
        let due = due - self.origin.get();
        if self.control.window.is_warm_up(due) || due >= self.control.end() {
            tally.operations.fill(OperationTally::default());
            (tally.transactions, tally.failed_transactions) = (0, 0);
        }
        self.edges.borrow_mut().drain.merge(&tally);
    }

    /// Closes the intervals that ended before an event at `at`. Whether that event is still in the phase before may
    /// depend on them.
    #[inline]
    pub(super) fn catch_up(&self, at: Nanos) {
        let mut open = self.open.borrow_mut();
        if at >= open.end.min(self.control.end()) {
            self.close_until(&mut open, at);
        }
    }

    /// Closes every interval that ends at or before `at`.
    pub(super) fn close_until(&self, open: &mut Open, at: Nanos) {
        if open.end > self.control.spent_at() && !self.control.is_part {
            open.end = Nanos::MAX;
        }
        let end = loop {
            // An interval that is closed may end its phase.
            let end = self.control.end();
            let until = open.end.min(end);
            if at < until || open.start >= end {
                break end;
            }
            self.close(open, until);
        };
        if at >= end {
            self.report_held(end);
        }
    }

    /// Reports the intervals that were held back, as far as the window lasts. Nothing was counted after its end.
    #[cold]
    fn report_held(&self, end: Nanos) {
        for (index, mut interval) in self.held.take() {
            if interval.start_ns < end {
                interval.end_ns = interval.end_ns.min(end);
                self.report(index, interval);
            }
        }
    }

    /// Reports a closed interval, and waits until the observer has seen it where the end of a phase depends on that.
    fn report(&self, index: usize, interval: Interval) {
        let (seen, wait) = mpsc::channel();
        let seen = self.control.waits_for_observer.then_some(seen);
        let (interval, missing, news) = (Box::new(interval), Vec::new(), Vec::new());
        let report = UnitReport::Closed { index, interval, missing, news };
        self.send_until_seen(report, seen);
        // Nothing is ever sent; without `seen` this returns at once.
        let _ = wait.recv();
    }

    fn close(&self, open: &mut Open, end: Nanos) {
        let operations = self.kinds.len();
        let is_warm_up = self.control.window.is_warm_up(open.start);
        let waiting = self.pacer.waiting(end);
        // Those that began in the interval had waited before it, or came in it.
        open.tally.arrivals = (open.tally.arrivals + waiting).saturating_sub(open.waiting);
        open.waiting = waiting;
        let interval = Interval {
            phase: if is_warm_up { Phase::WarmUp } else { Phase::Measure },
            start_ns: open.start,
            end_ns: end,
            tally: std::mem::replace(&mut open.tally, Tally::new(operations)),
        };
        if self.control.is_part && end > self.control.spent_at() {
            // The share may end before the interval does. Other generators have the same intervals all the same.
            self.held.borrow_mut().push((open.index, interval));
        } else {
            self.report(open.index, interval);
        }
        open.index += 1;
        open.start = end;
        open.end = self.control.window.enter_interval(end);
    }

    /// Closes the current interval when all clients have ended. If they all left before the window's end, it ends at
    /// the last event.
    pub(crate) fn close_last(&self) {
        if !self.gate.is_open() {
            return;
        }
        let at = self.handle.now() - self.origin.get();
        let mut open = self.open.borrow_mut();
        self.close_until(&mut open, at);
        let end = open.last_event + 1;
        if open.start < self.control.end() && end > open.start {
            self.close(&mut open, end);
        }
        self.report_held(end);
    }
}
