//! What a system says about itself.

use measure::Identity;

/// What is under test, as it answered when it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub identity: Identity,
    /// How much it takes.
    pub limits: ServerLimits,
}

/// How much a server takes, and how much of that is taken; `None` where there is no bound or where it
/// does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections that it allows.
    pub connections_max: Option<u64>,
    /// Connections that are open, the asking one among them.
    pub connections_used: Option<u64>,
    /// Prepared statements that it allows, over all connections.
    pub prepared_statements_max: Option<u64>,
    /// Prepared statements that exist.
    pub prepared_statements_used: Option<u64>,
    /// The longest packet that it takes, bytes.
    pub packet_bytes_max: Option<u64>,
}
