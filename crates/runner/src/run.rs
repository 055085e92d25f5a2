//! All trials of an experiment, in order.

use std::path::PathBuf;

use anyhow::Result;
use engine::{Stop, StopLevel};
use jiff::Timestamp;
use plan::{Sitting, Trial};
use record::{
    Dyno, Environment, Identity, PhaseRecord, RunHeader, RunStatus, RunWriter, TrialEnd,
    TrialHeader, TrialStatus, TrialWriter,
};
use system::Scratch;

use crate::bed::{self, Bed};
use crate::building::Build;
use crate::{Event, Experiment, Watcher, reach, trial};

/// Where a run leaves its record, and what it writes at its head.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of all results; the run makes one of its own in it.
    pub out: PathBuf,
    /// The command line that does the run again.
    pub command: String,
    /// Which dyno runs.
    pub dyno: Dyno,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// Its record.
    pub folder: PathBuf,
    /// How it ended.
    pub status: RunStatus,
    /// How many trials failed.
    pub failed_trials: usize,
}

impl Experiment {
    /// Does every trial and leaves the record; a trial that fails does not stop those after it.
    /// `stop` ends the trial in hand, and what was measured until then is kept.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn run(
        &self,
        options: &RunOptions,
        stop: &Stop,
        watcher: &mut dyn Watcher,
    ) -> Result<RunOutcome> {
        let writer = RunWriter::create(&options.out, &self.header(options))?;
        let folder = writer.folder().to_path_buf();
        let trials = self.plan.trials();
        watcher.hear(Event::RunBegins { folder: &folder, trials: trials.len() });
        let scratch = Scratch::make()?;
        let mut sequence = Sequence {
            experiment: self,
            writer: &writer,
            scratch: &scratch,
            stop,
            bed: None,
            last: None,
            dead: Vec::new(),
            built: Vec::new(),
            failed_trials: 0,
        };
        let result = trials.iter().try_for_each(|&trial| sequence.step(trial, watcher));
        let taken_down = sequence.take_down(watcher);
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
    bed: Option<Bed<'a>>,
    /// The last trial that ran, for the cleanup after it.
    last: Option<TrialWriter>,
    /// What could not be made ready: later trials of it fail at once, for the same reason.
    dead: Vec<Dead>,
    /// Systems whose build command has run.
    built: Vec<usize>,
    failed_trials: usize,
}

/// A system, or a workload on it, that could not be made ready.
struct Dead {
    system: usize,
    /// `None` when it is the whole system.
    workload: Option<usize>,
    reason: String,
}

impl Dead {
    fn covers(&self, trial: Trial) -> bool {
        self.system == trial.system && self.workload.is_none_or(|dead| dead == trial.workload)
    }
}

/// Why a trial ended before its load began.
struct Unready {
    status: TrialStatus,
    identity: Box<Identity>,
}

impl From<anyhow::Error> for Unready {
    fn from(cause: anyhow::Error) -> Self {
        let status = TrialStatus::Failed(format!("{cause:#}"));
        Self { status, identity: Box::default() }
    }
}

/// Checks what must hold of the data after a load, and keeps what was found. That it could not be checked is
/// said, and is no fault of the trial; but that the server ended is its end.
fn check_data(
    trial: Trial,
    bed: &mut Bed<'_>,
    keeper: &mut TrialWriter,
    watcher: &mut dyn Watcher,
) -> Result<Option<TrialStatus>> {
    match bed.check_data(trial.workload, watcher) {
        Ok(None) => {}
        Ok(Some((phase, conditions))) => {
            keeper.phase(phase)?;
            keeper.conditions(conditions)?;
        }
        Err(cause) => {
            let text = format!("the data was not checked after the load: {cause:#}");
            watcher.hear(Event::Note { text: &text });
            if let Some(reason) = bed.crash(&cause) {
                let status = TrialStatus::Crashed(reason);
                keeper.end_otherwise(&status)?;
                return Ok(Some(status));
            }
        }
    }
    Ok(None)
}

impl<'a> Sequence<'a> {
    fn step(&mut self, trial: Trial, watcher: &mut dyn Watcher) -> Result<()> {
        if self.stop.is_asked() {
            return Ok(());
        }
        let title = bed::title(&self.experiment.plan, trial);
        watcher.hear(Event::TrialBegins { index: trial.index, title: &title });
        let status = match self.attempt(trial, watcher)? {
            Ok(status) => status,
            Err(_) if self.stop.is_asked() => TrialStatus::Interrupted,
            Err(unready) => self.keep_unready(trial, unready)?,
        };
        let is_failed = matches!(status, TrialStatus::Failed(_) | TrialStatus::Crashed(_));
        self.failed_trials += usize::from(is_failed);
        watcher.hear(Event::TrialEnds { status: &status });
        Ok(())
    }

