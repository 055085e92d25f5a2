//! What the experiment for a system's limit reaches of its servers.

use std::sync::Arc;

use system::FlushGate;
use system::profile::Page;

use super::TestBed;
use crate::trial_watch;

impl TestBed<'_> {
    /// What holds the flushes of its servers.
    pub(crate) fn flush_gates(&self) -> Vec<Arc<FlushGate>> {
        self.running.flush_gates()
    }

    /// Pages of metrics of its servers.
    pub(crate) fn pages(&self) -> Vec<Page> {
        let plan = &self.experiment.plan;
        trial_watch::pages(&self.running, &plan.systems[self.instance.system], &plan.watch)
    }
}
