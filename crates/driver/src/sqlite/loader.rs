//! Loads rows with a prepared INSERT for each, in long transactions.

use measure::Failure;

use super::session::{Session, bind};
use crate::Value;
use crate::insert_timer::{Added, InsertTimer};

/// Each transaction has so many rows, so that the write-ahead log stays small.
const TRANSACTION_ROWS: u64 = 100_000;

/// Adds rows to a table, in the open transaction or in transactions of its own. The last of its own is rolled back
/// when the loader is dropped without [`Loader::finish`].
#[derive(Debug)]
pub(crate) struct Loader<'s> {
    session: &'s mut Session,
    sql: String,
    rows: u64,
    timer: InsertTimer,
    is_open: bool,
}

impl<'s> Loader<'s> {
    pub(crate) fn new(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let names: Vec<String> = columns.iter().map(|name| quote(name)).collect();
        let marks = vec!["?"; columns.len()].join(",");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quote(table), names.join(","));
        Self { session, sql, rows: 0, timer: InsertTimer::new(), is_open: false }
    }

    pub(crate) fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if !self.is_open && self.session.connection.is_autocommit() {
            self.session.run("BEGIN IMMEDIATE")?;
            self.is_open = true;
        }
        let sent = self.timer.now();
        self.insert(row)?;
        self.timer.answered(sent);
        self.rows += 1;
        if self.rows.is_multiple_of(TRANSACTION_ROWS) { self.commit() } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> Result<Added, Failure> {
        self.commit()?;
        Ok(self.timer.added(self.rows))
    }

    fn insert(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.session.begin_statement();
        let connection = &self.session.connection;
        let inserted = connection.prepare_cached(&self.sql).and_then(|mut compiled| {
            bind(&mut compiled, row)?;
            compiled.raw_execute()
        });
        inserted.map(|_one| ()).map_err(|error| self.session.failure(&error))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        if self.is_open {
            self.session.run("COMMIT")?;
            self.is_open = false;
        }
        Ok(())
    }
}

impl Drop for Loader<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The first failure has been reported already.
            let _ = self.session.run("ROLLBACK");
        }
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
