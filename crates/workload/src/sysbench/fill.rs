//! Fills tables with rows, on several sessions for each table.

use std::ops::RangeInclusive;
use std::sync::Arc;

use driver::{Dialect, Session};
use measure::Failure;

use super::rows::{COLUMNS, Row, RowGenerator};
use super::schema;
use super::settings::Settings;
use crate::loading::{Batch, TablePart, batch_rows};
use crate::parallel::{parallel_for_batches, workers, workers_for_small_tables};
use crate::random::Draw;
use crate::{LoadProgress, WorkloadContext};

/// Rows in one transaction: 5 MB, so that the disk write at its commit costs little.
const BATCH_ROWS: u64 = 25_000;

/// The rows of each batch. Consecutive batches belong to different tables, if there are several, so that
/// sessions rarely wait for each other.
#[derive(Debug)]
struct Batches {
    tables: Vec<u64>,
    rows: u64,
    batch_rows: u64,
}

impl Batches {
    fn count(&self) -> u64 {
        self.tables.len() as u64 * self.rows.div_ceil(self.batch_rows)
    }

    fn batch(&self, number: u64) -> (u64, RangeInclusive<u64>) {
        let tables = self.tables.len() as u64;
        let first = number / tables * self.batch_rows + 1;
        let last = first.saturating_add(self.batch_rows - 1).min(self.rows);
        (self.tables[(number % tables) as usize], first..=last)
    }
}

/// Loads `table_size` rows into each table.
pub(super) fn fill(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    tables: &[u64],
) -> Result<(), Failure> {
    let rows = settings.table_size;
    let batch_rows = batch_rows(context.target.dialect(), BATCH_ROWS);
    let batches = Batches { tables: tables.to_vec(), rows, batch_rows };
    let fill_job = Arc::new(FillJob {
        rows,
        generator: RowGenerator {
            seed: context.seed,
            k: Draw::new(settings.shape, 1, rows.cast_signed()),
        },
        dialect: context.target.dialect(),
        progress: context.progress.clone(),
    });
    context.progress.begin(stage(tables), rows * tables.len() as u64);
    parallel_for_batches(
        context,
        sessions(context, rows),
        batches.count(),
        move |session, number| {
            let (table, ids) = batches.batch(number);
            let fill_job = Arc::clone(&fill_job);
            Box::pin(async move { fill_job.load(session, table, ids).await })
        },
    )
}

/// How many sessions make tables of so many rows.
pub(super) fn sessions(context: &WorkloadContext<'_>, rows: u64) -> usize {
    if rows < BATCH_ROWS { workers_for_small_tables(context) } else { workers(context) }
}

fn stage(tables: &[u64]) -> String {
    match tables {
        [] => "nothing to load".to_owned(),
        [table] => format!("loading {}", schema::name(*table)),
        _ => format!("loading {} tables", tables.len()),
    }
}

/// The state that all batches share.
struct FillJob {
    /// Of each table.
    rows: u64,
    generator: RowGenerator,
    dialect: &'static Dialect,
    progress: LoadProgress,
}

impl FillJob {
    async fn load(
        &self,
        session: &mut Session,
        table: u64,
        ids: RangeInclusive<u64>,
    ) -> Result<(), Failure> {
        let mut batch = Batch::begin(session, self.dialect, &self.progress).await?;
        let part = TablePart::of(ids.end() - ids.start() + 1, self.rows);
        let mut writer = batch.part(&schema::name(table), &COLUMNS, part);
        let mut row = Row::new();
        for id in ids {
            row.make(&self.generator, table, id);
            writer.push(&row.values()).await?;
        }
        writer.end().await?;
        batch.commit().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_every_row_once_and_alternate_between_tables() {
        let rows = 2 * BATCH_ROWS + 1;
        let mut batches = Batches { tables: vec![2, 5], rows, batch_rows: BATCH_ROWS };
        let all: Vec<_> = (0..batches.count()).map(|number| batches.batch(number)).collect();
        let expected: Vec<_> = [(1, BATCH_ROWS), (BATCH_ROWS + 1, 2 * BATCH_ROWS)]
            .into_iter()
            .chain([(2 * BATCH_ROWS + 1, 2 * BATCH_ROWS + 1)])
            .flat_map(|(first, last)| [(2, first..=last), (5, first..=last)])
            .collect();
        assert_eq!(all, expected);
        batches.batch_rows = batch_rows(&driver::postgres::DIALECT, BATCH_ROWS);
        let all: Vec<_> = (0..batches.count()).map(|number| batches.batch(number)).collect();
        assert_eq!(all, [(2, 1..=rows), (5, 1..=rows)]);
    }
}
