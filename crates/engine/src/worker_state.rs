//! The state that the clients of one worker share: their tally and their current transactions.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use measure::{
    Disposition, ErrorClass, ErrorKey, Failure, Interval, LatencyHistogram, OperationId,
    OperationKind, Phase, QueryCounts, Tally, Traffic, Unfinished, nanos,
};
use net::{Gate, Handle, Nanos};

use crate::assignment::Assignment;
use crate::control::{Control, Message};
use crate::late::LateTransactions;
use crate::offer::Timetable;
use crate::outages::ConnectionEvent;
use crate::pacing::Pacer;
use crate::{ClientOutcome, NextStart, Turn};

/// The interval that events are counted in.
struct Open {
    index: usize,
    start: Nanos,
    end: Nanos,
    /// When the last counted event ended.
    last_event: Nanos,
    tally: Tally,
    /// Statements that are not timed apart from their transaction: they count when it ends.
    pending: QueryCounts,
}

impl Open {
    fn take_pending(&mut self) {
        self.tally.queries.add(std::mem::take(&mut self.pending));
    }
}

/// The state of one client that every event changes. It is small, so that the clients of a worker fit into
/// the processor's caches.
#[derive(Clone, Default)]
struct Client {
    events: u64,
    /// The intended start of its current turn.
    in_turn_since: Option<Nanos>,
    failure: Option<Failure>,
}

/// The part of the trial to which an event counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    WarmUp,
    Measured,
    /// It ended after the measured time.
    Late,
}

/// The state of one worker. Only its thread uses it, so there are no locks.
pub(crate) struct WorkerState {
    pub(crate) handle: Handle,
    pub(crate) gate: Gate,
    pub(crate) pacer: Pacer,
    pub(crate) reconnect_limit_ns: Option<Nanos>,
    /// The first of the worker's clients, of all.
    pub(crate) first_client: usize,
    drain_timeout_ns: Nanos,
    worker: usize,
    control: Arc<Control>,
    timetable: Timetable,
    kinds: Vec<OperationKind>,
    open: RefCell<Open>,
    clients: RefCell<Vec<Client>>,
    preparing: Cell<usize>,
    /// The trial's 0 on this worker's clock.
    origin: Cell<Nanos>,
    /// Transactions that were due in the measured time and not answered in it.
    late: RefCell<LateTransactions>,
    /// Start delays of measured turns for which a client was waiting.
    lateness: RefCell<LatencyHistogram>,
    /// When turns ended for another reason than time, such as a spent budget, on the trial's clock.
    ended_early_at: Cell<Option<Nanos>>,
    /// Whether the coordinator has got the backlog at the end.
    has_reported_backlog: Cell<bool>,
    out: Sender<Message>,
}

impl WorkerState {
    /// The state of the worker of `assignment`.
    pub(crate) fn new(assignment: &Assignment<'_>, handle: Handle) -> Self {
        let Assignment { worker, workers, offer, operations, timetable, .. } = *assignment;
        let clients = assignment.clients();
        Self {
            handle,
            gate: Gate::default(),
            pacer: Pacer::new(&offer.pacing, worker, workers),
            reconnect_limit_ns: offer.reconnect_limit.map(nanos),
            first_client: clients.start,
            drain_timeout_ns: nanos(offer.drain_timeout),
            worker,
            control: Arc::clone(&assignment.control),
            timetable,
            open: RefCell::new(Open {
                index: 0,
                start: 0,
                end: timetable.interval_end(0),
                last_event: 0,
                tally: Tally::new(operations.len()),
                pending: QueryCounts::default(),
            }),
            kinds: operations.iter().map(|operation| operation.kind).collect(),
            clients: RefCell::new(vec![Client::default(); clients.len()]),
            preparing: Cell::new(clients.len()),
            origin: Cell::new(0),
            late: RefCell::default(),
            lateness: RefCell::default(),
            ended_early_at: Cell::new(None),
            has_reported_backlog: Cell::new(false),
            out: assignment.out.clone(),
        }
    }

    /// Notes that one more client waits for the start.
    pub(crate) fn ready(&self) {
        self.preparing.set(self.preparing.get() - 1);
        if self.preparing.get() == 0 {
            self.send(Message::Ready);
        }
    }

