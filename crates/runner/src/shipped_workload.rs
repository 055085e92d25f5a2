//! A workload of a plan in a form that another process can read: its options, and the contents of the files that they
//! name. The other systems and workloads of the plan stay where they are.

use plan::{FileContents, Files, Plan, Problem, WorkloadPlan};
use serde::{Deserialize, Serialize};

use crate::trial_workload::TrialWorkload;

/// A workload's options and files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ShippedWorkload {
    plan: WorkloadPlan,
    files: FileContents,
}

impl ShippedWorkload {
    /// Reads a workload of a plan. Its form for other processes is kept if the plan has generators.
    ///
    /// # Errors
    /// Every wrong option, with its place.
    pub(crate) fn read_in(
        plan: &Plan,
        workload: &WorkloadPlan,
    ) -> Result<(TrialWorkload, Option<Self>), Vec<Problem>> {
        let folder = &plan.source.folder;
        if plan.load.generators.is_empty() {
            return Ok((TrialWorkload::read(workload, &Files::of(folder))?, None));
        }
        let files = Files::kept_of(folder);
        let read = TrialWorkload::read(workload, &files)?;
        Ok((read, Some(Self { plan: workload.clone(), files: files.contents() })))
    }

    /// Reads it in another process, which opens no files for that.
    ///
    /// # Errors
    /// What is wrong with it; nothing, if it was read before.
    pub fn read(&self) -> Result<TrialWorkload, Vec<Problem>> {
        TrialWorkload::read(&self.plan, &Files::shipped(self.files.clone()))
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        &self.plan.kind
    }
}
