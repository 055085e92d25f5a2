//! Clients that wait for an answer, and have waited for long, when the load ends.

use serde::{Deserialize, Serialize};

use crate::{Nanos, sum};

/// The clients whose transactions began before the measured window, or long before its end, and have no answer when the
/// load gives them up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckClients {
    pub clients: u64,
    /// Of these, the clients whose transactions began before the window. They are in no other count of the trial.
    pub since_before: u64,
    /// How long the one that waits for longest had waited, from the start of its transaction, ns.
    pub age_ns: Nanos,
    /// The statement that it waits for, shortened; empty where it is not known.
    pub statement: String,
}

impl StuckClients {
    /// Adds a client whose transaction began so long ago.
    pub fn add(&mut self, age_ns: Nanos, is_since_before: bool, statement: &str) {
        let since_before = u64::from(is_since_before);
        self.merge(&Self { clients: 1, since_before, age_ns, statement: statement.to_owned() });
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.clients = sum([self.clients, other.clients]);
        self.since_before = sum([self.since_before, other.since_before]);
        if other.age_ns > self.age_ns {
            self.age_ns = other.age_ns;
            self.statement.clone_from(&other.statement);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.clients == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_is_that_of_the_client_that_waits_for_longest() {
        let mut stuck = StuckClients::default();
        stuck.add(5, false, "b");
        stuck.add(9, true, "a");
        stuck.add(7, true, "c");
        let expected =
            StuckClients { clients: 3, since_before: 2, age_ns: 9, statement: "a".to_owned() };
        assert_eq!(stuck, expected);
    }
}
