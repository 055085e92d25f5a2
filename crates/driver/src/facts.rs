//! A system's identity and limits.

use measure::Identity;

/// A system's answers to [`crate::Target::probe`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Product, version and settings.
    pub identity: Identity,
    pub limits: ServerLimits,
}

/// Limits that a server sets; `None` where there is no limit or the server does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerLimits {
    pub connections: Option<ServerLimit>,
    pub prepared_statements: Option<ServerLimit>,
    /// The longest packet that the server accepts, bytes.
    pub packet_bytes: Option<ServerLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimit {
    /// The limited resource, as in `too few connections`.
    pub resource: &'static str,
    /// The highest value that the server allows.
    pub max: u64,
    /// How much of that is in use by others.
    pub used: u64,
    /// How to raise it; `{needed}` stands for the value to set.
    pub remedy: &'static str,
}
