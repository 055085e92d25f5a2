//! The progress of a long job.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use driver::Added;
use measure::{LoadedRows, Nanos};

/// Counts the completed work and the total work, and collects remarks. One job writes it and a display reads it;
/// clones share one count.
#[derive(Clone, Debug, Default)]
pub struct LoadProgress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
    losses: AtomicU64,
    notes: Mutex<Vec<String>>,
    remarks: Mutex<Vec<String>>,
    is_silent: AtomicBool,
    has_removal_begun: AtomicBool,
    committed: Mutex<Option<Committed>>,
}

#[derive(Debug)]
struct Committed {
    /// From the beginning of the first one to the end of the last one.
    time: Range<Nanos>,
    all: Added,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoadProgress {
    /// Creates a progress without a stage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a stage of `total` units of work (rows, tables), such as `loading sbtest1`.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        *lock(&self.0.stage) = stage.into();
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Ordering::Relaxed);
    }

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

    /// Notes that the server did not answer in time after a request to stop.
    pub(crate) fn server_is_silent(&self) {
        self.0.is_silent.store(true, Ordering::Relaxed);
    }

    /// Whether the server did not answer in time after a request to stop.
    pub(crate) fn is_server_silent(&self) -> bool {
        self.0.is_silent.load(Ordering::Relaxed)
    }

    /// Notes that statements were sent that remove what was made.
    pub(crate) fn removal_has_begun(&self) {
        self.0.has_removal_begun.store(true, Ordering::Relaxed);
    }

    /// Whether statements were sent that remove what was made.
    pub(crate) fn has_removal_begun(&self) -> bool {
        self.0.has_removal_begun.load(Ordering::Relaxed)
    }

    /// Adds a note on what was found, in one line.
    pub(crate) fn note(&self, text: impl Into<String>) {
        lock(&self.0.notes).push(text.into());
    }

    /// Adds what a reader of the results must know of the data, once: it is told now, and kept.
    pub(crate) fn remark(&self, text: String) {
        let mut remarks = lock(&self.0.remarks);
        if !remarks.contains(&text) {
            self.note(text.clone());
            remarks.push(text);
        }
    }

    /// What a reader of the results must know of the data.
    pub fn remarks(&self) -> Vec<String> {
        lock(&self.0.remarks).clone()
    }

    /// The notes since the last call, remarks among them.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.notes))
    }

    pub(crate) fn add(&self, batch: &Added, time: Range<Nanos>) {
        if batch.rows == 0 {
            return;
        }
        let mut committed = lock(&self.0.committed);
        let start = || Committed { time: time.clone(), all: Added::default() };
        let sum = committed.get_or_insert_with(start);
        sum.time = sum.time.start.min(time.start)..sum.time.end.max(time.end);
        sum.all.rows += batch.rows;
        sum.all.inserts.merge(&batch.inserts);
    }

    /// The rows that were loaded; `None` if there are none.
    pub fn loaded(&self) -> Option<LoadedRows> {
        let committed = lock(&self.0.committed);
        let Committed { time, all } = committed.as_ref()?;
        let duration = Duration::from_nanos(time.end - time.start);
        Some(LoadedRows { rows: all.rows, duration, inserts: all.inserts.clone() })
    }

    /// The stage, completed units, total units.
    pub fn current(&self) -> (String, u64, u64) {
        let stage = lock(&self.0.stage).clone();
        (stage, self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }
}
