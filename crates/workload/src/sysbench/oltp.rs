//! The OLTP scripts as workloads.

use engine::Load;
use measure::Failure;
use plan::{Options, Problem};

use super::fill;
use super::load::OltpLoad;
use super::made::Made;
use super::prepare::{Tables, drop_tables, prepare};
use super::scans::ScanLoad;
use super::schema;
use super::script::{RowCount, Script, Step};
use super::settings::Settings;
use super::verify::{Expected, verify};
use crate::session::check_isolation;
use crate::shared::SharedLoad;
use crate::{Site, Workload};

/// A script with its options.
pub(crate) struct Oltp {
    script: Script,
    settings: Settings,
    made: Made,
}

impl Oltp {
    /// Reads the options of `script`.
    ///
    /// # Errors
    /// Options that are not known, or not right.
    pub(crate) fn read(script: Script, options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        if script.is_scan() && settings.tables > 1 {
            let message = format!("{} works on one table", script.name());
            reader.reject("tables", message, "leave `tables` out");
        }
        reader.finish()?;
        Ok(Self { script, settings, made: Made::default() })
    }

    fn expected(&self, site: &Site<'_>, is_pristine: bool) -> Expected {
        let rows =
            if self.script.starts_empty(&self.settings) { 0 } else { self.settings.table_size };
        Expected {
            rows,
            row_count: if is_pristine { RowCount::Exactly } else { self.script.row_count() },
            has_index_on_k: self.settings.create_secondary,
            highest_k: if is_pristine { rows.cast_signed() } else { i64::from(i32::MAX) },
            seed: site.seed,
        }
    }
}

impl Tables for Oltp {
    fn tables(&self) -> u64 {
        self.settings.tables
    }

    fn create(&self, site: &Site<'_>, table: u64) -> Result<String, Failure> {
        schema::create_table(table, &self.settings, site.target.dialect())
    }

    fn fill(&self, site: &Site<'_>, tables: &[u64]) -> Result<(), Failure> {
        if self.script.starts_empty(&self.settings) {
            return Ok(());
        }
        fill::fill(site, &self.settings, tables)
    }

    fn finish(&self, table: u64) -> Vec<String> {
        schema::indexes(table, &self.settings)
    }

    fn check(&self, site: &Site<'_>, tables: &[u64]) -> Result<(), Failure> {
        verify(site, tables, self.expected(site, false))
    }
}

impl Workload for Oltp {
    fn describe(&self) -> String {
        let Settings { tables, table_size, shape, .. } = &self.settings;
        let noun = if *tables == 1 { "table" } else { "tables" };
        format!(
            "sysbench {}: {}; {tables} {noun} of {table_size} rows, {} ids",
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
        let mut queries: Vec<_> = steps.iter().flat_map(Step::queries).collect();
        queries.sort_by_key(|query| **query as usize);
        queries.dedup();
        queries.len() * self.settings.tables as usize
    }

    fn prepare(&self, site: &Site<'_>) -> Result<(), Failure> {
        check_isolation(site.target, self.settings.isolation)?;
        prepare(site, self, &self.made)
    }

    fn verify(&self, site: &Site<'_>) -> Result<(), Failure> {
        let tables: Vec<u64> = (1..=self.settings.tables).collect();
        let is_pristine = self.made.is_pristine(site.target, self.settings.tables);
        site.progress.begin("verifying tables", self.settings.tables);
        verify(site, &tables, self.expected(site, is_pristine))
    }

    fn cleanup(&self, site: &Site<'_>) -> Result<(), Failure> {
        let made = self.made.tables(site.target);
        site.progress.begin("dropping tables", made.len() as u64);
        drop_tables(site, &made)?;
        self.made.forget(site.target, &made);
        Ok(())
    }

    fn load(&self, site: &Site<'_>) -> Box<dyn Load> {
        self.made.use_up(site.target);
        if self.script.is_scan() {
            return Box::new(SharedLoad::new(ScanLoad::new(self.script, &self.settings, site)));
        }
        Box::new(SharedLoad::new(OltpLoad::new(self.script, &self.settings, site)))
    }
}
