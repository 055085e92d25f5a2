//! The session of a client with its prepared statements.

use driver::{Rows, Running, Session, Statement, Value};
use engine::ClientHandle;
use measure::{Failure, OperationKind};

use super::inputs::Customer;
use super::statements::{LineQuery, Query, Statements};
use super::text::push_last_name;
use crate::parallel::unsuitable;
use crate::transaction_loop::roll_back;

pub(super) struct TpccSession {
    pub(super) session: Session,
    pub(super) statements: Statements,
    pub(super) begin_write: &'static str,
    pub(super) begin_read: &'static str,
    pub(super) is_in_transaction: bool,
    /// A last name or another short text, in reused memory.
    pub(super) text: String,
}

impl TpccSession {
    pub(super) async fn begin(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        self.start(handle, self.begin_write).await
    }

    /// Starts a transaction that only reads.
    pub(super) async fn begin_reading(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        self.start(handle, self.begin_read).await
    }

    async fn start(&mut self, handle: &mut ClientHandle, begin: &str) -> Result<(), Failure> {
        handle.count(OperationKind::Other);
        self.session.run(begin).await?;
        self.is_in_transaction = true;
        Ok(())
    }

    pub(super) async fn commit(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        handle.count(OperationKind::Other);
        self.session.run("COMMIT").await?;
        self.is_in_transaction = false;
        Ok(())
    }

    /// Rolls back the open transaction, if there is one.
    pub(super) async fn roll_back(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        roll_back(&mut self.session, &mut self.is_in_transaction, handle).await
    }

    /// Runs a statement and counts it. After a statement that reads, [`TpccSession::rows`] has its rows. Await the
    /// result for the answer.
    #[inline]
    pub(super) fn run(
        &mut self,
        handle: &mut ClientHandle,
        query: Query,
        values: &[Value<'_>],
    ) -> Running<'_> {
        let statement = self.statements.of(query);
        begin(&mut self.session, handle, (query.kind(), statement), values)
    }

    /// The same, with a statement for a number of lines.
    #[inline]
    pub(super) fn run_lines(
        &mut self,
        handle: &mut ClientHandle,
        (query, lines): (LineQuery, usize),
        values: &[Value<'_>],
    ) -> Running<'_> {
        let statement = self.statements.of_lines(query, lines);
        begin(&mut self.session, handle, (query.kind(), statement), values)
    }

    #[inline]
    pub(super) fn rows(&self) -> &Rows {
        self.session.fetched()
    }

    /// Finds a customer by last name with `query`, whose rows are ordered by first name. Returns the index of the
    /// customer's row: of n rows the one at n / 2, rounded up (clauses 2.5.2.2 and 2.6.2.2).
    pub(super) async fn read_by_name(
        &mut self,
        handle: &mut ClientHandle,
        query: Query,
        (warehouse, district, name): (i64, i64, u64),
    ) -> Result<usize, Failure> {
        self.text.clear();
        push_last_name(&mut self.text, name);
        let values = [Value::Int(warehouse), Value::Int(district), Value::Text(&self.text)];
        let statement = self.statements.of(query);
        begin(&mut self.session, handle, (query.kind(), statement), &values).await?;
        match self.rows().len() {
            0 => Err(missing(&format!(
                "a customer {} in district {district} of warehouse {warehouse}",
                self.text
            ))),
            count => Ok(count.div_ceil(2) - 1),
        }
    }

    /// The number of a customer who is selected by number or by last name.
    pub(super) async fn customer_id(
        &mut self,
        handle: &mut ClientHandle,
        (warehouse, district): (i64, i64),
        customer: Customer,
    ) -> Result<i64, Failure> {
        match customer {
            Customer::Id(id) => Ok(id),
            Customer::LastName(name) => {
                let place = (warehouse, district, name);
                let row = self.read_by_name(handle, Query::CustomersByName, place).await?;
                self.rows().int(row, 0).ok_or_else(|| missing("the number of a customer"))
            }
        }
    }
}

/// Counts a statement and starts it; if the statement reads, its rows are kept.
#[inline]
fn begin<'s>(
    session: &'s mut Session,
    handle: &mut ClientHandle,
    (kind, statement): (OperationKind, &Statement),
    values: &[Value<'_>],
) -> Running<'s> {
    handle.count(kind);
    match kind {
        OperationKind::Read => session.fetch(statement, values),
        _ => session.execute(statement, values),
    }
}

#[cold]
pub(super) fn missing(what: &str) -> Failure {
    unsuitable(format!(
        "{what} is not in the database; set warehouses to what is there, or recreate the tables with \
         `--existing replace`"
    ))
}

/// A DECIMAL value as an integer number of its smallest unit; `units` of these make 1.
#[inline]
pub(super) fn scaled(rows: &Rows, (row, column): (usize, usize), units: f64) -> Option<i64> {
    rows.float(row, column).map(|number| (number * units).round() as i64)
}

#[inline]
pub(super) fn money(cents: i64) -> Value<'static> {
    Value::Float(cents as f64 / 100.0)
}
