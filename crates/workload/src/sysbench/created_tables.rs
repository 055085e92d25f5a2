//! Remembers which tables this process created on which system.

use std::collections::BTreeSet;

use driver::Target;

use crate::created::{Created, Freshness};

pub(super) type CreatedTables = Created<BTreeSet<u64>>;

impl CreatedTables {
    pub(super) fn add_tables(&self, target: &Target, tables: &[u64]) {
        self.add_with(target, |created| created.extend(tables));
    }

    pub(super) fn forget_tables(&self, target: &Target, tables: &[u64]) {
        self.change(target, |created| created.retain(|table| !tables.contains(table)));
    }

    /// Tables that this process created on this system.
    pub(super) fn tables(&self, target: &Target) -> Vec<u64> {
        self.on(target).into_iter().collect()
    }

    /// Whether this process created tables 1 to `tables`, and no client has changed them since.
    pub(super) fn is_pristine(&self, target: &Target, tables: u64) -> bool {
        let created = self.on(target);
        self.freshness_of(target) == Some(Freshness::Pristine)
            && (1..=tables).all(|table| created.contains(&table))
    }
}
