//! The keys that the plan itself reads, in all of its tables.

use super::{
    BETWEEN, CLIENTS, EVENTS, EXISTING, LEAST_DIFFERENCE, LEAST_DIFFERENCES, PERCENTS, REPETITIONS,
    SEEDS, WORKERS,
};
use crate::keys::{Form, Key, words};
use crate::{
    bounds, ceiling, ending, enough_rounds, fail_if, generators, parts, rate, seek, variants,
    watch, why, windows,
};

/// The tables of a plan: for programs that help to write one.
pub struct PlanKeys {
    /// The keys at the top; the tables that the plan reads itself are among them, with their keys.
    pub top: Vec<Key>,
    /// Keys of each table below `[systems]`, beside the options of its kind.
    pub system: Vec<Key>,
    /// Keys of each table below `[workloads]`, beside the options of its kind.
    pub workload: Vec<Key>,
}

/// All keys that the plan itself reads.
pub fn plan_keys() -> PlanKeys {
    let mut system = parts::kind_keys();
    system.extend([
        Key::new("build", Form::Text, "a command that builds the system's program"),
        Key::new("sql", Form::Table(sql_keys()), "statements around phases on this system"),
        watch::endpoints_key(),
        variants::key(),
    ]);
    PlanKeys { top: top_keys(), system, workload: parts::kind_keys() }
}

fn top_keys() -> Vec<Key> {
    let any = || Form::Either(vec![Form::Text, Form::Settings]);
    vec![
        Key::new("name", Form::Text, "names the folder of results; the file's name by default"),
        Key::new("title", Form::Text, "a sentence for the head of the report"),
        Key::new("seed", Form::Integer(SEEDS), "all random data and queries come from it").or(1),
        Key::new("system", any(), "the kind of the only system"),
        Key::new("systems", Form::Settings, "the systems, each with its name"),
        Key::new("workload", any(), "the kind of the only workload"),
        Key::new("workloads", Form::Settings, "the workloads, each with its name"),
        Key::new("repetitions", Form::Integer(REPETITIONS), "how often each trial is done")
            .or("1, with windows 4"),
        enough_rounds::key(),
        windows::key(),
        Key::new("noise", Form::Flag, "measures the baseline of variants twice in each round")
            .or(false),
        Key::new(
            "least_difference",
            Form::Number(LEAST_DIFFERENCES),
            "the least relative difference between variants that matters",
        )
        .or(LEAST_DIFFERENCE),
        Key::new("between", words(BETWEEN), "what happens to the data between trials").or("keep"),
        Key::new("existing", words(EXISTING), "tables of the workload that already exist")
            .or("match"),
        Key::new("cleanup", Form::Flag, "whether tables that dyno made are dropped at the end")
            .or(false),
        Key::new("percentiles", Form::Numbers(PERCENTS), "percentiles in tables")
            .or("[50, 95, 99, 99.9]"),
        fail_if::key(),
        Key::new("load", Form::Table(load_keys()), "the load of each trial"),
        seek::key(),
        why::key(),
        ceiling::key(),
        watch::key(),
        Key::new("sql", Form::Table(sql_keys()), "statements around phases on every system"),
    ]
}

fn load_keys() -> Vec<Key> {
    let mut keys = vec![
        Key::new("clients", Form::Integers(CLIENTS), "concurrent clients; a list is a sweep").or(1),
        Key::new("time", Form::Time, "length of the measured load").or("10s"),
        Key::new("events", Form::Integer(EVENTS), "measured transactions of all clients"),
        Key::new("prewarm", Form::Time, "load before the first trial on a new system").or("0s"),
        Key::new("interval", Form::Time, "length of a point of series over time").or("1s"),
        Key::new("think_time", Form::Time, "pause of a client between transactions").or("0s"),
        Key::new("workers", Form::Integer(WORKERS), "event loops that share the clients"),
        Key::new("cpus", Form::Text, "CPUs of the load's threads, such as `2-3`").or("all"),
    ];
    keys.extend(ending::keys());
    keys.extend(rate::keys());
    keys.extend(generators::keys());
    keys.extend(bounds::keys());
    keys
}

fn sql_keys() -> Vec<Key> {
    let key = |name, meaning| Key::new(name, Form::Texts, meaning);
    vec![
        key("before_prepare", "once, before tables are made"),
        key("prepare_session", "on each session that loads data"),
        key("after_prepare", "once, after the data is loaded"),
        key("before_run", "once before each trial"),
        key("run_session", "on each client's session"),
    ]
}
