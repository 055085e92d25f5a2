//! One thread of load: an event loop, its clients and the tally that they fill together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use measure::{
    Disposition, ErrorKey, Failure, Interval, OperationId, OperationKind, Phase, Tally, Traffic,
};
use net::{Clock, Gate, Handle, Nanos, Remote, Runtime};

use crate::crew::event_loop_failure;
use crate::offer::Timetable;
use crate::{ClientOutcome, Load, Pacing, Seat, Stop, StopLevel, Unfinished};

/// The start has not been given yet.
const NOT_STARTED: Nanos = Nanos::MAX;

/// What the coordinator and all workers of a trial share.
pub(crate) struct Control {
    /// The trial's 0 on the workers' clock.
    start: AtomicU64,
    /// Transactions that may still start, when their number limits the load.
    budget: Option<AtomicI64>,
    pub(crate) stop: Stop,
    /// Ends this trial alone, as when a client cannot connect.
    abandoned: Stop,
}

impl Control {
    pub(crate) fn new(events: Option<u64>, stop: Stop) -> Self {
        let budget = events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX)));
        Self { start: AtomicU64::new(NOT_STARTED), budget, stop, abandoned: Stop::new() }
    }

    pub(crate) fn start_at(&self, at: Nanos) {
        self.start.store(at, Ordering::Release);
    }

    pub(crate) fn abandon(&self) {
        self.abandoned.ask();
    }

    fn started(&self) -> Option<Nanos> {
        let at = self.start.load(Ordering::Acquire);
        (at != NOT_STARTED).then_some(at)
    }

    fn is_cut_short(&self) -> bool {
        self.stop.level() == StopLevel::AtOnce
            || self.abandoned.is_asked()
            || (self.stop.is_asked() && self.started().is_none())
    }
}

/// What a worker tells the coordinator.
pub(crate) enum Message {
    /// The worker's loop is up and can be woken.
    Up { worker: usize, remote: Remote },
    /// All its clients are connected and wait for the start.
    Ready,
    /// A client could not go on.
    Failed { client: usize, failure: Failure, before_start: bool },
    /// Interval `index` is closed.
    Closed { worker: usize, index: usize, interval: Box<Interval> },
    /// The worker is done.
    Done { worker: usize, clients: Vec<(usize, ClientOutcome)>, unfinished: Unfinished },
}

/// The interval that is being filled.
struct Open {
    index: usize,
    start: Nanos,
    end: Nanos,
    /// When the last event that was counted ended.
    last_event: Nanos,
    tally: Tally,
}

#[derive(Clone, Default)]
struct Client {
    events: u64,
    in_turn_since: Option<Nanos>,
    failure: Option<Failure>,
}

/// What the seats of one worker share. One thread's own: no locks, no sharing.
pub(crate) struct Bench {
    pub(crate) handle: Handle,
    pub(crate) gate: Gate,
    pub(crate) pacing: Pacing,
    worker: usize,
    control: Arc<Control>,
    timetable: Timetable,
    kinds: Vec<OperationKind>,
    open: RefCell<Open>,
    clients: RefCell<Vec<Client>>,
    preparing: Cell<usize>,
    /// The trial's 0 on this worker's clock.
    origin: Cell<Nanos>,
    /// When turns ended for another reason than time, on the trial's clock.
    ended_early_at: Cell<Option<Nanos>>,
    out: Sender<Message>,
}

impl Bench {
    /// One more client waits for the start.
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

    /// Whether a turn may start now; notes it if so.
    #[inline]
    pub(crate) fn admit(&self, local: usize, now: Nanos) -> bool {
        let at = now - self.origin.get();
        if self.timetable.is_over(at) || self.control.stop.is_asked() {
            return false;
        }
        if let Some(budget) = &self.control.budget
            && !self.timetable.is_warm_up(at)
            && budget.fetch_sub(1, Ordering::Relaxed) <= 0
        {
            return false;
        }
        self.clients.borrow_mut()[local].in_turn_since = Some(now);
        true
    }

