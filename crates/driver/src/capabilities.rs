//! How sessions of a system may be used.

/// Properties of a system's sessions that do not depend on its SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The system runs in this process: it has no server, no network and no connections.
    pub is_embedded: bool,
    /// Calls block the calling thread, so each client needs a thread of its own.
    pub is_blocking: bool,
    /// Several sessions may write at the same time.
    pub has_concurrent_writers: bool,
    /// A server hands over what it has counted of a session when the session ends. So its counters are read before the
    /// sessions of a load are opened and after they have ended.
    pub counts_ended_sessions: bool,
    /// Its servers tell figures of themselves over time by SQL: [`crate::ServerFigures`].
    pub tells_figures_by_sql: bool,
}