    /// The latest time at which a turn may start, on the worker's clock.
    pub(crate) fn latest_start(&self) -> Nanos {
        self.timetable.end_ns.map_or(Nanos::MAX, |end| self.origin.get().saturating_add(end))
    }

    /// The client's next step, with the intended start on the worker's clock.
    #[inline]
    pub(crate) fn next_step(&self, now: Nanos, issued: u64) -> NextStart {
        let origin = self.origin.get();
        match self.pacer.next(now - origin, issued) {
            NextStart::Now => NextStart::Now,
            NextStart::At(at) => NextStart::At(origin.saturating_add(at)),
        }
    }

    /// Whether a turn with this intended start may start now; if so, the client is in it.
    #[inline]
    pub(crate) fn admit(&self, local: usize, intended: Nanos, now: Nanos) -> bool {
        let origin = self.origin.get();
        if self.timetable.is_over(intended - origin) || self.control.is_ending() {
            return false;
        }
        if self.timetable.is_over(now - origin) {
            // It was due in the measured time, so its age at the end counts.
            if self.pacer.is_open() {
                self.late.borrow_mut().waits_since(intended);
            }
            return false;
        }
        if !self.timetable.is_warm_up(now - origin) && !self.control.spend() {
            return false;
        }
        self.clients.borrow_mut()[local].in_turn_since = Some(intended);
        if intended < now {
            self.check_backlog(now - origin);
        }
        true
    }

    /// Records the start delay of a turn for which the client was waiting. The load generator causes this
    /// delay, not the system under test.
    #[inline]
    pub(crate) fn was_waited_for(&self, turn: Turn) {
        if self.pacer.is_open() && !self.is_warm_up(turn.started_ns) {
            self.lateness.borrow_mut().record(turn.started_ns - turn.intended_ns);
        }
    }

    fn check_backlog(&self, at: Nanos) {
        if let Some(backlog) = self.pacer.overload(at)
            && !self.control.is_ending()
        {
            self.control.end_gently();
            self.has_reported_backlog.set(true);
            self.send(Message::Overloaded { backlog });
        }
    }

    /// Counts a success that ends now, and returns when that is.
    #[inline]
    pub(crate) fn finish(&self, local: usize, turn: Turn, operation: OperationId) -> Nanos {
        let now = self.handle.now();
        if !self.fits_budget(local, turn, now) {
            return now;
        }
        let kind = self.kinds[usize::from(operation.0)];
        let is_open = self.pacer.is_open();
        let counted = self.counting_at(now, |tally| {
            tally.success(operation, kind, now - turn.intended_ns);
            if is_open {
                tally.service(operation, now - turn.started_ns);
            }
        });
        self.leave(local, turn, counted);
        self.clients.borrow_mut()[local].events += u64::from(counted == Counted::Measured);
        now
    }

    pub(crate) fn fail(
        &self,
        local: usize,
        turn: Turn,
        operation: OperationId,
        key: &ErrorKey,
        how: Disposition,
    ) {
        let now = self.handle.now();
        if !self.fits_budget(local, turn, now) {
            return;
        }
        let kind = self.kinds[usize::from(operation.0)];
        let counted = self.counting_at(now, |tally| {
            let latency = now - turn.intended_ns;
            if key.class == ErrorClass::Timeout {
                tally.timeout(operation, kind, latency);
            } else {
                tally.failure(operation, kind, latency);
            }
            tally.error(key, how);
        });
        self.leave(local, turn, counted);
    }

    /// Ends a turn. The latency of one that ended after the measured time is kept, because otherwise a stall
    /// at the end would not show.
    #[inline]
    fn leave(&self, local: usize, turn: Turn, counted: Counted) {
        self.clients.borrow_mut()[local].in_turn_since = None;
        if counted == Counted::Late {
            let latency = self.handle.now() - turn.intended_ns;
            self.late.borrow_mut().answered(latency);
        }
    }

    /// Whether a turn that ends now may count. A turn that began in the warm-up and ends in the measured time
    /// takes its event from the budget when it ends. When the budget is spent it does not count, so that the
    /// number of measured transactions is exact.
    #[inline]
    fn fits_budget(&self, local: usize, turn: Turn, now: Nanos) -> bool {
        let is_straddler =
            self.control.has_budget() && self.is_warm_up(turn.started_ns) && !self.is_warm_up(now);
        if is_straddler && !self.control.spend() {
            self.clients.borrow_mut()[local].in_turn_since = None;
            return false;
        }
        true
    }

