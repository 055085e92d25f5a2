//! The coordinator of one trial's load: starts the units that offer it together, merges their counts, and passes each
//! interval on as soon as every unit has closed it, or without those that stand still.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{ErrorClass, ErrorKey, Failure, Interval, Phase, Tally, nanos};
use net::{Clock, Nanos};

use crate::control::Control;
use crate::open_intervals::OpenIntervals;
use crate::outages::Outages;
use crate::report::{PartEnd, UnitReport};
use crate::steering::{AllGone, Ending, Steering, Told};
use crate::{GeneratorEnd, LoadEnd, OfferedLoad, Outcome, TrialError, TrialObserver};

/// How often the clock and `stop` are checked.
pub(crate) const POLL_PERIOD: Duration = Duration::from_millis(20);

pub(crate) struct Coordinator<'a> {
    offer: &'a OfferedLoad,
    /// Phases and window; for units elsewhere as far as the coordinator knows them.
    control: &'a Control,
    steering: &'a mut dyn Steering,
    clock: Clock,
    observer: &'a mut dyn TrialObserver,
    /// Units whose clients are all connected.
    ready: usize,
    started_at: Option<Nanos>,
    phase: Option<Phase>,
    intervals: OpenIntervals,
    first_failure: Option<Failure>,
    /// What units told at their ends, together.
    ends: PartEnd,
    /// Transactions that succeeded and that failed, and the errors, warm-up included.
    successes: u64,
    failed: u64,
    errors: BTreeMap<ErrorKey, u64>,
    /// How long no transaction succeeded in the window, and since when if that lasted to its end.
    stalled: (Nanos, Option<Nanos>),
    window_end: Nanos,
    has_ended: bool,
    outages: Outages,
    disconnected: Option<Failure>,
    crash: Option<String>,
    was_stopped: bool,
    /// Whether the backlog limit was reached.
    is_overloaded: bool,
    /// The number of arrivals that waited when the trial ended early.
    backlog: u64,
    /// The first unit that was lost although the load needs it, and the first that learned too late of an edge.
    lost: Option<LoadEnd>,
    uneven: Option<LoadEnd>,
}

impl<'a> Coordinator<'a> {
    pub(crate) fn new(
        offer: &'a OfferedLoad,
        operations: usize,
        (control, steering): (&'a Control, &'a mut dyn Steering),
        clock: Clock,
        observer: &'a mut dyn TrialObserver,
    ) -> Self {
        Self {
            offer,
            control,
            intervals: OpenIntervals::new(steering.workers(), steering.hold(offer.interval)),
            steering,
            clock,
            observer,
            ready: 0,
            started_at: offer.is_virtual().then_some(0),
            phase: None,
            first_failure: None,
            ends: PartEnd::new(operations, 0, offer.clients),
            successes: 0,
            failed: 0,
            errors: BTreeMap::new(),
            stalled: (0, None),
            window_end: 0,
            has_ended: false,
            outages: Outages::default(),
            disconnected: None,
            crash: None,
            was_stopped: false,
            is_overloaded: false,
            backlog: 0,
            lost: None,
            uneven: None,
        }
    }

    /// Follows the load to its end.
    pub(crate) fn run(mut self) -> Result<Outcome, TrialError> {
        self.follow()?;
        Ok(self.outcome())
    }

    fn follow(&mut self) -> Result<(), TrialError> {
        while self.intervals.has_running() {
            match self.steering.next(self.poll_period()) {
                Ok(Some((unit, Told::Report(report)))) => self.on_report(unit, report)?,
                Ok(Some((unit, Told::Lost(reason)))) => self.on_lost(unit, reason)?,
                Ok(None) => {}
                Err(AllGone) => break,
            }
            self.poll_state()?;
        }
        self.hand_on()?;
        let quiet = self.ends.quiet.take().filter(|_| !self.offer.runs_once);
        if let Some(quiet) = &quiet {
            self.outages.bound_by(quiet, self.window_end);
        }
        let quiet = quiet.unwrap_or_default();
        let (start, end) = (self.control.window.start_or_never(), self.window_end);
        let own = self.observer.own_stalls();
        self.stalled = self.outages.add_stalls(&quiet, &own, (start, end), self.successes);
        let drain = std::mem::take(&mut self.ends.edges.drain);
        self.count(&drain);
        self.ends.edges.drain = drain;
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
        self.offer.is_virtual()
    }

    /// Tells the observer once that the measured window is over.
    fn end_window(&mut self) -> Result<(), TrialError> {
        if self.phase.is_some() && !std::mem::replace(&mut self.has_ended, true) {
            self.observer.ends(self.late_ns(self.control.end()))?;
        }
        Ok(())
    }

