//! The test bed: which system is up, and whose data is on it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use driver::{Demand, Shortage, Target, Timeouts};
use engine::{Stop, crew};
use jiff::Timestamp;
use measure::{Failure, Phase};
use net::Clock;
use plan::{Between, Bounds, PhaseSql, Plan, Trial};
use record::{Identity, PhaseRecord};
use system::{Access, Running};
use workload::{Progress, Site, Workload};

use crate::cross_check::Check;
use crate::experiment::Work;
use crate::phase_limit::PhaseLimit;
use crate::{Event, Experiment, Watcher};

/// How often progress is looked at.
const LOOK_UP: Duration = Duration::from_millis(100);

/// A system that is up, with the data of at most one workload.
pub(crate) struct Bed<'a> {
    experiment: &'a Experiment,
    system: usize,
    running: Box<dyn Running>,
    identity: Identity,
    /// Statements around phases: the plan's, then the system's.
    sql: PhaseSql,
    loaded: Option<Loaded>,
    stop: &'a Stop,
}

/// Whose tables are there.
#[derive(Clone, Copy)]
struct Loaded {
    /// The workload that made them, which alone may remove them.
    maker: usize,
    /// The workload that was last sure of them.
    user: usize,
}

impl<'a> Bed<'a> {
    /// Starts or reaches system `system` of the plan.
    pub(crate) fn make(
        experiment: &'a Experiment,
        system: usize,
        scratch: &Path,
        stop: &'a Stop,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        let plan = &experiment.plan.systems[system];
        watcher.hear(Event::SystemStarting { name: &plan.name });
        let bounds = &experiment.plan.load.bounds;
        let running = experiment.systems[system]
            .start(scratch, Timeouts { connect: bounds.connect_timeout, query: None })
            .with_context(|| format!("system {:?} cannot be used", plan.name))?;
        let identity = running.identity().clone();
        watcher.hear(Event::SystemUp { name: &plan.name, identity: &identity });
        let sql = experiment.plan.sql_for(plan);
        Ok(Self { experiment, system, running, identity, sql, loaded: None, stop })
    }

