//! Loads the rows on several sessions in parallel.

use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::schema::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH, Table};
use crate::loading::{self, TablePart, batch_rows};
use crate::parallel::{parallel_for_batches, workers};
use crate::{LoadProgress, WorkloadContext};

/// Rows in one transaction: 5 MB of accounts.
const BATCH_ROWS: u64 = 50_000;

/// Consecutive rows of a table, by the numbers of the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Batch {
    table: Table,
    first: u64,
    last: u64,
}

fn batches(table: Table, scale: u64, batch_rows: u64) -> impl Iterator<Item = Batch> {
    let rows = table.rows(scale);
    (0..rows.div_ceil(batch_rows)).map(move |batch| {
        let first = batch * batch_rows + 1;
        Batch { table, first, last: first.saturating_add(batch_rows - 1).min(rows) }
    })
}

/// Loads all rows, table by table: those that a foreign key refers to are there before.
pub(super) fn fill(context: &WorkloadContext<'_>, scale: u64) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let batch_rows = batch_rows(dialect, BATCH_ROWS);
    let rows = Table::ALL.iter().map(|table| table.rows(scale)).sum();
    context.progress.begin("loading", rows);
    for table in Table::ALL {
        let batches: Arc<Vec<Batch>> = Arc::new(batches(table, scale, batch_rows).collect());
        let count = batches.len() as u64;
        let progress = context.progress.clone();
        parallel_for_batches(context, workers(context), count, move |session, number| {
            let (batch, progress) = (batches[number as usize], progress.clone());
            let part = TablePart::of(batch.last - batch.first + 1, table.rows(scale));
            Box::pin(async move { load(session, dialect, (batch, part), &progress).await })
        })?;
    }
    Ok(())
}

/// Loads a batch. As in pgbench all balances are 0, fillers of accounts are empty texts, and others are NULL.
async fn load(
    session: &mut Session,
    dialect: &Dialect,
    (Batch { table, first, last }, part): (Batch, TablePart),
    progress: &LoadProgress,
) -> Result<(), Failure> {
    let columns: &[&str] = match table {
        Table::Branches => &["bid", "bbalance"],
        Table::Tellers => &["tid", "bid", "tbalance"],
        Table::Accounts => &["aid", "bid", "abalance", "filler"],
        // It has no rows yet.
        Table::History => return Ok(()),
    };
    let mut batch = loading::Batch::begin(session, dialect, progress).await?;
    let mut writer = batch.part(table.name(), columns, part);
    for number in first..=last {
        let branch_of = |per_branch: u64| Value::Int(((number - 1) / per_branch + 1).cast_signed());
        let (id, zero) = (Value::Int(number.cast_signed()), Value::Int(0));
        let done = match table {
            Table::Branches => writer.push(&[id, zero]).await,
            Table::Tellers => writer.push(&[id, branch_of(TELLERS_PER_BRANCH), zero]).await,
            Table::Accounts | Table::History => {
                writer.push(&[id, branch_of(ACCOUNTS_PER_BRANCH), zero, Value::Text("")]).await
            }
        };
        done?;
    }
    writer.end().await?;
    batch.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_every_row_once() {
        let all: Vec<Batch> = batches(Table::Accounts, 1, BATCH_ROWS).collect();
        let batch = |first, last| Batch { table: Table::Accounts, first, last };
        assert_eq!(all, [batch(1, 50_000), batch(50_001, 100_000)]);
        assert_eq!(batches(Table::Tellers, 3, 50).map(|it| it.last).collect::<Vec<_>>(), [30]);
        assert_eq!(batches(Table::History, 3, 50).next(), None);
    }
}
