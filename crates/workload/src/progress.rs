//! The progress of a long job.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the completed work and the total work. One job writes it and a display reads it; clones share one count.
#[derive(Clone, Debug, Default)]
pub struct LoadProgress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
    losses: AtomicU64,
}

impl LoadProgress {
    /// Creates a progress without a stage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a stage of `total` units of work (rows, tables), such as `loading sbtest1`.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        *self.0.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// Counts more units as done.
    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Subtracts units that were counted as done.
    pub(crate) fn take_back(&self, units: u64) {
        self.0.done.fetch_sub(units, Ordering::Relaxed);
    }

    /// Counts a batch that is retried because its connection broke.
    pub(crate) fn lose(&self) {
        self.0.losses.fetch_add(1, Ordering::Relaxed);
    }

    /// Batches of all stages that were retried because their connection broke.
    pub fn losses(&self) -> u64 {
        self.0.losses.load(Ordering::Relaxed)
    }

    /// The stage, completed units, total units.
    pub fn current(&self) -> (String, u64, u64) {
        let stage = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (stage, self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }
}
