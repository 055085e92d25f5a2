//! The clients of `bulk_insert`: each sends long INSERTs of rows with consecutive ids.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::Session;
use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::bulk_workload::first_cell;
use super::connection::transacted;
use crate::WorkloadContext;
use crate::parallel::as_integer;
use crate::policy::ErrorPolicy;
use crate::session::Connector;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient};

/// The load of `bulk_insert`: the state that its clients share.
pub(super) struct BulkLoad {
    operations: [Operation; 1],
    connector: Connector,
    errors: ErrorPolicy,
    statement_bytes: usize,
    /// The next free id of each table, which all clients of the table share.
    next_ids: Vec<AtomicU64>,
}

impl BulkLoad {
    pub(super) fn new(
        context: &WorkloadContext<'_>,
        tables: u64,
        statement_bytes: usize,
        errors: ErrorPolicy,
    ) -> Self {
        Self {
            operations: [Operation::new("bulk_insert", OperationKind::Transaction)],
            connector: Connector::new(context, None),
            errors,
            statement_bytes,
            next_ids: (0..tables).map(|_| AtomicU64::new(1)).collect(),
        }
    }
}

impl Shared for BulkLoad {
    type WorkloadClient = BulkClient;

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.errors
    }

    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<BulkClient, Failure> {
        let mut session = self.connector.open(handle).await?;
        let table = index % self.next_ids.len();
        if index == table {
            begin_after_last_row(&self, &mut session, table).await?;
        }
        let text = String::with_capacity(self.statement_bytes);
        Ok(BulkClient { shared: self, session, table, text })
    }
}

/// Finds the first free id. Only the first client of each table does so, because no client starts its load
/// before all are connected.
async fn begin_after_last_row(
    shared: &BulkLoad,
    session: &mut Session,
    table: usize,
) -> Result<(), Failure> {
    let rows = session.rows(&format!("SELECT MAX(id) FROM sbtest{}", table + 1)).await?;
    let last = as_integer(first_cell(&rows)).map_or(0, |id| u64::try_from(id).unwrap_or(0));
    shared.next_ids[table].fetch_max(last + 1, Ordering::Relaxed);
    Ok(())
}

pub(super) struct BulkClient {
    shared: Arc<BulkLoad>,
    session: Session,
    /// Counted from 0.
    table: usize,
    text: String,
}

/// Writes an INSERT of at most `bytes` bytes, but at least one row, and takes the ids for it.
fn write_insert(text: &mut String, table: usize, bytes: usize, next_id: &AtomicU64) {
    text.clear();
    // Writing to a String cannot fail.
    let _ = write!(text, "INSERT INTO sbtest{} VALUES", table + 1);
    let rows = rows_that_fit(bytes.saturating_sub(text.len()), next_id);
    let first = next_id.fetch_add(rows, Ordering::Relaxed);
    for id in first..first + rows {
        let comma = if id == first { "" } else { "," };
        let _ = write!(text, "{comma}({id},{id})");
    }
}

/// How many rows fit. Assumes ids somewhat larger than the next one, because other clients take ids too.
fn rows_that_fit(bytes: usize, next_id: &AtomicU64) -> u64 {
    let ahead = next_id.load(Ordering::Relaxed).saturating_add(bytes as u64);
    let digits = ahead.max(1).ilog10() as usize + 1;
    (bytes / (2 * digits + "(,),".len())).max(1) as u64
}

impl WorkloadClient for BulkClient {
    fn draw(&mut self) {
        let Self { shared, table, text, .. } = self;
        write_insert(text, *table, shared.statement_bytes, &shared.next_ids[*table]);
    }

    async fn transact(
        &mut self,
        _handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        transacted(self.session.run(&self.text).await)
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        self.session = self.shared.connector.open(handle).await?;
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        Some(OperationKind::Write)
    }

    fn take_traffic(&mut self) -> Traffic {
        self.session.take_traffic()
    }

    async fn close(self) {
        self.session.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_filled_with_consecutive_ids() {
        let next = AtomicU64::new(9);
        let mut text = String::new();
        write_insert(&mut text, 1, 60, &next);
        assert_eq!(text, "INSERT INTO sbtest2 VALUES(9,9),(10,10),(11,11),(12,12)");
        assert_eq!(next.load(Ordering::Relaxed), 13);
        write_insert(&mut text, 1, 1, &next);
        assert_eq!(text, "INSERT INTO sbtest2 VALUES(13,13)");
    }

    #[test]
    fn a_full_statement_is_as_long_as_asked_and_no_longer() {
        let next = AtomicU64::new(1);
        let mut text = String::new();
        for _ in 0..20 {
            write_insert(&mut text, 0, 512 * 1024, &next);
            assert!((400 * 1024..=512 * 1024).contains(&text.len()), "{}", text.len());
        }
    }
}
