//! Turns a plan's text into a checked plan.

mod keys;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::bounds;
use crate::conflicts;
use crate::ending::{self, PRECISE_TIME_DEFAULT};
use crate::enough_rounds;
use crate::fail_if;
use crate::generators::{self, Generators};
use crate::parts::{self, Part, Role};
use crate::source::bad_name;
use crate::variants::{self, Expanded};
use crate::{
    Between, EndpointPlan, Existing, FailIf, Limit, LoadPlan, OpenLoop, OptionReader, Options,
    PhaseSql, Plan, Problem, Problems, Rate, SeekPlan, Source, SystemPlan, Variant, WorkloadPlan,
    rate, seek, show_duration, watch, windows,
};
use crate::{ceiling, why};

pub use self::keys::{PlanKeys, plan_keys};

const CLIENTS: RangeInclusive<u64> = 1..=1_000_000;
const EVENTS: RangeInclusive<u64> = 1..=u64::MAX;
const LEAST_DIFFERENCES: RangeInclusive<f64> = 0.0001..=1.0;
const PERCENTS: RangeInclusive<f64> = 0.0..=100.0;
const REPETITIONS: RangeInclusive<u64> = 1..=10_000;
const SEEDS: RangeInclusive<u64> = 0..=u64::MAX;
const WORKERS: RangeInclusive<u64> = 1..=1024;
const INTERVAL_MIN: Duration = Duration::from_millis(10);
const TIME_DEFAULT: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);
/// The least difference between variants that matters, if a plan does not set it: 1 %.
pub const LEAST_DIFFERENCE: f64 = 0.01;
const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

const BETWEEN: &[(&str, Between)] =
    &[("keep", Between::Keep), ("reload", Between::Reload), ("restore", Between::Restore)];

const EXISTING: &[(&str, Existing)] = &[
    ("match", Existing::Match),
    ("refuse", Existing::Refuse),
    ("reuse", Existing::Reuse),
    ("replace", Existing::Replace),
];

/// Top-level keys of a plan that users may expect under `[load]`.
const ROOT_KEYS: &[&str] = &[
    "between",
    "ceiling",
    "cleanup",
    "existing",
    "fail_if",
    "interleave",
    "least_difference",
    "name",
    "noise",
    "percentiles",
    "repetitions",
    "rounds",
    "seed",
    "title",
    "why",
];

/// Keys under `[load]` that users may expect at the top level.
const LOAD_KEYS: &[&str] = &[
    "arrivals",
    "backlog",
    "clients",
    "connect_timeout",
    "cpus",
    "events",
    "generators",
    "interval",
    "keep_copies",
    "on_generator_loss",
    "phase_timeout",
    "prewarm",
    "query_timeout",
    "rate",
    "reconnect_limit",
    "steps",
    "think_time",
    "time",
    "until",
    "warm_up",
    "workers",
];

/// Keys of a system's table that belong to the plan, not to the system.
const SYSTEM_KEYS: &[&str] = &["kind", "use", "sql", "build", "endpoints"];

/// Keys of a workload's table that belong to the plan, not to the workload.
const WORKLOAD_KEYS: &[&str] = &["kind", "use"];

impl Plan {
    /// Reads a plan's file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        Self::parse(Source::read(path)?)
    }

    /// Reads a plan's text. The rooms of systems and workloads interpret their options.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(source: Source) -> Result<Self, Problems> {
        let (plan, problems) = Self::examine(source)?;
        if problems.is_empty() { Ok(plan) } else { Err(Problems::new(&plan.source, problems)) }
    }

    /// Reads a plan's text as far as it can be read, for the rooms that have problems of their own to add. Where there
    /// is a problem the plan has a default, or lacks a part.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn examine(source: Source) -> Result<(Self, Vec<Problem>), Problems> {
        let root = match Options::parse(&source.text) {
            Ok(root) => root,
            Err(problem) => return Err(Problems::new(&source, vec![problem])),
        };
        let source = Arc::new(source);
        let mut problems = Vec::new();
        let plan = read_plan(&root, &source, &mut problems);
        Ok((plan, problems))
    }
}

