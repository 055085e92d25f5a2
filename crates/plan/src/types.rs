//! A checked plan.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rounds::balanced_rounds;
use crate::{
    Bounds, CeilingPlan, CpuList, EndpointPlan, FailIf, OnGeneratorLoss, OpenLoop, Options, Place,
    PrecisionPlan, Rate, RoundsPlan, SeekPlan, SeekTrial, Shuffle, Source, SteadyPlan, WatchPlan,
    WhyPlan,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The plan's name; by default the file's stem.
    pub name: String,
    /// A sentence for the top of the report.
    pub title: Option<String>,
    /// The seed of every random choice.
    pub seed: u64,
    /// Number of times each trial is done; the most, where `rounds` end by themselves.
    pub repetitions: u32,
    /// Number of windows of each variant in each round, under each load, while all variants of the system are up;
    /// `None` where they are measured one after the other.
    pub windows: Option<u32>,
    /// When the rounds of variants end by themselves; `None` when their number is set.
    pub rounds: Option<RoundsPlan>,
    /// How the data is treated between trials.
    pub between: Between,
    pub existing: Existing,
    /// Whether the tables are removed at the end.
    pub cleanup: bool,
    /// Percentiles in tables, 0 to 100, ascending.
    pub percentiles: Vec<f64>,
    /// The bounds at which the run fails, at each of its loads.
    pub fail_if: Vec<FailIf>,
    /// The least relative difference between variants that matters.
    pub least_difference: f64,
    /// Statements to run around phases, on every system.
    pub sql: PhaseSql,
    /// The systems under test, in the order of the plan.
    pub systems: Vec<SystemPlan>,
    pub workloads: Vec<WorkloadPlan>,
    /// Pairs of a system and a workload, as places in these lists, that have no trials: the workload cannot run on the
    /// system. A plan's text alone does not tell them.
    pub unsuited: Vec<(usize, usize)>,
    pub load: LoadPlan,
    /// The search for the highest load that keeps bounds; `None` when the loads are fixed.
    pub seek: Option<SeekPlan>,
    /// The data sources that are watched during the load.
    pub watch: WatchPlan,
    /// How the ceiling of the path is measured after each trial; `None` when it is not.
    pub ceiling: Option<CeilingPlan>,
    /// How it is looked for what holds a system back, after the last trial of each load; `None` when it is not.
    pub why: Option<WhyPlan>,
    /// The plan's text, with overrides applied.
    pub source: Arc<Source>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SystemPlan {
    /// Its name in the plan and in results; that of a variant is `SYSTEM.VARIANT`.
    pub name: String,
    /// The variant, if the system is one of several variants.
    pub variant: Option<Variant>,
    /// Its kind: `sqlite`, `mariadb`, `mysql` (an existing server), `simulated`.
    pub kind: String,
    /// A command that builds the system before its start, such as `make server`.
    pub build: Option<String>,
    pub options: Options,
    /// Servers of the system that report metrics, in addition to those that the system knows itself.
    pub endpoints: Vec<EndpointPlan>,
    /// Statements to run around phases, on this system, after the plan's own.
    pub sql: PhaseSql,
}

/// Marks a system as one of several variants that are compared. The variants of a system take turns: every round (a
/// repetition) restarts and measures each of them once, in its own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The system of the plan.
    pub of: String,
    pub name: String,
    /// Whether it is the baseline, the first variant, once more: how far the two differ is the noise floor.
    pub is_baseline_again: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadPlan {
    pub name: String,
    /// Its kind: `sysbench/oltp_read_write`, or the path of an SQL file.
    pub kind: String,
    pub options: Options,
}

/// The load of every trial; a list of clients or of rates is a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPlan {
    /// Numbers of concurrent clients to sweep over.
    pub clients: Vec<usize>,
    /// Whether the plan sets this itself; otherwise it is the default.
    pub is_clients_given: bool,
    /// Load before the first trial on a newly started system; replaces a shorter `warm_up`.
    pub prewarm: Duration,
    /// Warm-up before the measured load; the longest, when it ends by itself.
    pub warm_up: Duration,
    /// Whether the warm-up ends when the load is steady; `None` when its length is set.
    pub steady: Option<SteadyPlan>,
    /// Whether the plan sets this itself; otherwise it is the default.
    pub is_warm_up_given: bool,
    /// When the measured load ends.
    pub limit: Limit,
    /// The precision that ends the measured load before its limit; `None` when only the limit ends it.
    pub precision: Option<PrecisionPlan>,
    /// Whether the plan sets the limit itself; otherwise it is the default.
    pub is_limit_given: bool,
    pub interval: Duration,
    /// Pause of a client between transactions.
    pub think_time: Duration,
    /// Where the generators are that share the load; empty when this process offers it.
    pub generators: Vec<Place>,
    pub on_generator_loss: OnGeneratorLoss,
    /// Whether copies of dyno stay on other hosts after the run.
    pub keep_copies: bool,
    /// Event loops that share the clients, of each generator; by default one for each of `cpus`, or as many as suit the
    /// system and the cores.
    pub workers: Option<usize>,
    /// The CPUs that the threads of the load may use; all when `None`.
    pub cpus: Option<CpuList>,
    /// Rates at which transactions arrive, whether or not a client is idle; `None` in a closed loop.
    pub open: Option<OpenLoop>,
    /// How long to wait for the system under test.
    pub bounds: Bounds,
}

