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
    /// What a client does in turn; empty where that is to run the statements in their order.
    pub(super) steps: Vec<Step>,
    /// The results of statements that are kept.
    pub(super) results: Vec<Received>,
}

/// A step of a transaction that does more than run its statements in their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// The statement of this place.
    Statement(usize),
    /// The same, whose result is kept as the one of the second place says.
    Receive(usize, usize),
    Set(Set),
    /// The values that variables have before a block that may set them.
    Keep(Vec<Set>),
    /// Goes on at step `otherwise` unless the condition holds.
    Branch {
        place: String,
        condition: Expression,
        otherwise: usize,
    },
    /// Goes on at this step.
    Jump(usize),
    /// Statements from here on are not sent before the pipeline ends.
    StartPipeline,
    /// What follows in the pipeline is independent of what came before.
    SyncPipeline,
    EndPipeline,
    /// Waits for so many units.
    Sleep {
        place: String,
        /// Its place among the waits of the transaction.
        number: usize,
        count: Expression,
        unit_ns: i64,
    },
}

/// Variables that get the values of a row: `\gset`, or `\aset` where `is_optional`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Received {
    pub(super) place: String,
    pub(super) prefix: String,
    /// Whether there may be no row, or several, of which the last counts.
    pub(super) is_optional: bool,
    /// Names of columns, and the slots that get their values if there is such a column.
    pub(super) slots: Vec<(String, usize)>,
    /// Of these, those that no other variable is behind: a statement must have such a column.
    pub(super) wanted: Vec<Wanted>,
}

/// A variable that only a row can give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) slot: usize,
    pub(super) name: String,
    /// Where it is used.
    pub(super) place: String,
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

impl Transaction {
    pub(super) fn has_pipelines(&self) -> bool {
        self.steps.contains(&Step::StartPipeline)
    }

    /// How many waits it has.
    pub(super) fn sleeps(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Sleep { .. })).count()
    }

    /// Whether a step keeps the result of this statement.
    pub(super) fn keeps_result_of(&self, statement: &Statement) -> bool {
        let mut kept = self.steps.iter().filter_map(|step| match step {
            Step::Receive(number, _) => self.statements.get(*number),
            _ => None,
        });
        kept.any(|one| std::ptr::eq(one, statement))
    }
}

/// The slots of variables, with their values before the first `\set`.
pub(super) type Slots = Vec<Cell>;
