//! The test bed: the running system and the workload whose tables it holds.

mod exits;
mod inside;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use driver::{Demand, Shortage, Target, Timeouts};
use engine::Stop;
use measure::{Condition, Failure, LatencyHistogram, Phase, QueryPlan};
use plan::{Between, Bounds, PhaseSql, SystemInstance, Trial};
use record::{Identity, PhaseRecord};
use system::{Access, ProgressEvent, ProgressListener, Running, ServerProcess};
use workload::{LoadKey, LoadProgress, Workload, WorkloadContext};

use crate::cross_check::Check;
use crate::known_generators::KnownGenerators;
use crate::phase_failure::{PhaseFailure, SystemFailure};
use crate::phase_limit::PhaseLimit;
use crate::phase_timer::PhaseTimer;
use crate::trial_watch::{OtherHosts, WatchTargets};
use crate::trial_workload::TrialWorkload;
use crate::{Event, Experiment, RunListener, before_run, building, idle};

/// Time between two checks of the progress.
const POLL_PERIOD: Duration = Duration::from_millis(100);

/// The conditions on the data after a load, and the plans of its queries.
type DataCheck = (Vec<Condition>, Vec<QueryPlan>);

/// A running system and the tables of at most one workload.
pub(crate) struct TestBed<'a> {
    experiment: &'a Experiment,
    instance: SystemInstance,
    /// No load has run since the system started.
    is_fresh: bool,
    running: Running,
    identity: Identity,
    /// Statements around phases: the plan's, then the system's.
    sql: PhaseSql,
    loaded: Option<Loaded>,
    other_hosts: OtherHosts,
    stop: &'a Stop,
}

/// The workloads that own and last used the tables.
#[derive(Clone, Copy)]
struct Loaded {
    /// The workload that made them, which alone may remove them.
    maker: usize,
    /// The workload that last verified them.
    user: usize,
}

impl<'a> TestBed<'a> {
    /// Starts or connects to a system of the plan.
    pub(crate) fn make(
        experiment: &'a Experiment,
        instance: SystemInstance,
        scratch: &Path,
        stop: &'a Stop,
        listener: &mut dyn RunListener,
    ) -> Result<Self> {
        let SystemInstance { system, .. } = instance;
        let plan = &experiment.plan.systems[system];
        listener.on_event(Event::SystemStarting { name: &plan.name });
        let failure = |state| SystemFailure { system: plan.name.clone(), state };
        building::provide(experiment.systems[system].as_ref(), stop, listener)
            .with_context(|| failure("is not available"))?;
        let connect = experiment.plan.load.bounds.connect_timeout;
        let timeouts = Timeouts { connect, query: None };
        let running = experiment.systems[system]
            .start(scratch, timeouts, &mut building::progress_listener(stop, listener))
            .with_context(|| failure("cannot be used"))?;
        let identity = running.identity().clone();
        listener.on_event(Event::SystemStarted { name: &plan.name, identity: &identity });
        let sql = experiment.plan.sql_for(plan);
        let other_hosts = OtherHosts::of(&experiment.plan, system);
        let (is_fresh, loaded) = (true, None);
        Ok(Self {
            experiment,
            instance,
            is_fresh,
            running,
            identity,
            sql,
            loaded,
            other_hosts,
            stop,
        })
    }

    pub(crate) fn instance(&self) -> SystemInstance {
        self.instance
    }

    /// Whether the next load is the first since the system started.
    pub(crate) fn takes_first_load(&mut self) -> bool {
        std::mem::replace(&mut self.is_fresh, false)
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The request to stop that ends its steps.
    pub(crate) fn stop(&self) -> &Stop {
        self.stop
    }

    pub(crate) fn access(&self) -> &Access {
        self.running.access()
    }

    /// The plan's statements on every client's session.
    pub(crate) fn run_session(&self) -> &[String] {
        &self.sql.run_session
    }

    /// What to watch while this process offers load, or these generators; `None` when the plan turns watching off.
    pub(crate) fn watch_targets(
        &self,
        generators: Option<&KnownGenerators>,
    ) -> Option<WatchTargets> {
        let plan = &self.experiment.plan;
        let system = &plan.systems[self.instance.system];
        let (watch, load) = (&plan.watch, &plan.load);
        watch.is_on.then(|| {
            let addresses = self.running.addresses();
            let processes = generators.map(KnownGenerators::processes).unwrap_or_default();
            let others = self.other_hosts.describe((&addresses, &processes), self.stop);
            WatchTargets::new((watch, load), system, (&self.running, generators), others)
        })
    }

    /// The servers that were started for the system and still run.
    pub(crate) fn processes(&self) -> Vec<ServerProcess> {
        self.running.processes()
    }

    /// The addresses on which its servers listen.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.running.addresses()
    }

