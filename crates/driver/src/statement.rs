//! Prepared statements and the answers to statements.

use measure::Failure;

use crate::Value;

/// A prepared statement, for the session that prepared it.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) index: usize,
}

/// The first of several statements that could not be prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unprepared {
    /// Its place among them.
    pub index: usize,
    pub failure: Failure,
}

impl Unprepared {
    /// The same with so many more before it.
    pub(crate) fn behind(self, more: usize) -> Self {
        Self { index: self.index + more, ..self }
    }
}

impl From<Unprepared> for Failure {
    fn from(unprepared: Unprepared) -> Self {
        unprepared.failure
    }
}

/// The result of a statement, without its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub rows: u64,
    pub affected: u64,
}

/// A part of a pipeline: statements that are sent without waiting for the answers to those before.
#[derive(Clone, Copy, Debug)]
pub enum PipelineStep<'a> {
    Execute(&'a Statement, &'a [Value<'a>]),
    /// A single statement without parameters.
    Run(&'a str),
    /// What follows is independent of what came before: a failure leaves out only what is between two of these.
    Sync,
}
