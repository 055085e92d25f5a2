//! The coordinator of one trial's load: starts the workers together, merges their counts, and passes each interval on
//! as soon as every worker has closed it, or without those that stand still.

use std::collections::BTreeMap;
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use measure::{
    Edges, ErrorKey, Failure, Interval, LatencyHistogram, Phase, Tally, TimedTurn, nanos,
};
use net::{Clock, Nanos, Remote};

use crate::assignment::Assignment;
use crate::control::{Control, Message};
use crate::open_intervals::OpenIntervals;
use crate::outages::Outages;
use crate::quiet::Quiet;
use crate::worker::spawn;
use crate::{
    ClientOutcome, Load, LoadEnd, OfferedLoad, Outcome, Stop, TrialError, TrialObserver, Workers,
};

/// How often the coordinator checks the clock and `stop`.
const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Runs `load` with the settings of `offer`, until it is over or `stop` is requested.
///
/// # Errors
/// When a client cannot start, or `observer` cannot store the results.
///
/// # Panics
/// When a client panics.
pub fn offer(
    offer: &OfferedLoad,
    load: &dyn Load,
    stop: &Stop,
    observer: &mut dyn TrialObserver,
) -> Result<Outcome, TrialError> {
    let workers = offer.threads();
    let control = Arc::new(Control::new(offer, stop.clone()));
    if offer.workers == Workers::Simulated {
        // In virtual time clients are ready at once and start at 0.
        control.start_at(0);
    }
    let origin = net::origin();
    let (out, inbox) = mpsc::channel();
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(workers);
        let started = (0..workers).try_for_each(|worker| {
            let assignment = Assignment {
                worker,
                workers,
                offer,
                load,
                control: Arc::clone(&control),
                out: out.clone(),
            };
            threads.push(spawn(scope, assignment, load, origin)?);
            Ok(())
        });
        drop(out);
        let result = match started {
            Ok(()) => {
                let (operations, clock) = (load.operations().len(), Clock::since(origin));
                Coordinator::new(offer, operations, &control, clock, observer).run(&inbox)
            }
            Err(cause) => Err((TrialError::Thread { workers, cause }, Vec::new())),
        };
        if result.is_err() {
            control.abandon();
        }
        finish(threads, &inbox, result)
    })
}

/// Waits for the workers to end, and wakes those that sleep.
fn finish(
    threads: Vec<ScopedJoinHandle<'_, Result<(), Failure>>>,
    inbox: &Receiver<Message>,
    result: Result<Outcome, (TrialError, Vec<Remote>)>,
) -> Result<Outcome, TrialError> {
    let result = result.map_err(|(error, remotes)| {
        for remote in remotes {
            remote.wake();
        }
        error
    });
    // A worker that starts only now sleeps until it is woken up.
    for message in inbox {
        if let Message::Up { remote, .. } = message {
            remote.wake();
        }
    }
    for thread in threads {
        thread
            .join()
            .unwrap_or_else(|cause| panic::resume_unwind(cause))
            .map_err(TrialError::Loop)?;
    }
    result
}

struct Coordinator<'a> {
    offer: &'a OfferedLoad,
    control: &'a Control,
    clock: Clock,
    observer: &'a mut dyn TrialObserver,
    remotes: Vec<Option<Remote>>,
    /// Workers whose clients are all connected.
    ready: usize,
    started_at: Option<Nanos>,
    phase: Option<Phase>,
    intervals: OpenIntervals,
    clients: Vec<ClientOutcome>,
    first_failure: Option<Failure>,
    edges: Edges,
    /// Times in which no transaction of any worker so far succeeded; `None` before the first worker is done.
    quiet: Option<Quiet>,
    /// Transactions that succeeded and that failed, and the errors, warm-up included.
    successes: u64,
    failed: u64,
    errors: BTreeMap<ErrorKey, u64>,
    /// How long no transaction succeeded in the window, and whether that lasted to its end.
    stalled: (Nanos, bool),
    /// The end of the last interval.
    window_end: Nanos,
    has_ended: bool,
    lateness: LatencyHistogram,
    start_delays: LatencyHistogram,
    turns: Vec<TimedTurn>,
    outages: Outages,
    disconnected: Option<Failure>,
    crash: Option<String>,
    was_stopped: bool,
    /// Whether the backlog limit was reached.
    is_overloaded: bool,
    /// The number of arrivals that waited when the trial ended early.
    backlog: u64,
}

impl<'a> Coordinator<'a> {
    fn new(
        offer: &'a OfferedLoad,
        operations: usize,
        control: &'a Control,
        clock: Clock,
        observer: &'a mut dyn TrialObserver,
    ) -> Self {
        let workers = offer.threads();
        Self {
            offer,
            control,
            clock,
            observer,
            remotes: vec![None; workers],
            ready: 0,
            started_at: (offer.workers == Workers::Simulated).then_some(0),
            phase: None,
            intervals: OpenIntervals::new(workers, offer.interval),
            clients: vec![ClientOutcome::default(); offer.clients],
            first_failure: None,
            edges: Edges::new(operations),
            quiet: None,
            successes: 0,
            failed: 0,
            errors: BTreeMap::new(),
            stalled: (0, false),
            window_end: 0,
            has_ended: false,
            lateness: LatencyHistogram::new(),
            start_delays: LatencyHistogram::new(),
            turns: Vec::new(),
            outages: Outages::default(),
            disconnected: None,
            crash: None,
            was_stopped: false,
            is_overloaded: false,
            backlog: 0,
        }
    }

