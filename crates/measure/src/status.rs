//! How a trial ended.

/// How a trial ended. A trial that dyno or the machine did not bring to an end has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialStatus {
    Complete,
    /// Someone asked for the end; what was measured until then stands.
    Interrupted,
    /// The reason for which it could not go on.
    Failed(String),
    /// The server that was started for it ended while it ran: how, and what its log says.
    Crashed(String),
}

impl TrialStatus {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
            Self::Crashed(_) => "crashed",
        }
    }

    /// Why it did not end as planned.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed(reason) | Self::Crashed(reason) => Some(reason),
            Self::Complete | Self::Interrupted => None,
        }
    }
}
