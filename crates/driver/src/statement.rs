//! What is executed, and what comes of it.

/// A statement that was made ready on one session, and can be executed only there.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) index: usize,
}

/// What a statement did; its rows were read and thrown away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
}
