//! The OLTP scripts as workloads.

use driver::{Dialect, Target};
use engine::Load;
use measure::Failure;
use plan::{Existing, Options, Problem};

use super::created_tables::CreatedTables;
use super::fill;
use super::load::OltpLoad;
use super::prepare::{Tables, drop_tables, prepare, remove};
use super::scans::ScanLoad;
use super::schema;
use super::script::{RowCount, Script, ScriptStep};
use super::settings::Settings;
use super::verify::{Expected, verify};
use super::warm_cache::warm_cache;
use crate::session::check_isolation;
use crate::shared::SharedLoad;
use crate::{LoadInParts, LoadPart, Sharing, Workload, WorkloadContext};

/// Who made the tables, and whether a load has changed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// This process, and no load has run since.
    Pristine,
    Used,
    /// Another program, or another process of dyno's.
    Elsewhere,
}

/// How many rows of a table from elsewhere may be missing: a load without transactions (skip_trx) that was cut leaves
/// at most one hole for each client, between a DELETE and its INSERT.
fn missing_max(rows: u64) -> u64 {
    (rows / 100).max(100).min(rows / 10)
}

pub(crate) struct Oltp {
    script: Script,
    settings: Settings,
    created_tables: CreatedTables,
}

impl Oltp {
    /// Reads the options of `script`.
    ///
    /// # Errors
    /// Unknown or invalid options.
    pub(crate) fn read(script: Script, options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        if script.is_scan() && settings.tables > 1 {
            let message = format!("{} works on one table", script.name());
            reader.reject("tables", message, "leave `tables` out");
        }
        reader.finish()?;
        Ok(Self { script, settings, created_tables: CreatedTables::default() })
    }

    fn expected(&self, context: &WorkloadContext<'_>, origin: Origin) -> Expected {
        let is_empty = self.script.starts_empty(&self.settings);
        let rows = if is_empty { 0 } else { self.settings.table_size };
        let row_count = self.script.row_count();
        let is_others = origin == Origin::Elsewhere;
        let (least, most) = match (origin, row_count) {
            (Origin::Pristine, _) | (Origin::Used, RowCount::Exactly) => (rows, Some(rows)),
            (_, RowCount::AtLeast) => (rows, None),
            (Origin::Used, RowCount::AtMost) => (0, Some(rows)),
            (Origin::Elsewhere, RowCount::Exactly) => (rows - missing_max(rows), None),
            (Origin::Elsewhere, RowCount::AtMost) => (0, None),
        };
        Expected {
            rows,
            least,
            most,
            tells_difference: is_others && row_count == RowCount::Exactly,
            engine: is_others.then(|| self.settings.make.engine.clone()),
            has_index_on_k: self.settings.create_secondary,
            numbers_rows: self.script == Script::Insert && self.settings.auto_inc,
            highest_k: match origin {
                Origin::Pristine => rows.cast_signed(),
                Origin::Used | Origin::Elsewhere => i64::from(i32::MAX),
            },
            seed: context.seed,
        }
    }

    fn origin(&self, target: &Target) -> Origin {
        let tables = self.settings.tables;
        if self.created_tables.is_pristine(target, tables) {
            Origin::Pristine
        } else if self.created_tables.tables(target).len() as u64 >= tables {
            Origin::Used
        } else {
            Origin::Elsewhere
        }
    }
}

impl Tables for Oltp {
    fn tables(&self) -> u64 {
        self.settings.tables
    }

    fn create(&self, context: &WorkloadContext<'_>, table: u64) -> Result<String, Failure> {
        schema::create_table(table, &self.settings, context.target.dialect())
    }

    fn sessions(&self, context: &WorkloadContext<'_>) -> usize {
        fill::sessions(context, self.settings.table_size)
    }

    fn fill(&self, context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
        if self.script.starts_empty(&self.settings) {
            return Ok(());
        }
        fill::fill(context, &self.settings, tables)
    }

    fn finish(&self, table: u64, dialect: &Dialect) -> Vec<String> {
        let numbered = dialect.number_after_load(&schema::name(table), "id");
        let indexes = schema::indexes(table, &self.settings, dialect);
        indexes.into_iter().chain(numbered.filter(|_| self.settings.auto_inc)).collect()
    }

    fn check(&self, context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
        let mut expected = self.expected(context, Origin::Elsewhere);
        if context.existing == Existing::Match {
            let off = missing_max(expected.rows);
            (expected.least, expected.most) = (expected.rows - off, Some(expected.rows + off));
        }
        verify(context, tables, expected)
    }
}

impl Workload for Oltp {
    fn describe(&self) -> String {
        let Settings { tables, table_size, shape, make, .. } = &self.settings;
        let noun = if *tables == 1 { "table" } else { "tables" };
        let engine = make.describe_engine();
        format!(
            "sysbench {}: {}; {tables} {noun} of {table_size} rows{engine}, {} ids",
            self.script.name(),
            self.script.summary(),
            shape.name()
        )
    }

    fn dataset(&self) -> Option<String> {
        let Settings { tables, table_size, auto_inc, secondary, create_secondary, make, .. } =
            &self.settings;
        let is_empty = self.script.starts_empty(&self.settings);
        Some(format!(
            "sysbench: {tables} tables of {table_size} rows, {auto_inc} {secondary} \
             {create_secondary} {make:?} {is_empty}"
        ))
    }

    fn statements_per_client(&self) -> usize {
        if self.script.is_scan() {
            return 1;
        }
        let steps = self.script.steps(&self.settings);
        let mut queries: Vec<_> = steps.iter().flat_map(ScriptStep::queries).collect();
        queries.sort_by_key(|query| **query as usize);
        queries.dedup();
        queries.len() * self.settings.tables as usize
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        check_isolation(context.target, self.settings.isolation)?;
        prepare(context, self, &self.created_tables)
    }

    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let tables: Vec<u64> = (1..=self.settings.tables).collect();
        context.progress.begin("verifying tables", self.settings.tables);
        verify(context, &tables, self.expected(context, self.origin(context.target)))?;
        if self.settings.warm_cache { warm_cache(context, &tables) } else { Ok(()) }
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let created_tables = self.created_tables.tables(context.target);
        context.progress.begin("dropping tables", created_tables.len() as u64);
        drop_tables(context, &created_tables)?;
        self.created_tables.forget_tables(context.target, &created_tables);
        Ok(())
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        remove(context, self.settings.tables, &self.created_tables)
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.load_part(context, LoadPart::default())
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Parts(self)
    }
}

impl LoadInParts for Oltp {
    fn load_part(&self, context: &WorkloadContext<'_>, part: LoadPart) -> Box<dyn Load> {
        self.created_tables.use_up(context.target);
        if self.script.is_scan() {
            return Box::new(SharedLoad::new(ScanLoad::new(self.script, &self.settings, context)));
        }
        Box::new(SharedLoad::new(OltpLoad::new(self.script, &self.settings, (context, part))))
    }
}
