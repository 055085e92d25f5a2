//! Calls that a service of the plan cannot take, as far as options and files tell.

use plan::{Problem, WorkloadPlan};
use system::System;

use crate::trial_workload::TrialWorkload;

/// Every mistake in the calls of a workload to any of the services, each once.
pub(crate) fn problems(
    plan: &WorkloadPlan,
    workload: &TrialWorkload,
    systems: &[Box<dyn System>],
) -> Vec<Problem> {
    let TrialWorkload::Service(rpc) = workload else { return Vec::new() };
    let services = systems.iter().filter_map(|system| system.service());
    let mut found: Vec<Problem> = Vec::new();
    for mistake in services.flat_map(|service| rpc.mistakes(&service)) {
        let problem = plan.options.problem(mistake.option, mistake.message, mistake.help);
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}