    /// Whether the data are removed with the system when it is stopped.
    pub(crate) fn is_managed(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Prepares the data that `trial` needs, and returns how long that took.
    pub(crate) fn make_ready(
        &mut self,
        trial: Trial,
        listener: &mut dyn RunListener,
    ) -> Result<Vec<PhaseRecord>> {
        self.other_hosts.connect(self.stop);
        let experiment = self.experiment;
        let TrialWorkload::Database(workload) = &experiment.workloads[trial.workload] else {
            return Ok(Vec::new());
        };
        let mut phases = Vec::new();
        match (self.loaded, experiment.plan.between) {
            (None, _) => self.load(trial.workload, &mut phases, listener)?,
            (Some(loaded), Between::Keep) if loaded.user == trial.workload => {}
            (Some(loaded), Between::Keep) if self.same_data(loaded.maker, workload.as_ref()) => {
                self.take_over(loaded.maker, trial.workload, &mut phases, listener)?;
            }
            (Some(loaded), Between::Restore) if loaded.user == trial.workload => {
                self.restore(trial.workload, &mut phases, listener)?;
            }
            (Some(_), _) => self.reload(trial.workload, &mut phases, listener)?,
        }
        Ok(phases)
    }

    fn same_data(&self, loaded: usize, workload: &dyn Workload) -> bool {
        match &self.experiment.workloads[loaded] {
            TrialWorkload::Database(other) => {
                other.dataset().is_some() && other.dataset() == workload.dataset()
            }
            TrialWorkload::Service(_) | TrialWorkload::Simulated => false,
        }
    }

    /// Uses the tables of another workload with the same data, if their verification succeeds.
    fn take_over(
        &mut self,
        maker: usize,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        match self.phase(Phase::Verify, index, listener) {
            Ok(phase) => {
                phases.push(phase);
                self.loaded = Some(Loaded { maker, user: index });
                Ok(())
            }
            Err(_) if self.stop.is_asked() => bail!("interrupted"),
            Err(cause) => {
                let text =
                    format!("loading again, because the last workload changed the data: {cause}");
                listener.on_note(&text);
                self.reload(index, phases, listener)
            }
        }
    }

    fn load(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        phases.push(self.phase(Phase::Prepare, index, listener)?);
        self.loaded = Some(Loaded { maker: index, user: index });
        phases.push(self.phase(Phase::Verify, index, listener)?);
        if self.experiment.plan.between == Between::Restore && self.later_trials(index) {
            self.limited(Phase::Prepare, listener, Running::snapshot)
                .context("cannot save the state after loading")?;
        }
        Ok(())
    }

    /// Whether the workload has more than one trial on this system.
    fn later_trials(&self, workload: usize) -> bool {
        let plan = &self.experiment.plan;
        let trials = plan.trials();
        let mine =
            |trial: &&Trial| plan.instance(**trial) == self.instance && trial.workload == workload;
        plan.seek.is_some() || trials.iter().filter(mine).count() > 1
    }

    fn restore(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        listener.on_event(Event::PhaseBegins { phase: Phase::Prepare, planned: None });
        let restored = self.limited(Phase::Prepare, listener, Running::restore);
        phases.push(restored.context("cannot restore the state after loading")?);
        phases.push(self.phase(Phase::Verify, index, listener)?);
        Ok(())
    }

    /// Does a step of the system itself within the limits of a phase.
    fn limited(
        &mut self,
        phase: Phase,
        listener: &mut dyn RunListener,
        step: fn(&mut Running, &mut ProgressListener<'_>) -> Result<()>,
    ) -> Result<PhaseRecord> {
        let timer = PhaseTimer::start(phase);
        let limit = PhaseLimit::new(self.stop, self.bounds().phase_timeout);
        let done = step(&mut self.running, &mut |event| {
            listener.on_event(Event::Progress(event));
            limit.check_limits(timer.elapsed());
            limit.flow()
        });
        limit.explained(done).map(|()| timer.stop())
    }

    fn reload(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        listener: &mut dyn RunListener,
    ) -> Result<()> {
        phases.extend(self.clean_up(listener)?);
        self.load(index, phases, listener)
    }

    /// Removes the tables, unless dyno did not make them.
    pub(crate) fn clean_up(
        &mut self,
        listener: &mut dyn RunListener,
    ) -> Result<Option<PhaseRecord>> {
        match self.loaded.take() {
            None => Ok(None),
            Some(loaded) => self.phase(Phase::Cleanup, loaded.maker, listener).map(Some),
        }
    }

    /// Checks the data after the load of workload `index`; `None` when the workload has no checks.
    pub(crate) fn check_data(
        &self,
        index: usize,
        listener: &mut dyn RunListener,
    ) -> Result<Option<(PhaseRecord, DataCheck)>> {
        match &self.experiment.workloads[index] {
            TrialWorkload::Database(workload) if workload.has_conditions() => {
                let job = |workload: &dyn Workload, context: &WorkloadContext<'_>| {
                    Ok((workload.check(context)?, workload.query_plans(context)?))
                };
                self.phase_of(Phase::Check, index, listener, job).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn phase(
        &self,
        phase: Phase,
        index: usize,
        listener: &mut dyn RunListener,
    ) -> Result<PhaseRecord> {
        let job = |workload: &dyn Workload, context: &WorkloadContext<'_>| {
            run_phase(phase, workload, context)
        };
        self.phase_of(phase, index, listener, job).map(|(record, ())| record)
    }

    /// Does a phase's job on a thread of its own and reports its progress.
    pub(crate) fn phase_of<T: Send>(
        &self,
        phase: Phase,
        index: usize,
        listener: &mut dyn RunListener,
        job: impl FnOnce(&dyn Workload, &WorkloadContext<'_>) -> Result<T, Failure> + Send,
    ) -> Result<(PhaseRecord, T)> {
        let TrialWorkload::Database(workload) = &self.experiment.workloads[index] else {
            bail!("this workload has no data");
        };
        listener.on_event(Event::PhaseBegins { phase, planned: None });
        let progress = LoadProgress::new();
        let timer = PhaseTimer::start(phase);
        let limit = PhaseLimit::new(self.stop, self.bounds().phase_timeout);
        let target = self.target(None)?;
        // The job's thread ends only after it has waked this one.
        let is_done = AtomicBool::new(false);
        let outcome =
            self.with_context_of(&target, LoadKey::default(), &progress, &limit.stop, |context| {
                thread::scope(|scope| {
                    let (looker, is_done) = (thread::current(), &is_done);
                    let job = scope.spawn(move || {
                        let outcome = job(workload.as_ref(), context);
                        is_done.store(true, Ordering::Release);
                        looker.unpark();
                        outcome
                    });
                    let mut told_losses = 0;
                    while !is_done.load(Ordering::Acquire) && !job.is_finished() {
                        if progress.losses() > told_losses {
                            told_losses = progress.losses();
                            listener.on_note(&lost_batches(told_losses));
                        }
                        tell_notes(&progress, listener);
                        let (name, done, total) = progress.current();
                        let stage = ProgressEvent::Stage { name: &name, done, total };
                        listener.on_event(Event::Progress(stage));
                        limit.check_limits(timer.elapsed());
                        thread::park_timeout(POLL_PERIOD);
                    }
                    job.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
                })
            });
        tell_notes(&progress, listener);
        let workload = &self.experiment.plan.workloads[index].name;
        let done = outcome
            .map_err(|failure| limit.explain(target.explain(failure)))
            .with_context(|| PhaseFailure { phase, workload: workload.clone() })?;
        let (loaded_again, loaded, remarks) =
            (progress.losses(), progress.loaded(), progress.remarks());
        Ok((PhaseRecord { loaded_again, loaded, remarks, ..timer.stop() }, done))
    }

    fn bounds(&self) -> &Bounds {
        &self.experiment.plan.load.bounds
    }

    pub(crate) fn load_target(&self) -> Result<Target> {
        self.target(self.bounds().query_timeout)
    }

    pub(crate) fn idle_round_trips(
        &self,
        workload: usize,
        listener: &mut dyn RunListener,
    ) -> Result<LatencyHistogram, Failure> {
        let workload = &self.experiment.workloads[workload];
        idle::round_trips(self.running.access(), workload, self.stop, listener)
    }

    /// A check of a load's statements with the server's own counters.
    pub(crate) fn check(&self) -> Check {
        let pages = self.running.statement_pages();
        Check::new(self.load_target().ok(), pages, self.stop.clone())
    }

    /// The target for sessions with this time-out of statements. Sessions that load data have none: building an index
    /// is one statement.
    fn target(&self, query: Option<Duration>) -> Result<Target> {
        let Access::Database(target) = self.running.access() else {
            bail!("this system has no tables");
        };
        Ok(target.clone().with_timeouts(Timeouts { query, ..self.timeouts() }))
    }

    /// The time-outs of the clients of a load.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let Bounds { connect_timeout, query_timeout, .. } = *self.bounds();
        Timeouts { connect: connect_timeout, query: query_timeout }
    }

    /// Calls a function with the context in which a workload runs.
    pub(crate) fn with_context_of<T>(
        &self,
        target: &Target,
        load_key: LoadKey,
        progress: &LoadProgress,
        stop: &Stop,
        body: impl FnOnce(&WorkloadContext<'_>) -> T,
    ) -> T {
        let plan = &self.experiment.plan;
        body(&WorkloadContext {
            system: &plan.systems[self.instance.system].name,
            target,
            keeps_data: self.experiment.systems[self.instance.system].keeps_data(),
            loaders: loaders(),
            existing: plan.existing,
            seed: plan.seed,
            load_key,
            sql: &self.sql,
            progress,
            reconnect_limit: self.bounds().reconnect_limit.filter(|_| self.may_reconnect()),
            stop,
        })
    }

    /// Runs the plan's statements before each trial, within the limit of a phase.
    pub(crate) fn before_run(&self) -> Result<(), Failure> {
        match self.target(None) {
            Ok(target) if !self.sql.before_run.is_empty() => {
                before_run::run(&target, &self.sql.before_run, self.stop, self.bounds())
            }
            _ => Ok(()),
        }
    }

    /// Every resource that is too scarce for `clients` clients of this workload, with its remedy.
    pub(crate) fn shortages(&self, workload: &TrialWorkload, clients: usize) -> Vec<Shortage> {
        match (self.running.access(), workload) {
            (Access::Database(target), TrialWorkload::Database(workload)) => {
                let statements_per_client = workload.statements_per_client();
                target.shortages(&self.running.limits(), Demand { clients, statements_per_client })
            }
            (Access::Service(service), TrialWorkload::Service(rpc)) => {
                service.shortages(rpc.connections(clients))
            }
            _ => Vec::new(),
        }
    }

    /// Stops the servers that were started for the system. Once a stop is requested they do not get the time to shut
    /// down cleanly: nothing of theirs is needed any more.
    pub(crate) fn take_down(self) -> Result<()> {
        let Self { running, stop, .. } = self;
        let limit = PhaseLimit::new(stop, None);
        running.stop(&mut |_| limit.flow())
    }
}

/// The number of sessions that load data. Loading is work for the server: more sessions than cores cost it more CPU
/// for the same rows (docs/sysbench.md).
fn loaders() -> usize {
    thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, 16)
}

fn tell_notes(progress: &LoadProgress, listener: &mut dyn RunListener) {
    progress.take_notes().iter().for_each(|text| listener.on_note(text));
}

/// The message while batches of a load are retried.
fn lost_batches(count: u64) -> String {
    let batches = if count == 1 { "batch" } else { "batches" };
    format!("connections were lost while loading: {count} {batches} so far must be loaded again")
}

fn run_phase(
    phase: Phase,
    workload: &dyn Workload,
    context: &WorkloadContext<'_>,
) -> Result<(), Failure> {
    match phase {
        Phase::Prepare => workload.prepare(context),
        Phase::Verify => workload.verify(context),
        Phase::Cleanup => workload.cleanup(context),
        Phase::WarmUp | Phase::Measure | Phase::Check => Ok(()),
    }
}
