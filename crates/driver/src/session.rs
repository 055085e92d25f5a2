//! One connection.

use measure::{Failure, Traffic};

use crate::{Datum, Value};

/// One connection to a database.
#[derive(Debug)]
pub enum Session {}

/// A statement that was made ready on one session.
#[derive(Clone, Debug)]
pub struct Statement {}

/// What a statement did; its rows were read and thrown away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
}

impl Session {
    /// Makes a statement ready: prepared on the server, or text to be filled in by the client when
    /// the target says so. Parameters are marked as [`crate::Capabilities::placeholder`] says.
    ///
    /// # Errors
    /// What the server says about it.
    pub async fn prepare(&mut self, _sql: &str) -> Result<Statement, Failure> {
        match *self {}
    }

    /// Runs a statement; rows are read and thrown away.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn execute(
        &mut self,
        _statement: &Statement,
        _parameters: &[Value<'_>],
    ) -> Result<Answer, Failure> {
        match *self {}
    }

    /// Runs text without parameters; rows are read and thrown away.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn run(&mut self, _sql: &str) -> Result<Answer, Failure> {
        match *self {}
    }

    /// Runs text without parameters and returns its rows: not for the load path.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn rows(&mut self, _sql: &str) -> Result<Vec<Vec<Datum>>, Failure> {
        match *self {}
    }

    /// Starts loading rows into `columns` of `table`, the fastest way that the system has.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn loader(&mut self, _table: &str, _columns: &[&str]) -> Result<Loader<'_>, Failure> {
        match *self {}
    }

    /// Bytes sent and received since the last call.
    pub fn take_traffic(&mut self) -> Traffic {
        match *self {}
    }

    /// Says goodbye to the server.
    pub async fn close(self) {
        match self {}
    }
}

/// Rows on their way into a table. Nothing is sure to be there before [`Loader::finish`].
#[derive(Debug)]
pub struct Loader<'s> {
    _session: &'s mut Session,
}

impl Loader<'_> {
    /// Adds a row, one value for each column.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn push(&mut self, _row: &[Value<'_>]) -> Result<(), Failure> {
        unimplemented!("the drivers are on their way")
    }

    /// Sends what is left and commits; returns how many rows went in.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn finish(self) -> Result<u64, Failure> {
        unimplemented!("the drivers are on their way")
    }
}
