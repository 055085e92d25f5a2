//! How far a long job has come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts work done against work to do; one job writes, a display reads.
#[derive(Debug, Default)]
pub struct Progress {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Nothing begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a stage of `total` units of work (rows, tables), such as `loading sbtest1`.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        *self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = stage.into();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// So many units more are done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// The stage, units done, units in all.
    pub fn look(&self) -> (String, u64, u64) {
        let stage = self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        (stage, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}
