//! A client's place in a trial: its turns, and where it says what happened.

use std::rc::Rc;

use measure::{Disposition, ErrorClass, ErrorKey, Failure, OperationId, OperationKind, Traffic};
use net::{Handle, Nanos};

use crate::bench::Bench;
use crate::{Step, Turn};

/// A client's place on its worker.
pub struct Seat {
    /// Which of its worker's clients this is.
    local: usize,
    bench: Rc<Bench>,
    issued: u64,
    /// When the last turn ended, if nothing has come between: the next one begins there, without another
    /// look at the clock.
    ended_ns: Option<Nanos>,
}

impl Seat {
    pub(crate) fn new(local: usize, bench: Rc<Bench>) -> Self {
        Self { local, bench, issued: 0, ended_ns: None }
    }

    /// Which client this is, of `0..clients`.
    pub fn index(&self) -> usize {
        self.bench.first_client + self.local
    }

    /// The event loop that sockets and timers live on.
    pub fn net(&self) -> &Handle {
        &self.bench.handle
    }

    /// Now, on the worker's clock, ns.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.bench.handle.now()
    }

    /// Waits for the next turn; `None` when the load is over. The first call says that this client
    /// is ready and waits for the start.
    pub async fn next(&mut self) -> Option<Turn> {
        self.next_after(0).await
    }

    /// The same after a pause of the client's own, beside what the pacing asks for; in an open loop, where
    /// turns come when they come, there is none.
    pub async fn next_after(&mut self, pause_ns: Nanos) -> Option<Turn> {
        if self.issued == 0 && !self.bench.gate.is_open() {
            self.bench.ready();
            self.bench.gate.wait(&self.bench.handle).await;
        }
        let mut now = self.ended_ns.take().unwrap_or_else(|| self.now());
        let mut intended = now;
        let mut has_waited = false;
        if let Step::At(at) = self.step_after(now, pause_ns) {
            intended = at;
            if at > now {
                self.bench.handle.sleep_until(at.min(self.bench.latest_start())).await;
                now = self.now();
                has_waited = true;
            }
        }
        if !self.bench.pacer.is_open() {
            // The pause between turns is over when the client wakes.
            intended = now;
        }
        if !self.bench.admit(self.local, intended, now) {
            return None;
        }
        self.issued += 1;
        let turn = Turn { intended_ns: intended, started_ns: now };
        if has_waited {
            self.bench.was_waited_for(turn);
        }
        Some(turn)
    }

    #[inline]
    fn step_after(&self, now: Nanos, pause_ns: Nanos) -> Step {
        let step = self.bench.next_step(now, self.issued);
        if pause_ns == 0 || self.bench.pacer.is_open() {
            return step;
        }
        let from = if let Step::At(at) = step { at } else { now };
        Step::At(from.saturating_add(pause_ns))
    }

    /// A transaction succeeded: it counts, with its latency from the turn's intended start.
    #[inline]
    pub fn finish(&mut self, turn: Turn, operation: OperationId) {
        self.ended_ns = Some(self.bench.finish(self.local, turn, operation));
    }

    /// A transaction was given up or could not go on: counted, and timed apart from successes.
    pub fn fail(&mut self, turn: Turn, operation: OperationId, key: &ErrorKey, how: Disposition) {
        self.bench.fail(self.local, turn, operation, key, how);
    }

    /// A transaction met an error and is about to be tried again.
    pub fn retry(&mut self, key: &ErrorKey) {
        self.bench.retry(key);
    }

    /// A statement that began at `started_ns` succeeded: it counts, with a latency of its own.
    #[inline]
    pub fn statement(&mut self, operation: OperationId, started_ns: Nanos) {
        self.bench.statement(operation, started_ns);
    }

    /// A statement that began at `started_ns` failed; one that timed out counts in its percentiles.
    pub fn statement_failed(
        &mut self,
        operation: OperationId,
        started_ns: Nanos,
        class: ErrorClass,
    ) {
        self.bench.statement_failed(operation, started_ns, class);
    }

    /// How long to try for another connection when one breaks, ns; `None` when not at all.
    pub fn reconnect_limit_ns(&self) -> Option<Nanos> {
        self.bench.reconnect_limit_ns
    }

    /// This client's connection broke: an outage begins, unless one goes on.
    pub fn lost_connection(&mut self, failure: &Failure) {
        self.bench.lost(failure);
    }

    /// It has another one, ready for transactions.
    pub fn reconnected(&mut self) {
        self.bench.reconnected();
    }

    /// A transaction on it was answered: the outage is over.
    pub fn is_back(&mut self) {
        self.bench.back();
    }

    /// Counts a statement whose latency is that of its transaction.
    #[inline]
    pub fn count(&mut self, kind: OperationKind) {
        self.bench.count(kind);
    }

    /// Adds bytes that were sent and received.
    #[inline]
    pub fn traffic(&mut self, traffic: Traffic) {
        self.bench.traffic(traffic);
    }
}
