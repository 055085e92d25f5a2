//! Runs all trials of an experiment, in order.

use std::path::PathBuf;

use anyhow::Result;
use engine::{Stop, StopLevel};
use jiff::Timestamp;
use plan::{SystemInstance, Trial};
use record::{
    Dyno, Environment, Identity, PhaseRecord, RunHeader, RunStatus, RunWriter, TrialEnd,
    TrialHeader, TrialStatus, TrialWriter,
};
use system::Scratch;

use crate::building::Build;
use crate::test_bed::{self, TestBed};
use crate::{Event, Experiment, RunListener, reach, trial};

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
    /// When the record cannot be written.
    pub fn run(
        &self,
        options: &RunOptions,
        stop: &Stop,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome> {
        let writer = RunWriter::create(&options.out, &self.header(options))?;
        let folder = writer.folder().to_path_buf();
        let trials = self.plan.trials();
        listener.on_event(Event::RunBegins { folder: &folder, trials: trials.len() });
        let scratch = Scratch::make()?;
        let mut sequence = Sequence {
            experiment: self,
            writer: &writer,
            scratch: &scratch,
            stop,
            test_bed: None,
            last: None,
            dead: Vec::new(),
            built: Vec::new(),
            failed_trials: 0,
        };
        let result = trials.iter().try_for_each(|&trial| sequence.step(trial, listener));
        let taken_down = sequence.take_down(listener);
        let failed_trials = sequence.failed_trials;
        let status = match (&result, stop.is_asked()) {
            (Err(cause), _) => RunStatus::Failed(format!("{cause:#}")),
            (_, true) => RunStatus::Interrupted,
            _ => RunStatus::Complete,
        };
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
            seed: self.plan.seed,
            dyno: options.dyno.clone(),
            trials_planned: self.plan.trials().len(),
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
    /// The last trial that ran; its record gets the cleanup after it.
    last: Option<TrialWriter>,
    /// Systems and workloads that could not be prepared: their later trials fail at once, for the same reason.
    dead: Vec<Unavailable>,
    /// Systems whose build command has run.
    built: Vec<usize>,
    failed_trials: usize,
}

/// A system, or a workload on it, that could not be prepared.
struct Unavailable {
    system: usize,
    /// `None` when the whole system is unavailable.
    workload: Option<usize>,
    reason: String,
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
}

impl From<anyhow::Error> for NotStarted {
    fn from(cause: anyhow::Error) -> Self {
        let status = TrialStatus::Failed(format!("{cause:#}"));
        Self { status, identity: Box::default() }
    }
}

/// Checks the data after a load, and records the result. A check that could not be done is noted, but does not fail
/// the trial; a server that has exited does.
fn check_data(
    trial: Trial,
    test_bed: &mut TestBed<'_>,
    recorder: &mut TrialWriter,
    listener: &mut dyn RunListener,
) -> Result<Option<TrialStatus>> {
    match test_bed.check_data(trial.workload, listener) {
        Ok(None) => {}
        Ok(Some((phase, conditions))) => {
            recorder.phase(phase)?;
            recorder.conditions(conditions)?;
        }
        Err(cause) => {
            let text = format!("the data was not checked after the load: {cause:#}");
            listener.on_event(Event::Note { text: &text });
            if let Some(reason) = test_bed.crash(&cause) {
                let status = TrialStatus::Crashed(reason);
                recorder.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
    }
    Ok(None)
}

impl<'a> Sequence<'a> {
    fn step(&mut self, trial: Trial, listener: &mut dyn RunListener) -> Result<()> {
        if self.stop.is_asked() {
            return Ok(());
        }
        let title = test_bed::title(&self.experiment.plan, trial);
        listener.on_event(Event::TrialBegins { index: trial.index, title: &title });
        let status = match self.attempt(trial, listener)? {
            Ok(status) => status,
            Err(_) if self.stop.is_asked() => TrialStatus::Interrupted,
            Err(not_started) => self.record_not_started(trial, not_started)?,
        };
        let is_failed = matches!(status, TrialStatus::Failed(_) | TrialStatus::Crashed(_));
        self.failed_trials += usize::from(is_failed);
        listener.on_event(Event::TrialEnds { status: &status });
        Ok(())
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
        let (mut status, mut recorder) = trial::run(
            self.experiment,
            trial,
            &mut test_bed,
            &ready,
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
        self.last = Some(recorder);
        // A server that has exited is started again for the next trial.
        if test_bed.exited().is_none() {
            self.test_bed = Some(test_bed);
        }
        Ok(Ok(status))
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
            return Err(NotStarted { status: TrialStatus::Failed(dead.reason.clone()), identity });
        }
        let mut test_bed = self.test_bed_for(trial, listener).inspect_err(|cause| {
            self.dead.push(Unavailable {
                system: trial.system,
                workload: None,
                reason: format!("{cause:#}"),
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
                    return Err(NotStarted { status: TrialStatus::Crashed(reason), identity });
                }
                let (system, workload) = (trial.system, Some(trial.workload));
                self.dead.push(Unavailable { system, workload, reason: format!("{cause:#}") });
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
        if let Some(test_bed) = self.test_bed.take_if(|test_bed| test_bed.instance() == instance) {
            return Ok(test_bed);
        }
        self.take_down(listener)?;
        self.build(trial.system, listener)?;
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
                listener.on_event(Event::Note {
                    text: "tables are left, for the end was to be at once",
                });
                Ok(())
            }
            Err(cause) => Err(cause),
        }
    }

    /// Records a trial that could not begin.
    fn record_not_started(&self, trial: Trial, not_started: NotStarted) -> Result<TrialStatus> {
        let NotStarted { status, identity } = not_started;
        let warm_up = self.experiment.plan.load.warm_up;
        let header = TrialHeader {
            identity: *identity,
            ..trial::bare_header(self.experiment, trial, warm_up)
        };
        let end = TrialEnd { status, ..TrialEnd::failed("") };
        self.writer.begin_trial(&header)?.finish(&end)?;
        Ok(end.status)
    }
}