    #[inline]
    fn is_warm_up(&self, time: Nanos) -> bool {
        self.timetable.is_warm_up(time - self.origin.get())
    }

    pub(crate) fn retry(&self, key: &ErrorKey) {
        self.counting(|tally, _| tally.error(key, Disposition::Retried));
    }

    #[inline]
    pub(crate) fn statement(&self, operation: OperationId, started: Nanos) {
        let kind = self.kinds[usize::from(operation.0)];
        let counted = self.counting(|tally, now| tally.success(operation, kind, now - started));
        if counted == Counted::Late {
            self.count(kind);
        }
    }

    pub(crate) fn statement_failed(
        &self,
        operation: OperationId,
        started: Nanos,
        class: ErrorClass,
    ) {
        let kind = self.kinds[usize::from(operation.0)];
        let counted = self.counting(|tally, now| match class {
            ErrorClass::Timeout => tally.timeout(operation, kind, now - started),
            _ => tally.failure(operation, kind, now - started),
        });
        if counted == Counted::Late {
            self.count(kind);
        }
    }

    /// A client's connection broke; without a reconnect limit this ends the trial.
    pub(crate) fn lost(&self, failure: &Failure) {
        self.emit(ConnectionEvent::Lost);
        if self.reconnect_limit_ns.is_none() && !self.control.is_ending() {
            self.control.end_gently();
            self.send(Message::Disconnected { failure: failure.clone() });
        }
    }

    pub(crate) fn reconnected(&self) {
        self.counting(|tally, _| tally.reconnects += 1);
        self.emit(ConnectionEvent::Reconnected);
    }

    pub(crate) fn back(&self) {
        self.emit(ConnectionEvent::Back);
    }

    fn emit(&self, event: ConnectionEvent) {
        let at = self.handle.now() - self.origin.get();
        self.send(Message::Connection { at, event });
    }

    /// Counts a statement without reading the clock: it counts in the interval of the next event, which is
    /// the end of its transaction.
    #[inline]
    pub(crate) fn count(&self, kind: OperationKind) {
        self.open.borrow_mut().pending.count(kind);
    }

    #[inline]
    pub(crate) fn traffic(&self, traffic: Traffic) {
        let tally = &mut self.open.borrow_mut().tally;
        tally.traffic.sent_bytes += traffic.sent_bytes;
        tally.traffic.received_bytes += traffic.received_bytes;
    }

    /// Lets `event` count an event that ends now in the current interval. Events after the measured time are
    /// not counted.
    #[inline]
    fn counting(&self, event: impl FnOnce(&mut Tally, Nanos)) -> Counted {
        let now = self.handle.now();
        self.counting_at(now, |tally| event(tally, now))
    }

    #[inline]
    fn counting_at(&self, now: Nanos, event: impl FnOnce(&mut Tally)) -> Counted {
        let at = now - self.origin.get();
        let mut open = self.open.borrow_mut();
        if at >= open.end {
            self.close_until(&mut open, at);
        }
        open.take_pending();
        if self.timetable.is_over(at) {
            return Counted::Late;
        }
        open.last_event = at;
        event(&mut open.tally);
        if self.timetable.is_warm_up(at) { Counted::WarmUp } else { Counted::Measured }
    }

    /// Closes every interval that ends at or before `at`.
    fn close_until(&self, open: &mut Open, at: Nanos) {
        while at >= open.end && !self.timetable.is_over(open.start) {
            let end = open.end;
            self.close(open, end);
        }
    }

    fn close(&self, open: &mut Open, end: Nanos) {
        let operations = self.kinds.len();
        let is_warm_up = self.timetable.is_warm_up(open.start);
        let interval = Box::new(Interval {
            phase: if is_warm_up { Phase::WarmUp } else { Phase::Measure },
            start_ns: open.start,
            end_ns: end,
            tally: std::mem::replace(&mut open.tally, Tally::new(operations)),
        });
        self.send(Message::Closed { worker: self.worker, index: open.index, interval });
        open.index += 1;
        open.start = end;
        open.end = self.timetable.interval_end(end);
    }

