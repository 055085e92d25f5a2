//! A plan whose every part has been checked.

use measure::Rules;
use plan::{Limit, Plan, Problem, Problems, WorkloadPlan};
use system::System;
use workload::Workload;

/// The kind of workload that goes with a simulated system.
pub(crate) const SIMULATED: &str = "simulated";

/// A plan that can run: its systems and workloads are known and their options make sense.
pub struct Experiment {
    pub(crate) plan: Plan,
    pub(crate) systems: Vec<Box<dyn System>>,
    pub(crate) workloads: Vec<TrialWorkload>,
}

/// What the clients of a trial do.
pub(crate) enum TrialWorkload {
    /// A workload on a database.
    Database(Box<dyn Workload>),
    /// Requests to a simulated system.
    Simulated,
}

impl Experiment {
    /// Reads every system and workload of `plan`.
    ///
    /// # Errors
    /// Everything that is wrong with them, with its places in the plan.
    pub fn check(mut plan: Plan) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let folder = &plan.source.folder;
        let systems = collect_valid(&plan.systems, &mut problems, |it| system::read(it, folder));
        let workloads =
            collect_valid(&plan.workloads, &mut problems, |it| read_workload(it, &plan));
        problems.extend(mismatches(&plan));
        if !plan.load.is_limit_given {
            match common_limit(&workloads) {
                Ok(limit) => plan.load.limit = limit.unwrap_or(plan.load.limit),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            return Ok(Self { plan, systems, workloads });
        }
        Err(Problems::new(&plan.source, problems))
    }

    /// The plan that was checked.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Figures and a mix of workload `index`'s own.
    pub(crate) fn rules(&self, index: usize) -> Rules {
        match &self.workloads[index] {
            TrialWorkload::Database(workload) => workload.rules(),
            TrialWorkload::Simulated => Rules::default(),
        }
    }

    /// What workload `index` of the plan does, in a line.
    pub fn describe_workload(&self, index: usize) -> String {
        match &self.workloads[index] {
            TrialWorkload::Database(workload) => workload.describe(),
            TrialWorkload::Simulated => "one request a transaction".to_owned(),
        }
    }
}

fn collect_valid<P, T>(
    parts: &[P],
    problems: &mut Vec<Problem>,
    read: impl Fn(&P) -> Result<T, Vec<Problem>>,
) -> Vec<T> {
    let mut good = Vec::with_capacity(parts.len());
    for part in parts {
        match read(part) {
            Ok(value) => good.push(value),
            Err(found) => problems.extend(found),
        }
    }
    good
}

fn read_workload(it: &WorkloadPlan, plan: &Plan) -> Result<TrialWorkload, Vec<Problem>> {
    if it.kind == SIMULATED {
        return it.options.reader().finish().map(|()| TrialWorkload::Simulated);
    }
    workload::read(it, &plan.source.folder).map(TrialWorkload::Database)
}

/// When trials end as the workloads themselves say.
///
/// # Errors
/// When they say different things.
fn common_limit(workloads: &[TrialWorkload]) -> Result<Option<Limit>, Problem> {
    let mut limits = workloads.iter().map(|work| match work {
        TrialWorkload::Database(workload) => workload.limit(),
        TrialWorkload::Simulated => None,
    });
    let first = limits.next().flatten();
    if limits.all(|limit| limit == first) {
        return Ok(first);
    }
    let help = "say `time` or `events` under [load], which goes before what workloads say";
    let message = "the workloads bound their trials differently".to_owned();
    Err(Problem { span: None, message, help: Some(help.to_owned()) })
}

/// A simulated system takes requests and nothing else, and nothing else takes its requests.
fn mismatches(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for system in &plan.systems {
        for workload in &plan.workloads {
            if (system.kind == SIMULATED) != (workload.kind == SIMULATED) {
                problems.push(Problem {
                    span: None,
                    message: format!(
                        "workload {:?} ({}) cannot run on system {:?} ({})",
                        workload.name, workload.kind, system.name, system.kind
                    ),
                    help: Some(
                        "a simulated system goes with workloads of kind \"simulated\" only"
                            .to_owned(),
                    ),
                });
            }
        }
    }
    problems
}
