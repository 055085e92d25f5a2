//! Runs all trials of an experiment, in order.

use std::path::PathBuf;

use anyhow::{Context, Result};
use engine::{Stop, StopLevel};
use jiff::Timestamp;
use measure::{Condition, ConditionSubject, Phase};
use plan::{SystemInstance, Trial};
use record::{
    Dyno, Environment, Identity, PhaseRecord, RunHeader, RunStatus, RunWriter, TrialEnd,
    TrialHeader, TrialStatus, TrialWriter,
};
use system::{Scratch, demand_cpus};

use crate::building::Build;
use crate::generators::Fleet;
use crate::phase_failure::PhaseFailure;
use crate::source::{FinishedTrial, SourcedTrial, TrialSource};
use crate::test_bed::{self, TestBed};
use crate::trial::TrialRun;
use crate::trial_ceiling::Messages;
use crate::{Event, Experiment, RunListener, reach, source, trial, trial_ceiling};

/// Where a run writes its record, and the facts at the record's head.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of all results; the run creates its own folder in it.
    pub out: PathBuf,
    /// The command line that repeats the run.
    pub command: String,
    /// The version of dyno that runs.
    pub dyno: Dyno,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// The folder of its record.
    pub folder: PathBuf,
    /// How it ended.
    pub status: RunStatus,
    /// How many trials failed.
    pub failed_trials: usize,
}

impl Experiment {
    /// Runs every trial and writes the record; a trial that fails does not stop those after it. `stop` ends the
    /// current trial, and its measurements so far are kept.
    ///
    /// # Errors
    /// When the record cannot be written, or the plan gives the load CPUs that this machine does not have.
    pub fn run(
        &self,
        options: &RunOptions,
        stop: &Stop,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome> {
        // Generators have the CPUs of their own hosts.
        let own_cpus =
            self.plan.load.cpus.as_ref().filter(|_| self.plan.load.generators.is_empty());
        if let Some(cpus) = own_cpus {
            demand_cpus(cpus).context("the load's `cpus`")?;
        }
        let writer = RunWriter::create(&options.out, &self.header(options))?;
        let folder = writer.folder().to_path_buf();
        let trials = self.plan.seek.is_none().then(|| self.plan.trials().len());
        listener.on_event(Event::RunBegins { folder: &folder, trials });
        self.notes().iter().for_each(|text| listener.on_note(text));
        let scratch = Scratch::make()?;
        let mut sequence = Sequence {
            experiment: self,
            writer: &writer,
            scratch: &scratch,
            stop,
            test_bed: None,
            fleet: None,
            last: None,
            dead: Vec::new(),
            built: Vec::new(),
            begun: 0,
            failed_trials: 0,
        };
        let result = sequence.run(source::of(&self.plan).as_mut(), listener);
        let taken_down = sequence.take_down(listener);
        let (begun, failed_trials) = (sequence.begun, sequence.failed_trials);
        let status = match (&result, stop.is_asked()) {
            (Err(cause), _) => RunStatus::Failed(format!("{cause:#}")),
            (_, true) => RunStatus::Interrupted,
            _ if failed_trials > 0 => RunStatus::Failed(String::new()),
            _ => RunStatus::Complete,
        };
        let writer = if trials.is_none() { writer.with_trials_planned(begun) } else { writer };
        writer.finish(&status)?;
        result?;
        taken_down?;
        Ok(RunOutcome { folder, status, failed_trials })
    }

    fn header(&self, options: &RunOptions) -> RunHeader {
        let source = self.plan.source.scrubbed();
        RunHeader {
            plan_name: self.plan.name.clone(),
            title: self.plan.title.clone(),
            plan_origin: source.name,
            plan_text: source.text,
            command: options.command.clone(),
            started: Timestamp::now(),
            environment: Environment::gather(&[
                ("results", &options.out),
                ("data", &std::env::temp_dir()),
            ]),
            percentiles: self.plan.percentiles.clone(),
            least_difference: self.plan.least_difference,
            seek: self.plan.seek.as_ref().map(source::record),
            seed: self.plan.seed,
            dyno: options.dyno.clone(),
            trials_planned: source::trials_max(&self.plan),
        }
    }
}

/// The run in progress.
struct Sequence<'a> {
    experiment: &'a Experiment,
    writer: &'a RunWriter,
    scratch: &'a Scratch,
    stop: &'a Stop,
    test_bed: Option<TestBed<'a>>,
    /// The generators, when the load comes from other processes.
    fleet: Option<Fleet>,
    /// The last trial that ran; its record gets the cleanup after it.
    last: Option<TrialWriter>,
    /// Systems and workloads that could not be prepared: their later trials fail at once, for the same reason.
    dead: Vec<Unavailable>,
    /// Systems whose build command has run.
    built: Vec<usize>,
    begun: usize,
    failed_trials: usize,
}

