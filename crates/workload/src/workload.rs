//! The trait that every workload implements.

use std::time::Duration;

use driver::Target;
use engine::{Load, Stop};
use measure::{Condition, Failure, Rules};
use plan::{Existing, Limit, PhaseSql};

use crate::parallel::unsuitable;
use crate::random::Random;
use crate::{Export, LoadProgress};

/// The context of a workload: one system and one plan.
pub struct WorkloadContext<'a> {
    /// The system under test.
    pub target: &'a Target,
    /// Sessions that load data in parallel.
    pub loaders: usize,
    /// How to treat tables that exist already.
    pub existing: Existing,
    /// The seed of all data and queries.
    pub seed: u64,
    /// Identifies the load among those on the same data; of no meaning in phases without load.
    pub load_key: LoadKey,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadKey {
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Concurrent clients.
    pub clients: usize,
    /// Which of the rates of an open loop, from 0.
    pub rate: usize,
}

impl WorkloadContext<'_> {
    /// The seed for the draws of clients.
    pub(crate) fn client_seed(&self) -> u64 {
        let LoadKey { repetition, clients, rate } = self.load_key;
        Random::of_part(self.seed, &[repetition.into(), clients as u64, rate as u64]).next_u64()
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

    /// The limit of a trial if the plan has none.
    fn limit(&self) -> Option<Limit> {
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

    /// Scores and the required mix of this workload.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// Drops the tables that `prepare` created, and no others.
    ///
    /// # Errors
    /// The server's error.
    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure>;

    /// Writes the rows that [`Workload::prepare`] would load to files for a bulk loader.
    ///
    /// # Errors
    /// If the workload cannot be exported, or a file cannot be written.
    fn export(&self, _export: &Export<'_>) -> Result<(), Failure> {
        Err(unsuitable("this workload's data cannot be written as files; tpcc's can"))
    }

    /// The load of one trial. Equal seeds and trials give each client equal queries.
    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load>;
}
