//! The load of a trial, as the engine offers it.

use std::time::Duration;

use anyhow::{Context, Result};
use engine::{OfferedLoad, Workers};
use measure::HostFacts;
use plan::{Trial, WarmUp};
use system::Access;

use crate::division::divide;
use crate::enough::Enough;
use crate::{Experiment, event_loops, pacing};

/// The time for all clients to connect and get ready, in addition to the connect time-out of a single client.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait for requests in flight at the end.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The load of a trial; `loops` are the event loops of each generator, or none when this process offers it.
pub(crate) fn of_trial(
    experiment: &Experiment,
    trial: Trial,
    warm_up: WarmUp,
    (access, loops): (&Access, &[usize]),
) -> OfferedLoad {
    let plan = &experiment.plan;
    let load = &plan.load;
    let workers = match access {
        Access::Simulated { .. } => Workers::Simulated(1),
        Access::Database(target) if target.capabilities().is_blocking => Workers::PerClient,
        _ if !loops.is_empty() => Workers::EventLoops(loops.iter().sum()),
        Access::Database(_) | Access::Service(_) => {
            let loops = event_loops::of_load(load, event_loops::beside(access));
            Workers::EventLoops(loops.min(experiment.connections(trial)))
        }
    };
    OfferedLoad {
        clients: trial.clients,
        workers,
        cpus: event_loops::cpus(load),
        pacing: pacing::pacing(plan, trial, warm_up.at_most),
        warm_up: warm_up.at_most,
        limit: experiment.limit(trial),
        ends: Enough::allowed(load, warm_up.steady_from),
        runs_once: experiment.workloads[trial.workload].runs_once(),
        interval: load.interval,
        connect_timeout: load.bounds.connect_timeout.saturating_add(CONNECT_TIMEOUT),
        reconnect_limit: load.bounds.reconnect_limit,
        drain_timeout: DRAIN_TIMEOUT,
        levers: None,
    }
}

/// How many event loops each generator has in a trial.
///
/// # Errors
/// When there are fewer connections than generators.
pub(crate) fn loops(
    experiment: &Experiment,
    trial: Trial,
    access: &Access,
    hosts: &[HostFacts],
) -> Result<Vec<usize>> {
    let by_plan = event_loops::by_plan(&experiment.plan.load);
    let by_cores = |cores| event_loops::on_cores(access, cores);
    let connections = experiment.connections(trial);
    divide(hosts, by_plan, by_cores, connections)
        .with_context(|| format!("{connections} connections for {} generators", hosts.len()))
}
