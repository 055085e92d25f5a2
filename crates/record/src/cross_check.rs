//! What dyno counted beside what the server counted itself.

use measure::QueryCounts;

/// Statements of one trial's load, counted on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrossCheck {
    /// Both sides counted.
    Counted(Counted),
    /// The server reports, but not this time.
    Missing {
        /// Why.
        reason: String,
        /// What dyno sent and had answered all the same.
        by_dyno: QueryCounts,
    },
}

/// Statements from just before the load until after it, warm-up and late answers included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Those that dyno sent and had answered.
    pub by_dyno: QueryCounts,
    /// Those that the server ran, of all its clients.
    pub by_server: QueryCounts,
    /// The server's counters that moved, by its own names.
    pub counters: Vec<(String, u64)>,
}

impl Counted {
    /// How many statements more the server counted than dyno; negative when fewer.
    pub fn difference(&self) -> i64 {
        difference(self.by_server.total(), self.by_dyno.total())
    }
}

fn difference(left: u64, right: u64) -> i64 {
    let clamp = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    clamp(left).saturating_sub(clamp(right))
}