    /// How long ago a moment of the load was; 0 in virtual time.
    fn late_ns(&self, at: Nanos) -> Nanos {
        let now = self.now().filter(|_| !self.is_virtual());
        now.map_or(0, |now| now.saturating_sub(at))
    }

    fn on_report(&mut self, unit: usize, report: UnitReport) -> Result<(), TrialError> {
        if self.steering.are_generators() {
            self.tell_of_generator(unit, &report);
        }
        match report {
            UnitReport::Ready => self.ready += 1,
            UnitReport::Failed { client, failure, before_start: true } => {
                self.check_for_crash()?;
                return Err(TrialError::Start { client, clients: self.offer.clients, failure });
            }
            UnitReport::Failed { failure, .. } => {
                self.first_failure.get_or_insert(failure);
            }
            UnitReport::Connection { at, event } => self.outages.on_event(at, event),
            UnitReport::Disconnected { failure } => {
                self.disconnected.get_or_insert(failure);
                self.end_soon(Ending::Unit);
            }
            UnitReport::Overloaded { backlog } => {
                self.backlog = self.backlog.saturating_add(backlog);
                self.is_overloaded = true;
                self.end_soon(Ending::Unit);
            }
            UnitReport::Backlog { backlog } => {
                self.backlog = self.backlog.saturating_add(backlog);
            }
            UnitReport::Closed { index, interval, missing, .. } => {
                if let Some(late) = self.intervals.close(unit, index, *interval, missing) {
                    self.pass_on_late(&late)?;
                }
            }
            UnitReport::Late { interval } => {
                if let Some(late) = self.intervals.add_late(*interval) {
                    self.pass_on_late(&late)?;
                }
            }
            UnitReport::Passed { late_ns } => {
                let generator = self.steering.name(unit);
                self.uneven.get_or_insert(LoadEnd::Uneven { generator, late_ns });
                self.end_soon(Ending::Unit);
            }
            UnitReport::Broken { reason } => self.on_lost(unit, reason)?,
            UnitReport::Done(end) => {
                self.intervals.done(unit);
                self.ends.add(*end);
            }
        }
        self.hand_on()
    }

    fn tell_of_generator(&mut self, generator: usize, report: &UnitReport) {
        match report {
            UnitReport::Closed { interval, .. } | UnitReport::Late { interval } => {
                self.observer.generator_interval(generator, interval);
            }
            UnitReport::Done(end) => {
                let PartEnd { edges, lateness, start_delays, .. } = end.as_ref();
                let end = GeneratorEnd { edges, lateness, start_delays };
                self.observer.generator_end(generator, &end);
            }
            _ => {}
        }
    }

    fn on_lost(&mut self, unit: usize, reason: String) -> Result<(), TrialError> {
        let generator = self.steering.name(unit);
        let at = self.now();
        self.observer.generator_lost(unit, at.unwrap_or(0), &reason);
        if at.is_none() {
            self.check_for_crash()?;
            return Err(TrialError::Generator { generator, reason });
        }
        self.intervals.done(unit);
        let failure =
            Failure::new(ErrorClass::Connection, "", format!("generator {generator} is lost"));
        for client in self.steering.clients(unit) {
            self.ends.clients[client].failure = Some(failure.clone());
        }
        if !self.steering.goes_on_without(unit) {
            self.lost.get_or_insert(LoadEnd::GeneratorLost { generator, reason });
            self.end_soon(Ending::Unit);
        }
        self.hand_on()
    }

    /// The time of the trial; `None` before its start.
    fn now(&self) -> Option<Nanos> {
        let start = self.started_at?;
        Some(if self.is_virtual() {
            self.window_end
        } else {
            self.clock.now().saturating_sub(start)
        })
    }

    fn end_soon(&mut self, by: Ending) {
        let now = self.now().unwrap_or(0);
        self.steering.end_soon(now, by);
    }

    /// Passes on what a worker had counted in an interval that was passed on without it.
    fn pass_on_late(&mut self, late: &Interval) -> Result<(), TrialError> {
        self.count(&late.tally);
        Ok(self.observer.part(late, &[])?)
    }

    /// Passes on all intervals that all units have closed.
    fn hand_on(&mut self) -> Result<(), TrialError> {
        while let Some((interval, missing)) = self.intervals.take_whole() {
            self.pass_on(&interval, &missing)?;
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
            self.end_phase(interval);
        }
        self.steering.seen();
        self.report_outages()
    }

