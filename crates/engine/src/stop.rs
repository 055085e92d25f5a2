//! Ending early, from a signal or from a trial that went wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How urgently a run shall end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Go on.
    None,
    /// End the trial and keep what was measured.
    Gracefully,
    /// End at once.
    AtOnce,
}

/// Shared by everyone who may ask for the end and everyone who must heed it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the end; a second call asks for it at once.
    pub fn ask(&self) -> StopLevel {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        if before == 0 { StopLevel::Gracefully } else { StopLevel::AtOnce }
    }

    /// What was asked for.
    #[inline]
    pub fn level(&self) -> StopLevel {
        match self.0.load(Ordering::Relaxed) {
            0 => StopLevel::None,
            1 => StopLevel::Gracefully,
            _ => StopLevel::AtOnce,
        }
    }

    /// Whether anything was asked for.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
