//! What workloads with tables share: which of them this process created, and statements around the preparation.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::Target;
use measure::Failure;

use crate::WorkloadContext;
use crate::parallel::{on_session, run_all};

/// Remembers what this process created on each system, because only that may be dropped: `T` says which tables.
#[derive(Debug, Default)]
pub(crate) struct Created<T>(Mutex<BTreeMap<String, (T, Freshness)>>);

/// What was created of a workload with a fixed set of tables: all of them or none.
pub(crate) type CreatedDatabases = Created<()>;

/// Whether a load has started since the tables were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Pristine,
    Used,
}

impl<T> Created<T> {
    /// The state of the tables on this system; `None` if this process did not create them.
    pub(crate) fn freshness_of(&self, target: &Target) -> Option<Freshness> {
        self.lock().get(&target.to_string()).map(|(_, freshness)| *freshness)
    }

    /// Records that clients are about to change the tables.
    pub(crate) fn use_up(&self, target: &Target) {
        if let Some((_, freshness)) = self.lock().get_mut(&target.to_string()) {
            *freshness = Freshness::Used;
        }
    }

    /// Changes what was created on this system, if anything was.
    pub(crate) fn change(&self, target: &Target, change: impl FnOnce(&mut T)) {
        if let Some((created, _)) = self.lock().get_mut(&target.to_string()) {
            change(created);
        }
    }

    /// Forgets a system, because what was created on it was dropped.
    pub(crate) fn forget(&self, target: &Target) {
        self.lock().remove(&target.to_string());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (T, Freshness)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Default> Created<T> {
    /// What this process created on this system.
    pub(crate) fn on(&self, target: &Target) -> T {
        self.lock().get(&target.to_string()).map(|(created, _)| created.clone()).unwrap_or_default()
    }

    /// Records, by `add`, what was created now.
    pub(crate) fn add_with(&self, target: &Target, add: impl FnOnce(&mut T)) {
        let mut all = self.lock();
        let nothing = || (T::default(), Freshness::Pristine);
        let (created, freshness) = all.entry(target.to_string()).or_insert_with(nothing);
        add(created);
        *freshness = Freshness::Pristine;
    }
}

impl CreatedDatabases {
    /// Records that the tables were created.
    pub(crate) fn add(&self, target: &Target) {
        self.add_with(target, |()| {});
    }
}

/// What follows the load of tables: what was loaded is written to the disk, and then the plan's statements run.
pub(crate) fn after_load(context: &WorkloadContext<'_>) -> Result<(), Failure> {
    checkpoint(context)?;
    context.progress.begin("statements after the load", 0);
    around(context, &context.sql.after_prepare)
}

/// Has the system write to its disk what was loaded, so that it does not in the measured time. A reader of the results is
/// told where it does not take the statement, or not from this user.
pub(crate) fn checkpoint(context: &WorkloadContext<'_>) -> Result<(), Failure> {
    let Some(statement) = context.target.dialect().checkpoint else { return Ok(()) };
    context.progress.begin("writing what was loaded to the disk", 0);
    let progress = context.progress.clone();
    on_session(context, async move |session| match session.run(statement).await {
        Err(failure) if !failure.key.class.breaks_connection() => {
            progress.remark(format!(
                "no {statement} after the load ({}), so the server may write what was loaded in the measured time",
                failure.message
            ));
            Ok(())
        }
        outcome => outcome.map(|_| ()),
    })
}

/// Runs the statements of the plan around the preparation.
pub(crate) fn around(context: &WorkloadContext<'_>, statements: &[String]) -> Result<(), Failure> {
    if statements.is_empty() {
        return Ok(());
    }
    let statements = statements.to_vec();
    on_session(context, async move |session| run_all(session, &statements).await)
}
