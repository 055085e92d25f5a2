//! The header of a trial in the record, and its title in the progress.

use plan::{Plan, SystemPlan, Trial, Variant, WarmUp};
use record::{
    CallsRecord, Identity, LoadRecord, ProbeRecord, TrialHeader, VariantRecord, WorkloadRecord,
};
use system::Access;

use crate::Experiment;
use crate::event_loops;
use crate::pacing;
use crate::test_bed::TestBed;
use crate::trial_workload::TrialWorkload;

/// How the trial's clients call a service; `None` when they call none.
pub(crate) fn calls(
    experiment: &Experiment,
    trial: Trial,
    test_bed: &TestBed<'_>,
) -> Option<CallsRecord> {
    let workload = &experiment.workloads[trial.workload];
    let (TrialWorkload::Service(rpc), Access::Service(service)) = (workload, test_bed.access())
    else {
        return None;
    };
    Some(CallsRecord {
        method: rpc.method(service).map(|method| method.to_string()),
        connections: rpc.connections(trial.clients),
        timeout_ns: test_bed.timeouts().query.map(measure::nanos),
    })
}

/// The header of a trial, as far as the plan alone determines it.
pub(crate) fn bare_header(experiment: &Experiment, trial: Trial, warm_up: WarmUp) -> TrialHeader {
    let plan = &experiment.plan;
    let workload = &plan.workloads[trial.workload];
    TrialHeader {
        index: trial.index,
        system: plan.systems[trial.system].name.clone(),
        variant: variant(plan, trial.system),
        identity: Identity::default(),
        is_embedded: false,
        workload: WorkloadRecord {
            name: workload.name.clone(),
            kind: workload.kind.clone(),
            description: experiment.describe_workload(trial.workload),
            rules: experiment.rules(trial.workload, trial.clients),
        },
        operations: Vec::new(),
        clients: trial.clients,
        repetition: trial.repetition,
        load: LoadRecord {
            description: pacing::describe(plan, experiment.limit(trial), trial, warm_up),
            threads: 0,
            think_time: plan.load.think_time,
            interval: plan.load.interval,
            cpus: event_loops::cpus(&plan.load),
            open: pacing::record(plan, trial),
            calls: None,
        },
        probe: trial
            .seek
            .map(|seek| ProbeRecord { number: seek.number, is_confirming: seek.is_confirming }),
        window: plan.windows.map(|_| trial.window),
        beside: Vec::new(),
    }
}

fn variant(plan: &Plan, system: usize) -> Option<VariantRecord> {
    let Variant { of, name, is_baseline_again } = plan.systems[system].variant.clone()?;
    let is_before = |it: &&SystemPlan| it.variant.as_ref().is_some_and(|other| other.of == of);
    let place = plan.systems[..system].iter().filter(is_before).count();
    Some(VariantRecord { of, name, place, is_baseline_again })
}

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
    if let Some(windows) = plan.windows {
        title.push_str(&format!(" · window {} of {windows}", trial.window + 1));
    }
    title
}
