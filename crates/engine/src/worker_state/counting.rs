//! Counting what ends: in the open interval, and at the edges of the measured window.

use std::sync::mpsc;

use measure::{Interval, OperationTally, Phase, QueryCounts, Tally};
use net::Nanos;

use super::WorkerState;
use crate::control::{Message, Share};

/// The interval that events are counted in.
pub(super) struct Open {
    pub(super) index: usize,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    /// When the last counted event ended.
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
        if open.end > self.control.spent_at() {
            open.end = Nanos::MAX;
        }
        loop {
            // An interval that is closed may end its phase.
            let end = self.control.end();
            let until = open.end.min(end);
            if at < until || open.start >= end {
                return;
            }
            self.close(open, until);
        }
    }

    fn close(&self, open: &mut Open, end: Nanos) {
        let operations = self.kinds.len();
        let is_warm_up = self.control.window.is_warm_up(open.start);
        let waiting = self.pacer.waiting(end);
        // Those that began in the interval had waited before it, or came in it.
        open.tally.arrivals = (open.tally.arrivals + waiting).saturating_sub(open.waiting);
        open.waiting = waiting;
        let interval = Box::new(Interval {
            phase: if is_warm_up { Phase::WarmUp } else { Phase::Measure },
            start_ns: open.start,
            end_ns: end,
            tally: std::mem::replace(&mut open.tally, Tally::new(operations)),
        });
        let (seen, wait) = mpsc::channel();
        let seen = self.control.waits_for_observer.then_some(seen);
        let (worker, index) = (self.worker, open.index);
        self.send(Message::Closed { worker, index, interval, seen });
        // Nothing is ever sent; without `seen` this returns at once.
        let _ = wait.recv();
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
    }
}
