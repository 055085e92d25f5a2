//! Statements or transactions counted by dyno and by the server.

use measure::{QueryCounts, ServerCount, SessionStatements};

/// Statements of one trial's load, counted by both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrossCheck {
    Counted(Counted),
    /// The server reports its counters, but not in this trial.
    Missing {
        reason: String,
        /// Statements that dyno sent and the server answered.
        by_dyno: QueryCounts,
    },
}

/// Statements from just before the load until after it, warm-up and late answers included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Statements that dyno sent and the server answered.
    pub by_dyno: QueryCounts,
    /// What the server ran, for all its clients.
    pub by_server: ServerCount,
    /// Statements where `by_server` has transactions and the server counts both.
    pub session_statements: Option<SessionStatements>,
    /// How long statements waited for locks of rows, summed, ns; `None` where the server does not count it.
    pub row_lock_ns: Option<u64>,
    /// The server's counters that changed, by the server's own names.
    pub counters: Vec<(String, u64)>,
}

impl Counted {
    /// Statements or transactions that the server counted minus those that dyno counted.
    pub fn difference(&self) -> i64 {
        match self.by_server {
            ServerCount::Statements(by_server) => {
                difference(by_server.total(), self.by_dyno.total())
            }
            ServerCount::Transactions(counts) => counts.difference(),
        }
    }
}

fn difference(left: u64, right: u64) -> i64 {
    let clamp = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    clamp(left).saturating_sub(clamp(right))
}
