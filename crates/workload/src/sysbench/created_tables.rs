//! Remembers which tables this process created on which system, because only those may be dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::Target;

/// Created tables that still exist, for each system that the workload ran on.
#[derive(Debug, Default)]
pub(super) struct CreatedTables(Mutex<BTreeMap<String, Tables>>);

/// Tables of one system.
#[derive(Clone, Debug, Default)]
struct Tables {
    created_tables: BTreeSet<u64>,
    /// Whether a load has started since they were created.
    were_used: bool,
}

impl CreatedTables {
    /// Records created tables.
    pub(super) fn add(&self, target: &Target, tables: &[u64]) {
        let mut all = self.lock();
        let here = all.entry(key(target)).or_default();
        here.created_tables.extend(tables);
        here.were_used = false;
    }

    /// Records that clients are about to change the tables.
    pub(super) fn use_up(&self, target: &Target) {
        self.lock().entry(key(target)).or_default().were_used = true;
    }

    /// Removes dropped tables.
    pub(super) fn forget(&self, target: &Target, tables: &[u64]) {
        if let Some(here) = self.lock().get_mut(&key(target)) {
            here.created_tables.retain(|table| !tables.contains(table));
        }
    }

    /// Tables that this process created on this system.
    pub(super) fn tables(&self, target: &Target) -> Vec<u64> {
        let all = self.lock();
        all.get(&key(target))
            .map(|here| here.created_tables.iter().copied().collect())
            .unwrap_or_default()
    }

    /// Whether this process created tables 1 to `tables`, and no client has changed them since.
    pub(super) fn is_pristine(&self, target: &Target, tables: u64) -> bool {
        self.lock().get(&key(target)).is_some_and(|here| {
            !here.were_used && (1..=tables).all(|t| here.created_tables.contains(&t))
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Tables>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a target, which identifies the system.
fn key(target: &Target) -> String {
    target.to_string()
}