    /// Does a trial. The outer error ends the run, the inner one the trial before it began.
    fn attempt(
        &mut self,
        trial: Trial,
        watcher: &mut dyn Watcher,
    ) -> Result<Result<TrialStatus, Unready>> {
        let (mut bed, ready) = match self.make_ready(trial, watcher) {
            Ok(ready) => ready,
            Err(unready) => return Ok(Err(unready)),
        };
        let (mut status, mut keeper) =
            trial::run(self.experiment, trial, &mut bed, &ready, self.writer, self.stop, watcher)?;
        if bed.exited().is_none()
            && !self.stop.is_asked()
            && let Some(crashed) = check_data(trial, &mut bed, &mut keeper, watcher)?
        {
            status = crashed;
        }
        self.last = Some(keeper);
        // A server that has ended is started afresh for the next trial.
        if bed.exited().is_none() {
            self.bed = Some(bed);
        }
        Ok(Ok(status))
    }

    /// Takes the bed of the trial's system, with the trial's data on it.
    fn make_ready(
        &mut self,
        trial: Trial,
        watcher: &mut dyn Watcher,
    ) -> Result<(Bed<'a>, Vec<PhaseRecord>), Unready> {
        if let Some(dead) = self.dead.iter().find(|dead| dead.covers(trial)) {
            let up = self.bed.as_ref().map(|bed| Box::new(bed.identity().clone()));
            let identity = up.unwrap_or_default();
            return Err(Unready { status: TrialStatus::Failed(dead.reason.clone()), identity });
        }
        let mut bed = self.bed_for(trial, watcher).inspect_err(|cause| {
            self.dead.push(Dead {
                system: trial.system,
                workload: None,
                reason: format!("{cause:#}"),
            });
        })?;
        if self.last.is_some() {
            let limit = self.experiment.plan.load.bounds.reconnect_limit;
            reach::wait_for_server(&bed, limit, self.stop, watcher);
        }
        match bed.make_ready(trial, watcher) {
            Ok(phases) => Ok((bed, phases)),
            Err(cause) => {
                let identity = Box::new(bed.identity().clone());
                if let Some(reason) = bed.crash(&cause) {
                    return Err(Unready { status: TrialStatus::Crashed(reason), identity });
                }
                let (system, workload) = (trial.system, Some(trial.workload));
                self.dead.push(Dead { system, workload, reason: format!("{cause:#}") });
                self.bed = Some(bed);
                Err(Unready { identity, ..cause.into() })
            }
        }
    }

    /// The bed of the trial's system: the one that is up, or else a new one.
    fn bed_for(&mut self, trial: Trial, watcher: &mut dyn Watcher) -> Result<Bed<'a>> {
        let sitting = self.experiment.plan.sitting(trial);
        if let Some(bed) = self.bed.take_if(|bed| bed.sitting() == sitting) {
            return Ok(bed);
        }
        self.take_down(watcher)?;
        self.build(trial.system, watcher)?;
        let scratch = self.scratch.subfolder(&format!("{:04}", trial.index))?;
        Bed::make(self.experiment, sitting, &scratch, self.stop, watcher)
    }

    /// Does what the plan wants done before the system is started for the first time.
    fn build(&mut self, system: usize, watcher: &mut dyn Watcher) -> Result<()> {
        let plan = &self.experiment.plan;
        let Some(command) = &plan.systems[system].build else { return Ok(()) };
        if self.built.contains(&system) {
            return Ok(());
        }
        let name = &plan.systems[system].name;
        let job = Build { name, command, folder: &plan.source.folder, log: self.writer.folder() };
        job.run(self.stop, watcher)?;
        self.built.push(system);
        Ok(())
    }

    /// Whether the system will be used again after this sitting: the tables that dyno made would stand
    /// in the way then, unless they go with the server.
    fn comes_back(&self, sitting: Sitting) -> bool {
        let plan = &self.experiment.plan;
        let rounds = plan.repetitions;
        plan.systems[sitting.system].variant.is_some() && sitting.round + 1 < rounds
    }

    fn take_down(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        let Some(mut bed) = self.bed.take() else { return Ok(()) };
        let is_left = !bed.is_managed() && self.comes_back(bed.sitting());
        let cleaned_up = match self.experiment.plan.cleanup || is_left {
            true => self.clean_up(&mut bed, watcher),
            false => Ok(()),
        };
        // Whatever became of the tables, what was started is stopped.
        let taken_down = bed.take_down();
        cleaned_up.and(taken_down)
    }

    fn clean_up(&mut self, bed: &mut Bed<'_>, watcher: &mut dyn Watcher) -> Result<()> {
        match bed.clean_up(watcher) {
            Ok(Some(phase)) => match &mut self.last {
                Some(last) => Ok(last.phase(phase)?),
                None => Ok(()),
            },
            Ok(None) => Ok(()),
            Err(_) if self.stop.level() == StopLevel::AtOnce => {
                watcher
                    .hear(Event::Note { text: "tables are left, for the end was to be at once" });
                Ok(())
            }
            Err(cause) => Err(cause),
        }
    }

    /// Leaves a trial in the record that could not begin.
    fn keep_unready(&self, trial: Trial, unready: Unready) -> Result<TrialStatus> {
        let Unready { status, identity } = unready;
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
