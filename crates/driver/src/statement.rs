//! Prepared statements and the answers to statements.

/// A prepared statement, for the session that prepared it.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) index: usize,
}

/// The result of a statement, without its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub rows: u64,
    pub affected: u64,
}
