//! One trial: offers load, and records all counts as they arrive.

use std::io;
use std::mem;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::{GeneratorEnd, Load, LoadEnd, OfferedLoad, Outcome, Stop, TrialError, TrialObserver};
use jiff::Timestamp;
use measure::{
    Edges, Failure, FailureExamples, Generator, GeneratorStall, Interval, LatencyHistogram, Nanos,
    Operation, Outage, Phase,
};
use plan::{LoadPlan, Trial, WarmUp};
use record::{
    ClientRecord, ClientUsage, GeneratorRecord, PhaseRecord, RecordError, RunWriter, TrialEnd,
    TrialHeader, TrialStatus, TrialWriter,
};
use system::Access;

use crate::cross_check::Check;
use crate::enough::Enough;
use crate::generator_watch::GeneratorWatch;
use crate::known_generators::KnownGenerators;
use crate::load_end;
use crate::load_processes::LoadProcesses;
use crate::member_exits::MemberExits;
use crate::nothing_measured::UntilFirstLoad;
use crate::offer;
use crate::phase_timer::{PhaseTimer, before_now};
use crate::shared_trial::SharedTrial;
use crate::test_bed::TestBed;
use crate::trial_ceiling::Messages;
use crate::trial_header::{bare_header, calls};
use crate::trial_watch::{TrialWatch, WatchTargets};
use crate::usage::UsageMark;
use crate::{Event, Experiment, RunListener};

pub(crate) struct TrialRun {
    pub(crate) status: TrialStatus,
    /// False when the service refuses each call, so that no load was offered.
    pub(crate) has_load: bool,
    /// Its record, for the phases after the load.
    pub(crate) recorder: TrialWriter,
    pub(crate) member_exits: MemberExits,
    pub(crate) messages: Messages,
}

/// Tells before the first trial what a later one with more clients has too little of.
pub(crate) fn tell_later_shortages(
    experiment: &Experiment,
    trial: Trial,
    test_bed: &TestBed<'_>,
    listener: &mut dyn RunListener,
) {
    let workload = &experiment.workloads[trial.workload];
    let is_first = trial.index == 0 && trial.seek.is_none();
    let most = experiment.plan.load.clients.iter().max();
    if let Some(most) = most.filter(|most| is_first && **most > trial.clients)
        && test_bed.shortages(workload, trial.clients).is_empty()
    {
        for shortage in test_bed.shortages(workload, *most) {
            listener.on_note(&format!("a later trial, with {most} clients: {shortage}"));
        }
    }
}