fn read_plan(root: &Options, source: &Arc<Source>, problems: &mut Vec<Problem>) -> Plan {
    let mut reader = root.reader();
    reader.belongs_elsewhere(LOAD_KEYS, "below the [load] header");
    let seek = reader.table("seek", problems).map(|table| {
        let mut reader = table.reader();
        let seek = seek::read(&mut reader);
        gather(reader, problems);
        seek
    });
    let message =
        "`control` was removed: dyno does not measure the machine's speed between windows";
    reader.refuse("control", message, "delete the line");
    let has_noise = reader.boolean("noise", false);
    let windows = windows::read(&mut reader, problems);
    let rounds_default = if windows.is_some() { windows::ROUNDS_DEFAULT } else { 1 };
    let rounds = enough_rounds::read(&mut reader, problems);
    let repetitions = read_u32(&mut reader, "repetitions", rounds_default, REPETITIONS);
    let least_difference = reader.float("least_difference", LEAST_DIFFERENCE, LEAST_DIFFERENCES);
    let systems = read_systems(&mut reader, has_noise.then_some(root), problems);
    let watch = watch::read(&mut reader, problems);
    let of_systems = systems.iter().flat_map(|system| &system.endpoints);
    let watches_hosts = of_systems.chain(&watch.endpoints).any(EndpointPlan::is_host);
    let fail_if = fail_if::read(&mut reader);
    let plan = Plan {
        name: read_name(&mut reader, source),
        title: reader.text("title"),
        seed: reader.integer("seed", 1, SEEDS),
        windows,
        repetitions: rounds.map_or(repetitions, |rounds| rounds.at_most),
        rounds,
        between: reader.choice("between", Between::Keep, BETWEEN),
        existing: reader.choice("existing", Existing::Match, EXISTING),
        cleanup: reader.boolean("cleanup", false),
        percentiles: with_bounded(read_percentiles(&mut reader), &fail_if),
        fail_if,
        least_difference: rounds.and_then(|it| it.margin()).unwrap_or(least_difference),
        sql: reader
            .table("sql", problems)
            .map_or_else(PhaseSql::default, |table| read_sql(&table, problems)),
        load: read_load(&mut reader, (seek.as_ref(), watches_hosts), problems),
        systems,
        workloads: read_workloads(&mut reader, problems),
        unsuited: Vec::new(),
        seek,
        watch,
        ceiling: ceiling::read(&mut reader, problems),
        why: why::read(&mut reader, problems),
        source: Arc::clone(source),
    };
    windows::check(&mut reader, &plan);
    conflicts::check_rounds(&mut reader, &plan);
    gather(reader, problems);
    plan
}

/// Finishes reading and adds the problems that were found to the others.
fn gather(reader: OptionReader<'_>, problems: &mut Vec<Problem>) {
    if let Err(found) = reader.finish() {
        problems.extend(found);
    }
}

fn read_name(reader: &mut OptionReader<'_>, source: &Source) -> String {
    let Some(name) = reader.text("name") else { return source.stem() };
    if let Some(help) = bad_name(&name) {
        reader.reject("name", format!("`name` is {name:?}, which cannot name a folder"), help);
    }
    name
}

fn read_u32(
    reader: &mut OptionReader<'_>,
    name: &str,
    default: u32,
    allowed: RangeInclusive<u64>,
) -> u32 {
    u32::try_from(reader.integer(name, default.into(), allowed)).unwrap_or(default)
}

/// The most percentiles of a plan: each has its rows and its comparisons in every report.
pub const PERCENTILES_MAX: usize = 100;

