//! Calls that a service of the plan cannot take, as far as options and files tell.

use plan::{Plan, Problem};
use system::System;

use crate::trial_workload::TrialWorkload;

/// Every mistake in the calls of every pair of a workload and a service, each once.
pub(crate) fn problems(
    plan: &Plan,
    systems: &[Box<dyn System>],
    workloads: &[TrialWorkload],
) -> Vec<Problem> {
    let services: Vec<_> = systems.iter().filter_map(|system| system.service()).collect();
    let mut found: Vec<Problem> = Vec::new();
    for (plan, workload) in plan.workloads.iter().zip(workloads) {
        let TrialWorkload::Service(rpc) = workload else { continue };
        for mistake in services.iter().flat_map(|service| rpc.mistakes(service)) {
            let problem = plan.options.problem(mistake.option, mistake.message, mistake.help);
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
    }
    found
}
