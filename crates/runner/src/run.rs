//! Runs all trials of an experiment, in order.

mod after_load;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use engine::Stop;
use jiff::Timestamp;
use measure::Phase;
use plan::{SystemInstance, Trial};
use record::{
    Dyno, Environment, PhaseRecord, RunHeader, RunStatus, RunWriter, TrialEnd, TrialHeader,
    TrialStatus, TrialWriter,
};
use system::{Scratch, demand_cpus};

use crate::building::Build;
use crate::data_check::check_data;
use crate::load_processes::LoadProcesses;
use crate::not_started::NotStarted;
use crate::nothing_measured::{NothingMeasured, UntilFirstLoad};
use crate::phase_failure::PhaseFailure;
use crate::source::{FinishedTrial, SourcedTrial, TrialSource};
use crate::test_bed::TestBed;
use crate::test_beds::TestBeds;
use crate::trial::TrialRun;
use crate::{
    Event, Experiment, RunListener, reach, rounds, source, trial, trial_header, trial_load,
};

/// Where a run writes its record, and the facts at the record's head.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of all results; the run creates its own folder in it.
    pub out: PathBuf,
    /// The command line that repeats the run.
    pub command: String,
    pub dyno: Dyno,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    pub folder: PathBuf,
    pub status: RunStatus,
    pub failed_trials: usize,
}

impl Experiment {
    /// Runs every trial and writes the record; a trial that fails does not stop those after it. `stop` ends the
    /// current trial, and its measurements so far are kept. `processes` are those that offer the loads of a plan with
    /// generators; other loads are offered here.
    ///
    /// # Errors
    /// [`NothingMeasured`] when no load began; when the record cannot be written.
    pub fn run(
        &self,
        options: &RunOptions,
        processes: Option<&mut dyn LoadProcesses>,
        stop: &Stop,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome> {
        // Generators have the CPUs of their own hosts.
        let own_cpus =
            self.plan.load.cpus.as_ref().filter(|_| self.plan.load.generators.is_empty());
        if let Some(cpus) = own_cpus {
            demand_cpus(cpus).context("the load's `cpus`").map_err(before_all)?;
        }
        let writer = RunWriter::create(&options.out, &self.header(options)).map_err(before_all)?;
        let folder = writer.folder().to_path_buf();
        let trials = (!self.plan.has_open_end()).then(|| self.plan.trials().len());
        listener.on_event(Event::RunBegins { folder: &folder, trials });
        self.notes().iter().for_each(|text| listener.on_note(text));
        let scratch = Scratch::make()?;
        let has_generators = !self.plan.load.generators.is_empty();
        let processes = processes.filter(|_| has_generators).map(|it| it as &mut dyn LoadProcesses);
        let mut sequence = Sequence {
            experiment: self,
            writer: &writer,
            scratch: &scratch,
            stop,
            test_beds: TestBeds::default(),
            processes,
            last: None,
            dead: Vec::new(),
            built: Vec::new(),
            begun: 0,
            failed_trials: 0,
            until_first_load: UntilFirstLoad::default(),
        };
        let result = sequence.run(source::of(&self.plan).as_mut(), listener);
        let taken_down = sequence.take_down(&[], listener);
        let (begun, failed_trials) = (sequence.begun, sequence.failed_trials);
        let nothing = sequence.until_first_load.nothing_measured(result.as_ref().err());
        if let Some(nothing) = nothing.filter(|_| !stop.is_asked()) {
            return Err(nothing.discarding(writer).into());
        }
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
            files: self.files.clone(),
            command: options.command.clone(),
            started: Timestamp::now(),
            environment: Environment::gather(&[
                ("results", &options.out),
                ("data", &std::env::temp_dir()),
            ]),
            percentiles: self.plan.percentiles.clone(),
            fail_if: self.plan.fail_if.clone(),
            least_difference: self.plan.least_difference,
            seek: self.plan.seek.as_ref().map(source::record),
            windows: self.plan.windows,
            rounds: self.plan.rounds.as_ref().map(rounds::rule),
            seed: self.plan.seed,
            dyno: options.dyno.clone(),
            trials_planned: source::trials_max(&self.plan),
        }
    }
}

