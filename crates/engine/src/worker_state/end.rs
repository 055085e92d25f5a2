//! The end of a worker's load: what is waited for, and what it reports then.

use std::cell::RefCell;

use measure::StuckClients;
use net::Nanos;

use super::{Client, WorkerState};
use crate::ClientOutcome;
use crate::report::{PartEnd, UnitReport};

/// How long to wait for requests in flight when the user ends the load.
const STOP_DRAIN_NS: Nanos = 1_000_000_000;
/// A client is stuck that has waited for at least so long, and for half of the window, when that ends.
const STUCK_MIN_NS: Nanos = 1_000_000_000;

impl WorkerState {
    /// How long to wait for requests in flight after the window.
    pub(super) fn drain_ns(&self) -> Nanos {
        let most = if self.control.is_interrupted() { STOP_DRAIN_NS } else { Nanos::MAX };
        self.drain_timeout_ns.min(most)
    }

    /// Another worker may have reached the limit of the backlog: that of this one counts too.
    pub(super) fn report_backlog(&self, end: Nanos) {
        if !self.control.window.ends_early() || self.has_reported_backlog.replace(true) {
            return;
        }
        let backlog = self.pacer.backlog(end);
        if backlog > 0 {
            self.send(UnitReport::Backlog { backlog });
        }
    }

    pub(super) fn is_anyone_in_turn(&self) -> bool {
        self.clients.borrow().iter().any(|client| client.turn.is_some())
    }

    /// Keeps what a client had waited for whose future is dropped, unless it had ended its turn.
    #[cold]
    pub(crate) fn client_ended(&self, local: usize) {
        let request = self.handle.take_unanswered();
        if let Some(request) = request
            && self.clients.borrow()[local].turn.is_some()
        {
            self.waited_for.borrow_mut().push((local, request));
        }
    }

    /// The clients that have waited for an answer since before the window, or for long at its `end`; given up at `at`.
    fn stuck(&self, at: Nanos, end: Nanos) -> StuckClients {
        let mut stuck = StuckClients::default();
        let start = self.control.window.start_or_never();
        if start >= end {
            return stuck;
        }
        let long = STUCK_MIN_NS.max((end - start) / 2);
        let waited_for = self.waited_for.take();
        for (local, client) in self.clients.borrow().iter().enumerate() {
            let Some(turn) = client.turn else { continue };
            let due = turn.intended_ns - self.origin.get();
            if due < start || end.saturating_sub(due) >= long {
                let told = waited_for.iter().find(|(client, _)| *client == local);
                let statement = told.map_or("", |(_, statement)| statement);
                stuck.add(at.saturating_sub(due), due < start, statement);
            }
        }
        stuck
    }

    /// The worker's last report, after [`WorkerState::close_last`].
    pub(crate) fn done(&self) -> UnitReport {
        // The clients may have ended before a tick could report it.
        self.report_backlog(self.control.end());
        let at = self.handle.now() - self.origin.get();
        let end = self.control.end().min(at);
        for due in self.pacer.never_started(end) {
            self.is_unsent(due, end);
        }
        self.was_quiet(self.successes.last.get(), None);
        let clients = self.clients.borrow();
        let mut edges = self.edges.take();
        for turn in clients.iter().filter_map(|client| client.turn) {
            let due = turn.intended_ns - self.origin.get();
            let warm_up = self.control.window.start_or_never();
            if due >= warm_up {
                edges.unanswered.record(at.saturating_sub(due));
            }
            edges.busy_after_ns += end.saturating_sub(due.max(warm_up));
        }
        edges.stuck = self.stuck(at, end);
        edges.drain.queries.add(std::mem::take(&mut self.open.borrow_mut().pending));
        let outcome = |client: &Client| ClientOutcome {
            events: client.events,
            failure: client.failure.clone(),
        };
        UnitReport::Done(Box::new(PartEnd {
            first_client: self.first_client,
            clients: clients.iter().map(outcome).collect(),
            edges,
            lateness: self.lateness.take(),
            start_delays: self.start_delays.take(),
            failures: self.failures.take(),
            quiet: Some(self.successes.quiet.take()),
            turns: self.turns.as_ref().map(RefCell::take).unwrap_or_default(),
        }))
    }
}
