//! Prepared statements and the answers to statements.

/// A prepared statement, for the session that prepared it.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) index: usize,
}

/// The result of a statement, without its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
}
