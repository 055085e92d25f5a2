//! A checked plan.

use std::sync::Arc;
use std::time::Duration;

use crate::rounds::balanced_rounds;
use crate::{Bounds, EndpointPlan, OpenLoop, Options, Rate, Shuffle, Source, WatchPlan};

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the plan is called; the file's stem when it does not say.
    pub name: String,
    /// A sentence for the head of the report.
    pub title: Option<String>,
    /// The seed that every random choice comes from.
    pub seed: u64,
    /// How often each trial is done.
    pub repetitions: u32,
    /// What happens to the data between trials.
    pub between: Between,
    /// What to do with tables that are there already.
    pub existing: Existing,
    /// Whether what was made is removed at the end.
    pub cleanup: bool,
    /// Percentiles in tables, 0 to 100, ascending.
    pub percentiles: Vec<f64>,
    /// Statements to run around phases, on every system.
    pub sql: PhaseSql,
    /// The systems under test, in the order of the plan.
    pub systems: Vec<SystemPlan>,
    /// The workloads, in the order of the plan.
    pub workloads: Vec<WorkloadPlan>,
    /// The loads.
    pub load: LoadPlan,
    /// What is watched beside them.
    pub watch: WatchPlan,
    /// The text it came from, overrides applied.
    pub source: Arc<Source>,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPlan {
    /// Its name in the plan and in results; that of a variant is `SYSTEM.VARIANT`.
    pub name: String,
    /// Which variant of which system it is, if it is one.
    pub variant: Option<Variant>,
    /// What it is: `sqlite`, `mariadb`, `mysql` (a server that is there), `simulated`.
    pub kind: String,
    /// A command that makes what the system is started from, such as `make server`.
    pub build: Option<String>,
    /// Its options.
    pub options: Options,
    /// Servers of it that tell their metrics, beside those that it knows of itself.
    pub endpoints: Vec<EndpointPlan>,
    /// Statements to run around phases, on this system, after the plan's own.
    pub sql: PhaseSql,
}

/// What makes a system one of several that are compared. Those of one system take turns: every round,
/// which is a repetition, measures each of them once, in an order of its own, and each is started afresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The system of the plan.
    pub of: String,
    /// Which one.
    pub name: String,
}

/// A workload with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadPlan {
    /// Its name in the plan and in results.
    pub name: String,
    /// Which workload: `sysbench/oltp_read_write`, or the path of an SQL file.
    pub kind: String,
    /// Its options.
    pub options: Options,
}

/// The load of every trial; a list of clients or of rates is a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPlan {
    /// Numbers of concurrent clients to sweep over.
    pub clients: Vec<usize>,
    /// Load before the first trial on a system that was just started, instead of `warm_up` when that is
    /// shorter.
    pub prewarm: Duration,
    /// Load before what counts.
    pub warm_up: Duration,
    /// When the measured load ends.
    pub limit: Limit,
    /// Whether the plan says so itself, or the default holds.
    pub is_limit_given: bool,
    /// Length of one interval.
    pub interval: Duration,
    /// Pause of a client between transactions.
    pub think_time: Duration,
    /// Event loops that share the clients; the number of cores when not said.
    pub workers: Option<usize>,
    /// Rates at which transactions come, whether or not a client is free; `None` in a closed loop.
    pub open: Option<OpenLoop>,
    /// How long to wait for the system under test.
    pub bounds: Bounds,
}

/// When the measured load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// After this time.
    Time(Duration),
    /// After so many transactions.
    Events(u64),
}

/// What happens to the data between two trials of the same system and workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing: the next trial finds what the last one left.
    Keep,
    /// Tables are made and filled again.
    Reload,
    /// The state after the load is copied back, where the system can.
    Restore,
}

/// What to do with tables that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Stop before anything is touched.
    Refuse,
    /// Use them once they are verified.
    Reuse,
    /// Drop them and make them afresh.
    Replace,
}

/// Statements around phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseSql {
    /// Once, before tables are made.
    pub before_prepare: Vec<String>,
    /// On every session that loads data, when it connects.
    pub prepare_session: Vec<String>,
    /// Once, after the load, such as ANALYZE.
    pub after_prepare: Vec<String>,
    /// Once, before each trial.
    pub before_run: Vec<String>,
    /// On every client's session, when it connects.
    pub run_session: Vec<String>,
}

/// One point of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its place in the run, from 0.
    pub index: usize,
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Index into [`Plan::workloads`].
    pub workload: usize,
    /// Concurrent clients.
    pub clients: usize,
    /// Index into [`OpenLoop::rates`]; `None` in a closed loop.
    pub rate: Option<usize>,
    /// Which repetition, from 0.
    pub repetition: u32,
}