/// A system, or a workload on it, that could not be prepared.
struct Unavailable {
    system: usize,
    /// `None` when the whole system is unavailable.
    workload: Option<usize>,
    reason: String,
    failed_phase: Option<Phase>,
}

impl Unavailable {
    fn covers(&self, trial: Trial) -> bool {
        self.system == trial.system && self.workload.is_none_or(|dead| dead == trial.workload)
    }
}

/// Why a trial ended before its load began.
struct NotStarted {
    status: TrialStatus,
    identity: Box<Identity>,
    /// The phase that failed.
    failed_phase: Option<Phase>,
}

impl From<anyhow::Error> for NotStarted {
    fn from(cause: anyhow::Error) -> Self {
        let status = TrialStatus::Failed(format!("{cause:#}"));
        let failed_phase = PhaseFailure::phase_of(&cause);
        Self { status, identity: Box::default(), failed_phase }
    }
}

/// Checks the data after a load, and records the result. A check that could not be done is noted, but does not fail
/// the trial; a server that has exited does, and so does an answer that is wrong or not that of another system.
fn check_data(
    trial: Trial,
    test_bed: &mut TestBed<'_>,
    recorder: &mut TrialWriter,
    listener: &mut dyn RunListener,
) -> Result<Option<TrialStatus>> {
    match test_bed.check_data(trial.workload, listener) {
        Ok(None) => {}
        Ok(Some((phase, (conditions, plans)))) => {
            recorder.phase(phase)?;
            if !plans.is_empty() {
                recorder.plans(plans)?;
            }
            let wrong = wrong_answers(&conditions);
            recorder.conditions(conditions)?;
            if let Some(wrong) = wrong {
                let status = TrialStatus::Failed(wrong);
                recorder.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
        Err(cause) => {
            let text = format!("the data was not checked after the load: {cause:#}");
            listener.on_note(&text);
            if let Some(reason) = test_bed.crash(&cause) {
                let status = TrialStatus::Crashed(reason);
                recorder.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
    }
    Ok(None)
}

/// The broken conditions on answers, with what was found; `None` if all hold.
fn wrong_answers(conditions: &[Condition]) -> Option<String> {
    let kinds = [
        (ConditionSubject::Answer, "wrong answers"),
        (ConditionSubject::SameAnswer, "answers that differ between systems"),
    ];
    let told = kinds.iter().filter_map(|(about, what)| {
        let of_kind = conditions.iter().filter(|it| it.about == *about);
        let broken = of_kind.filter_map(|it| Some(format!("{}: {}", it.name, it.broken()?)));
        let broken: Vec<String> = broken.collect();
        (!broken.is_empty()).then(|| format!("{what}: {}", broken.join(". ")))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(". "))
}

impl<'a> Sequence<'a> {
    /// Runs the trials of a source until it has no more, or a stop is asked for.
    fn run(&mut self, source: &mut dyn TrialSource, listener: &mut dyn RunListener) -> Result<()> {
        self.fleet = Fleet::start(&self.experiment.plan.load, self.stop)?;
        let mut next = source.next(None)?;
        while let Some(sourced) = next.filter(|_| !self.stop.is_asked()) {
            let is_started = self.step(&sourced, listener)?;
            if self.stop.is_asked() {
                break;
            }
            let record = self.last.as_ref().filter(|_| is_started);
            next = source.next(Some(FinishedTrial { record }))?;
        }
        Ok(())
    }

    /// Runs one trial. Returns whether its load began.
    fn step(&mut self, sourced: &SourcedTrial, listener: &mut dyn RunListener) -> Result<bool> {
        let SourcedTrial { trial, note } = sourced;
        let mut title = test_bed::title(&self.experiment.plan, *trial);
        if !note.is_empty() {
            title.push_str(&format!(" · {note}"));
        }
        self.begun += 1;
        listener.on_event(Event::TrialBegins { index: trial.index, title: &title });
        let attempt = self.attempt(*trial, listener)?;
        let is_started = attempt.is_ok();
        let status = match attempt {
            Ok(status) => status,
            Err(_) if self.stop.is_asked() => TrialStatus::Interrupted,
            Err(not_started) => self.record_not_started(*trial, not_started)?,
        };
        let is_failed = match status {
            // A load that is too high for the system is what a seek looks for.
            TrialStatus::Failed(_) => trial.seek.is_none() || !is_started,
            TrialStatus::Crashed(_) => true,
            TrialStatus::Complete | TrialStatus::Interrupted => false,
        };
        self.failed_trials += usize::from(is_failed);
        let record = self.last.as_ref().filter(|_| is_started);
        listener.on_event(Event::TrialEnds { status: &status, record });
        Ok(is_started)
    }

    /// Runs a trial. The outer error ends the run; the inner one ends the trial before it began.
    fn attempt(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<Result<TrialStatus, NotStarted>> {
        let (mut test_bed, ready) = match self.make_ready(trial, listener) {
            Ok(ready) => ready,
            Err(not_started) => return Ok(Err(not_started)),
        };
        let load = match trial::make_load(self.experiment, trial, &test_bed, self.stop) {
            Err(cause) if self.stop.is_asked() => {
                self.test_bed = Some(test_bed);
                return Ok(Err(cause.into()));
            }
            load => load?,
        };
        let TrialRun { mut status, mut recorder, mut member_exits, messages } = trial::run(
            self.experiment,
            trial,
            (&mut test_bed, self.fleet.as_mut()),
            (&ready, load),
            self.writer,
            self.stop,
            listener,
        )?;
        if test_bed.exited().is_none()
            && !self.stop.is_asked()
            && let Some(crashed) = check_data(trial, &mut test_bed, &mut recorder, listener)?
        {
            status = crashed;
        }
        member_exits.update(&test_bed.lost_members(), &mut recorder, listener)?;
        if status == TrialStatus::Complete {
            self.measure_ceiling(trial, (&test_bed, &messages), &mut recorder, listener)?;
        }
        self.last = Some(recorder);
        // A system that has lost a server is started again for the next trial.
        if test_bed.is_whole() {
            self.test_bed = Some(test_bed);
        }
        Ok(Ok(status))
    }

    /// Measures and records the ceiling of the path, if the plan asks for it; not for the probes of a seek. Without one,
    /// the trial is as good.
    fn measure_ceiling(
        &self,
        trial: Trial,
        of: (&TestBed<'_>, &Messages),
        recorder: &mut TrialWriter,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        let Some(plan) = &self.experiment.plan.ceiling else { return Ok(()) };
        if trial.seek.is_some_and(|seek| !seek.is_confirming) {
            return Ok(());
        }
        let scratch = self.scratch.subfolder(&format!("ceiling-{:04}", trial.index))?;
        let stop = self.stop;
        match trial_ceiling::measure(self.experiment, (trial, plan), of, &scratch, stop, listener) {
            Ok(ceiling) => recorder.ceiling(ceiling)?,
            Err(cause) => {
                listener.on_note(&format!("the ceiling of the path was not measured: {cause:#}"));
            }
        }
        Ok(())
    }

    /// The test bed of the trial's system, with the trial's data on it.
    fn make_ready(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<(TestBed<'a>, Vec<PhaseRecord>), NotStarted> {
        if let Some(dead) = self.dead.iter().find(|dead| dead.covers(trial)) {
            let up = self.test_bed.as_ref().map(|test_bed| Box::new(test_bed.identity().clone()));
            let identity = up.unwrap_or_default();
            let (status, failed_phase) =
                (TrialStatus::Failed(dead.reason.clone()), dead.failed_phase);
            return Err(NotStarted { status, identity, failed_phase });
        }
        let mut test_bed = self.test_bed_for(trial, listener).inspect_err(|cause| {
            self.dead.push(Unavailable {
                system: trial.system,
                workload: None,
                reason: format!("{cause:#}"),
                failed_phase: None,
            });
        })?;
        if self.last.is_some() {
            let limit = self.experiment.plan.load.bounds.reconnect_limit;
            reach::wait_for_server(&test_bed, limit, self.stop, listener);
        }
        match test_bed.make_ready(trial, listener) {
            Ok(phases) => Ok((test_bed, phases)),
            Err(cause) => {
                let identity = Box::new(test_bed.identity().clone());
                if let Some(reason) = test_bed.crash(&cause) {
                    let (status, failed_phase) = (TrialStatus::Crashed(reason), None);
                    return Err(NotStarted { status, identity, failed_phase });
                }
                let (system, workload) = (trial.system, Some(trial.workload));
                let (reason, failed_phase) = (format!("{cause:#}"), PhaseFailure::phase_of(&cause));
                self.dead.push(Unavailable { system, workload, reason, failed_phase });
                self.test_bed = Some(test_bed);
                Err(NotStarted { identity, ..cause.into() })
            }
        }
    }

    /// The test bed of the trial's system: the running one, or else a new one.
    fn test_bed_for(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<TestBed<'a>> {
        let instance = self.experiment.plan.instance(trial);
        // One that has lost a server since its last trial is replaced.
        let is_fit =
            |it: &mut TestBed<'_>| it.instance() == instance && it.lost_members().is_empty();
        if let Some(test_bed) = self.test_bed.take_if(is_fit) {
            return Ok(test_bed);
        }
        self.take_down(listener)?;
        self.build(self.experiment.plan.built_as(trial.system), listener)?;
        let scratch = self.scratch.subfolder(&format!("{:04}", trial.index))?;
        TestBed::make(self.experiment, instance, &scratch, self.stop, listener)
    }

    /// Runs the plan's build command before the system is started for the first time.
    fn build(&mut self, system: usize, listener: &mut dyn RunListener) -> Result<()> {
        let plan = &self.experiment.plan;
        let Some(command) = &plan.systems[system].build else { return Ok(()) };
        if self.built.contains(&system) {
            return Ok(());
        }
        let name = &plan.systems[system].name;
        let job = Build { name, command, folder: &plan.source.folder, log: self.writer.folder() };
        job.run(self.stop, listener)?;
        self.built.push(system);
        Ok(())
    }

    /// Whether the system will be used again after this system instance. The tables that dyno made would then be in
    /// the way, unless they are removed with the server.
    fn is_used_again(&self, instance: SystemInstance) -> bool {
        let plan = &self.experiment.plan;
        let rounds = plan.repetitions;
        plan.systems[instance.system].variant.is_some() && instance.round + 1 < rounds
    }

    fn take_down(&mut self, listener: &mut dyn RunListener) -> Result<()> {
        let Some(mut test_bed) = self.test_bed.take() else { return Ok(()) };
        let is_left = !test_bed.is_managed() && self.is_used_again(test_bed.instance());
        let cleaned_up = match self.experiment.plan.cleanup || is_left {
            true => self.clean_up(&mut test_bed, listener),
            false => Ok(()),
        };
        // Even if the tables could not be removed, the servers that were started are stopped.
        let taken_down = test_bed.take_down();
        cleaned_up.and(taken_down)
    }

    fn clean_up(
        &mut self,
        test_bed: &mut TestBed<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        match test_bed.clean_up(listener) {
            Ok(Some(phase)) => match &mut self.last {
                Some(last) => Ok(last.phase(phase)?),
                None => Ok(()),
            },
            Ok(None) => Ok(()),
            Err(_) if self.stop.level() == StopLevel::AtOnce => {
                listener.on_note("the tables were not dropped, because the run had to end at once");
                Ok(())
            }
            Err(cause) => Err(cause),
        }
    }

    /// Records a trial that could not begin.
    fn record_not_started(&self, trial: Trial, not_started: NotStarted) -> Result<TrialStatus> {
        let NotStarted { status, identity, failed_phase } = not_started;
        let warm_up = self.experiment.plan.warm_up(false);
        let header = TrialHeader {
            identity: *identity,
            ..trial::bare_header(self.experiment, trial, warm_up)
        };
        let end = TrialEnd { status, failed_phase, ..TrialEnd::failed("") };
        self.writer.begin_trial(&header)?.finish(&end)?;
        Ok(end.status)
    }
}