    pub(crate) fn system(&self) -> usize {
        self.system
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn access(&self) -> &Access {
        self.running.access()
    }

    /// Why a managed server is no longer there.
    pub(crate) fn exited(&mut self) -> Option<String> {
        self.running.exited()
    }

    /// Brings the data into the state that `trial` needs, and says how long that took.
    pub(crate) fn make_ready(
        &mut self,
        trial: Trial,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<PhaseRecord>> {
        let experiment = self.experiment;
        let Work::Database(workload) = &experiment.workloads[trial.workload] else {
            return Ok(Vec::new());
        };
        let mut phases = Vec::new();
        match (self.loaded, experiment.plan.between) {
            (None, _) => self.load(trial.workload, &mut phases, watcher)?,
            (Some(loaded), Between::Keep) if loaded.user == trial.workload => {}
            (Some(loaded), Between::Keep) if self.same_data(loaded.maker, workload.as_ref()) => {
                self.take_over(loaded.maker, trial.workload, &mut phases, watcher)?;
            }
            (Some(loaded), Between::Restore) if loaded.user == trial.workload => {
                self.restore(trial.workload, &mut phases, watcher)?;
            }
            (Some(_), _) => self.reload(trial.workload, &mut phases, watcher)?,
        }
        Ok(phases)
    }

    fn same_data(&self, loaded: usize, workload: &dyn Workload) -> bool {
        match &self.experiment.workloads[loaded] {
            Work::Database(other) => {
                other.dataset().is_some() && other.dataset() == workload.dataset()
            }
            Work::Simulated => false,
        }
    }

    /// Goes on with the tables of another workload that has the same, when they are still as they
    /// should be.
    fn take_over(
        &mut self,
        maker: usize,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        match self.phase(Phase::Verify, index, watcher) {
            Ok(phase) => {
                phases.push(phase);
                self.loaded = Some(Loaded { maker, user: index });
                Ok(())
            }
            Err(_) if self.stop.is_asked() => bail!("interrupted"),
            Err(cause) => {
                let text =
                    format!("loading again, for the last workload changed the data: {cause}");
                watcher.hear(Event::Note { text: &text });
                self.reload(index, phases, watcher)
            }
        }
    }

    fn load(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        phases.push(self.phase(Phase::Prepare, index, watcher)?);
        self.loaded = Some(Loaded { maker: index, user: index });
        phases.push(self.phase(Phase::Verify, index, watcher)?);
        if self.experiment.plan.between == Between::Restore && self.later_trials(index) {
            self.running.snapshot().context("the state after the load cannot be kept")?;
        }
        Ok(())
    }

    /// Whether the workload has more than one trial on this system.
    fn later_trials(&self, workload: usize) -> bool {
        let trials = self.experiment.plan.trials();
        let mine = |trial: &&Trial| trial.system == self.system && trial.workload == workload;
        trials.iter().filter(mine).count() > 1
    }

    fn restore(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        let timer = Timer::start(Phase::Prepare);
        let planned = None;
        watcher.hear(Event::PhaseBegins { phase: Phase::Prepare, planned });
        self.running.restore().context("the state after the load cannot be restored")?;
        phases.push(timer.stop());
        phases.push(self.phase(Phase::Verify, index, watcher)?);
        Ok(())
    }

    fn reload(
        &mut self,
        index: usize,
        phases: &mut Vec<PhaseRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        phases.extend(self.clean_up(watcher)?);
        self.load(index, phases, watcher)
    }

    /// Removes the tables that are there, those that dyno did not make excepted.
    pub(crate) fn clean_up(&mut self, watcher: &mut dyn Watcher) -> Result<Option<PhaseRecord>> {
        match self.loaded.take() {
            None => Ok(None),
            Some(loaded) => self.phase(Phase::Cleanup, loaded.maker, watcher).map(Some),
        }
    }

    /// Runs one phase of a workload on a thread of its own and tells how far it has come.
    fn phase(&self, phase: Phase, index: usize, watcher: &mut dyn Watcher) -> Result<PhaseRecord> {
        let Work::Database(workload) = &self.experiment.workloads[index] else {
            bail!("a simulated workload has no data");
        };
        watcher.hear(Event::PhaseBegins { phase, planned: None });
        let progress = Progress::new();
        let timer = Timer::start(phase);
        let limit = PhaseLimit::new(self.stop, self.bounds().phase_timeout);
        let target = self.target(None)?;
        let outcome = self.with_site(&target, &progress, &limit.stop, |site| {
            thread::scope(|scope| {
                let looker = thread::current();
                let job = scope.spawn(move || {
                    let outcome = run_phase(phase, workload.as_ref(), site);
                    looker.unpark();
                    outcome
                });
                while !job.is_finished() {
                    let (stage, done, total) = progress.look();
                    watcher.hear(Event::Progress { stage: &stage, done, total });
                    limit.look_up(timer.elapsed());
                    thread::park_timeout(LOOK_UP);
                }
                job.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
            })
        });
        outcome.map_err(|failure| limit.explain(failure)).with_context(|| {
            format!("{} of {:?} failed", phase.name(), self.experiment.plan.workloads[index].name)
        })?;
        Ok(timer.stop())
    }

    fn bounds(&self) -> &Bounds {
        &self.experiment.plan.load.bounds
    }

    /// Where the clients of a load connect to.
    pub(crate) fn load_target(&self) -> Result<Target> {
        self.target(self.bounds().query_timeout)
    }

    /// A check of a load's statements with the server's own counters.
    pub(crate) fn check(&self) -> Check {
        Check::new(self.load_target().ok(), self.stop.clone())
    }

    /// Where sessions connect to whose statements may take so long. Those that load data may take
    /// what they need: building an index is one statement.
    fn target(&self, query: Option<Duration>) -> Result<Target> {
        let Access::Database(target) = self.running.access() else {
            bail!("a simulated system has no tables");
        };
        let connect = self.bounds().connect_timeout;
        Ok(target.clone().with_timeouts(Timeouts { connect, query }))
    }

    /// Lends where a workload does its work.
    pub(crate) fn with_site<T>(
        &self,
        target: &Target,
        progress: &Progress,
        stop: &Stop,
        body: impl FnOnce(&Site<'_>) -> T,
    ) -> T {
        let plan = &self.experiment.plan;
        body(&Site {
            target,
            loaders: loaders(),
            existing: plan.existing,
            seed: plan.seed,
            sql: &self.sql,
            progress,
            stop,
        })
    }

    /// Runs the statements that the plan wants before each trial.
    pub(crate) fn before_run(&self) -> Result<(), Failure> {
        let Access::Database(target) = self.running.access() else { return Ok(()) };
        if self.sql.before_run.is_empty() {
            return Ok(());
        }
        let connect = self.bounds().connect_timeout;
        let target = target.clone().with_timeouts(Timeouts { connect, query: None });
        let statements = self.sql.before_run.clone();
        crew::run_one(self.stop, |handle| {
            Box::pin(async move {
                let mut session = target.connect(&handle, 0).await?;
                for statement in &statements {
                    session.run(statement).await?;
                }
                session.close().await;
                Ok(())
            })
        })
    }

    /// Everything that there is too little of for `clients` clients of this workload, with its remedy.
    pub(crate) fn shortages(&self, workload: &Work, clients: usize) -> Vec<Shortage> {
        let (Access::Database(target), Work::Database(workload)) =
            (self.running.access(), workload)
        else {
            return Vec::new();
        };
        let statements_per_client = workload.statements_per_client();
        target.shortages(&self.running.limits(), Demand { clients, statements_per_client })
    }

    /// Stops what was started for the system.
    pub(crate) fn take_down(self) -> Result<()> {
        self.running.stop()
    }
}

/// Sessions that load data. The work of loading is the server's: more sessions than cores cost it more
/// CPU for the same rows (docs/sysbench.md).
fn loaders() -> usize {
    thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, 16)
}

fn run_phase(phase: Phase, workload: &dyn Workload, site: &Site<'_>) -> Result<(), Failure> {
    match phase {
        Phase::Prepare => workload.prepare(site),
        Phase::Verify => workload.verify(site),
        Phase::Cleanup => workload.cleanup(site),
        Phase::WarmUp | Phase::Measure => Ok(()),
    }
}

/// Times a phase by both clocks.
pub(crate) struct Timer {
    phase: Phase,
    started: Timestamp,
    clock: Clock,
}

impl Timer {
    pub(crate) fn start(phase: Phase) -> Self {
        Self { phase, started: Timestamp::now(), clock: Clock::monotonic() }
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    pub(crate) fn stop(&self) -> PhaseRecord {
        let duration = self.elapsed();
        PhaseRecord { phase: self.phase, started: self.started, duration }
    }
}

/// A plan's part of the run in words.
pub(crate) fn title(plan: &Plan, trial: Trial) -> String {
    let clients = if trial.clients == 1 { "client" } else { "clients" };
    let mut title = format!(
        "{} · {} · {} {clients}",
        plan.systems[trial.system].name, plan.workloads[trial.workload].name, trial.clients
    );
    if let Some(rate) = plan.rate(trial) {
        title.push_str(&format!(" · {rate}"));
    }
    if plan.repetitions > 1 {
        title.push_str(&format!(" · repetition {}", trial.repetition + 1));
    }
    title
}
