//! TPC-C as a workload.

use engine::Load;
use measure::{Condition, Failure, Rules};
use plan::{Options, Problem};

use super::check::{check, demand};
use super::csv;
use super::load::TpccLoad;
use super::prepare::{clean_up, prepare, remove};
use super::rules::rules;
use super::settings::Settings;
use super::statements::Statements;
use super::verify::verify_shape;
use crate::created::CreatedDatabases;
use crate::shared::SharedLoad;
use crate::{Export, Workload, WorkloadContext};

/// TPC-C with its options.
pub(crate) struct Tpcc {
    settings: Settings,
    created: CreatedDatabases,
}

impl Tpcc {
    /// Reads its options.
    ///
    /// # Errors
    /// Unknown or invalid options.
    pub(crate) fn read(options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        reader.finish()?;
        Ok(Self { settings, created: CreatedDatabases::default() })
    }
}

impl Workload for Tpcc {
    fn describe(&self) -> String {
        let Settings { warehouses, partitions, foreign_keys, waits, .. } = &self.settings;
        let noun = if *warehouses == 1 { "warehouse" } else { "warehouses" };
        let mut text = format!("TPC-C-like, clauses 1 to 4 of 5.11: {warehouses} {noun}");
        if *partitions > 1 {
            text += &format!(", {partitions} partitions");
        }
        if *foreign_keys {
            text += ", foreign keys";
        }
        text += if *waits { ", keying and think times" } else { ", no waits" };
        text
    }

    fn dataset(&self) -> Option<String> {
        let Settings { warehouses, partitions, foreign_keys, .. } = &self.settings;
        Some(format!("tpcc: {warehouses} {partitions} {foreign_keys}"))
    }

    fn statements_per_client(&self) -> usize {
        Statements::count()
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        prepare(context, &self.settings, &self.created)
    }

    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        demand(&self.examine(context)?)
    }

    fn examine(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        verify_shape(context, &self.settings)?;
        self.check(context)
    }

    fn has_conditions(&self) -> bool {
        self.settings.check
    }

    fn check(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        if !self.settings.check {
            return Ok(Vec::new());
        }
        check(context, &self.settings, &self.created)
    }

    fn rules(&self, clients: usize) -> Rules {
        rules(&self.settings, clients)
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        clean_up(context, &self.created)
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        remove(context, &self.created)
    }

    fn can_export(&self) -> bool {
        true
    }

    fn export(&self, export: &Export<'_>) -> Result<(), Failure> {
        csv::export(&self.settings, export)
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.created.use_up(context.target);
        Box::new(SharedLoad::new(TpccLoad::new(&self.settings, context)))
    }
}