    /// Ends the phase of an interval, of which the observer has seen enough, if it may.
    fn end_phase(&mut self, interval: &Interval) {
        if interval.phase == Phase::WarmUp || self.offer.ends.measured {
            let now = self.now().unwrap_or(0);
            self.steering.end_phase(interval.phase, interval.end_ns, now);
        }
    }

    fn count(&mut self, tally: &Tally) {
        self.successes = self.successes.saturating_add(tally.transactions);
        self.failed = self.failed.saturating_add(tally.failed_transactions);
        for (key, counts) in &tally.errors {
            let all = self.errors.entry(key.clone()).or_default();
            *all = all.saturating_add(counts.total());
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
            self.end_soon(Ending::Interrupt);
        }
        self.check_for_crash()?;
        let now = self.clock.now();
        match self.started_at {
            None if self.ready == self.steering.workers().len() => {
                self.observer.ready()?;
                self.started_at = Some(self.steering.start(&self.clock));
                let has_warm_up = !self.offer.warm_up.is_zero();
                self.enter(if has_warm_up { Phase::WarmUp } else { Phase::Measure })
            }
            None if now > nanos(self.offer.connect_timeout) => Err(TrialError::StartTimeout {
                clients: self.offer.clients,
                timeout: self.offer.connect_timeout,
            }),
            Some(start) if !self.is_virtual() => self.keep_time(now.saturating_sub(start)),
            _ => Ok(()),
        }
    }

    /// Begins and ends the measured window on time, and passes on what workers that stand still hold up.
    fn keep_time(&mut self, at: Nanos) -> Result<(), TrialError> {
        while let Some((interval, missing)) = self.intervals.take_overdue(at) {
            self.pass_on(&interval, &missing)?;
        }
        self.control.window.end_longest_warm_up(at);
        let end = self.control.end();
        if at.min(end) >= self.control.window.start_or_never() {
            self.enter(Phase::Measure)?;
        }
        if at >= end && !self.has_ended {
            self.steering.wake();
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
        if let Some(now) = self.now().filter(|_| !self.is_virtual()) {
            self.control.stop_at(now);
        }
        self.steering.abandon();
        Ok(())
    }

    fn enter(&mut self, phase: Phase) -> Result<(), TrialError> {
        if self.phase.is_none_or(|now| now < phase) {
            self.phase = Some(phase);
            let window = &self.control.window;
            let begin = if phase == Phase::WarmUp { 0 } else { window.start_or_never() };
            self.observer.begins(phase, self.late_ns(begin))?;
        }
        Ok(())
    }

    fn outcome(mut self) -> Outcome {
        self.ends.turns.sort_by_key(|turn| (turn.start_ns, turn.client));
        let all_failed = self.ends.clients.iter().all(|client| client.failure.is_some());
        let by_plan = self.end_by_plan();
        let ended = if let Some(reason) = self.crash {
            LoadEnd::Crashed(reason)
        } else if self.was_stopped {
            LoadEnd::Interrupted
        } else if let Some(fault) = self.lost.or(self.uneven) {
            fault
        } else if let Some(failure) = self.disconnected {
            LoadEnd::Disconnected(failure)
        } else {
            match (self.first_failure, self.is_overloaded) {
                (_, true) => LoadEnd::Overloaded { backlog: self.backlog },
                (Some(failure), _) if all_failed => LoadEnd::AllClientsFailed(failure),
                _ => by_plan,
            }
        };
        let PartEnd { clients, edges, lateness, start_delays, failures, turns, .. } = self.ends;
        Outcome { ended, clients, edges, lateness, start_delays, failures, turns }
    }

    /// The end of a load that ran as long as planned: it is complete if transactions succeeded for most of it.
    fn end_by_plan(&self) -> LoadEnd {
        let start = self.control.window.start().unwrap_or(self.window_end);
        let window_ns = self.window_end.saturating_sub(start);
        let (stalled_ns, since_ns) = self.stalled;
        if self.successes == 0 {
            let most = self.errors.iter().max_by_key(|(_, count)| **count);
            let failure = |(key, _): (&ErrorKey, _)| {
                // A generator that is lost has not told its messages.
                let known = self.ends.failures.of(key).cloned();
                known.unwrap_or_else(|| {
                    Failure::new(key.class, &*key.code, "its message is not known")
                })
            };
            LoadEnd::NoSuccess { failed: self.failed, most: most.map(failure) }
        } else if since_ns.is_some() || stalled_ns * 2 >= window_ns.max(1) {
            LoadEnd::Stalled { stalled_ns, window_ns, since_ns }
        } else {
            LoadEnd::Complete
        }
    }
}