fn read_percentiles(reader: &mut OptionReader<'_>) -> Vec<f64> {
    let given = reader.floats("percentiles", PERCENTS);
    let mut percentiles = given.unwrap_or_else(|| PERCENTILES.to_vec());
    percentiles.sort_by(f64::total_cmp);
    if percentiles.len() > PERCENTILES_MAX {
        let message = format!("{} percentiles are more than {PERCENTILES_MAX}", percentiles.len());
        reader.reject("percentiles", message, "name those that a report shall show");
    }
    let is_fraction = |percent: &f64| 0.0 < *percent && *percent < 1.0;
    if !percentiles.is_empty() && percentiles.iter().all(is_fraction) {
        let message = "all `percentiles` are below 1: they are in percent".to_owned();
        let help = "write 99 for the 99th percentile; add 50 if you mean those below the first";
        reader.reject("percentiles", message, help);
    }
    percentiles
}

/// The percentiles, and those that the run can fail by: what decides is in every report.
fn with_bounded(mut percentiles: Vec<f64>, fail_if: &[FailIf]) -> Vec<f64> {
    for percent in fail_if.iter().filter_map(FailIf::percentile) {
        if !percentiles.contains(&percent) {
            percentiles.push(percent);
        }
    }
    percentiles.sort_by(f64::total_cmp);
    percentiles.truncate(PERCENTILES_MAX);
    percentiles
}

fn read_sql(table: &Options, problems: &mut Vec<Problem>) -> PhaseSql {
    let mut reader = table.reader();
    let sql = PhaseSql {
        before_prepare: read_statements(&mut reader, "before_prepare"),
        prepare_session: read_statements(&mut reader, "prepare_session"),
        after_prepare: read_statements(&mut reader, "after_prepare"),
        before_run: read_statements(&mut reader, "before_run"),
        run_session: read_statements(&mut reader, "run_session"),
    };
    gather(reader, problems);
    sql
}

fn read_statements(reader: &mut OptionReader<'_>, name: &str) -> Vec<String> {
    let statements = reader.texts(name);
    if statements.iter().any(|statement| statement.trim().is_empty()) {
        reader.reject(name, format!("`{name}` has an empty statement"), "remove it");
    }
    statements
}

/// Every system; with `noise`, the plan that asks for the noise floor, the baselines again.
fn read_systems(
    reader: &mut OptionReader<'_>,
    noise: Option<&Options>,
    problems: &mut Vec<Problem>,
) -> Vec<SystemPlan> {
    let parts = parts::read(reader, Role::System, problems).into_iter();
    let mut systems: Vec<Expanded> =
        parts.flat_map(|part| variants::expand(part, problems)).collect();
    if let Some(root) = noise {
        systems = variants::add_baselines_again(systems, root, problems);
    }
    let read = |Expanded { part, variant }| read_system(part, variant, problems);
    systems.into_iter().map(read).collect()
}

fn read_system(part: Part, variant: Option<Variant>, problems: &mut Vec<Problem>) -> SystemPlan {
    let mut own = part.table.reader();
    let build = own.text("build");
    let sql = own.table("sql", problems);
    let sql = sql.map_or_else(PhaseSql::default, |table| read_sql(&table, problems));
    let endpoints = watch::read_endpoints(&mut own, problems);
    problems.extend(own.into_problems());
    let options = part.table.consume(SYSTEM_KEYS);
    SystemPlan { name: part.name, variant, kind: part.kind, build, options, endpoints, sql }
}