/// One start of a system: the trials that share one running instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemInstance {
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Which round of a variant; 0 of a system that has none.
    pub round: u32,
}

impl LoadPlan {
    /// Every number of clients, with every rate of an open loop as an index.
    fn levels(&self) -> Vec<(usize, Option<usize>)> {
        let rates: Vec<Option<usize>> = match &self.open {
            Some(open) => (0..open.rates.len()).map(Some).collect(),
            None => vec![None],
        };
        let with_rates = |clients: &usize| rates.iter().map(|rate| (*clients, *rate)).collect();
        self.clients.iter().flat_map(|clients: &usize| -> Vec<_> { with_rates(clients) }).collect()
    }
}

impl PhaseSql {
    /// The statements of both, `self` first.
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        let joined = |mine: &[String], theirs: &[String]| [mine, theirs].concat();
        Self {
            before_prepare: joined(&self.before_prepare, &other.before_prepare),
            prepare_session: joined(&self.prepare_session, &other.prepare_session),
            after_prepare: joined(&self.after_prepare, &other.after_prepare),
            before_run: joined(&self.before_run, &other.before_run),
            run_session: joined(&self.run_session, &other.run_session),
        }
    }
}

impl Plan {
    /// Every trial in the order in which they run: by system, workload, repetition, then clients,
    /// then rate. Variants of a system take turns: by repetition, variant, workload, clients and rate.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        let mut shuffle = Shuffle::new(self.seed);
        let mut systems = 0..self.systems.len();
        while let Some(system) = systems.next() {
            let together = self.variants_from(system);
            if together == 0 {
                self.interleave_variants(system, &mut trials);
                continue;
            }
            let variants: Vec<usize> = (system..system + together).collect();
            let orders = balanced_rounds(&mut shuffle, &variants, self.repetitions as usize);
            for (order, repetition) in orders.into_iter().zip(0..) {
                for system in order {
                    for workload in 0..self.workloads.len() {
                        self.sweep(system, workload, repetition, &mut trials);
                    }
                }
            }
            systems = system + together..self.systems.len();
        }
        trials
    }

    /// How many systems from this one on are variants of one system.
    fn variants_from(&self, first: usize) -> usize {
        let of = |system: &SystemPlan| system.variant.as_ref().map(|variant| variant.of.clone());
        let Some(group) = of(&self.systems[first]) else { return 0 };
        self.systems[first..].iter().take_while(|next| of(next).as_ref() == Some(&group)).count()
    }

    fn interleave_variants(&self, system: usize, trials: &mut Vec<Trial>) {
        for workload in 0..self.workloads.len() {
            for repetition in 0..self.repetitions {
                self.sweep(system, workload, repetition, trials);
            }
        }
    }

    fn sweep(&self, system: usize, workload: usize, repetition: u32, trials: &mut Vec<Trial>) {
        for (clients, rate) in self.load.levels() {
            let index = trials.len();
            trials.push(Trial { index, system, workload, clients, rate, repetition });
        }
    }

    /// The rate of a trial; `None` in a closed loop.
    pub fn rate(&self, trial: Trial) -> Option<&Rate> {
        self.load.open.as_ref()?.rates.get(trial.rate?)
    }

    /// The statements around phases for one system: the plan's own, then the system's.
    pub fn sql_for(&self, system: &SystemPlan) -> PhaseSql {
        self.sql.then(&system.sql)
    }

    /// Which start of which system a trial belongs to. Trials that follow each other with the same
    /// system instance find the system up; a variant is started afresh for every round.
    pub fn instance(&self, trial: Trial) -> SystemInstance {
        let is_variant = self.systems[trial.system].variant.is_some();
        let round = if is_variant { trial.repetition } else { 0 };
        SystemInstance { system: trial.system, round }
    }

    /// Load before what counts of a trial.
    pub fn warm_up(&self, is_first_of_instance: bool) -> Duration {
        let LoadPlan { warm_up, prewarm, .. } = self.load;
        if is_first_of_instance { warm_up.max(prewarm) } else { warm_up }
    }

    /// Time of warm-up and measured load over all trials, without preparing data; `None` when
    /// trials end by a number of events.
    pub fn estimate(&self) -> Option<Duration> {
        let Limit::Time(time) = self.load.limit else { return None };
        let mut last = None;
        self.trials().into_iter().try_fold(Duration::ZERO, |sum, trial| {
            let instance = self.instance(trial);
            let is_first = last.replace(instance) != Some(instance);
            sum.checked_add(self.warm_up(is_first))?.checked_add(time)
        })
    }
}
