//! A phase of a workload that failed.

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