struct Sequence<'a> {
    experiment: &'a Experiment,
    writer: &'a RunWriter,
    scratch: &'a Scratch,
    stop: &'a Stop,
    test_beds: TestBeds<'a>,
    /// The generators, when the load comes from other processes.
    processes: Option<&'a mut dyn LoadProcesses>,
    /// The last trial that ran; its record gets the cleanup after it.
    last: Option<TrialWriter>,
    /// Systems and workloads that could not be prepared: their later trials fail at once, for the same reason.
    dead: Vec<Unavailable>,
    /// Systems whose build command has run.
    built: Vec<usize>,
    begun: usize,
    failed_trials: usize,
    until_first_load: UntilFirstLoad,
}

/// The error for a cause that is found before the first trial.
fn before_all(cause: impl Into<anyhow::Error>) -> anyhow::Error {
    NothingMeasured::of(&[format!("{:#}", cause.into())]).into()
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

impl<'a> Sequence<'a> {
    /// Runs the trials of a source until it has no more, or a stop is asked for.
    fn run(&mut self, source: &mut dyn TrialSource, listener: &mut dyn RunListener) -> Result<()> {
        match &mut self.processes {
            Some(processes) => match processes.start(self.stop) {
                // They need not all have been reached by then.
                Err(_) if self.stop.is_asked() => return Ok(()),
                started => started?,
            },
            None if self.experiment.plan.load.generators.is_empty() => {}
            None => bail!("there are no processes to be the generators of this plan"),
        }
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
        let mut title = trial_header::title(&self.experiment.plan, *trial);
        if !note.is_empty() {
            title.push_str(&format!(" · {note}"));
        }
        self.begun += 1;
        listener.on_event(Event::TrialBegins { trial: *trial, title: &title });
        let attempt = self.attempt(*trial, &title, listener)?;
        let is_started = matches!(attempt, Ok((_, true)));
        let (status, cause) = match attempt {
            Ok((status, _)) => (status, None),
            Err(_) if self.stop.is_asked() => (TrialStatus::Interrupted, None),
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
        self.until_first_load.report_before_end((*trial, &title), listener);
        if self.until_first_load.is_reported((*trial, &title), &status, cause) {
            listener.on_event(Event::TrialEnds { status: &status, record });
        }
        Ok(is_started)
    }

    /// Runs a trial, and returns whether its load began. The outer error ends the run; the inner one ends the trial before
    /// it began.
    fn attempt(
        &mut self,
        trial: Trial,
        title: &str,
        listener: &mut dyn RunListener,
    ) -> Result<Result<(TrialStatus, bool), NotStarted>> {
        let (mut test_bed, ready) = match self.make_ready(trial, listener) {
            Ok(ready) => ready,
            Err(not_started) => return Ok(Err(not_started)),
        };
        self.until_first_load.report((trial, title), listener);
        trial::tell_later_shortages(self.experiment, trial, &test_bed, listener);
        let load = match trial_load::make_load(self.experiment, trial, &test_bed, self.stop) {
            // Such as a method that the service does not have. Other trials go on.
            Err(cause) => {
                self.put_back(test_bed);
                return Ok(Err(cause.into()));
            }
            Ok(load) => load,
        };
        let processes = self.processes.as_mut().map(|it| &mut **it as &mut dyn LoadProcesses);
        let TrialRun { mut status, has_load, mut recorder, mut member_exits, messages } =
            trial::run(
                self.experiment,
                trial,
                (&mut test_bed, self.test_beds.names(&self.experiment.plan), processes),
                (&ready, load),
                (self.writer, &mut self.until_first_load),
                self.stop,
                listener,
            )?;
        if test_bed.exited().is_none()
            && !self.stop.is_asked()
            && self.is_checked(trial)
            && let Some(crashed) = check_data(trial, &mut test_bed, &mut recorder, listener)?
        {
            status = crashed;
        }
        member_exits.update(&test_bed, &mut recorder, listener)?;
        if status == TrialStatus::Complete && self.experiment.plan.is_last_window(trial) {
            self.measure_ceiling(trial, (&test_bed, &messages), &mut recorder, listener)?;
            self.find_limit(trial, (&test_bed, &messages), &mut recorder, listener)?;
        }
        self.last = Some(recorder);
        self.put_back(test_bed);
        Ok(Ok((status, has_load)))
    }

    /// Keeps a test bed for the next trials. A system that has lost a server is started again for the next trial; in
    /// a round of windows it is not, because the windows after that would be those of another start.
    fn put_back(&mut self, mut test_bed: TestBed<'a>) {
        match test_bed.loss() {
            None => self.test_beds.put(test_bed),
            Some(reason) if self.experiment.plan.windows.is_some() => {
                self.test_beds.lose(test_bed.instance(), reason);
            }
            Some(_) => {}
        }
    }

    /// Whether the data is checked after a trial: of several windows after the last, unless each answers all queries.
    fn is_checked(&self, trial: Trial) -> bool {
        let Experiment { plan, workloads, .. } = self.experiment;
        plan.is_last_window(trial) || workloads[trial.workload].runs_once()
    }

    /// The test bed of the trial's system, with the trial's data on it, and the phases that this took. Before the
    /// first of its windows, those of the other variants are made ready too.
    fn make_ready(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<(TestBed<'a>, Vec<PhaseRecord>), NotStarted> {
        let plan = &self.experiment.plan;
        let instance = plan.instance(trial);
        let others = plan.up_together(instance).into_iter().filter(|other| *other != instance);
        for SystemInstance { system, .. } in others.filter(|_| trial.window == 0) {
            // Why one is not ready is told of by its own trial.
            if let Ok((test_bed, phases)) = self.make_one_ready(Trial { system, ..trial }, listener)
            {
                self.test_beds.put_ahead(test_bed, phases);
            }
        }
        let (test_bed, phases) = self.make_one_ready(trial, listener)?;
        if trial.window == 0
            && let Some(note) = self.test_beds.memory_note(&test_bed)
        {
            listener.on_note(&note);
        }
        let mut all = self.test_beds.take_ahead(instance);
        all.extend(phases);
        Ok((test_bed, all))
    }

    fn make_one_ready(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<(TestBed<'a>, Vec<PhaseRecord>), NotStarted> {
        let instance = self.experiment.plan.instance(trial);
        if let Some(dead) = self.dead.iter().find(|dead| dead.covers(trial)) {
            let up = self.test_beds.identity(trial.system).cloned();
            let identity = Box::new(up.unwrap_or_default());
            let (status, failed_phase) =
                (TrialStatus::Failed(dead.reason.clone()), dead.failed_phase);
            return Err(NotStarted { status, identity, failed_phase, cause: None });
        }
        if let Some(reason) = self.test_beds.loss(instance) {
            let (status, identity) = (TrialStatus::Crashed(reason), Box::default());
            return Err(NotStarted { status, identity, failed_phase: None, cause: None });
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
                    self.put_back(test_bed);
                    return Err(NotStarted { status, identity, failed_phase, cause: None });
                }
                let (system, workload) = (trial.system, Some(trial.workload));
                let (reason, failed_phase) = (format!("{cause:#}"), PhaseFailure::phase_of(&cause));
                self.dead.push(Unavailable { system, workload, reason, failed_phase });
                self.test_beds.put(test_bed);
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
        let plan = &self.experiment.plan;
        let instance = plan.instance(trial);
        let mut together = plan.up_together(instance);
        if let Some(test_bed) = self.test_beds.take(instance) {
            let is_fit = test_bed.lost_members().is_empty();
            if is_fit || plan.windows.is_some() {
                return Ok(test_bed);
            }
            // One that has lost a server since its last trial is replaced.
            self.test_beds.put(test_bed);
            together.retain(|other| *other != instance);
        }
        self.take_down(&together, listener)?;
        self.build(plan.built_as(trial.system), listener)?;
        let scratch = self.scratch.subfolder(&format!("{:04}-{}", trial.index, trial.system))?;
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

    /// Takes down all systems but these.
    fn take_down(&mut self, kept: &[SystemInstance], listener: &mut dyn RunListener) -> Result<()> {
        let others = self.test_beds.take_others(kept).into_iter();
        let results: Vec<Result<()>> = others.map(|it| self.take_one_down(it, listener)).collect();
        results.into_iter().collect()
    }

    fn take_one_down(
        &mut self,
        mut test_bed: TestBed<'a>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
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
            // A note has told what is left, if anything stays.
            Err(_) if self.stop.is_asked() => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    /// Records a trial whose load did not begin; returns its status and the cause that is to be told.
    fn record_not_started(
        &self,
        trial: Trial,
        not_started: NotStarted,
    ) -> Result<(TrialStatus, Option<String>)> {
        let NotStarted { status, identity, failed_phase, cause } = not_started;
        let warm_up = self.experiment.plan.warm_up_of(trial, false);
        let header = TrialHeader {
            identity: *identity,
            ..trial_header::bare_header(self.experiment, trial, warm_up)
        };
        let end = TrialEnd { status, failed_phase, ..TrialEnd::failed("") };
        self.writer.begin_trial(&header)?.finish(&end)?;
        Ok((end.status, cause.filter(|_| self.experiment.is_of_one_system())))
    }
}