fn read_workloads(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Vec<WorkloadPlan> {
    let read = parts::read(reader, Role::Workload, problems).into_iter();
    read.map(|part| {
        let options = part.table.consume(WORKLOAD_KEYS);
        WorkloadPlan { name: part.name, kind: part.kind, options }
    })
    .collect()
}

fn read_load(
    reader: &mut OptionReader<'_>,
    (seek, watches_hosts): (Option<&SeekPlan>, bool),
    problems: &mut Vec<Problem>,
) -> LoadPlan {
    let table = reader.table("load", problems).unwrap_or_default();
    let mut reader = table.reader();
    reader.belongs_elsewhere(ROOT_KEYS, "at the top of the plan, before the first [table]");
    let clients = reader.integers("clients", CLIENTS);
    let open = rate::read(&mut reader, seek.is_some_and(SeekPlan::is_open), problems);
    if let Some(seek) = seek {
        seek::check_load(&mut reader, seek, clients.as_ref().map(Vec::len));
    }
    let precision = ending::read_precision(&mut reader);
    let limit = match seek {
        Some(seek) => Limit::time(seek.probe_time),
        None => read_limit(&mut reader, open.as_ref()),
    };
    let (warm_up, steady) = ending::read_warm_up(&mut reader, problems);
    let Generators { places, on_loss, keep_copies } = generators::read(&mut reader, watches_hosts);
    let load = LoadPlan {
        clients: clients.map_or_else(|| vec![1], |list| list.into_iter().map(to_usize).collect()),
        is_clients_given: seek.is_some() || reader.is_given("clients"),
        prewarm: reader.duration("prewarm", Duration::ZERO),
        warm_up,
        steady,
        is_warm_up_given: reader.is_given("warm_up"),
        limit,
        precision,
        is_limit_given: seek.is_some() || is_limit_given(&mut reader, open.as_ref()),
        interval: read_interval(&mut reader, limit),
        think_time: reader.duration("think_time", Duration::ZERO),
        generators: places,
        on_generator_loss: on_loss,
        keep_copies,
        workers: reader.integer_given("workers", WORKERS).map(to_usize),
        cpus: reader.cpus("cpus"),
        open,
        bounds: bounds::read(&mut reader),
    };
    conflicts::check_load(&mut reader, &load, seek.is_some());
    gather(reader, problems);
    load
}

/// The limits of clients and workers are far below this.
fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// By default, steps determine the time; where a precision ends it, there is a long limit.
fn read_limit(reader: &mut OptionReader<'_>, open: Option<&OpenLoop>) -> Limit {
    let time = reader.duration_given("time");
    let events = reader.integer_given("events", EVENTS);
    if time.is_some_and(|time| time.is_zero()) {
        reader.reject("time", "`time` is nothing", "measure for a while, such as \"10s\"");
    }
    match (time, events) {
        // A wrong time has already been reported; it sets no limit.
        (None, None) if reader.is_given("time") => Limit::time(Duration::MAX),
        (None, None) if reader.is_given("until") => Limit::time(PRECISE_TIME_DEFAULT),
        (None, None) => {
            let steps = open.and_then(|open| open.rates.first()).map(Rate::length);
            Limit::time(steps.filter(|length| !length.is_zero()).unwrap_or(TIME_DEFAULT))
        }
        (time, events) => Limit { time, events },
    }
}

/// With steps, the load lasts as long as they do; a precision ends it at a limit of its own.
fn is_limit_given(reader: &mut OptionReader<'_>, open: Option<&OpenLoop>) -> bool {
    let has_steps =
        open.and_then(|open| open.rates.first()).is_some_and(|rate| !rate.length().is_zero());
    has_steps || ["time", "events", "until"].iter().any(|key| reader.is_given(key))
}

fn read_interval(reader: &mut OptionReader<'_>, limit: Limit) -> Duration {
    let time = limit.time.filter(|time| !time.is_zero());
    let default = time.map_or(SECOND, |time| time.min(SECOND));
    let Some(interval) = reader.duration_given("interval") else { return default };
    let shown = show_duration(interval);
    if interval < INTERVAL_MIN {
        let help = format!("allowed: {} or more", show_duration(INTERVAL_MIN));
        reader.reject("interval", format!("`interval` is {shown}, too short"), help);
    } else if let Some(time) = time.filter(|time| interval > *time) {
        let time = show_duration(time);
        let message = format!("`interval` is {shown}, longer than the measured time");
        reader.reject("interval", message, format!("allowed: at most `time`, {time}"));
    }
    interval
}

#[cfg(test)]
mod tests;
