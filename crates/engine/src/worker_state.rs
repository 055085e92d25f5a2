//! The state that the clients of one worker share: their tally and their current transactions.

mod counting;
mod end;
mod slowing;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use measure::{
    Disposition, Edges, ErrorClass, Failure, FailureExamples, Interval, LatencyHistogram,
    OperationId, OperationKind, QueryCounts, Tally, TimedTurn, Traffic, nanos,
};
use net::{Gate, Handle, Nanos};

use crate::assignment::Assignment;
use crate::control::{Control, Message};
use crate::levers::WorkerLevers;
use crate::outages::ConnectionEvent;
use crate::pacing::Pacer;
use crate::quiet::{QUIET_MIN_NS, Quiet, QuietTime};
use crate::report::UnitReport;
use crate::{NextStart, Turn};
use counting::{Counted, Open};

/// The state of one client that every event changes. It is small, so that the clients of a worker fit into
/// the processor's caches.
#[derive(Clone, Default)]
struct Client {
    events: u64,
    turn: Option<Turn>,
    failure: Option<Failure>,
}

/// The successes of a worker, to find times without any.
#[derive(Default)]
struct Successes {
    /// The last one, on the trial's clock.
    last: Cell<Nanos>,
    /// Since when transactions had waited that failed after the last success.
    failed_since: Cell<Option<Nanos>>,
    quiet: RefCell<Quiet>,
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
    /// How long the last of a limited number of turns may take.
    last_turn_ns: Nanos,
    worker: usize,
    control: Arc<Control>,
    kinds: Vec<OperationKind>,
    open: RefCell<Open>,
    clients: RefCell<Vec<Client>>,
    preparing: Cell<usize>,
    /// The trial's 0 on this worker's clock.
    origin: Cell<Nanos>,
    edges: RefCell<Edges>,
    successes: Successes,
    /// Start delays of measured turns for which a client was waiting.
    lateness: RefCell<LatencyHistogram>,
    /// Start delays of all turns that were due in the window, in an open loop.
    start_delays: RefCell<LatencyHistogram>,
    failures: RefCell<FailureExamples>,
    /// When each turn ran; `None` where that is not kept.
    turns: Option<RefCell<Vec<TimedTurn>>>,
    /// What clients waited for when they were given up.
    waited_for: RefCell<Vec<(usize, String)>>,
    /// Whether the coordinator has got the backlog at the end.
    has_reported_backlog: Cell<bool>,
    /// Slow-downs that are switched while load runs.
    levers: Option<Box<WorkerLevers>>,
    /// The clients of the whole load.
    all_clients: usize,
    /// Intervals that a part with a share of transactions reports when it knows where its share ends.
    held: RefCell<Vec<(usize, Interval)>>,
    out: Sender<Message>,
}

impl WorkerState {
    pub(crate) fn new(assignment: &Assignment<'_>, handle: Handle) -> Self {
        let Assignment { worker, workers, offer, operations, .. } = *assignment;
        let clients = &assignment.clients;
        Self {
            handle,
            gate: Gate::default(),
            pacer: Pacer::new(&offer.pacing, worker, workers),
            reconnect_limit_ns: offer.reconnect_limit.map(nanos),
            first_client: clients.start,
            drain_timeout_ns: nanos(offer.drain_timeout),
            last_turn_ns: if offer.runs_once { Nanos::MAX } else { nanos(offer.drain_timeout) },
            worker,
            control: Arc::clone(&assignment.control),
            open: RefCell::new(Open {
                index: 0,
                start: 0,
                end: assignment.control.window.enter_interval(0),
                last_event: 0,
                tally: Tally::new(operations.len()),
                waiting: 0,
                pending: QueryCounts::default(),
            }),
            kinds: operations.iter().map(|operation| operation.kind).collect(),
            clients: RefCell::new(vec![Client::default(); clients.len()]),
            preparing: Cell::new(clients.len()),
            origin: Cell::new(0),
            edges: RefCell::new(Edges::new(operations.len())),
            successes: Successes::default(),
            lateness: RefCell::default(),
            start_delays: RefCell::default(),
            failures: RefCell::default(),
            turns: offer.runs_once.then(RefCell::default),
            waited_for: RefCell::default(),
            has_reported_backlog: Cell::new(false),
            levers: offer.levers.as_ref().map(|levers| Box::new(WorkerLevers::new(levers))),
            all_clients: offer.clients,
            held: RefCell::default(),
            out: assignment.out.clone(),
        }
    }