/// Runs one trial on a test bed that is ready for it, beside systems that are up with these names, and records it.
pub(crate) fn run(
    experiment: &Experiment,
    trial: Trial,
    (test_bed, beside, processes): (&mut TestBed<'_>, Vec<String>, Option<&mut dyn LoadProcesses>),
    (ready, load): (&[PhaseRecord], Box<dyn Load>),
    (writer, until_first_load): (&RunWriter, &mut UntilFirstLoad),
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<TrialRun> {
    let warm_up = experiment.plan.warm_up_of(trial, test_bed.takes_first_load());
    let loops = match &processes {
        Some(processes) => offer::loops(experiment, trial, test_bed.access(), &processes.hosts())?,
        None => Vec::new(),
    };
    let offer = offer::of_trial(experiment, trial, warm_up, (test_bed.access(), &loops));
    let others = processes.map(|it| (it, SharedTrial::of(experiment, trial, test_bed)));
    let mut header = header(experiment, trial, warm_up, test_bed, beside);
    header.operations = load.operations().to_vec();
    header.load.threads = offer.threads();
    let mut recorder = writer.begin_trial(&header)?;
    for phase in ready {
        recorder.phase(phase.clone())?;
    }
    let shortages = test_bed.shortages(&experiment.workloads[trial.workload], trial.clients);
    let (mut messages, mut member_exits) = (Messages::default(), MemberExits::default());
    let idle = calls_without_load(test_bed, trial.workload, shortages.is_empty(), listener);
    let has_load = idle.is_ok();
    let end = if let Err(failure) = &idle {
        TrialEnd::failed(format!("the service answers each call with an error: {failure}"))
    } else if shortages.is_empty() {
        let before = test_bed.before_run();
        let limit = experiment.limit(trial);
        let load_plan = &experiment.plan.load;
        let steady = load_plan.steady.filter(|_| warm_up.steady_from.is_some());
        let plan = LoadPlan { warm_up: warm_up.at_most, limit, steady, ..load_plan.clone() };
        let mut kept = TrialRecorder::new(
            test_bed,
            trial.workload,
            &mut recorder,
            (load.operations(), &plan, warm_up.steady_from),
            listener,
        );
        kept.idle_round_trips = idle.unwrap_or_default();
        kept.before_sessions(others.is_some());
        let outcome = match (before, others) {
            (Ok(()), None) => engine::offer(&offer, load.as_ref(), stop, &mut kept),
            (Ok(()), Some((processes, shared))) => offer_elsewhere(
                processes,
                (shared, &loops),
                (&offer, load.as_ref()),
                stop,
                &mut kept,
            ),
            (Err(_), _) if stop.is_asked() => Err(TrialError::Interrupted),
            (Err(failure), _) => {
                Err(TrialError::Start { client: 0, clients: trial.clients, failure })
            }
        };
        if kept.has_begun {
            until_first_load.load_begins();
        }
        let is_lost = is_connection_lost(&outcome);
        kept.note_member_exits()?;
        (messages, member_exits) = (kept.messages, mem::take(&mut kept.member_exits));
        let mut end = kept.end(outcome)?;
        let exited =
            if is_lost { test_bed.exited_with_its_connections() } else { test_bed.exited() };
        if end.status != TrialStatus::Interrupted
            && let Some(reason) = exited
        {
            end.status = TrialStatus::Crashed(reason);
        }
        end
    } else {
        let all: Vec<String> = shortages.iter().map(ToString::to_string).collect();
        TrialEnd::failed(all.join("; "))
    };
    recorder.finish(&end)?;
    Ok(TrialRun { status: end.status, has_load, recorder, member_exits, messages })
}

/// Round trips of calls of a service before the load, because one of which no call can succeed measures nothing.
fn calls_without_load(
    test_bed: &TestBed<'_>,
    workload: usize,
    is_wanted: bool,
    listener: &mut dyn RunListener,
) -> Result<Option<LatencyHistogram>, Failure> {
    match test_bed.access() {
        Access::Service(_) if is_wanted => test_bed.idle_round_trips(workload, listener).map(Some),
        _ => Ok(None),
    }
}

/// Has other processes offer the load of a trial.
fn offer_elsewhere(
    processes: &mut dyn LoadProcesses,
    (shared, loops): (Result<SharedTrial<'_>>, &[usize]),
    load: (&OfferedLoad, &dyn Load),
    stop: &Stop,
    kept: &mut TrialRecorder<'_, '_>,
) -> Result<Outcome, TrialError> {
    let shared = shared.map_err(|cause| TrialError::Generators(format!("{cause:#}")))?;
    let known = kept.generators.clone().unwrap_or_default();
    processes.offer((&shared, loops), load, &known, stop, kept)
}

fn is_connection_lost(outcome: &Result<Outcome, TrialError>) -> bool {
    let failure = match outcome {
        Ok(Outcome {
            ended: LoadEnd::AllClientsFailed(failure) | LoadEnd::Disconnected(failure),
            ..
        })
        | Err(TrialError::Start { failure, .. }) => failure,
        _ => return false,
    };
    failure.key.class.breaks_connection()
}

fn header(
    experiment: &Experiment,
    trial: Trial,
    warm_up: WarmUp,
    test_bed: &TestBed<'_>,
    beside: Vec<String>,
) -> TrialHeader {
    let mut header = TrialHeader {
        identity: test_bed.identity().clone(),
        is_embedded: is_embedded(test_bed.access()),
        beside,
        ..bare_header(experiment, trial, warm_up)
    };
    if !header.beside.is_empty() {
        let names = header.beside.join(", ");
        header.load.description.push_str(&format!(", with {names} up beside it"));
    }
    header.load.calls = calls(experiment, trial, test_bed);
    header
}

fn is_embedded(access: &Access) -> bool {
    matches!(access, Access::Database(target) if target.capabilities().is_embedded)
}

/// Writes the engine's counts to the record, and reports them as progress.
struct TrialRecorder<'a, 'b> {
    test_bed: &'a mut TestBed<'b>,
    /// The index of the trial's workload in the plan.
    workload: usize,
    writer: &'a mut TrialWriter,
    operations: &'a [Operation],
    load: &'a LoadPlan,
    enough: Enough,
    listener: &'a mut dyn RunListener,
    phase: Option<PhaseTimer>,
    has_begun: bool,
    measure_started: Option<Timestamp>,
    measure_ended: Option<Timestamp>,
    mark: Option<UsageMark>,
    usage: Option<ClientUsage>,
    check: Check,
    messages: Messages,
    member_exits: MemberExits,
    /// What to watch, until the load begins.
    watch_targets: Option<WatchTargets>,
    trial_watch: Option<TrialWatch>,
    /// Absent in virtual time.
    generator_watch: Option<GeneratorWatch>,
    generator: Option<Generator>,
    /// The generators, when the load comes from other processes.
    generators: Option<KnownGenerators>,
    /// `None` before they are measured, or where there are none.
    idle_round_trips: Option<LatencyHistogram>,
}

impl<'a, 'b> TrialRecorder<'a, 'b> {
    fn new(
        test_bed: &'a mut TestBed<'b>,
        workload: usize,
        writer: &'a mut TrialWriter,
        (operations, load, steady_from): (&'a [Operation], &'a LoadPlan, Option<Duration>),
        listener: &'a mut dyn RunListener,
    ) -> Self {
        let check = test_bed.check();
        Self {
            test_bed,
            workload,
            writer,
            operations,
            load,
            enough: Enough::new(load, steady_from),
            listener,
            phase: None,
            has_begun: false,
            measure_started: None,
            measure_ended: None,
            mark: None,
            usage: None,
            check,
            messages: Messages::default(),
            member_exits: MemberExits::default(),
            idle_round_trips: None,
            watch_targets: None,
            trial_watch: None,
            generator_watch: None,
            generator: None,
            generators: None,
        }
    }

    /// Takes what must be known before the load has sessions; it may be of generators elsewhere.
    fn before_sessions(&mut self, load_is_elsewhere: bool) {
        self.generators = load_is_elsewhere.then(KnownGenerators::default);
        self.check.before_sessions(load_is_elsewhere);
    }

    /// Starts to watch with the load, or announces the next phase to the watch threads.
    fn watch(&mut self) -> Result<()> {
        if let Some(trial_watch) = &self.trial_watch {
            trial_watch.phase();
        }
        if let Some(what) = self.watch_targets.take() {
            self.trial_watch = Some(TrialWatch::begin(self.writer.watch()?, what)?);
        }
        Ok(())
    }

    fn end_watch(&mut self) -> Result<()> {
        let Some(trial_watch) = self.trial_watch.take() else { return Ok(()) };
        for failure_text in trial_watch.end(self.test_bed.stop())? {
            let text = format!("not everything was watched: {failure_text}");
            self.listener.on_note(&text);
        }
        Ok(())
    }

    /// Records the servers of the system that have exited since the last call.
    fn note_member_exits(&mut self) -> Result<(), RecordError> {
        self.member_exits.update(self.test_bed, self.writer, self.listener)
    }

    /// Writes the phase, if there is one, which ended so long ago.
    fn close_phase(&mut self, ago_ns: Nanos) -> io::Result<()> {
        match self.phase.take() {
            Some(timer) => {
                self.writer.phase(timer.stopped_before(ago_ns)).map_err(io::Error::other)
            }
            None => Ok(()),
        }
    }

    /// The result of the trial; a record that cannot be written ends the run.
    fn end(self, outcome: Result<Outcome, TrialError>) -> Result<TrialEnd> {
        let mut end = TrialEnd {
            status: TrialStatus::Complete,
            measure_started: self.measure_started,
            measure_ended: self.measure_ended,
            clients: Vec::new(),
            failures: FailureExamples::default(),
            turns: Vec::new(),
            edges: Edges::default(),
            lateness: LatencyHistogram::new(),
            start_delays: LatencyHistogram::new(),
            idle_round_trips: self.idle_round_trips.unwrap_or_default(),
            cross_check: None,
            usage: match &self.generators {
                Some(generators) => generators.usage(),
                None => self.usage,
            },
            generators: match &self.generators {
                Some(generators) => generators.records(self.operations),
                None => self.generator.map(GeneratorRecord::lone).into_iter().collect(),
            },
            decided_ends: self.enough.ends(),
            failed_phase: None,
        };
        match outcome {
            Ok(outcome) => {
                end.cross_check = self.check.end(outcome.edges.drain.queries);
                take_outcome(&mut end, outcome);
            }
            Err(TrialError::Crashed(reason)) => end.status = TrialStatus::Crashed(reason),
            Err(TrialError::Interrupted) => end.status = TrialStatus::Interrupted,
            Err(TrialError::Observer(cause)) => return Err(cause).context("the run cannot go on"),
            Err(error) => end.status = TrialStatus::Failed(error.to_string()),
        }
        Ok(end)
    }
}

fn take_outcome(end: &mut TrialEnd, outcome: Outcome) {
    end.status = load_end::status(&outcome);
    let record = |client: engine::ClientOutcome| ClientRecord {
        events: client.events,
        failure: client.failure,
    };
    end.clients = outcome.clients.into_iter().map(record).collect();
    end.failures = outcome.failures;
    end.turns = outcome.turns;
    end.edges = outcome.edges;
    end.lateness = outcome.lateness;
    end.start_delays = outcome.start_delays;
}

impl TrialObserver for TrialRecorder<'_, '_> {
    fn ready(&mut self) -> io::Result<()> {
        if self.idle_round_trips.is_none() {
            // Databases have no refusal here.
            let idle = self.test_bed.idle_round_trips(self.workload, &mut *self.listener);
            self.idle_round_trips = idle.ok();
        }
        self.check.begin();
        self.watch_targets = self.test_bed.watch_targets(self.generators.as_ref());
        // The last step, because the trial's clock begins after it. Generators elsewhere watch themselves.
        let planned = self.load.steady.is_none().then_some(self.load.warm_up);
        if self.generators.is_none() {
            self.generator_watch = Some(GeneratorWatch::begin(planned)?);
        }
        self.member_exits.begin();
        Ok(())
    }

    fn begins(&mut self, phase: Phase, late_ns: Nanos) -> io::Result<()> {
        // First what has a time, because the rest takes some.
        if !self.has_begun {
            self.has_begun = true;
            self.writer.load_begins(before_now(late_ns)).map_err(io::Error::other)?;
        }
        self.close_phase(late_ns)?;
        self.phase = Some(PhaseTimer::started_before(phase, late_ns));
        if phase == Phase::Measure {
            self.measure_started = Some(before_now(late_ns));
            self.mark = Some(UsageMark::at_begin(late_ns));
            let watch = self.generator_watch.as_ref().filter(|_| self.load.steady.is_some());
            if let Some(watch) = watch {
                watch.begin_window();
            }
        }
        self.watch().map_err(io::Error::other)?;
        let planned = match phase {
            Phase::WarmUp => Some(self.load.warm_up),
            _ => self.load.limit.time,
        };
        self.listener.on_event(Event::PhaseBegins { phase, planned });
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.part(interval, &[])?;
        // Only whole intervals tell whether the load is steady, and a figure precise.
        self.enough.add(interval, self.operations);
        Ok(())
    }

    fn part(&mut self, part: &Interval, missing: &[usize]) -> io::Result<()> {
        self.writer.part(part, missing).map_err(io::Error::other)?;
        self.check.add(part);
        self.messages.add(part);
        self.note_member_exits().map_err(io::Error::other)?;
        self.listener.on_event(Event::Interval { interval: part, operations: self.operations });
        Ok(())
    }

    fn has_enough(&mut self) -> bool {
        self.enough.is_enough()
    }

    fn outages(&mut self, outages: &[Outage]) -> io::Result<()> {
        self.writer.outages(outages).map_err(io::Error::other)
    }

    fn ends(&mut self, late_ns: Nanos) -> io::Result<()> {
        self.usage = self.mark.as_ref().and_then(|mark| mark.until_end(late_ns));
        self.measure_ended = self.mark.as_ref().map(|_| before_now(late_ns));
        if let Some(watch) = &self.generator_watch {
            watch.end_window();
        }
        // Before the last readings, which take some time.
        self.close_phase(late_ns)?;
        self.end_watch().map_err(io::Error::other)
    }

    fn generator_interval(&mut self, generator: usize, part: &Interval) {
        self.writer.generator_part(generator, part);
        self.generators.iter().for_each(|all| all.interval(generator, part));
    }

    fn generator_end(&mut self, generator: usize, end: &GeneratorEnd<'_>) {
        self.generators.iter().for_each(|all| all.end(generator, end));
    }

    fn generator_lost(&mut self, generator: usize, at: Nanos, reason: &str) {
        let Some(all) = &self.generators else { return };
        let name = all.lost(generator, at, reason);
        self.listener.on_note(&format!("generator {name} is lost: {reason}"));
    }

    fn own_stalls(&mut self) -> Vec<GeneratorStall> {
        if let Some(generators) = &self.generators {
            return generators.own_stalls();
        }
        self.generator = self.generator_watch.take().map(GeneratorWatch::end);
        self.generator.as_ref().map(|generator| generator.stalls.clone()).unwrap_or_default()
    }

    fn crash(&mut self) -> Option<String> {
        self.test_bed.exited()
    }
}
