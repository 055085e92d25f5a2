//! Cancellation of a run, a phase or a trial.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How urgently a run must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    None,
    /// End the trial and keep its results.
    Gracefully,
    AtOnce,
}

/// A cancellation flag. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// A flag without a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a graceful stop; the second call requests a stop at once. Returns the level that is requested
    /// now.
    pub fn ask(&self) -> StopLevel {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        if before == 0 { StopLevel::Gracefully } else { StopLevel::AtOnce }
    }

    #[inline]
    pub fn level(&self) -> StopLevel {
        match self.0.load(Ordering::Relaxed) {
            0 => StopLevel::None,
            1 => StopLevel::Gracefully,
            _ => StopLevel::AtOnce,
        }
    }

    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
