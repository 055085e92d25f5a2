//! `dyno bench WORKLOAD`: turns the command line into a plan and runs it like any other plan.

use std::process::ExitCode;

use anyhow::Result;
use plan::{Draft, DraftPart};

use super::{WrongArgument, experiment};
use crate::args::BenchArgs;

type Pairs = Vec<(String, String)>;

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    experiment::run(plan::compose(&draft(args)?), &args.output)
}

fn draft(args: &BenchArgs) -> Result<Draft> {
    Ok(Draft {
        settings: settings(args),
        systems: vec![system(args)?],
        workloads: vec![workload(args)?],
        load: load(args),
        sql: Vec::new(),
    })
}

fn settings(args: &BenchArgs) -> Pairs {
    let percentiles = several("percentiles", &args.percentiles);
    let others = given([
        ("seed", args.seed.map(|seed| seed.to_string())),
        ("repetitions", args.repetitions.clone()),
        ("between", args.between.clone()),
        ("existing", args.existing.clone()),
        ("cleanup", args.cleanup.then(|| "true".to_owned())),
    ]);
    others.into_iter().chain(percentiles).collect()
}

fn system(args: &BenchArgs) -> Result<DraftPart> {
    let (kind, mut options) = system::from_argument(&args.system);
    options.extend(given([("ps", args.ps.clone())]));
    options.extend(split_all(&args.system_options, "--system-option")?);
    Ok(DraftPart { kind, options })
}

fn workload(args: &BenchArgs) -> Result<DraftPart> {
    let mut options =
        given([("tables", args.tables.clone()), ("table_size", args.table_size.clone())]);
    options.extend(split_all(&args.options, "--option")?);
    let variables = split_all(&args.define, "--define")?.into_iter();
    options.extend(variables.map(|(name, value)| (format!("variables.{name}"), value)));
    Ok(DraftPart { kind: args.workload.clone(), options })
}

fn load(args: &BenchArgs) -> Pairs {
    let others = given([
        ("time", args.time.clone()),
        ("events", args.events.clone()),
        ("warm_up", args.warm_up.clone()),
        ("interval", args.interval.clone()),
        ("think_time", args.think_time.clone()),
        ("arrivals", args.arrivals.clone()),
        ("backlog", args.backlog.clone()),
        ("connect_timeout", args.connect_timeout.clone()),
        ("query_timeout", args.query_timeout.clone()),
        ("phase_timeout", args.phase_timeout.clone()),
        ("reconnect_limit", args.reconnect_limit.clone()),
        ("workers", args.workers.clone()),
    ]);
    let clients = several("clients", &args.clients);
    clients.chain(others).chain(several("rate", &args.rate)).collect()
}

/// Values of one key; several values become a list.
fn several(key: &str, values: &[String]) -> impl Iterator<Item = (String, String)> {
    values.iter().map(move |value| (key.to_owned(), value.clone()))
}

fn given<const N: usize>(pairs: [(&str, Option<String>); N]) -> Pairs {
    let given = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    given.collect()
}

pub(super) fn split_all(pairs: &[String], flag: &str) -> Result<Pairs> {
    let split = |pair: &String| {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            let wanted = "it takes NAME=VALUE, such as range_size=10";
            WrongArgument(format!("{flag} {pair:?} has no `=`; {wanted}"))
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    };
    pairs.iter().map(split).collect()
}
