//! The clients of `bulk_insert`: each sends long INSERTs of rows with consecutive ids.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use driver::Session;
use engine::ClientHandle;
use measure::{Failure, Operation, OperationId, OperationKind, Traffic};

use super::bulk_workload::first_cell;
use super::connection::TRANSACTION;
use crate::parallel::as_integer;
use crate::policy::ErrorPolicy;
use crate::session::Connector;
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, transacted};
use crate::{LoadPart, WorkloadContext};

/// The load of `bulk_insert`: the state that its clients share.
pub(super) struct BulkLoad {
    operations: [Operation; 1],
    connector: Connector,
    errors: ErrorPolicy,
    statement_bytes: usize,
    ids: Vec<TableIds>,
}

/// The ids of a table's new rows: a sequence of blocks, each of one INSERT. Generators take the blocks in turn.
struct TableIds {
    part: LoadPart,
    bytes: usize,
    /// The first id of this generator's next block.
    next: AtomicU64,
    /// Whether a client of this process looks for the last id.
    is_looking: AtomicBool,
}

impl TableIds {
    /// The ids of an empty table, `table` counted from 0, for INSERTs of at most `bytes` bytes.
    fn new(table: usize, bytes: usize, part: LoadPart) -> Self {
        let bytes = bytes.saturating_sub(head(table).len());
        let ids = Self { part, bytes, next: AtomicU64::new(0), is_looking: AtomicBool::new(false) };
        ids.begin(1);
        ids
    }

    /// Sets the first free id. All generators find the same, because none inserts before all have looked.
    fn begin(&self, first: u64) {
        self.next.store(self.after_blocks(first, self.part.position(0)), Ordering::Relaxed);
    }

    /// The next block: its first id, and how many there are.
    fn take(&self) -> (u64, u64) {
        let after = |first| Some(self.after_blocks(first, self.part.step()));
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        let first = taken.unwrap_or_else(|first| first);
        (first, rows_that_fit(self.bytes, first))
    }

    /// The first id after so many blocks, of which the first begins with `first`.
    fn after_blocks(&self, first: u64, blocks: u64) -> u64 {
        let next = |first: u64, _| first.saturating_add(rows_that_fit(self.bytes, first));
        (0..blocks).fold(first, next)
    }
}

fn head(table: usize) -> String {
    format!("INSERT INTO sbtest{} VALUES", table + 1)
}

impl BulkLoad {
    pub(super) fn new(
        (context, part): (&WorkloadContext<'_>, LoadPart),
        tables: u64,
        statement_bytes: usize,
        errors: ErrorPolicy,
    ) -> Self {
        Self {
            operations: [Operation::new("bulk_insert", OperationKind::Transaction)],
            connector: Connector::new(context, None),
            errors,
            statement_bytes,
            ids: (0..tables as usize)
                .map(|table| TableIds::new(table, statement_bytes, part))
                .collect(),
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
        let table = index % self.ids.len();
        if !self.ids[table].is_looking.swap(true, Ordering::Relaxed) {
            begin_after_last_row(&self, &mut session, table).await?;
        }
        let text = String::with_capacity(self.statement_bytes);
        Ok(BulkClient { shared: self, session, table, text })
    }
}

/// Finds the first free id. Only one client of each table and process does so, because no client starts its load
/// before all are connected.
async fn begin_after_last_row(
    shared: &BulkLoad,
    session: &mut Session,
    table: usize,
) -> Result<(), Failure> {
    let rows = session.rows(&format!("SELECT MAX(id) FROM sbtest{}", table + 1)).await?;
    let last = as_integer(first_cell(&rows)).map_or(0, |id| u64::try_from(id).unwrap_or(0));
    shared.ids[table].begin(last + 1);
    Ok(())
}

pub(super) struct BulkClient {
    shared: Arc<BulkLoad>,
    session: Session,
    table: usize,
    text: String,
}

fn write_insert(text: &mut String, table: usize, ids: &TableIds) {
    text.clear();
    text.push_str(&head(table));
    let (first, rows) = ids.take();
    for id in first..first + rows {
        let comma = if id == first { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}({id},{id})");
    }
}

/// How many rows with ids from `first` on fit, but at least one.
fn rows_that_fit(bytes: usize, first: u64) -> u64 {
    let last = first.saturating_add(bytes as u64);
    let digits = last.max(1).ilog10() as usize + 1;
    (bytes / (2 * digits + "(,),".len())).max(1) as u64
}

impl WorkloadClient for BulkClient {
    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction.
        let _ = self.session.run(statement).await;
    }

    fn draw(&mut self) {
        let Self { shared, table, text, .. } = self;
        write_insert(text, *table, &shared.ids[*table]);
    }

    async fn transact(
        &mut self,
        _handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        transacted(TRANSACTION, self.session.run(&self.text).await)
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

    fn ids(table: usize, first: u64, bytes: usize, part: LoadPart) -> TableIds {
        let ids = TableIds::new(table, bytes, part);
        ids.begin(first);
        ids
    }

    #[test]
    fn statements_are_filled_with_consecutive_ids() {
        let next = ids(1, 9, 60, LoadPart::default());
        let mut text = String::new();
        write_insert(&mut text, 1, &next);
        assert_eq!(text, "INSERT INTO sbtest2 VALUES(9,9),(10,10),(11,11),(12,12)");
        let single = ids(1, 13, 1, LoadPart::default());
        write_insert(&mut text, 1, &single);
        assert_eq!(text, "INSERT INTO sbtest2 VALUES(13,13)");
        assert_eq!([next.take().0, single.take().0], [13, 14]);
    }

    #[test]
    fn a_full_statement_is_as_long_as_asked_and_no_longer() {
        let next = ids(0, 1, 512 * 1024, LoadPart::default());
        let mut text = String::new();
        for _ in 0..20 {
            write_insert(&mut text, 0, &next);
            assert!((400 * 1024..=512 * 1024).contains(&text.len()), "{}", text.len());
        }
    }

    #[test]
    fn the_blocks_of_all_generators_follow_one_another() {
        // With INSERTs of 200 bytes the number of digits, and so of rows, changes on the way.
        let whole = ids(0, 90, 200, LoadPart::default());
        let expected: Vec<(u64, u64)> = (0..60).map(|_| whole.take()).collect();
        let sizes: std::collections::BTreeSet<u64> =
            expected.iter().map(|(_, rows)| *rows).collect();
        assert!(sizes.len() > 1, "{sizes:?}");
        for generators in [2, 3, 5] {
            let part = |generator| ids(0, 90, 200, LoadPart { generator, generators });
            let mut all: Vec<(u64, u64)> = (0..generators)
                .map(part)
                .flat_map(|ids| (0..60 / generators).map(move |_| ids.take()))
                .collect();
            all.sort_unstable();
            assert_eq!(all, expected);
        }
    }
}
