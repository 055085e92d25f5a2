//! The parts of a file: transactions, and statements for before and after the load.

use super::statement::{Text, Verb};
use crate::expression::{Cell, Expression};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Transaction {
    pub(super) name: String,
    pub(super) weight: u64,
    /// The variables that are evaluated before it begins, in order.
    pub(super) sets: Vec<Set>,
    pub(super) statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    /// File and line, for errors.
    pub(super) place: String,
    pub(super) slot: usize,
    pub(super) expression: Expression,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    /// File and line, for errors.
    pub(super) place: String,
    pub(super) text: Text,
    pub(super) verb: Verb,
    pub(super) parameters: Vec<usize>,
}

/// A statement of `\prepare`, `\verify` or `\cleanup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// File and line, for errors.
    pub(super) place: String,
    pub(super) sql: String,
}

impl Setup {
    /// Whether the statement creates a table or another object with a name of its own. An index belongs to a table.
    pub(super) fn makes_table(&self) -> bool {
        let mut words = self.sql.split_whitespace().map(str::to_ascii_lowercase);
        words.next().is_some_and(|first| first == "create")
            && !words.take(2).any(|word| word == "index")
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Script {
    pub(super) prepare: Vec<Setup>,
    pub(super) verify: Vec<Setup>,
    pub(super) cleanup: Vec<Setup>,
    pub(super) transactions: Vec<Transaction>,
}

impl Transaction {
    /// Whether a statement may change data.
    pub(super) fn writes(&self) -> bool {
        self.statements
            .iter()
            .any(|statement| matches!(statement.verb, Verb::Write | Verb::Other | Verb::BeginAs))
    }
}

/// The slots of variables, with their values before the first `\set`.
pub(super) type Slots = Vec<Cell>;
