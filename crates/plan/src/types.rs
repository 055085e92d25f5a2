//! A checked plan.

use std::sync::Arc;
use std::time::Duration;

use crate::{Bounds, OpenLoop, Options, Rate, Source};

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
    /// The text it came from, overrides applied.
    pub source: Arc<Source>,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPlan {
    /// Its name in the plan and in results.
    pub name: String,
    /// What it is: `sqlite`, `mariadb`, `mysql` (a server that is there), `simulated`.
    pub kind: String,
    /// Its options.
    pub options: Options,
    /// Statements to run around phases, on this system, after the plan's own.
    pub sql: PhaseSql,
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
    /// Load before what counts.
    pub warm_up: Duration,
    /// When the measured load ends.
    pub limit: Limit,
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
    /// then rate.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for system in 0..self.systems.len() {
            for workload in 0..self.workloads.len() {
                for repetition in 0..self.repetitions {
                    for (clients, rate) in self.load.levels() {
                        let index = trials.len();
                        trials.push(Trial { index, system, workload, clients, rate, repetition });
                    }
                }
            }
        }
        trials
    }

    /// The rate of a trial; `None` in a closed loop.
    pub fn rate(&self, trial: Trial) -> Option<&Rate> {
        self.load.open.as_ref()?.rates.get(trial.rate?)
    }

    /// The statements around phases for one system: the plan's own, then the system's.
    pub fn sql_for(&self, system: &SystemPlan) -> PhaseSql {
        self.sql.then(&system.sql)
    }

    /// Time of warm-up and measured load over all trials, without preparing data; `None` when
    /// trials end by a number of events.
    pub fn estimate(&self) -> Option<Duration> {
        let Limit::Time(time) = self.load.limit else { return None };
        let trial = self.load.warm_up.checked_add(time)?;
        trial.checked_mul(u32::try_from(self.trials().len()).ok()?)
    }
}