    pub(crate) fn send(&self, message: Message) {
        // The coordinator may have ended; then the message is not needed.
        let _ = self.out.send(message);
    }

    /// Called in every turn of the loop: handles the start, the end and intervals that no event closes.
    /// Returns when it must be called again at the latest, or `None` to end at once.
    pub(crate) fn tick(&self) -> Option<Nanos> {
        if self.control.is_cut_short() {
            return None;
        }
        if !self.gate.is_open() {
            if let Some(start) = self.control.started() {
                self.origin.set(start);
                self.gate.open(&self.handle);
            }
            return Some(Nanos::MAX);
        }
        let now = self.handle.now();
        let at = now - self.origin.get();
        let mut open = self.open.borrow_mut();
        if at >= open.end {
            self.close_until(&mut open, at);
        }
        drop(open);
        self.check_backlog(at);
        match self.ended_at(at) {
            None => Some(self.origin.get().saturating_add(self.open.borrow().end)),
            Some(end) => {
                let deadline = end.saturating_add(self.drain_timeout_ns);
                let waits = at < deadline && self.is_anyone_in_turn();
                waits.then(|| self.origin.get().saturating_add(deadline))
            }
        }
    }

    /// The time at which turns ended, if it has passed: the measured time is over, the budget is spent, or a stop was
    /// requested.
    fn ended_at(&self, at: Nanos) -> Option<Nanos> {
        if self.timetable.is_over(at) {
            return self.timetable.end_ns;
        }
        let is_ending = self.control.is_spent() || self.control.is_ending();
        if self.ended_early_at.get().is_none() && is_ending {
            self.ended_early_at.set(Some(at));
            // Another worker may have reached the limit: the backlog of this one counts too.
            let backlog = self.pacer.backlog(at);
            if backlog > 0 && !self.has_reported_backlog.replace(true) {
                self.send(Message::Backlog { backlog });
            }
        }
        self.ended_early_at.get()
    }

    fn is_anyone_in_turn(&self) -> bool {
        self.clients.borrow().iter().any(|client| client.in_turn_since.is_some())
    }

    /// The worker's last message, after [`WorkerState::close_last`].
    pub(crate) fn done(&self) -> Message {
        let (clients, unfinished) = self.outcome();
        // Statements that ended after the last interval are in no interval, but the server has counted them.
        let mut open = self.open.borrow_mut();
        open.take_pending();
        Message::Done {
            worker: self.worker,
            first_client: self.first_client,
            clients,
            unfinished,
            lateness: Box::new(self.lateness.take()),
            late_queries: open.tally.queries,
        }
    }

    /// The outcome of each client, and the transactions that were not answered in time.
    fn outcome(&self) -> (Vec<ClientOutcome>, Unfinished) {
        let now = self.handle.now();
        let mut late = self.late.take();
        if let Some(end) = self.timetable.end_ns
            && !self.control.is_ending()
        {
            let origin = self.origin.get();
            let waiting = self.pacer.never_started(end);
            waiting.into_iter().for_each(|at| late.waits_since(origin.saturating_add(at)));
        }
        let clients = self.clients.borrow();
        let outcomes = clients.iter().map(|client| {
            if let Some(since) = client.in_turn_since {
                late.waits_since(since);
            }
            ClientOutcome { events: client.events, failure: client.failure.clone() }
        });
        (outcomes.collect(), late.until(now))
    }

    pub(crate) fn client_failed(&self, local: usize, failure: Failure) {
        let before_start = !self.gate.is_open();
        self.clients.borrow_mut()[local].failure = Some(failure.clone());
        self.send(Message::Failed { client: self.first_client + local, failure, before_start });
    }

    /// Closes the current interval when all clients have ended: at the end of the measured time if that has
    /// passed, otherwise at the last event.
    pub(crate) fn close_last(&self) {
        if !self.gate.is_open() {
            return;
        }
        let at = self.handle.now() - self.origin.get();
        let mut open = self.open.borrow_mut();
        self.close_until(&mut open, at);
        let end = open.last_event + 1;
        if !self.timetable.is_over(open.start) && end > open.start {
            self.close(&mut open, end);
        }
    }
}