/// When the measured load ends: at the limit that is reached first. It has at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub time: Option<Duration>,
    /// When so many transactions have ended.
    pub events: Option<u64>,
}

impl Limit {
    /// A limit of time alone.
    pub fn time(time: Duration) -> Self {
        Self { time: Some(time), events: None }
    }

    /// A limit of a number of transactions alone.
    pub fn events(events: u64) -> Self {
        Self { time: None, events: Some(events) }
    }
}

/// The load before the measured load of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// Its length; the longest, when it ends by itself.
    pub at_most: Duration,
    /// The shortest length of one that ends when the load is steady; `None` when its length is set.
    pub steady_from: Option<Duration>,
}

/// How the data is treated between two trials of the same system and workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// It is kept: the next trial uses the data as the last one left it.
    Keep,
    /// The tables are created and filled again.
    Reload,
    /// The state after loading is copied back, if the system supports this.
    Restore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Use them once they are verified, if they are as this plan would make them; otherwise stop before anything is
    /// changed.
    Match,
    /// Stop before anything is changed.
    Refuse,
    /// Use them once they are verified, and make those that are missing.
    Reuse,
    /// Drop them and create them again.
    Replace,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseSql {
    /// Once, before tables are created.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Its place in the run, from 0.
    pub index: usize,
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// Index into [`Plan::workloads`].
    pub workload: usize,
    pub clients: usize,
    /// Index into [`OpenLoop::rates`]; `None` in a closed loop, and in a seek.
    pub rate: Option<usize>,
    /// What a seek sets for this trial; `None` when the loads are fixed.
    pub seek: Option<SeekTrial>,
    pub repetition: u32,
    /// The window of its variant, round and load, from 0; 0 without windows.
    pub window: u32,
}

/// More than the rates or probes of a plan.
const WINDOW_ORDINAL: usize = 1 << 20;

/// One start of a system: the trials that share one running instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SystemInstance {
    /// Index into [`Plan::systems`].
    pub system: usize,
    /// The round of a variant; 0 for a system without variants.
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

