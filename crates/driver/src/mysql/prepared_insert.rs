//! Loads rows with a prepared INSERT: of many rows, or of one row where the server executes it for an array of rows
//! (MariaDB).

use measure::{ErrorClass, Failure};

use super::codec::{ManyRows, RowArray, capability};
use super::insert::{insert_into, not_finite};
use super::session::{PreparedStatement, Session};
use crate::Value;
use crate::insert_timer::{Added, InsertTimer};

/// The approximate length of a request: below any usual max_allowed_packet.
const REQUEST_BYTES: usize = 256 * 1024;
/// The most rows of one INSERT. More rows are not faster, and the server keeps an object for each value.
const INSERT_ROWS_MAX: usize = 1_000;
/// The protocol has 16 bits for the number of parameters.
const PARAMETERS_MAX: usize = 65_535;

/// A loader of rows with a prepared statement.
#[derive(Debug)]
pub(crate) struct PreparedInsert<'s> {
    session: &'s mut Session,
    /// INSERT up to its rows.
    head: String,
    columns: usize,
    batch: Batch,
    waiting: usize,
    statement: Option<(u32, usize)>,
    loaded_rows: u64,
    timer: InsertTimer,
}

#[derive(Debug)]
enum Batch {
    /// The first INSERT determines how many rows each INSERT has.
    Many(ManyRows),
    Array(RowArray),
}

impl<'s> PreparedInsert<'s> {
    pub(crate) fn new(session: &'s mut Session, table: &str, columns: &[&str]) -> Self {
        let batch = if session.has(capability::BULK_EXECUTE) {
            Batch::Array(RowArray::default())
        } else {
            Batch::Many(ManyRows::default())
        };
        let head = insert_into(table, columns);
        let columns = columns.len();
        let timer = InsertTimer::new();
        Self { session, head, columns, batch, waiting: 0, statement: None, loaded_rows: 0, timer }
    }

    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        if row.len() != self.columns {
            let message = format!("{} values for {} columns", row.len(), self.columns);
            return Err(Failure::new(ErrorClass::Server, "", message));
        }
        if row.iter().any(|value| matches!(value, Value::Float(number) if !number.is_finite())) {
            return Err(not_finite());
        }
        if matches!(&self.batch, Batch::Array(rows) if !rows.fits(row)) {
            self.send().await?;
        }
        match &mut self.batch {
            Batch::Many(rows) => rows.push(row),
            Batch::Array(rows) => rows.push(row),
        }
        self.waiting += 1;
        if self.is_full() { self.send().await } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        match (&self.batch, self.statement) {
            (Batch::Array(rows), _) => rows.size_bytes() >= REQUEST_BYTES,
            (Batch::Many(_), Some((_, rows))) => self.waiting == rows,
            (Batch::Many(rows), None) => {
                let most = INSERT_ROWS_MAX.min(PARAMETERS_MAX / self.columns.max(1));
                self.waiting >= most || rows.size_bytes() >= REQUEST_BYTES
            }
        }
    }

    pub(crate) async fn finish(mut self) -> Result<Added, Failure> {
        self.send().await?;
        Ok(self.timer.added(self.loaded_rows))
    }

    async fn send(&mut self) -> Result<(), Failure> {
        if self.waiting == 0 {
            return Ok(());
        }
        let id = self.statement().await?;
        match &mut self.batch {
            Batch::Many(rows) => rows.encode(&mut self.session.request, id),
            Batch::Array(rows) => rows.encode(&mut self.session.request, id),
        }
        self.waiting = 0;
        let sent = self.timer.now();
        self.loaded_rows += self.session.ask().await?.affected;
        self.timer.answered(sent);
        Ok(())
    }

    async fn statement(&mut self) -> Result<u32, Failure> {
        let rows = if matches!(self.batch, Batch::Many(_)) { self.waiting } else { 1 };
        if let Some((id, _)) = self.statement.filter(|(_, its)| *its == rows) {
            return Ok(id);
        }
        let row = format!("({})", vec!["?"; self.columns].join(","));
        let sql = format!("{}{}", self.head, vec![row; rows].join(","));
        let PreparedStatement::Prepared { id, .. } = self.session.prepare_on_server(&sql).await?
        else {
            return Err(Failure::new(ErrorClass::Protocol, "", "a statement was not prepared"));
        };
        self.statement = Some((id, rows));
        Ok(id)
    }
}
