//! Many rows into one table.

use measure::Failure;

use crate::{Value, mysql, sqlite};

/// Rows on their way into a table. Nothing is sure to be there before [`Loader::finish`].
#[derive(Debug)]
pub struct Loader<'s>(Way<'s>);

#[derive(Debug)]
enum Way<'s> {
    LoadData(mysql::LoadData<'s>),
    MultiRowInsert(mysql::MultiRowInsert<'s>),
    PreparedInsert(sqlite::Loader<'s>),
}

impl<'s> Loader<'s> {
    pub(crate) async fn mysql(
        session: &'s mut mysql::Session,
        table: &str,
        columns: &[&str],
    ) -> Result<Self, Failure> {
        Ok(Self(if session.takes_rows_beside() {
            Way::LoadData(mysql::LoadData::new(session, table, columns).await?)
        } else {
            Way::MultiRowInsert(mysql::MultiRowInsert::new(session, table, columns))
        }))
    }

    pub(crate) fn sqlite(session: &'s mut sqlite::Session, table: &str, columns: &[&str]) -> Self {
        Self(Way::PreparedInsert(sqlite::Loader::new(session, table, columns)))
    }

    /// Adds a row, one value for each column.
    ///
    /// # Errors
    /// What the server says, or the connection's end. What was pushed before may be there or not.
    pub async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        match &mut self.0 {
            Way::LoadData(loader) => loader.push(row).await,
            Way::MultiRowInsert(loader) => loader.push(row).await,
            Way::PreparedInsert(loader) => loader.push(row),
        }
    }

    /// Sends what is left and commits; returns how many rows went in.
    ///
    /// # Errors
    /// What the server says, or the connection's end.
    pub async fn finish(self) -> Result<u64, Failure> {
        match self.0 {
            Way::LoadData(loader) => loader.finish().await,
            Way::MultiRowInsert(loader) => loader.finish().await,
            Way::PreparedInsert(loader) => loader.finish(),
        }
    }
}
