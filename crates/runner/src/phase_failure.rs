//! The contexts of errors: a system that cannot be used, a phase of a workload that failed.

use std::fmt;

use measure::Phase;

/// The context of an error that ended a phase.
#[derive(Debug)]
pub(crate) struct PhaseFailure {
    pub(crate) phase: Phase,
    pub(crate) workload: String,
}

impl PhaseFailure {
    /// The phase that an error ended; `None` when it ended none.
    pub(crate) fn phase_of(cause: &anyhow::Error) -> Option<Phase> {
        cause.downcast_ref::<Self>().map(|failure| failure.phase)
    }
}

impl fmt::Display for PhaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?} failed", self.phase.name(), self.workload)
    }
}

/// The context of an error that makes a system unusable.
#[derive(Debug)]
pub(crate) struct SystemFailure {
    pub(crate) system: String,
    /// Such as `cannot be used`.
    pub(crate) state: &'static str,
}

impl fmt::Display for SystemFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "system {:?} {}", self.system, self.state)
    }
}