impl Trial {
    /// Distinguishes trials with the same clients and repetition: which of the rates it has, which probe it is, and
    /// which window.
    pub fn ordinal(self) -> usize {
        let of_load = self.seek.map(|seek| seek.number).or(self.rate).unwrap_or(0);
        of_load + WINDOW_ORDINAL * self.window as usize
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
    /// Forgets the text of the plan as far as it has secrets, and the options of systems and workloads: those who need
    /// them have read them.
    pub fn forget_secrets(&mut self) {
        self.source = Arc::new(self.source.scrubbed());
        self.systems.iter_mut().for_each(|system| system.options = Options::empty());
        self.workloads.iter_mut().for_each(|workload| workload.options = Options::empty());
    }

    /// Every trial in the order in which they run: by system, workload, repetition, then clients,
    /// then rate. Variants of a system take turns: by repetition, variant, workload, clients and rate; with windows
    /// by repetition, workload, clients, rate, window and variant.
    ///
    /// With a seek, each is the place of one seek, and its load that of no trial yet.
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
            systems = system + together..self.systems.len();
            if let Some(windows) = self.windows {
                for repetition in 0..self.repetitions {
                    let of = (&variants[..], windows);
                    self.add_windows(of, repetition, &mut shuffle, &mut trials);
                }
                continue;
            }
            let orders = balanced_rounds(&mut shuffle, &variants, self.repetitions as usize);
            for (order, repetition) in orders.into_iter().zip(0..) {
                for system in order {
                    for workload in 0..self.workloads.len() {
                        self.sweep(system, workload, repetition, &mut trials);
                    }
                }
            }
        }
        trials
    }

    /// Number of systems, starting at this one, that are variants of one system.
    fn variants_from(&self, first: usize) -> usize {
        let of = |system: &SystemPlan| system.variant.as_ref().map(|variant| variant.of.clone());
        let Some(group) = of(&self.systems[first]) else { return 0 };
        self.systems[first..].iter().take_while(|next| of(next).as_ref() == Some(&group)).count()
    }

    /// The system whose program a system uses: the baseline that is measured again is not built again.
    pub fn built_as(&self, system: usize) -> usize {
        let again = self.systems[system].variant.as_ref().filter(|it| it.is_baseline_again);
        let is_of = |it: &SystemPlan, of: &str| it.variant.as_ref().is_some_and(|it| it.of == of);
        let baseline =
            again.and_then(|it| self.systems.iter().position(|other| is_of(other, &it.of)));
        baseline.unwrap_or(system)
    }

    fn interleave_variants(&self, system: usize, trials: &mut Vec<Trial>) {
        for workload in 0..self.workloads.len() {
            for repetition in 0..self.repetitions {
                self.sweep(system, workload, repetition, trials);
            }
        }
    }

    fn sweep(&self, system: usize, workload: usize, repetition: u32, trials: &mut Vec<Trial>) {
        if self.unsuited.contains(&(system, workload)) {
            return;
        }
        for (clients, rate) in self.levels() {
            let (index, seek, window) = (trials.len(), None, 0);
            trials.push(Trial { index, system, workload, clients, rate, seek, repetition, window });
        }
    }

    /// Every number of clients, with every rate of an open loop as an index. A seek sets the rates.
    pub(crate) fn levels(&self) -> Vec<(usize, Option<usize>)> {
        match &self.seek {
            Some(_) => self.load.clients.iter().map(|clients| (*clients, None)).collect(),
            None => self.load.levels(),
        }
    }

    /// The rate of a trial; `None` in a closed loop.
    pub fn rate(&self, trial: Trial) -> Option<Rate> {
        match trial.seek {
            Some(seek) => seek.rate_per_s.map(Rate::constant),
            None => self.load.open.as_ref()?.rates.get(trial.rate?).cloned(),
        }
    }

    /// When the measured load of a trial ends.
    pub fn limit(&self, trial: Trial) -> Limit {
        trial.seek.map_or(self.load.limit, |seek| Limit::time(seek.time))
    }

    /// The statements around phases for one system: the plan's own, then the system's.
    pub fn sql_for(&self, system: &SystemPlan) -> PhaseSql {
        self.sql.then(&system.sql)
    }

    /// The system instance that a trial runs on. Consecutive trials with the same instance use the running system; a
    /// variant is restarted for every round.
    pub fn instance(&self, trial: Trial) -> SystemInstance {
        let is_variant = self.systems[trial.system].variant.is_some();
        let round = if is_variant { trial.repetition } else { 0 };
        SystemInstance { system: trial.system, round }
    }

    /// The warm-up before the measured load of a trial.
    pub fn warm_up(&self, is_first_of_instance: bool) -> WarmUp {
        let LoadPlan { warm_up, steady, prewarm, .. } = self.load;
        let prewarm = if is_first_of_instance { prewarm } else { Duration::ZERO };
        WarmUp {
            at_most: warm_up.max(prewarm),
            steady_from: steady.map(|steady| steady.at_least.max(prewarm)),
        }
    }

    /// Whether the results decide how many trials there are.
    pub fn has_open_end(&self) -> bool {
        self.seek.is_some() || self.rounds.is_some()
    }

    /// Whether trials may take less time than [`Plan::estimate`] says.
    pub fn may_end_sooner(&self) -> bool {
        self.load.steady.is_some()
            || self.load.precision.is_some()
            || self.rounds.is_some()
            || self.why.is_some()
    }

    /// Time of warm-up, measured load, experiments and ceilings over all trials at most, without preparing data; `None` when
    /// only a number of events ends them, and with a seek, whose results decide.
    pub fn estimate(&self) -> Option<Duration> {
        let time = self.load.limit.time.filter(|_| self.seek.is_none())?;
        let mut started = BTreeSet::new();
        self.trials().into_iter().try_fold(Duration::ZERO, |sum, trial| {
            let is_first = started.insert(self.instance(trial));
            let ceiling = self.ceiling.as_ref().filter(|_| self.is_last_window(trial));
            let ceiling = ceiling.map_or(Duration::ZERO, CeilingPlan::length);
            let warm_up = self.warm_up_of(trial, is_first).at_most;
            let is_asked = self.is_last_window(trial) && trial.repetition + 1 == self.repetitions;
            let why =
                self.why.as_ref().filter(|_| is_asked).map_or(Duration::ZERO, |why| why.at_most);
            sum.checked_add(warm_up)?.checked_add(time)?.checked_add(ceiling)?.checked_add(why)
        })
    }
}
