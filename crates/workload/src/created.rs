//! What workloads with a fixed set of tables share: which of them this process created, and statements around the
//! preparation.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::Target;
use measure::Failure;

use crate::WorkloadContext;
use crate::parallel::{on_session, run_all};

/// Remembers on which systems this process created the tables, because only those may be dropped.
#[derive(Debug, Default)]
pub(crate) struct CreatedDatabases(Mutex<BTreeMap<String, Freshness>>);

/// Whether a load has started since the tables were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Pristine,
    Used,
}

impl CreatedDatabases {
    /// The state of the tables on this system; `None` if this process did not create them.
    pub(crate) fn freshness_of(&self, target: &Target) -> Option<Freshness> {
        self.lock().get(&target.to_string()).copied()
    }

    /// Records that clients are about to change the tables.
    pub(crate) fn use_up(&self, target: &Target) {
        if let Some(freshness) = self.lock().get_mut(&target.to_string()) {
            *freshness = Freshness::Used;
        }
    }

    pub(crate) fn add(&self, target: &Target) {
        self.lock().insert(target.to_string(), Freshness::Pristine);
    }

    pub(crate) fn forget(&self, target: &Target) {
        self.lock().remove(&target.to_string());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Freshness>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the statements of the plan around the preparation.
pub(crate) fn around(context: &WorkloadContext<'_>, statements: &[String]) -> Result<(), Failure> {
    if statements.is_empty() {
        return Ok(());
    }
    let statements = statements.to_vec();
    on_session(context, async move |session| run_all(session, &statements).await)
}
