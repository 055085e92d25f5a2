//! The trait that every workload implements.

use std::time::Duration;

use driver::Target;
use engine::{Load, Stop};
use measure::{Condition, Failure, QueryPlan, Rules};
use plan::{Existing, Limit, PhaseSql};
use serde::{Deserialize, Serialize};

use crate::parallel::unsuitable;
use crate::random::Random;
use crate::{Export, LoadPart, LoadProgress};

pub struct WorkloadContext<'a> {
    pub system: &'a str,
    /// The system under test.
    pub target: &'a Target,
    /// Whether the data stay when this process ends, so that what is left of them is worth a note.
    pub keeps_data: bool,
    /// Sessions that load data in parallel.
    pub loaders: usize,
    /// How to treat tables that exist already.
    pub existing: Existing,
    /// The seed of all data and queries.
    pub seed: u64,
    /// Identifies the load among those on the same data; of no meaning in phases without load.
    pub load_key: LoadKey,
    pub part: LoadPart,
    /// Statements before and after phases.
    pub sql: &'a PhaseSql,
    /// Receives the progress of prepare and verify.
    pub progress: &'a LoadProgress,
    /// How long a batch of rows is retried after its connection broke; `None` for no retry.
    pub reconnect_limit: Option<Duration>,
    /// Prepare, verify and cleanup check this for requests to stop.
    pub stop: &'a Stop,
}

/// Identifies one load among those on the same data.
///
/// Each load draws different queries: a second trial with the queries of the first would write values that already
/// exist, which servers skip. Systems that are compared get the same loads, and therefore the same queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadKey {
    pub repetition: u32,
    pub clients: usize,
    /// Which of the rates of an open loop, from 0.
    pub rate: usize,
}

impl LoadKey {
    /// The seed for the draws of this load's clients on data of that seed.
    pub(crate) fn client_seed(self, seed: u64) -> u64 {
        let Self { repetition, clients, rate } = self;
        Random::of_part(seed, &[repetition.into(), clients as u64, rate as u64]).next_u64()
    }
}

impl WorkloadContext<'_> {
    pub(crate) fn client_seed(&self) -> u64 {
        self.load_key.client_seed(self.seed)
    }

    /// Tells what is left of the data, and what to do about it.
    pub(crate) fn note_left(&self, text: impl Into<String>) {
        if self.keeps_data {
            self.progress.note(text);
        }
    }
}

/// A workload whose options are checked.
pub trait Workload: Send + Sync {
    /// Describes the workload and its sizes in one line.
    fn describe(&self) -> String;

    /// Identifies the data: workloads with equal texts can run on the same tables, one after the other. `None`
    /// if no other workload can use the tables.
    fn dataset(&self) -> Option<String> {
        None
    }

    /// The limit of a trial of `clients` clients if the plan has none.
    fn limit(&self, _clients: usize) -> Option<Limit> {
        None
    }

    /// Whether each client has a fixed sequence of transactions and runs it once, at full speed: then there can be no
    /// warm-up, no pauses and no rates, and the time between two ends of transactions has no usual length.
    fn runs_once(&self) -> bool {
        false
    }

    fn clients(&self) -> Option<usize> {
        None
    }

    /// Remarks on the options, such as one that changes nothing, each in one line.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Remarks on a load that several processes offer, where it then differs from that of one; each in one line.
    fn notes_on_parts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why several processes cannot offer the load; `None` if they can.
    fn whole_only(&self) -> Option<&'static str> {
        None
    }

    /// How many statements each client prepares, to compare with the server's limit.
    fn statements_per_client(&self) -> usize;

    /// Creates and fills the tables, or reuses existing ones, as [`WorkloadContext::existing`] defines.
    ///
    /// # Errors
    /// The server's error; existing tables that prevent it, with options that help.
    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure>;

    /// Checks that the data fits the workload: row counts and sampled values.
    ///
    /// # Errors
    /// If the data does not fit; the server's error.
    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure>;

    /// Whether [`Workload::check`] has anything to check.
    fn has_conditions(&self) -> bool {
        false
    }

    /// Checks conditions that must hold after any transactions; called after each load. Workloads with such
    /// conditions check them in [`Workload::verify`] too. Empty if there are none.
    ///
    /// # Errors
    /// The server's error. A broken condition is a result, not an error.
    fn check(&self, _context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        Ok(Vec::new())
    }

    /// The plans of the last load's queries; called after [`Workload::check`]. Empty if the workload keeps none.
    ///
    /// # Errors
    /// The server's error.
    fn query_plans(&self, _context: &WorkloadContext<'_>) -> Result<Vec<QueryPlan>, Failure> {
        Ok(Vec::new())
    }

    /// Checks the data like [`Workload::verify`], but returns the conditions, broken ones included, for a report.
    /// Empty if there are none.
    ///
    /// # Errors
    /// If the data does not fit; the server's error. A broken condition is a result, not an error.
    fn examine(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        self.verify(context).map(|()| Vec::new())
    }

    /// Scores, limits and the required mix of this workload, and where a load of `clients` clients leaves its
    /// definition.
    fn rules(&self, _clients: usize) -> Rules {
        Rules::default()
    }

    /// Drops the tables that `prepare` created, and no others.
    ///
    /// # Errors
    /// The server's error.
    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure>;

    /// Drops the tables of the workload, whoever created them, and tells what it did: a sentence for each table or
    /// statement. Drops nothing if a table of that name is not the workload's.
    ///
    /// # Errors
    /// The table that is not the workload's; the server's error.
    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure>;

    /// Whether its data can be written as files.
    fn can_export(&self) -> bool {
        false
    }

    /// Writes the rows that [`Workload::prepare`] would load to files for a bulk loader.
    ///
    /// # Errors
    /// If the workload cannot be exported, or a file cannot be written.
    fn export(&self, _export: &Export<'_>) -> Result<(), Failure> {
        Err(unsuitable("this workload's data cannot be written as files"))
    }

    /// What the phases so far have found out about the data, for [`Workload::learn`] in another process that offers a
    /// part of the load.
    fn knowledge(&self, _context: &WorkloadContext<'_>) -> Vec<u64> {
        Vec::new()
    }

    /// Takes over the [`Workload::knowledge`] of the process that has prepared the data. Anything else is ignored.
    fn learn(&self, _context: &WorkloadContext<'_>, _knowledge: &[u64]) {}

    /// The load of one trial. Equal seeds and trials give each client equal queries.
    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load>;
}
