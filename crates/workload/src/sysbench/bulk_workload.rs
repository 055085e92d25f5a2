//! `bulk_insert` as a workload: growing tables of two integer columns.

use std::sync::Arc;

use driver::{Datum, Dialect};
use engine::Load;
use measure::Failure;
use plan::declared::{Number, OptionList, Size, number};
use plan::{Existing, Options, Problem};

use super::bulk_insert::BulkLoad;
use super::created_tables::CreatedTables;
use super::inspection::{COMMON_COLUMNS, check_columns};
use super::prepare::{Tables, drop_tables, prepare, remove};
use super::settings::{CREATE_TABLE_OPTIONS, ENGINE, TableMake};
use super::{inspection, schema};
use crate::parallel::{columns, parallel_for, workers};
use crate::policy::{ErrorPolicy, IGNORE_ERRORS, TRANSIENT_ERRORS};
use crate::shared::SharedLoad;
use crate::{LoadInParts, LoadPart, Sharing, Workload, WorkloadContext};

pub(crate) const BULK_OPTIONS: OptionList =
    &[&TABLES, &STATEMENT_BYTES, &ENGINE, &CREATE_TABLE_OPTIONS, &TRANSIENT_ERRORS, &IGNORE_ERRORS];

const TABLES: Number<u64> =
    number("tables", 16, 1..=100_000, "tables, sbtest1 and so on; clients take them in turn");
/// The default is the longest INSERT of sysbench.
const STATEMENT_BYTES: Size = Size {
    name: "statement_bytes",
    default: ("512KiB", 512 << 10),
    allowed: ("100 to 1GiB", 100..=1 << 30),
    meaning: "length of one INSERT",
};

pub(crate) struct BulkInsert {
    tables: u64,
    statement_bytes: usize,
    make: TableMake,
    errors: ErrorPolicy,
    created_tables: CreatedTables,
}

impl BulkInsert {
    /// Reads its options.
    ///
    /// # Errors
    /// Unknown or invalid options.
    pub(crate) fn read(options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let statement_bytes = STATEMENT_BYTES.read(&mut reader);
        let bulk = Self {
            tables: TABLES.read(&mut reader),
            statement_bytes: statement_bytes as usize,
            make: TableMake::read(&mut reader),
            errors: ErrorPolicy::read(&mut reader),
            created_tables: CreatedTables::default(),
        };
        reader.finish()?;
        Ok(bulk)
    }

    fn all(&self) -> Vec<u64> {
        (1..=self.tables).collect()
    }
}

impl Tables for BulkInsert {
    fn tables(&self) -> u64 {
        self.tables
    }

    fn create(&self, context: &WorkloadContext<'_>, table: u64) -> Result<String, Failure> {
        let tail = schema::table_tail(&self.make, context.target.dialect())?;
        Ok(format!(
            "CREATE TABLE sbtest{table} (id INTEGER NOT NULL, k INTEGER DEFAULT 0 NOT NULL, \
             PRIMARY KEY (id)){tail}"
        ))
    }

    fn fill(&self, _context: &WorkloadContext<'_>, _tables: &[u64]) -> Result<(), Failure> {
        Ok(())
    }

    fn finish(&self, _table: u64, _dialect: &Dialect) -> Vec<String> {
        Vec::new()
    }

    /// The INSERTs name no columns, so each table must have exactly two.
    fn check(&self, context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
        let list_columns = context.target.dialect().list_columns;
        let must_match = context.existing == Existing::Match;
        let tables: Arc<Vec<u64>> = Arc::new(tables.to_vec());
        let count = tables.len() as u64;
        parallel_for(context, workers(context), count, move |session, job| {
            let table = tables[job as usize];
            Box::pin(async move {
                let found = columns(session, list_columns, &schema::name(table)).await?;
                check_columns(table, &found, &COMMON_COLUMNS)?;
                if found.len() > 2 {
                    return Err(inspection::not_for_bulk_insert(table, &found));
                }
                let row = format!("SELECT id FROM {} LIMIT 1", schema::name(table));
                match must_match && !session.rows(&row).await?.is_empty() {
                    true => Err(inspection::refusal(&[table])),
                    false => Ok(()),
                }
            })
        })
    }
}

impl Workload for BulkInsert {
    fn describe(&self) -> String {
        let Self { tables, statement_bytes, make, .. } = self;
        let engine = make.describe_engine();
        format!(
            "sysbench bulk_insert: INSERTs of {statement_bytes} bytes into {tables} tables{engine}"
        )
    }

    fn statements_per_client(&self) -> usize {
        // No statement is prepared: each INSERT is sent as text.
        0
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        prepare(context, self, &self.created_tables)
    }

    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        // A load before this one may have filled them.
        let reusing = WorkloadContext { existing: Existing::Reuse, ..*context };
        Tables::check(self, &reusing, &self.all())
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let created_tables = self.created_tables.tables(context.target);
        drop_tables(context, &created_tables)?;
        self.created_tables.forget_tables(context.target, &created_tables);
        Ok(())
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        remove(context, self.tables, &self.created_tables)
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.load_part(context, LoadPart::default())
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Parts(self)
    }
}

impl LoadInParts for BulkInsert {
    fn load_part(&self, context: &WorkloadContext<'_>, part: LoadPart) -> Box<dyn Load> {
        self.created_tables.use_up(context.target);
        let load =
            BulkLoad::new((context, part), self.tables, self.statement_bytes, self.errors.clone());
        Box::new(SharedLoad::new(load))
    }
}

pub(super) fn first_cell(rows: &[Vec<Datum>]) -> Option<&Datum> {
    rows.first().and_then(|row| row.first())
}
