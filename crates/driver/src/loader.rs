//! Many rows into one table.

use measure::Failure;

use crate::{Value, mysql, sqlite};

/// Rows on their way into a table, the fastest way that the session has: on servers of the MySQL protocol
/// prepared INSERTs (docs/sysbench.md has the figures), in text where nothing is to be prepared; on an
/// embedded database an INSERT for each row. They go in within the transaction that is open; without one
/// nothing is sure to be there before [`Loader::finish`].
#[derive(Debug)]
pub struct Loader<'s>(Way<'s>);

#[derive(Debug)]
enum Way<'s> {
    Prepared(mysql::PreparedInsert<'s>),
    Text(mysql::MultiRowInsert<'s>),
    Embedded(sqlite::Loader<'s>),
}

impl<'s> Loader<'s> {
    pub(crate) fn mysql(session: &'s mut mysql::Session, table: &str, columns: &[&str]) -> Self {
        Self(match session.protocol() {
            mysql::StatementProtocol::Prepared => {
                Way::Prepared(mysql::PreparedInsert::new(session, table, columns))
            }
            mysql::StatementProtocol::Text => {
                Way::Text(mysql::MultiRowInsert::new(session, table, columns))
            }
        })
    }

    pub(crate) fn sqlite(session: &'s mut sqlite::Session, table: &str, columns: &[&str]) -> Self {
        Self(Way::Embedded(sqlite::Loader::new(session, table, columns)))
    }

    /// Adds a row, one value for each column.
    ///
    /// # Errors
    /// What the server says, or the connection's end. What was pushed before may be there or not.
    pub async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Prepared(loader) => loader.push(row).await,
            Way::Text(loader) => loader.push(row).await,
            Way::Embedded(loader) => loader.push(row),
        }
    }

    /// Sends what is left, and commits what no transaction of the caller's holds; returns how many rows went in.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn finish(self) -> Result<u64, Failure> {
        match self.0 {
            Way::Prepared(loader) => loader.finish().await,
            Way::Text(loader) => loader.finish().await,
            Way::Embedded(loader) => loader.finish(),
        }
    }
}
