//! Loads records in batches on several sessions; a resumed load adds only the missing ones.

use std::ops::Range;
use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::key::{KeyFormat, KeyScheme};
use super::load::value_generator;
use super::schema::Table;
use super::settings::Settings;
use super::statements::present;
use super::values::ValueGenerator;
use crate::loading::{Batch, TablePart, batch_rows};
use crate::parallel::{parallel_for_batches, workers};
use crate::random::Random;
use crate::{LoadProgress, WorkloadContext};

/// Approximate size of a batch, which is one transaction.
const BATCH_BYTES: usize = 5_000_000;
const MOST_BATCH_ROWS: usize = 10_000;
/// Bytes of a row besides its values: the length of each value.
const OVERHEAD_BYTES: usize = 32;

/// Whether records may already exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The table is empty.
    All,
    /// A load was interrupted: check which records of each batch exist.
    Rest,
}

/// Loads the records into the table.
///
/// # Errors
/// The server's error. Committed batches stay.
pub(super) fn fill(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    key_scheme: KeyScheme,
    goal: Goal,
) -> Result<(), Failure> {
    let fill_job = Arc::new(FillJob::new(context, settings, key_scheme, goal));
    let (start, count) = (settings.insert_start, settings.insert_count);
    // What a load that was interrupted has left is kept.
    let batch = match goal {
        Goal::All => batch_rows(context.target.dialect(), fill_job.batch_rows),
        Goal::Rest => fill_job.batch_rows,
    };
    let part = match goal {
        Goal::All => TablePart::of(batch, count),
        Goal::Rest => TablePart::Some,
    };
    context.progress.begin(format!("loading {}", settings.table.name), count);
    parallel_for_batches(
        context,
        workers(context),
        count.div_ceil(batch),
        move |session, number| {
            let fill_job = Arc::clone(&fill_job);
            let first = start + number * batch;
            let numbers = first..first.saturating_add(batch).min(start + count);
            Box::pin(async move { fill_job.load(session, numbers, part).await })
        },
    )
}

/// The state that all batches share.
struct FillJob {
    table: Table,
    format: KeyFormat,
    values: ValueGenerator,
    seed: u64,
    batch_rows: u64,
    goal: Goal,
    dialect: &'static Dialect,
    progress: LoadProgress,
}

impl FillJob {
    fn new(
        context: &WorkloadContext<'_>,
        settings: &Settings,
        key_scheme: KeyScheme,
        goal: Goal,
    ) -> Self {
        let columns = settings.table.fields.len() + 1;
        let row_bytes = settings.table.field_bytes * (columns - 1) + OVERHEAD_BYTES;
        Self {
            table: settings.table.clone(),
            format: settings.format(key_scheme),
            values: value_generator(settings, key_scheme),
            seed: context.seed,
            batch_rows: (BATCH_BYTES / row_bytes).clamp(1, MOST_BATCH_ROWS) as u64,
            goal,
            dialect: context.target.dialect(),
            progress: context.progress.clone(),
        }
    }

    async fn load(
        &self,
        session: &mut Session,
        numbers: Range<u64>,
        part: TablePart,
    ) -> Result<(), Failure> {
        if self.goal == Goal::All {
            return self.load_rows(session, numbers, part).await;
        }
        let numbers: Vec<u64> = numbers.collect();
        let there = present(session, &self.table, &self.format, &numbers).await?;
        let missing: Vec<u64> =
            numbers.iter().zip(there).filter(|(_, there)| !there).map(|(n, _)| *n).collect();
        self.progress.advance((numbers.len() - missing.len()) as u64);
        self.load_rows(session, missing.into_iter(), part).await
    }

    /// Numbers with their keys, ordered by key, so that adjacent rows of the table are inserted in order.
    fn sorted(&self, numbers: &[u64]) -> Vec<(String, u64)> {
        let mut records: Vec<(String, u64)> =
            numbers.iter().map(|number| (self.format.key(*number), *number)).collect();
        records.sort_unstable();
        records
    }

    async fn load_rows(
        &self,
        session: &mut Session,
        mut numbers: impl Iterator<Item = u64>,
        part: TablePart,
    ) -> Result<(), Failure> {
        let mut batch = Batch::begin(session, self.dialect, &self.progress).await?;
        let mut writer = batch.part(&self.table.name, &self.table.columns(), part);
        let mut row = Row::of(&self.table);
        loop {
            let some: Vec<u64> = numbers.by_ref().take(self.batch_rows as usize).collect();
            if some.is_empty() {
                break;
            }
            for record in self.sorted(&some) {
                row.make(self, &record);
                let values: Vec<Value<'_>> = row.values().collect();
                writer.push(&values).await?;
            }
        }
        writer.end().await?;
        batch.commit().await
    }
}

/// A row, in memory that is reused for every record.
struct Row {
    key: String,
    fields: Vec<String>,
}

impl Row {
    fn of(table: &Table) -> Self {
        Self { key: String::new(), fields: vec![String::new(); table.fields.len()] }
    }

    /// Generates the row of a record. It depends only on the seed and the record's number, so any session may load it.
    fn make(&mut self, fill_job: &FillJob, (key, number): &(String, u64)) {
        let mut random = Random::of_part(fill_job.seed, &[*number]);
        self.key.clone_from(key);
        for (value, name) in self.fields.iter_mut().zip(&fill_job.table.field_names) {
            fill_job.values.write(key, name, &mut random, value);
        }
    }

    fn values(&self) -> impl Iterator<Item = Value<'_>> {
        std::iter::once(&self.key).chain(&self.fields).map(|text| Value::Text(text))
    }
}
