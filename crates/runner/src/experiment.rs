//! A plan whose parts have all been checked.

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

/// The workload of a trial's clients.
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
    /// Every error in them, with its place in the plan.
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

    /// The scores of workload `index`, and the mix that it requires.
    pub(crate) fn rules(&self, index: usize) -> Rules {
        match &self.workloads[index] {
            TrialWorkload::Database(workload) => workload.rules(),
            TrialWorkload::Simulated => Rules::default(),
        }
    }

    /// A summary of workload `index` of the plan, in one line.
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

/// The limit of trials that the workloads themselves set.
///
/// # Errors
/// When they set different limits.
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

/// A simulated system takes only simulated requests, and no other system takes these.
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
