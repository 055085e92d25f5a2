//! `dyno bench WORKLOAD`: turns the command line into a plan and runs it like any other plan.

use std::process::ExitCode;

use anyhow::Result;
use plan::Draft;

use super::experiment;
use super::subject::{self, Pairs, bare_seconds, given};
use crate::args::BenchArgs;

pub(crate) fn run(args: BenchArgs) -> Result<ExitCode> {
    // The draft, of which a URL may have a password, does not live as long as the run.
    let source = draft(&args).map(|draft| plan::compose(&draft))?;
    let is_divided = args.repetitions.is_none();
    experiment::run(source, Some(args.subject), is_divided, args.output)
}

fn draft(args: &BenchArgs) -> Result<Draft> {
    let mut draft = subject::draft(&args.subject)?;
    draft.settings.extend(settings(args));
    draft.load.extend(load(args));
    Ok(draft)
}

fn settings(args: &BenchArgs) -> Pairs {
    let percentiles = several("percentiles", &args.percentiles);
    let others = given([
        ("repetitions", args.repetitions.clone()),
        ("between", args.between.clone()),
        ("existing", args.existing.clone()),
        ("cleanup", args.cleanup.then(|| "true".to_owned())),
    ]);
    others.into_iter().chain(percentiles).collect()
}

fn load(args: &BenchArgs) -> Pairs {
    let others = given([
        ("time", bare_seconds(args.time.as_deref())),
        ("events", args.events.clone()),
        ("until", args.until.clone()),
        ("warm_up", bare_seconds(args.warm_up.as_deref())),
        ("interval", bare_seconds(args.interval.as_deref())),
        ("think_time", bare_seconds(args.think_time.as_deref())),
        ("arrivals", args.arrivals.clone()),
        ("backlog", args.backlog.clone()),
        ("query_timeout", bare_seconds(args.query_timeout.as_deref())),
        ("reconnect_limit", bare_seconds(args.reconnect_limit.as_deref())),
        ("workers", args.workers.clone()),
        ("cpus", args.client_cpus.clone()),
    ]);
    let clients = several("clients", &args.clients);
    let generators = several("generators", &args.generators);
    clients.chain(others).chain(several("rate", &args.rate)).chain(generators).collect()
}

/// Values of one key; several values become a list.
fn several(key: &str, values: &[String]) -> impl Iterator<Item = (String, String)> {
    values.iter().map(move |value| (key.to_owned(), value.clone()))
}
