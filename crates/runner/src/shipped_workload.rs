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
    /// Reads a workload of a plan, and its form for other processes.
    ///
    /// # Errors
    /// Every wrong option, with its place.
    pub(crate) fn read_in(
        plan: &Plan,
        workload: &WorkloadPlan,
    ) -> Result<(TrialWorkload, Self), Vec<Problem>> {
        let files = Files::kept_of(&plan.source.folder);
        let read = TrialWorkload::read(workload, &files)?;
        Ok((read, Self { plan: workload.clone(), files: files.contents() }))
    }

    /// The files that the options name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter()
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