    fn run(mut self, inbox: &Receiver<Message>) -> Result<Outcome, (TrialError, Vec<Remote>)> {
        match self.follow(inbox) {
            Ok(()) => Ok(self.outcome()),
            Err(error) => Err((error, self.remotes.into_iter().flatten().collect())),
        }
    }

    fn follow(&mut self, inbox: &Receiver<Message>) -> Result<(), TrialError> {
        while self.intervals.has_running() {
            match inbox.recv_timeout(self.poll_period()) {
                Ok(message) => self.on_message(message)?,
                Err(RecvTimeoutError::Timeout) => {}
                // A worker that ended without a message has failed; joining it returns why.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.poll_state()?;
        }
        self.hand_on()?;
        let quiet = self.quiet.take().filter(|_| !self.offer.runs_once).unwrap_or_default();
        let (start, end) = (self.control.window.start_or_never(), self.window_end);
        let own = self.observer.own_stalls();
        self.stalled = self.outages.add_stalls(&quiet, &own, (start, end), self.successes);
        let drain = std::mem::take(&mut self.edges.drain);
        self.count(&drain);
        self.edges.drain = drain;
        self.report_outages()?;
        self.end_window()
    }

    /// Until the next check of the clock: not much longer than to the end of the window.
    fn poll_period(&self) -> Duration {
        let left = self.started_at.filter(|_| !self.has_ended && !self.is_virtual()).map(|start| {
            let end = start.saturating_add(self.control.end());
            Duration::from_nanos(end.saturating_sub(self.clock.now()))
        });
        left.map_or(POLL_PERIOD, |left| left.min(POLL_PERIOD))
    }

    fn is_virtual(&self) -> bool {
        self.offer.workers == Workers::Simulated
    }

    /// Tells the observer once that the measured window is over.
    fn end_window(&mut self) -> Result<(), TrialError> {
        if self.phase.is_some() && !std::mem::replace(&mut self.has_ended, true) {
            self.observer.ends()?;
        }
        Ok(())
    }

    fn on_message(&mut self, message: Message) -> Result<(), TrialError> {
        match message {
            Message::Up { worker, remote } => self.remotes[worker] = Some(remote),
            Message::Ready => self.ready += 1,
            Message::Failed { client, failure, before_start: true } => {
                self.check_for_crash()?;
                return Err(TrialError::Start { client, clients: self.offer.clients, failure });
            }
            Message::Failed { failure, .. } => {
                self.first_failure.get_or_insert(failure);
            }
            Message::Connection { at, event } => self.outages.on_event(at, event),
            Message::Disconnected { failure } => {
                self.disconnected.get_or_insert(failure);
                self.wake_all();
            }
            Message::Overloaded { backlog } => {
                self.backlog += backlog;
                self.is_overloaded = true;
                self.wake_all();
            }
            Message::Backlog { backlog } => self.backlog += backlog,
            Message::Closed { worker, index, interval, seen } => {
                if let Some(late) = self.intervals.close(worker, index, *interval) {
                    self.count(&late.tally);
                    self.observer.part(&late, &[])?;
                }
                self.hand_on()?;
                drop(seen);
            }
            Message::Done {
                worker,
                first_client,
                clients,
                edges,
                lateness,
                start_delays,
                quiet,
                turns,
            } => {
                self.intervals.done(worker);
                self.edges.merge(&edges);
                self.lateness.merge(&lateness);
                self.start_delays.merge(&start_delays);
                self.turns.extend(turns);
                let others = self.quiet.take();
                self.quiet = Some(others.map_or(quiet.clone(), |others| others.and(&quiet)));
                self.clients[first_client..][..clients.len()].clone_from_slice(&clients);
            }
        }
        self.hand_on()
    }

    /// Passes on all intervals that all workers have closed.
    fn hand_on(&mut self) -> Result<(), TrialError> {
        while let Some(interval) = self.intervals.take_whole() {
            self.pass_on(&interval, &[])?;
        }
        Ok(())
    }

    /// Passes on an interval without these workers, which have not closed it.
    fn pass_on(&mut self, interval: &Interval, missing: &[usize]) -> Result<(), TrialError> {
        self.count(&interval.tally);
        self.window_end = interval.end_ns;
        self.enter(interval.phase)?;
        match missing {
            [] => self.observer.interval(interval)?,
            missing => self.observer.part(interval, missing)?,
        }
        if self.observer.has_enough() {
            self.end_phase(interval.phase);
        }
        self.report_outages()
    }

    /// Ends a phase of which the observer has seen enough, if it may.
    fn end_phase(&self, phase: Phase) {
        match phase {
            Phase::WarmUp => self.control.window.end_warm_up(),
            _ if self.offer.ends.measured => self.control.window.end_measuring(),
            _ => {}
        }
    }

    fn count(&mut self, tally: &Tally) {
        self.successes += tally.transactions;
        self.failed += tally.failed_transactions;
        for (key, counts) in &tally.errors {
            *self.errors.entry(key.clone()).or_default() += counts.total();
        }
    }

    fn report_outages(&mut self) -> Result<(), TrialError> {
        match self.outages.changed() {
            Some(outages) => Ok(self.observer.outages(outages)?),
            None => Ok(()),
        }
    }

    /// Checks the clock, the stop flag and the system under test.
    fn poll_state(&mut self) -> Result<(), TrialError> {
        if self.control.stop.is_asked() {
            self.was_stopped = true;
            if self.started_at.is_none() {
                return Err(TrialError::Interrupted);
            }
            self.wake_all();
        }
        self.check_for_crash()?;
        let now = self.clock.now();
        match self.started_at {
            None if self.ready == self.remotes.len() => {
                self.observer.ready()?;
                let now = self.clock.now();
                self.control.start_at(now);
                self.started_at = Some(now);
                self.wake_all();
                let has_warm_up = !self.offer.warm_up.is_zero();
                self.enter(if has_warm_up { Phase::WarmUp } else { Phase::Measure })
            }
            None if now > nanos(self.offer.connect_timeout) => Err(TrialError::StartTimeout {
                clients: self.offer.clients,
                timeout: self.offer.connect_timeout,
            }),
            Some(start) if !self.is_virtual() => self.keep_time(now - start),
            _ => Ok(()),
        }
    }

    /// Begins and ends the measured window on time, and passes on what workers that stand still hold up.
    fn keep_time(&mut self, at: Nanos) -> Result<(), TrialError> {
        while let Some((interval, missing)) = self.intervals.take_overdue(at) {
            self.pass_on(&interval, &missing)?;
        }
        let end = self.control.end();
        if at.min(end) >= self.control.window.start_or_never() {
            self.enter(Phase::Measure)?;
        }
        if at >= end && !self.has_ended {
            self.wake_all();
            self.end_window()?;
        }
        Ok(())
    }

    /// Ends the trial at once when the system under test has exited.
    fn check_for_crash(&mut self) -> Result<(), TrialError> {
        if self.crash.is_some() || self.was_stopped {
            return Ok(());
        }
        let Some(reason) = self.observer.crash() else { return Ok(()) };
        if self.started_at.is_none() {
            return Err(TrialError::Crashed(reason));
        }
        self.crash = Some(reason);
        if let Some(start) = self.started_at.filter(|_| !self.is_virtual()) {
            self.control.end_at(self.clock.now() - start);
        }
        self.control.abandon();
        self.wake_all();
        Ok(())
    }

    fn enter(&mut self, phase: Phase) -> Result<(), TrialError> {
        if self.phase.is_none_or(|now| now < phase) {
            self.phase = Some(phase);
            self.observer.begins(phase)?;
        }
        Ok(())
    }

    fn wake_all(&self) {
        for remote in self.remotes.iter().flatten() {
            remote.wake();
        }
    }

    fn outcome(mut self) -> Outcome {
        self.turns.sort_by_key(|turn| (turn.start_ns, turn.client));
        let all_failed = self.clients.iter().all(|client| client.failure.is_some());
        let by_plan = self.end_by_plan();
        let ended = if let Some(reason) = self.crash {
            LoadEnd::Crashed(reason)
        } else if self.was_stopped {
            LoadEnd::Interrupted
        } else if let Some(failure) = self.disconnected {
            LoadEnd::Disconnected(failure)
        } else {
            match (self.first_failure, self.is_overloaded) {
                (_, true) => LoadEnd::Overloaded { backlog: self.backlog },
                (Some(failure), _) if all_failed => LoadEnd::AllClientsFailed(failure),
                _ => by_plan,
            }
        };
        Outcome {
            ended,
            clients: self.clients,
            edges: self.edges,
            lateness: self.lateness,
            start_delays: self.start_delays,
            turns: self.turns,
        }
    }

    /// The end of a load that ran as long as planned: it is complete if transactions succeeded for most of it.
    fn end_by_plan(&self) -> LoadEnd {
        let start = self.control.window.start().unwrap_or(self.window_end);
        let window_ns = self.window_end.saturating_sub(start);
        let (stalled_ns, is_open) = self.stalled;
        if self.successes == 0 {
            let most = self.errors.iter().max_by_key(|(_, count)| **count);
            LoadEnd::NoSuccess { failed: self.failed, error: most.map(|(key, _)| key.clone()) }
        } else if is_open || stalled_ns * 2 >= window_ns.max(1) {
            LoadEnd::Stalled { stalled_ns, window_ns }
        } else {
            LoadEnd::Complete
        }
    }
}