    #[inline]
    pub(crate) fn finish(&self, local: usize, started: Nanos, operation: OperationId) {
        let kind = self.kinds[usize::from(operation.0)];
        let is_measured = self.counting(|tally, now| tally.success(operation, kind, now - started));
        let client = &mut self.clients.borrow_mut()[local];
        client.in_turn_since = None;
        client.events += u64::from(is_measured);
        self.pay_for_straddler(started, is_measured);
    }

    /// A transaction that began in the warm-up and is measured takes its share of the budget when
    /// it ends, so that as many are measured as were asked for.
    #[inline]
    fn pay_for_straddler(&self, started: Nanos, is_measured: bool) {
        if let Some(budget) = &self.control.budget
            && is_measured
            && self.timetable.is_warm_up(started - self.origin.get())
        {
            budget.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn fail(
        &self,
        local: usize,
        started: Nanos,
        operation: OperationId,
        key: &ErrorKey,
        how: Disposition,
    ) {
        let kind = self.kinds[usize::from(operation.0)];
        self.counting(|tally, now| {
            tally.failure(operation, kind, now - started);
            tally.error(key, how);
        });
        self.clients.borrow_mut()[local].in_turn_since = None;
    }

    pub(crate) fn retry(&self, key: &ErrorKey) {
        self.counting(|tally, _| tally.error(key, Disposition::Retried));
    }

    #[inline]
    pub(crate) fn statement(&self, operation: OperationId, started: Nanos) {
        let kind = self.kinds[usize::from(operation.0)];
        self.counting(|tally, now| tally.success(operation, kind, now - started));
    }

    pub(crate) fn statement_failed(&self, operation: OperationId, started: Nanos) {
        let kind = self.kinds[usize::from(operation.0)];
        self.counting(|tally, now| tally.failure(operation, kind, now - started));
    }

    /// Counts into the interval that is open, without looking at the time.
    #[inline]
    pub(crate) fn count(&self, kind: OperationKind) {
        self.open.borrow_mut().tally.count(kind);
    }

    #[inline]
    pub(crate) fn traffic(&self, traffic: Traffic) {
        let tally = &mut self.open.borrow_mut().tally;
        tally.traffic.sent_bytes += traffic.sent_bytes;
        tally.traffic.received_bytes += traffic.received_bytes;
    }

    /// Lets `event` count what ended now, in the interval that now belongs to; what ends after the
    /// measured time is not counted. Whether it counted, and not for the warm-up.
    #[inline]
    fn counting(&self, event: impl FnOnce(&mut Tally, Nanos)) -> bool {
        let now = self.handle.now();
        let at = now - self.origin.get();
        let mut open = self.open.borrow_mut();
        if at >= open.end {
            self.close_until(&mut open, at);
            if self.timetable.is_over(at) {
                return false;
            }
        }
        open.last_event = at;
        event(&mut open.tally, now);
        !self.timetable.is_warm_up(at)
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

    fn send(&self, message: Message) {
        // A coordinator that is gone needs no news.
        let _ = self.out.send(message);
    }

    /// One look at the world between turns of the loop: the start, the end, intervals that no event
    /// closes. Returns when to look again at the latest, or `None` to end at once.
    fn tick(&self, drain_timeout_ns: Nanos) -> Option<Nanos> {
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
        match self.ended_at(at) {
            None => Some(self.origin.get().saturating_add(open.end)),
            Some(end) => {
                let deadline = end.saturating_add(drain_timeout_ns);
                let waits = at < deadline && self.is_anyone_in_turn();
                waits.then(|| self.origin.get().saturating_add(deadline))
            }
        }
    }

    /// When no more turns began to be given, if that has come: the measured time is over, the
    /// budget is spent, or someone asked for the end.
    fn ended_at(&self, at: Nanos) -> Option<Nanos> {
        if self.timetable.is_over(at) {
            return self.timetable.end_ns;
        }
        let is_spent =
            self.control.budget.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0);
        if self.ended_early_at.get().is_none() && (is_spent || self.control.stop.is_asked()) {
            self.ended_early_at.set(Some(at));
        }
        self.ended_early_at.get()
    }

    fn is_anyone_in_turn(&self) -> bool {
        self.clients.borrow().iter().any(|client| client.in_turn_since.is_some())
    }

    fn outcome(&self, first: usize, stride: usize) -> (Vec<(usize, ClientOutcome)>, Unfinished) {
        let now = self.handle.now();
        let mut unfinished = Unfinished::default();
        let clients = self.clients.borrow();
        let outcomes = clients.iter().enumerate().map(|(local, client)| {
            if let Some(since) = client.in_turn_since {
                unfinished.add(now - since);
            }
            let outcome = ClientOutcome { events: client.events, failure: client.failure.clone() };
            (first + local * stride, outcome)
        });
        (outcomes.collect(), unfinished)
    }
}

/// What a worker is made from.
pub(crate) struct Assignment<'a> {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) clients: usize,
    pub(crate) load: &'a dyn Load,
    pub(crate) pacing: Pacing,
    pub(crate) timetable: Timetable,
    pub(crate) drain_timeout_ns: Nanos,
    pub(crate) control: Arc<Control>,
    pub(crate) out: Sender<Message>,
}

impl Assignment<'_> {
    /// Works until the load is over. Client `i` sits on worker `i % workers`.
    pub(crate) fn work(self, clock: Clock) -> Result<(), Failure> {
        let mut runtime = Runtime::new(clock).map_err(|error| event_loop_failure(&error))?;
        let mine: Vec<usize> = (self.worker..self.clients).step_by(self.workers).collect();
        let bench = Rc::new(self.bench(runtime.handle(), mine.len()));
        bench.send(Message::Up { worker: self.worker, remote: runtime.remote() });
        for (local, index) in mine.into_iter().enumerate() {
            let client = self.load.client(index);
            let seat = Seat::new(index, local, Rc::clone(&bench));
            let bench = Rc::clone(&bench);
            runtime.spawn(async move {
                if let Err(failure) = client.run(seat).await {
                    bench.client_failed(index, local, failure);
                }
            });
        }
        let result = runtime.run(|| bench.tick(self.drain_timeout_ns));
        bench.close_last();
        let (clients, unfinished) = bench.outcome(self.worker, self.workers);
        bench.send(Message::Done { worker: self.worker, clients, unfinished });
        result.map_err(|error| event_loop_failure(&error))
    }

    fn bench(&self, handle: Handle, clients: usize) -> Bench {
        let kinds: Vec<_> = self.load.operations().iter().map(|operation| operation.kind).collect();
        Bench {
            handle,
            gate: Gate::default(),
            pacing: self.pacing,
            worker: self.worker,
            control: Arc::clone(&self.control),
            timetable: self.timetable,
            open: RefCell::new(Open {
                index: 0,
                start: 0,
                end: self.timetable.interval_end(0),
                last_event: 0,
                tally: Tally::new(kinds.len()),
            }),
            kinds,
            clients: RefCell::new(vec![Client::default(); clients]),
            preparing: Cell::new(clients),
            origin: Cell::new(0),
            ended_early_at: Cell::new(None),
            out: self.out.clone(),
        }
    }
}

impl Bench {
    fn client_failed(&self, index: usize, local: usize, failure: Failure) {
        let before_start = !self.gate.is_open();
        self.clients.borrow_mut()[local].failure = Some(failure.clone());
        self.send(Message::Failed { client: index, failure, before_start });
    }

    /// Closes what is open when all clients have ended: up to the end of the measured time when that
    /// has come, else up to the last event.
    fn close_last(&self) {
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
