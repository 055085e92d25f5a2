//! A client's handle in a trial: it gives out turns and receives results.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use measure::{Disposition, ErrorClass, Failure, OperationId, OperationKind, Traffic};
use net::{Handle, Nanos};

use crate::server_choice::ServerChoice;
use crate::worker_state::WorkerState;
use crate::{NextStart, Turn};

pub struct ClientHandle {
    /// The client's index in its worker.
    local: usize,
    state: Rc<WorkerState>,
    issued: u64,
    /// When the last turn ended, if nothing has happened since: the next turn starts at that time, without another
    /// reading of the clock.
    ended_ns: Option<Nanos>,
    server: Cell<ServerChoice>,
}

/// The end of the client's future, whose connection is dropped before its handle.
impl Drop for ClientHandle {
    fn drop(&mut self) {
        self.state.client_ended(self.local);
    }
}

impl ClientHandle {
    pub(crate) fn new(local: usize, state: Rc<WorkerState>) -> Self {
        Self { local, state, issued: 0, ended_ns: None, server: Cell::default() }
    }

    /// The client's index, of `0..clients`.
    pub fn index(&self) -> usize {
        self.state.first_client + self.local
    }

    /// The event loop for the client's sockets and timers.
    pub fn net(&self) -> &Handle {
        &self.state.handle
    }

    /// The current time on the worker's clock, ns.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.state.handle.now()
    }

    /// Waits for the next turn; `None` when the load is over. The first call reports that this client is ready, and
    /// waits for the start.
    pub async fn next(&mut self) -> Option<Turn> {
        self.next_after(0).await
    }

    /// As [`ClientHandle::next`], after a pause of the client's own in addition to the pacing. In an open
    /// loop there is no pause, because turns come by the schedule.
    pub async fn next_after(&mut self, pause_ns: Nanos) -> Option<Turn> {
        if self.issued == 0 && !self.state.gate.is_open() {
            self.state.ready();
            self.state.gate.wait(&self.state.handle).await;
        }
        let mut pause_ns = pause_ns;
        if self.state.has_levers() {
            self.ended_ns = None;
            pause_ns += Box::pin(self.state.slow_down(self.local, self.issued)).await;
        }
        let mut now = self.ended_ns.take().unwrap_or_else(|| self.now());
        let mut intended = now;
        let mut has_waited = false;
        if let NextStart::At(at) = self.step_after(now, pause_ns) {
            intended = at;
            if at > now {
                self.state.handle.sleep_until(at.min(self.state.latest_start())).await;
                now = self.now();
                has_waited = true;
            }
        }
        if !self.state.pacer.is_open() {
            // The pause between turns is over when the client wakes.
            intended = now;
        }
        let turn = Turn { intended_ns: intended, started_ns: now };
        if !self.state.admit(self.local, turn) {
            return None;
        }
        self.issued += 1;
        self.state.started(turn, has_waited);
        Some(turn)
    }

    /// A statement that this turn has to begin with, to slow the server down; `None` for almost all turns.
    #[inline]
    pub fn slowing_statement(&self) -> Option<Arc<str>> {
        if self.state.has_levers() { self.state.slowing_statement(self.issued) } else { None }
    }

    #[inline]
    fn step_after(&self, now: Nanos, pause_ns: Nanos) -> NextStart {
        let step = self.state.next_step(now, self.issued);
        if pause_ns == 0 || self.state.pacer.is_open() {
            return step;
        }
        let from = if let NextStart::At(at) = step { at } else { now };
        NextStart::At(from.saturating_add(pause_ns))
    }

    /// A transaction succeeded: it counts, with its latency from the turn's intended start.
    #[inline]
    pub fn finish(&mut self, turn: Turn, operation: OperationId) {
        self.ended_ns = Some(self.state.finish(self.local, turn, operation));
    }

    /// A transaction failed: it counts, and its latency is kept separate from those of successes.
    pub fn fail(
        &mut self,
        turn: Turn,
        operation: OperationId,
        failure: &Failure,
        how: Disposition,
    ) {
        self.state.fail(self.local, turn, operation, failure, how);
    }

    /// A transaction failed and will be tried again.
    pub fn retry(&mut self, failure: &Failure) {
        self.state.retry(failure);
    }

    /// A statement that began at `started_ns` succeeded: it counts, with its latency.
    #[inline]
    pub fn statement(&mut self, operation: OperationId, started_ns: Nanos) {
        self.state.statement(operation, started_ns);
    }

    /// A statement that began at `started_ns` failed; one that timed out counts in its percentiles.
    pub fn statement_failed(
        &mut self,
        operation: OperationId,
        started_ns: Nanos,
        class: ErrorClass,
    ) {
        self.state.statement_failed(operation, started_ns, class);
    }

    /// How long to try to reconnect when a connection breaks, ns; `None` when reconnecting is off.
    pub fn reconnect_limit_ns(&self) -> Option<Nanos> {
        self.state.reconnect_limit_ns
    }

    /// This client's connection broke: an outage begins, unless there is one already.
    pub fn lost_connection(&mut self, failure: &Failure) {
        self.state.lost(self.local, failure);
    }

    /// Which of so many servers this client uses, of `0..servers`.
    pub fn server(&self, servers: usize) -> usize {
        self.server.get().server(self.index(), servers)
    }

    /// The server that this client uses, one of so many, refuses connections: nothing listens there. When it has done
    /// so for a second, the client uses another one.
    pub fn refused(&self, servers: usize) {
        let mut choice = self.server.get();
        choice.refused(self.now(), servers);
        self.server.set(choice);
    }

    /// This client has a new connection in place of one that the server had closed while no request was under way.
    pub fn replaced_idle_connection(&mut self) {
        let is_moved = self.server.get_mut().is_moved();
        self.state.replaced_idle_connection(is_moved);
    }

    /// Whether this client has taken a turn: a connection that it makes then takes the place of another one.
    pub fn has_begun(&self) -> bool {
        self.issued > 0
    }

    /// Counts the statements that set up a connection, if the load has begun: they are of no transaction.
    pub fn count_setup(&self, statements: usize) {
        if self.has_begun() {
            (0..statements).for_each(|_| self.state.count(OperationKind::Other));
        }
    }

    /// This client has a new connection that is ready for transactions.
    pub fn reconnected(&mut self) {
        let is_moved = self.server.get_mut().is_moved();
        self.state.reconnected(is_moved);
    }

    /// A transaction on the new connection was answered: the outage is over.
    pub fn is_back(&mut self) {
        self.state.back();
    }

    /// Counts a statement that is not timed apart from its transaction.
    #[inline]
    pub fn count(&mut self, kind: OperationKind) {
        self.state.count(kind);
    }

    /// Adds sent and received bytes.
    #[inline]
    pub fn traffic(&mut self, traffic: Traffic) {
        self.state.traffic(traffic);
    }
}