    /// Notes that one more client waits for the start.
    pub(crate) fn ready(&self) {
        self.preparing.set(self.preparing.get() - 1);
        if self.preparing.get() == 0 {
            self.send(UnitReport::Ready);
        }
    }

    /// The latest time at which a turn may start, on the worker's clock.
    pub(crate) fn latest_start(&self) -> Nanos {
        self.origin.get().saturating_add(self.control.end())
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

    /// Starts the turn unless the load ends before it; returns whether the client is in the turn now. An arrival that the
    /// end cuts off is counted as unsent.
    #[inline]
    pub(crate) fn admit(&self, local: usize, turn: Turn) -> bool {
        let origin = self.origin.get();
        let at = turn.started_ns - origin;
        if self.control.stop.is_asked() {
            self.control.stop_at(at);
        }
        if self.control.waits_for_observer {
            self.catch_up(at);
        }
        let end = self.control.end();
        if turn.intended_ns - origin >= end {
            return false;
        }
        if at >= end {
            // A client woke too late for it.
            if self.pacer.is_open() {
                self.is_unsent(turn.intended_ns - origin, end);
            }
            return false;
        }
        if !self.is_warm_up(turn.intended_ns) && !self.control.begins(at) {
            return false;
        }
        self.clients.borrow_mut()[local].turn = Some(turn);
        if self.pacer.is_open() {
            self.arrived(turn, at);
        }
        true
    }

    fn arrived(&self, turn: Turn, at: Nanos) {
        self.catch_up(at);
        self.open.borrow_mut().tally.arrivals += 1;
        if turn.intended_ns < turn.started_ns {
            self.check_backlog(at);
        }
    }

    /// Records the start delay of a turn. The load generator causes the delay of one that was waited for, for which
    /// the client was idle; the others also waited for a client.
    #[inline]
    pub(crate) fn started(&self, turn: Turn, was_waited_for: bool) {
        if !self.pacer.is_open() || self.is_warm_up(turn.intended_ns) {
            return;
        }
        let delay_ns = turn.started_ns - turn.intended_ns;
        self.start_delays.borrow_mut().record(delay_ns);
        if was_waited_for {
            self.lateness.borrow_mut().record(delay_ns);
        }
    }

    fn check_backlog(&self, at: Nanos) {
        if at < self.control.end()
            && !self.has_reported_backlog.get()
            && let Some(backlog) = self.pacer.overload(at)
        {
            self.control.end_all_at(at);
            self.has_reported_backlog.set(true);
            self.send(UnitReport::Overloaded { backlog });
        }
    }

    /// Counts a success that ends now, and returns when that is.
    #[inline]
    pub(crate) fn finish(&self, local: usize, turn: Turn, operation: OperationId) -> Nanos {
        let now = self.handle.now();
        let kind = self.kinds[usize::from(operation.0)];
        let is_open = self.pacer.is_open();
        let counted = self.counting_turn(now, turn.intended_ns, |tally| {
            tally.success(operation, kind, now - turn.intended_ns);
            if is_open {
                tally.service(operation, now - turn.started_ns);
            }
        });
        self.succeeded(now - self.origin.get());
        self.keep_turn(local, turn, (operation, now), false);
        self.leave(local, turn, now, counted);
        self.clients.borrow_mut()[local].events += u64::from(counted == Counted::Measured);
        now
    }

    pub(crate) fn fail(
        &self,
        local: usize,
        turn: Turn,
        operation: OperationId,
        failure: &Failure,
        how: Disposition,
    ) {
        let key = &failure.key;
        self.failures.borrow_mut().add(failure);
        let now = self.handle.now();
        let kind = self.kinds[usize::from(operation.0)];
        let counted = self.counting_turn(now, turn.intended_ns, |tally| {
            let latency = now - turn.intended_ns;
            if key.class == ErrorClass::Timeout {
                tally.timeout(operation, kind, latency);
            } else {
                tally.failure(operation, kind, latency);
            }
            tally.error(key, how);
        });
        let since = turn.started_ns - self.origin.get();
        let failed_since = &self.successes.failed_since;
        failed_since.set(failed_since.get().into_iter().chain([since]).min());
        self.keep_turn(local, turn, (operation, now), true);
        self.leave(local, turn, now, counted);
    }

    /// Keeps the times of a turn that ends `now`, where they are kept.
    #[inline]
    fn keep_turn(
        &self,
        local: usize,
        turn: Turn,
        (operation, now): (OperationId, Nanos),
        is_failed: bool,
    ) {
        if let Some(turns) = &self.turns {
            let origin = self.origin.get();
            turns.borrow_mut().push(TimedTurn {
                client: self.first_client + local,
                operation,
                start_ns: turn.started_ns - origin,
                end_ns: now - origin,
                is_failed,
            });
        }
    }

    /// Ends a turn, and notes how long it was on the other side of an edge of the measured window.
    #[inline]
    fn leave(&self, local: usize, turn: Turn, now: Nanos, counted: Counted) {
        self.clients.borrow_mut()[local].turn = None;
        let due = turn.intended_ns - self.origin.get();
        let warm_up = self.control.window.start_or_never();
        if counted == Counted::Measured && due < warm_up {
            self.edges.borrow_mut().busy_before_ns += warm_up - due;
        } else if counted == Counted::Drain {
            // Another worker that ends the window with the last of a limited number may not have set its end yet.
            let end = self.control.end().min(now - self.origin.get());
            self.edges.borrow_mut().busy_after_ns += end.saturating_sub(due.max(warm_up));
        }
    }

    /// Notes a success at `at` on the trial's clock, and the time without one before it if that was long.
    #[inline]
    fn succeeded(&self, at: Nanos) {
        let last = self.successes.last.replace(at);
        if at - last >= QUIET_MIN_NS {
            self.was_quiet(last, Some(at));
        }
        self.successes.failed_since.set(None);
    }

    /// Notes a time without a success, on the trial's clock.
    #[cold]
    fn was_quiet(&self, start: Nanos, end: Option<Nanos>) {
        let origin = self.origin.get();
        let clients = self.clients.borrow();
        let turns = clients.iter().filter_map(|client| client.turn);
        let failed_since = self.successes.failed_since.get();
        let waits_since = turns.map(|turn| turn.started_ns - origin).chain(failed_since).min();
        self.successes.quiet.borrow_mut().push(QuietTime { start, end, waits_since });
    }

    /// Notes a transaction that was due at `due` and not sent before the window's end.
    #[cold]
    fn is_unsent(&self, due: Nanos, end: Nanos) {
        let mut edges = self.edges.borrow_mut();
        let warm_up = self.control.window.start_or_never();
        if due >= warm_up {
            edges.unsent.record(end - due);
        }
        edges.busy_after_ns += end.saturating_sub(due.max(warm_up));
    }

    #[inline]
    fn is_warm_up(&self, time: Nanos) -> bool {
        self.control.window.is_warm_up(time - self.origin.get())
    }

    pub(crate) fn retry(&self, failure: &Failure) {
        let now = self.handle.now();
        self.failures.borrow_mut().add(failure);
        self.counting_at(now, now, |tally| tally.error(&failure.key, Disposition::Retried));
    }

    #[inline]
    pub(crate) fn statement(&self, operation: OperationId, started: Nanos) {
        let kind = self.kinds[usize::from(operation.0)];
        let now = self.handle.now();
        self.counting_at(now, started, |tally| tally.success(operation, kind, now - started));
    }

    pub(crate) fn statement_failed(
        &self,
        operation: OperationId,
        started: Nanos,
        class: ErrorClass,
    ) {
        let kind = self.kinds[usize::from(operation.0)];
        let now = self.handle.now();
        self.counting_at(now, started, |tally| match class {
            ErrorClass::Timeout => tally.timeout(operation, kind, now - started),
            _ => tally.failure(operation, kind, now - started),
        });
    }

    /// A client's connection broke; without a reconnect limit this ends the trial.
    pub(crate) fn lost(&self, local: usize, failure: &Failure) {
        let now = self.handle.now();
        let turn = self.clients.borrow()[local].turn;
        let since = turn.map_or(now, |turn| turn.started_ns) - self.origin.get();
        self.emit(ConnectionEvent::Lost { since });
        let at = now - self.origin.get();
        if self.reconnect_limit_ns.is_none() && at < self.control.end() {
            self.control.end_all_at(at);
            self.send(UnitReport::Disconnected { failure: failure.clone() });
        }
    }

    /// A client has a connection again, to another server than before if it has moved.
    pub(crate) fn reconnected(&self, is_moved: bool) {
        let now = self.handle.now();
        self.counting_at(now, now, |tally| {
            tally.reconnects += 1;
            tally.moves += u64::from(is_moved);
        });
        self.emit(ConnectionEvent::Reconnected);
    }

    /// As [`WorkerState::reconnected`], where the system was not away.
    #[cold]
    pub(crate) fn replaced_idle_connection(&self, is_moved: bool) {
        let now = self.handle.now();
        self.counting_at(now, now, |tally| {
            tally.reconnects += 1;
            tally.idle_reconnects += 1;
            tally.moves += u64::from(is_moved);
        });
    }

    pub(crate) fn back(&self) {
        self.emit(ConnectionEvent::Back);
    }

    fn emit(&self, event: ConnectionEvent) {
        let at = self.handle.now() - self.origin.get();
        self.send(UnitReport::Connection { at, event });
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

    pub(crate) fn send(&self, report: UnitReport) {
        self.send_until_seen(report, None);
    }

    /// Sends a report; `seen` is dropped when the observer has seen it.
    fn send_until_seen(&self, report: UnitReport, seen: Option<Sender<()>>) {
        // The coordinator may have ended; then the message is not needed.
        let _ = self.out.send(Message::Report { worker: self.worker, report, seen });
    }

    /// Called in every turn of the loop: handles the start, the end and intervals that no event closes.
    /// Returns when it must be called again at the latest, or `None` to end at once.
    pub(crate) fn tick(&self) -> Option<Nanos> {
        if self.control.is_cut_short() {
            return None;
        }
        if !self.gate.is_open() {
            if let Some(start) = self.control.started() {
                if self.handle.now() < start {
                    return Some(start);
                }
                self.origin.set(start);
                self.gate.open(&self.handle);
            }
            return Some(Nanos::MAX);
        }
        let at = self.handle.now() - self.origin.get();
        if self.control.stop.is_asked() {
            self.control.stop_at(at);
        }
        self.switch_levers(at);
        self.check_backlog(at);
        let answered_until = self.control.spent_at().saturating_add(self.last_turn_ns);
        if at >= answered_until {
            self.control.give_up();
        }
        self.close_until(&mut self.open.borrow_mut(), at);
        let end = self.control.end();
        if at < end {
            let next = self.open.borrow().end.min(end).min(answered_until);
            return Some(self.origin.get().saturating_add(next));
        }
        self.report_backlog(end);
        let deadline = end.saturating_add(self.drain_ns());
        let waits = at < deadline && self.is_anyone_in_turn();
        waits.then(|| self.origin.get().saturating_add(deadline))
    }

    pub(crate) fn client_failed(&self, local: usize, failure: Failure) {
        let before_start = !self.gate.is_open();
        self.clients.borrow_mut()[local].failure = Some(failure.clone());
        self.send(UnitReport::Failed { client: self.first_client + local, failure, before_start });
    }
}
