//! What a server has counted of a load: statements by kind, or transactions, as each kind of server does it.

use serde::{Deserialize, Serialize};

use crate::{QueryCounts, sum};

/// The counts of all servers of a load, each for all of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerCount {
    /// Statements by what they do.
    Statements(QueryCounts),
    Transactions(TransactionCounts),
}

/// Transactions of servers that count no statements. A login, a statement outside of a block and a block are one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionCounts {
    /// Those that ended on sessions of dyno, whatever the session was for.
    pub by_dyno: u64,
    /// How many more may have ended on sessions of dyno: their answers were not seen.
    pub unsure: u64,
    /// Those that ended on the servers, for all clients and for the servers' own work.
    pub by_server: u64,
    /// How many of them the servers' routine work may have been at most, such as the regular look of autovacuum.
    pub routine_max: u64,
    /// Whether a session that was not dyno's was connected to the database at some time; true where that is not known.
    pub others_connected: bool,
}

/// Statements that the servers count beside transactions, where they do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatements {
    Counted {
        /// Those that ended without an error on sessions of dyno, whatever the session was for.
        by_dyno: u64,
        /// Those that the servers counted for dyno's user.
        by_server: u64,
    },
    /// Why the two cannot be compared.
    Missing(String),
}

impl Default for ServerCount {
    fn default() -> Self {
        Self::Statements(QueryCounts::default())
    }
}

impl ServerCount {
    /// Adds the counts of another load on the same servers. Those of another kind cannot be added and are left out.
    pub fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Statements(all), Self::Statements(more)) => all.add(more),
            (Self::Transactions(all), Self::Transactions(more)) => all.add(more),
            _ => {}
        }
    }

    /// The statements; `None` when something else was counted.
    pub fn statements(self) -> Option<QueryCounts> {
        match self {
            Self::Statements(counts) => Some(counts),
            Self::Transactions(_) => None,
        }
    }

    /// The transactions; `None` when something else was counted.
    pub fn transactions(self) -> Option<TransactionCounts> {
        match self {
            Self::Statements(_) => None,
            Self::Transactions(counts) => Some(counts),
        }
    }
}

impl SessionStatements {
    /// The statements of both; missing where they are missing of one, and none where one has none.
    #[must_use]
    pub fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        Some(match (one?, other?) {
            (
                Self::Counted { by_dyno, by_server },
                Self::Counted { by_dyno: more_by_dyno, by_server: more_by_server },
            ) => Self::Counted {
                by_dyno: sum([by_dyno, more_by_dyno]),
                by_server: sum([by_server, more_by_server]),
            },
            (missing @ Self::Missing(_), _) | (_, missing) => missing,
        })
    }

    /// Statements that the servers counted minus those of dyno; `None` when they are missing.
    pub fn difference(&self) -> Option<i64> {
        match *self {
            Self::Counted { by_dyno, by_server } => Some(difference(by_server, by_dyno)),
            Self::Missing(_) => None,
        }
    }
}

impl TransactionCounts {
    fn add(&mut self, other: Self) {
        self.by_dyno = sum([self.by_dyno, other.by_dyno]);
        self.unsure = sum([self.unsure, other.unsure]);
        self.by_server = sum([self.by_server, other.by_server]);
        self.routine_max = sum([self.routine_max, other.routine_max]);
        self.others_connected |= other.others_connected;
    }

    /// Transactions that the servers counted minus those of dyno.
    pub fn difference(self) -> i64 {
        difference(self.by_server, self.by_dyno)
    }
}

fn difference(left: u64, right: u64) -> i64 {
    let clamp = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    clamp(left).saturating_sub(clamp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_loads_are_added_and_one_with_others_stays_with_others() {
        let one = TransactionCounts {
            by_dyno: 10,
            unsure: 1,
            by_server: 12,
            routine_max: 5,
            others_connected: false,
        };
        let mut all = ServerCount::Transactions(one);
        all.add(ServerCount::Transactions(TransactionCounts { others_connected: true, ..one }));
        let sum = all.transactions().unwrap();
        assert_eq!((sum.by_dyno, sum.by_server, sum.unsure, sum.routine_max), (20, 24, 2, 10));
        assert!(sum.others_connected);
        assert_eq!(sum.difference(), 4);
        all.add(ServerCount::default());
        assert_eq!(all.transactions(), Some(sum));
    }

    #[test]
    fn statements_of_two_loads_are_added_unless_those_of_one_are_missing() {
        let of = |by_dyno, by_server| Some(SessionStatements::Counted { by_dyno, by_server });
        let missing = Some(SessionStatements::Missing("it was reset".to_owned()));
        assert_eq!(SessionStatements::joined(of(1, 2), of(10, u64::MAX)), of(11, u64::MAX));
        assert_eq!(SessionStatements::joined(missing.clone(), of(1, 2)), missing);
        assert_eq!(SessionStatements::joined(of(1, 2), missing.clone()), missing);
        assert_eq!(SessionStatements::joined(of(1, 2), None), None);
        assert_eq!(of(3, 1).unwrap().difference(), Some(-2));
    }
}
