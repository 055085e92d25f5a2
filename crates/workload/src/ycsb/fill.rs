//! Loads records in batches on several sessions; a resumed load adds only the missing ones.

use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;

use super::key::{KeyFormat, Maker};
use super::load::value_maker;
use super::schema::Table;
use super::settings::Settings;
use super::statements::present;
use super::values::ValueMaker;
use crate::crewed::share_out_pieces;
use crate::loading::Piece;
use crate::random::Random;
use crate::{Progress, Site};

/// Approximate size of a batch, which is one transaction.
const PIECE_BYTES: usize = 5_000_000;
const MOST_PIECE_ROWS: usize = 10_000;
/// Bytes of a row beside its values: the length of each value.
const OVERHEAD_BYTES: usize = 32;

/// Whether records may be there already.
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
    site: &Site<'_>,
    settings: &Settings,
    maker: Maker,
    goal: Goal,
) -> Result<(), Failure> {
    let work = Arc::new(Work::new(site, settings, maker, goal));
    let piece = work.piece_rows;
    let (start, count) = (settings.insert_start, settings.insert_count);
    site.progress.begin(format!("loading {}", settings.table.name), count);
    share_out_pieces(site, count.div_ceil(piece), move |session, number| {
        let work = Arc::clone(&work);
        let first = start + number * piece;
        let numbers: Vec<u64> = (first..(first + piece).min(start + count)).collect();
        Box::pin(async move { work.load(session, numbers).await })
    })
}

/// The state that all batches share.
struct Work {
    table: Table,
    format: KeyFormat,
    values: ValueMaker,
    seed: u64,
    piece_rows: u64,
    goal: Goal,
    dialect: &'static Dialect,
    progress: Progress,
}

impl Work {
    fn new(site: &Site<'_>, settings: &Settings, maker: Maker, goal: Goal) -> Self {
        let columns = settings.table.fields.len() + 1;
        let row_bytes = settings.table.field_bytes * (columns - 1) + OVERHEAD_BYTES;
        Self {
            table: settings.table.clone(),
            format: settings.format(maker),
            values: value_maker(settings, maker),
            seed: site.seed,
            piece_rows: (PIECE_BYTES / row_bytes).clamp(1, MOST_PIECE_ROWS) as u64,
            goal,
            dialect: site.target.dialect(),
            progress: site.progress.clone(),
        }
    }

    async fn load(&self, session: &mut Session, numbers: Vec<u64>) -> Result<(), Failure> {
        let mut records = self.sorted(&numbers);
        if self.goal == Goal::Rest {
            let there = present(session, &self.table, &self.format, &numbers).await?;
            let missing: Vec<u64> =
                numbers.iter().zip(there).filter(|(_, there)| !there).map(|(n, _)| *n).collect();
            self.progress.advance((numbers.len() - missing.len()) as u64);
            records = self.sorted(&missing);
        }
        self.load_rows(session, &records).await
    }

    /// Numbers with their keys, ordered by key, so that neighbouring rows of the table are inserted in order.
    fn sorted(&self, numbers: &[u64]) -> Vec<(String, u64)> {
        let mut records: Vec<(String, u64)> =
            numbers.iter().map(|number| (self.format.key(*number), *number)).collect();
        records.sort_unstable();
        records
    }

    async fn load_rows(
        &self,
        session: &mut Session,
        records: &[(String, u64)],
    ) -> Result<(), Failure> {
        let mut piece = Piece::begin(session, self.dialect, &self.progress).await?;
        let mut filling = piece.table(&self.table.name, &self.table.columns());
        let mut row = Row::of(&self.table);
        for record in records {
            row.make(self, record);
            let values: Vec<Value<'_>> = row.values().collect();
            filling.push(&values).await?;
        }
        filling.end().await?;
        piece.commit().await
    }
}

/// A row, in memory that each record reuses.
struct Row {
    key: String,
    fields: Vec<String>,
}

impl Row {
    fn of(table: &Table) -> Self {
        Self { key: String::new(), fields: vec![String::new(); table.fields.len()] }
    }

    /// Makes the row of a record. It depends only on the seed and the record's number, so any session may load it.
    fn make(&mut self, work: &Work, (key, number): &(String, u64)) {
        let mut random = Random::of_part(work.seed, &[*number]);
        self.key.clone_from(key);
        for (value, name) in self.fields.iter_mut().zip(&work.table.field_names) {
            work.values.write(key, name, &mut random, value);
        }
    }

    fn values(&self) -> impl Iterator<Item = Value<'_>> {
        std::iter::once(&self.key).chain(&self.fields).map(|text| Value::Text(text))
    }
}
