//! Loads records: in pieces, by several sessions, and only those that are missing where a load goes on.

use std::sync::Arc;

use driver::{BulkLoad, Capabilities, Session, Statement, Value};
use measure::Failure;

use super::key::{KeyFormat, Maker};
use super::load::value_maker;
use super::schema::Table;
use super::settings::Settings;
use super::statements::present;
use super::values::ValueMaker;
use crate::crewed::{members, placeholders, share_out};
use crate::random::Random;
use crate::{Progress, Site};

/// About how long one INSERT is: below any server's largest packet, and long enough that the way there
/// and back does not count.
const INSERT_BYTES: usize = 500_000;
/// Parameters of a statement, at most: the MySQL protocol has 16 bits for their number.
const MOST_PARAMETERS: usize = 60_000;
const MOST_INSERT_ROWS: usize = 1_000;
/// INSERTs of one transaction.
const PIECE_INSERTS: u64 = 10;
/// Parameters of a row beside its values: the length of each.
const OVERHEAD_BYTES: usize = 32;

/// Whether records may be there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The table is empty.
    All,
    /// A load was interrupted: each piece is looked at first.
    Rest,
}

/// Puts records into the table.
///
/// # Errors
/// What the server says; what was committed until then stays.
pub(super) fn fill(
    site: &Site<'_>,
    settings: &Settings,
    maker: Maker,
    goal: Goal,
) -> Result<(), Failure> {
    let work = Arc::new(Work::new(site, settings, maker, goal));
    let piece = work.piece_rows();
    let (start, count) = (settings.insert_start, settings.insert_count);
    site.progress.begin(format!("loading {}", settings.table.name), count);
    share_out(site, members(site), count.div_ceil(piece), move |session, number| {
        let work = Arc::clone(&work);
        let first = start + number * piece;
        let numbers: Vec<u64> = (first..(first + piece).min(start + count)).collect();
        Box::pin(async move { work.load(session, numbers).await })
    })
}

/// What all pieces share.
struct Work {
    table: Table,
    format: KeyFormat,
    values: ValueMaker,
    seed: u64,
    insert_rows: usize,
    goal: Goal,
    system: Capabilities,
    progress: Progress,
}

impl Work {
    fn new(site: &Site<'_>, settings: &Settings, maker: Maker, goal: Goal) -> Self {
        let columns = settings.table.fields.len() + 1;
        let row_bytes = settings.table.field_bytes * (columns - 1) + OVERHEAD_BYTES;
        let most = MOST_INSERT_ROWS.min(MOST_PARAMETERS / columns).max(1);
        Self {
            table: settings.table.clone(),
            format: settings.format(maker),
            values: value_maker(settings, maker),
            seed: site.seed,
            insert_rows: (INSERT_BYTES / row_bytes).clamp(1, most),
            goal,
            system: site.target.capabilities().clone(),
            progress: site.progress.clone(),
        }
    }

    fn piece_rows(&self) -> u64 {
        self.insert_rows as u64 * PIECE_INSERTS
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
        if self.system.bulk_load == BulkLoad::PreparedInsert || records.len() < self.insert_rows {
            return self.load_rows(session, &records).await;
        }
        self.insert_rows(session, &records).await
    }

    /// Numbers with their keys, in the order of the keys: rows that lie beside each other in the table
    /// come one after the other.
    fn sorted(&self, numbers: &[u64]) -> Vec<(String, u64)> {
        let mut records: Vec<(String, u64)> =
            numbers.iter().map(|number| (self.format.key(*number), *number)).collect();
        records.sort_unstable();
        records
    }

    /// Prepared INSERTs of many rows: what servers of the MySQL protocol take fastest (docs/sysbench.md).
    async fn insert_rows(
        &self,
        session: &mut Session,
        records: &[(String, u64)],
    ) -> Result<(), Failure> {
        if let Some(ascii) = self.system.ascii_session {
            session.run(ascii).await?;
        }
        let statement = self.insert(session).await?;
        let mut rows = vec![Row::of(&self.table); self.insert_rows];
        let full = records.chunks_exact(self.insert_rows);
        let rest = full.remainder();
        session.run(self.system.begin_write).await?;
        for records in full {
            for (row, record) in rows.iter_mut().zip(records) {
                row.make(self, record);
            }
            let values: Vec<Value<'_>> = rows.iter().flat_map(Row::values).collect();
            session.execute(&statement, &values).await?;
            self.progress.advance(records.len() as u64);
        }
        session.run("COMMIT").await?;
        if rest.is_empty() { Ok(()) } else { self.load_rows(session, rest).await }
    }

    async fn insert(&self, session: &mut Session) -> Result<Statement, Failure> {
        let columns = self.table.columns();
        let marks = format!("({})", vec!["?"; columns.len()].join(", "));
        let marks = vec![marks.as_str(); self.insert_rows].join(", ");
        let sql =
            format!("INSERT INTO {} ({}) VALUES {marks}", self.table.name, columns.join(", "));
        session.prepare(&placeholders(&sql, &self.system)).await
    }

    /// The driver's own way.
    async fn load_rows(
        &self,
        session: &mut Session,
        records: &[(String, u64)],
    ) -> Result<(), Failure> {
        let mut loader = session.loader(&self.table.name, &self.table.columns()).await?;
        let mut row = Row::of(&self.table);
        for record in records {
            row.make(self, record);
            let values: Vec<Value<'_>> = row.values().collect();
            loader.push(&values).await?;
        }
        loader.finish().await?;
        self.progress.advance(records.len() as u64);
        Ok(())
    }
}

/// A row, kept in place and made again and again.
#[derive(Clone)]
struct Row {
    key: String,
    fields: Vec<String>,
}

impl Row {
    fn of(table: &Table) -> Self {
        Self { key: String::new(), fields: vec![String::new(); table.fields.len()] }
    }

    /// Becomes a record: what it holds depends on the seed and its number alone, so that any session
    /// may make it.
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
