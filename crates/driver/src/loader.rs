//! Loads many rows into one table.

use measure::Failure;

use crate::insert_timer::Added;
use crate::{Value, mysql, postgres, sqlite};

/// Adds rows to a table in the fastest way that the session has. Over the network these are INSERTs of many
/// rows, prepared or as text (docs/sysbench.md has the figures), or LOAD DATA LOCAL where the target allows it, or COPY; on an embedded database an INSERT for each row.
/// The rows belong to the open transaction. Without one, rows may be missing before [`Loader::finish`].
#[derive(Debug)]
pub struct Loader<'s>(LoaderKind<'s>);

#[derive(Debug)]
enum LoaderKind<'s> {
    Prepared(mysql::PreparedInsert<'s>),
    Text(mysql::MultiRowInsert<'s>),
    Local(mysql::LocalRows<'s>),
    Copy(postgres::CopyRows<'s>),
    Embedded(sqlite::Loader<'s>),
}

impl<'s> Loader<'s> {
    pub(crate) fn mysql(session: &'s mut mysql::Session, table: &str, columns: &[&str]) -> Self {
        if session.sends_local_rows() {
            return Self(LoaderKind::Local(mysql::LocalRows::new(session, table, columns)));
        }
        Self(match session.protocol() {
            mysql::StatementProtocol::Prepared => {
                LoaderKind::Prepared(mysql::PreparedInsert::new(session, table, columns))
            }
            mysql::StatementProtocol::Text => {
                LoaderKind::Text(mysql::MultiRowInsert::new(session, table, columns))
            }
        })
    }

    pub(crate) fn postgres(
        session: &'s mut postgres::Session,
        table: &str,
        columns: &[&str],
    ) -> Self {
        Self(LoaderKind::Copy(postgres::CopyRows::new(session, table, columns)))
    }

    pub(crate) fn postgres_frozen(
        session: &'s mut postgres::Session,
        table: &str,
        columns: &[&str],
    ) -> Self {
        Self(LoaderKind::Copy(postgres::CopyRows::frozen(session, table, columns)))
    }

    pub(crate) fn sqlite(session: &'s mut sqlite::Session, table: &str, columns: &[&str]) -> Self {
        Self(LoaderKind::Embedded(sqlite::Loader::new(session, table, columns)))
    }

    /// Adds a row, one value for each column.
    ///
    /// # Errors
    /// The server's error, or the end of the connection. Rows pushed before may be stored or not.
    pub async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        match &mut self.0 {
            LoaderKind::Prepared(loader) => loader.push(row).await,
            LoaderKind::Text(loader) => loader.push(row).await,
            LoaderKind::Local(loader) => loader.push(row).await,
            LoaderKind::Copy(loader) => loader.push(row).await,
            LoaderKind::Embedded(loader) => loader.push(row),
        }
    }

    /// Sends the last rows, and commits if the caller has no transaction open; returns what was added.
    ///
    /// # Errors
    /// The server's error, or the end of the connection.
    pub async fn finish(self) -> Result<Added, Failure> {
        match self.0 {
            LoaderKind::Prepared(loader) => loader.finish().await,
            LoaderKind::Text(loader) => loader.finish().await,
            LoaderKind::Local(loader) => loader.finish().await,
            LoaderKind::Copy(loader) => loader.finish().await,
            LoaderKind::Embedded(loader) => loader.finish(),
        }
    }
}
