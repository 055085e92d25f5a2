//! What the generators of a load must know of a test bed.

use anyhow::Result;
use net::Endpoint;
use system::Access;
use workload::{LoadKey, LoadProgress};

use super::TestBed;
use crate::experiment::TrialWorkload;

impl TestBed<'_> {
    /// What the workload has found out about the data, for the processes that offer its load.
    pub(crate) fn knowledge(&self, workload: usize) -> Result<Vec<u64>> {
        let TrialWorkload::Database(workload) = &self.experiment.workloads[workload] else {
            return Ok(Vec::new());
        };
        let (target, progress) = (self.load_target()?, LoadProgress::new());
        Ok(self.with_context_of(&target, LoadKey::default(), &progress, self.stop, |context| {
            workload.knowledge(context)
        }))
    }

    /// The plan's statements on every client's session.
    pub(crate) fn run_session(&self) -> &[String] {
        &self.sql.run_session
    }

    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        match self.running.access() {
            Access::Database(target) => target.endpoints(),
            Access::Service(service) => service.endpoints(),
            Access::Simulated(_) => Vec::new(),
        }
    }
}
