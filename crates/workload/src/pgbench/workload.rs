//! pgbench as a workload.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Load;
use measure::{Condition, Failure, Rules};
use plan::{Options, Problem};

use super::balances::{self, Balances};
use super::prepare::{clean_up, prepare, remove};
use super::scripts::Builtin;
use super::settings::{PartitionMethod, Settings};
use super::verify::verify;
use crate::created::CreatedDatabases;
use crate::expression::Cell;
use crate::shared::SharedLoad;
use crate::sql::{Mix, SqlLoad};
use crate::{Workload, WorkloadContext};

/// The tables and scripts of pgbench with their options.
pub(crate) struct Pgbench {
    settings: Settings,
    mix: Arc<Mix>,
    created: CreatedDatabases,
    /// The balances of each system before the next load.
    before: Mutex<BTreeMap<String, Balances>>,
}

impl Pgbench {
    /// Reads its options.
    ///
    /// # Errors
    /// Unknown or invalid options.
    pub(crate) fn read(options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        reader.finish()?;
        let variables =
            BTreeMap::from([("scale".to_owned(), Cell::Int(settings.scale.cast_signed()))]);
        let drawn = settings.scripts.iter().filter(|(_, weight)| *weight > 0);
        let scripts = drawn.map(|(script, weight)| (script.name(), script.text(), *weight));
        let mix = Mix::of_scripts(scripts, &variables);
        let mix = mix.map_err(|diagnostic| vec![diagnostic.of_file("a built-in script")])?;
        Ok(Self {
            settings,
            mix: Arc::new(mix),
            created: CreatedDatabases::default(),
            before: Mutex::default(),
        })
    }

    /// Reads the balances and keeps them for the next check; returns them after those that were kept until now.
    fn next_balances(
        &self,
        context: &WorkloadContext<'_>,
    ) -> Result<(Option<Balances>, Balances), Failure> {
        let now = balances::read(context)?;
        let mut all = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((all.insert(context.target.to_string(), now), now))
    }
}

impl Workload for Pgbench {
    fn describe(&self) -> String {
        let Settings { scale, scripts, partitions, partition_method, fillfactor, .. } =
            &self.settings;
        let scripts: Vec<String> = match scripts.as_slice() {
            [(script, _)] => vec![script.name().to_owned()],
            _ => scripts.iter().map(|(it, weight)| format!("{}@{weight}", it.name())).collect(),
        };
        let mut text = format!("pgbench {}: scale {scale}", scripts.join(", "));
        if *partitions > 0 {
            let method = match partition_method {
                PartitionMethod::Range => "range",
                PartitionMethod::Hash => "hash",
            };
            text += &format!(", {partitions} partitions by {method}");
        }
        if self.settings.has_fillfactor() {
            text += &format!(", fillfactor {fillfactor}");
        }
        if self.settings.unlogged {
            text += ", unlogged";
        }
        if self.settings.foreign_keys {
            text += ", foreign keys";
        }
        if self.settings.load.reconnects {
            text += ", a connection for each transaction";
        }
        text
    }

    fn dataset(&self) -> Option<String> {
        let Settings {
            scale,
            partitions,
            partition_method,
            fillfactor,
            unlogged,
            foreign_keys,
            ..
        } = &self.settings;
        Some(format!(
            "pgbench: {scale} {partitions} {partition_method:?} {fillfactor} {unlogged} {foreign_keys}"
        ))
    }

    fn statements_per_client(&self) -> usize {
        self.mix.statements()
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        prepare(context, &self.settings, &self.created)
    }

    /// Balances that differ are no error: those of other loads may.
    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        verify(context, &self.settings)?;
        if self.settings.check {
            self.next_balances(context)?;
        }
        Ok(())
    }

    fn examine(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        verify(context, &self.settings)?;
        Ok(match self.settings.check {
            true => vec![balances::read(context)?.at_rest()],
            false => Vec::new(),
        })
    }

    fn has_conditions(&self) -> bool {
        self.settings.check
    }

    fn check(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        if !self.settings.check {
            return Ok(Vec::new());
        }
        Ok(match self.next_balances(context)? {
            (Some(before), now) => now.since(before, &self.settings),
            (None, now) => vec![now.at_rest()],
        })
    }

    fn rules(&self, clients: usize) -> Rules {
        Rules {
            remarks: few_branches(&self.settings, clients).into_iter().collect(),
            ..Rules::default()
        }
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        clean_up(context, &self.created)
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        remove(context, &self.created)
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.created.use_up(context.target);
        let load = SqlLoad::new(context, Arc::clone(&self.mix), &self.settings.load);
        Box::new(SharedLoad::new(load))
    }
}

/// Every transaction of tpcb-like changes the row of a branch, as pgbench's manual warns.
fn few_branches(settings: &Settings, clients: usize) -> Option<String> {
    let is_few = settings.runs(Builtin::TpcbLike) && clients as u64 > settings.scale;
    is_few.then(|| {
        let branches = match settings.scale {
            1 => "the one branch".to_owned(),
            scale => format!("{scale} branches"),
        };
        format!(
            "{clients} clients update the rows of {branches}, so that much of the latency is waits for each other's locks: \
             pgbench's manual asks for a scale of at least the number of clients"
        )
    })
}
