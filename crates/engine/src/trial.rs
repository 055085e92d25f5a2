//! The coordinator of one trial's load: starts the workers together, merges their counts, and passes each interval on
//! as soon as every worker has closed it.

use std::collections::BTreeMap;
use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use measure::{Failure, Interval, LatencyHistogram, Outage, Phase, QueryCounts, Unfinished, nanos};
use net::{Clock, Nanos, Remote};
use plan::Limit;

use crate::assignment::Assignment;
use crate::control::{Control, Message};
use crate::offer::Timetable;
use crate::outages::Outages;
use crate::worker::work;
use crate::{ClientOutcome, Load, LoadEnd, OfferedLoad, Outcome, Stop, TrialError, Workers};

/// How often the coordinator checks the clock and `stop`.
const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Receives the results of a trial while it runs.
pub trait TrialObserver {
    /// All clients are ready, and none has started. Not called in virtual time.
    ///
    /// # Errors
    /// When the observer cannot continue; the trial ends.
    fn ready(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Load of this phase begins: [`Phase::WarmUp`] or [`Phase::Measure`].
    ///
    /// # Errors
    /// When the observer cannot continue; the trial ends.
    fn begins(&mut self, phase: Phase) -> io::Result<()>;

    /// An interval is closed and merged over all workers; they come in order.
    ///
    /// # Errors
    /// When it cannot store the interval, such as on a full disk; the trial ends.
    fn interval(&mut self, interval: &Interval) -> io::Result<()>;

    /// All outages so far. Called after an interval in which they have changed, and once more before the end.
    ///
    /// # Errors
    /// When it cannot store them; the trial ends.
    fn outages(&mut self, _outages: &[Outage]) -> io::Result<()> {
        Ok(())
    }

    /// The measured load is over.
    ///
    /// # Errors
    /// When the observer cannot continue.
    fn ends(&mut self) -> io::Result<()>;

    /// The reason why the system under test has exited, if it has; this ends the trial at once. Called several times
    /// a second.
    fn crash(&mut self) -> Option<String> {
        None
    }
}

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
    let events = match offer.limit {
        Limit::Events(events) => Some(events),
        Limit::Time(_) => None,
    };
    let control = Arc::new(Control::new(events, stop.clone()));
    if offer.workers == Workers::Simulated {
        // In virtual time clients are ready at once and start at 0.
        control.start_at(0);
    }
    let origin = net::origin();
    let (out, inbox) = mpsc::channel();
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(workers);
        for worker in 0..workers {
            let assignment = Assignment {
                worker,
                workers,
                offer,
                operations: load.operations(),
                timetable: Timetable::of(offer),
                control: Arc::clone(&control),
                out: out.clone(),
            };
            let is_simulated = offer.workers == Workers::Simulated;
            threads.push(scope.spawn(move || {
                let clock = if is_simulated { Clock::simulated() } else { Clock::since(origin) };
                work(&assignment, load, clock)
            }));
        }
        drop(out);
        let clock = Clock::since(origin);
        let coordinator = Coordinator::new(offer, workers, &control, clock, observer);
        let result = coordinator.run(&inbox);
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
    done: Vec<bool>,
    /// For each worker, how many intervals it has closed.
    closed: Vec<usize>,
    open: BTreeMap<usize, Interval>,
    handed_on: usize,
    clients: Vec<ClientOutcome>,
    first_failure: Option<Failure>,
    unfinished: Unfinished,
    late_queries: QueryCounts,
    lateness: LatencyHistogram,
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
        workers: usize,
        control: &'a Control,
        clock: Clock,
        observer: &'a mut dyn TrialObserver,
    ) -> Self {
        Self {
            offer,
            control,
            clock,
            observer,
            remotes: vec![None; workers],
            ready: 0,
            started_at: (offer.workers == Workers::Simulated).then_some(0),
            phase: None,
            done: vec![false; workers],
            closed: vec![0; workers],
            open: BTreeMap::new(),
            handed_on: 0,
            clients: vec![ClientOutcome::default(); offer.clients],
            first_failure: None,
            unfinished: Unfinished::default(),
            late_queries: QueryCounts::default(),
            lateness: LatencyHistogram::new(),
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
        while self.done.contains(&false) {
            match inbox.recv_timeout(POLL_PERIOD) {
                Ok(message) => self.on_message(message)?,
                Err(RecvTimeoutError::Timeout) => {}
                // A worker that ended without a message has failed; joining it returns why.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.poll_state()?;
        }
        self.hand_on()?;
        self.report_outages()?;
        if self.phase.is_some() {
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
            Message::Closed { worker, index, interval } => {
                self.closed[worker] = index + 1;
                self.merge(index, *interval);
            }
            Message::Done { worker, first_client, clients, unfinished, lateness, late_queries } => {
                self.late_queries.add(late_queries);
                self.done[worker] = true;
                self.unfinished.merge(&unfinished);
                self.lateness.merge(&lateness);
                self.clients[first_client..][..clients.len()].clone_from_slice(&clients);
            }
        }
        self.hand_on()
    }

    fn merge(&mut self, index: usize, interval: Interval) {
        match self.open.get_mut(&index) {
            None => {
                self.open.insert(index, interval);
            }
            Some(merged) => {
                merged.end_ns = merged.end_ns.max(interval.end_ns);
                merged.tally.merge(&interval.tally);
            }
        }
    }

    /// Passes on all intervals that all workers have closed.
    fn hand_on(&mut self) -> Result<(), TrialError> {
        while let Some(entry) = self.open.first_entry() {
            let index = *entry.key();
            let is_whole = self.handed_on == index && self.closed_by_all(index);
            if !is_whole {
                break;
            }
            let Some((_, interval)) = self.open.pop_first() else { break };
            self.handed_on += 1;
            self.enter(interval.phase)?;
            self.observer.interval(&interval)?;
            self.report_outages()?;
        }
        Ok(())
    }

    fn report_outages(&mut self) -> Result<(), TrialError> {
        match self.outages.changed() {
            Some(outages) => Ok(self.observer.outages(outages)?),
            None => Ok(()),
        }
    }

    fn closed_by_all(&self, index: usize) -> bool {
        self.closed.iter().zip(&self.done).all(|(closed, done)| *done || *closed > index)
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
            Some(start)
                if self.offer.workers != Workers::Simulated
                    && now >= start.saturating_add(nanos(self.offer.warm_up)) =>
            {
                self.enter(Phase::Measure)
            }
            _ => Ok(()),
        }
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

    fn outcome(self) -> Outcome {
        let all_failed = self.clients.iter().all(|client| client.failure.is_some());
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
                _ => LoadEnd::Complete,
            }
        };
        Outcome {
            ended,
            clients: self.clients,
            unfinished: self.unfinished,
            late_queries: self.late_queries,
            lateness: self.lateness,
        }
    }
}
