//! A trial that ended before its load began, and why.

use measure::Phase;
use record::{Identity, TrialStatus};

use crate::phase_failure::{PhaseFailure, SystemFailure};

/// Why a trial ended before its load began.
pub(crate) struct NotStarted {
    pub(crate) status: TrialStatus,
    pub(crate) identity: Box<Identity>,
    pub(crate) failed_phase: Option<Phase>,
    /// The cause without the names of the only system and workload; `None` when it was told before.
    pub(crate) cause: Option<String>,
}

impl From<anyhow::Error> for NotStarted {
    fn from(cause: anyhow::Error) -> Self {
        let status = TrialStatus::Failed(format!("{cause:#}"));
        let failed_phase = PhaseFailure::phase_of(&cause);
        let cause = Some(without_place(&cause));
        Self { status, identity: Box::default(), failed_phase, cause }
    }
}

/// An error without the system or the phase in which it occurred.
fn without_place(cause: &anyhow::Error) -> String {
    let has_place = cause.is::<PhaseFailure>() || cause.is::<SystemFailure>();
    let chain: Vec<String> =
        cause.chain().skip(usize::from(has_place)).map(ToString::to_string).collect();
    chain.join(": ")
}
