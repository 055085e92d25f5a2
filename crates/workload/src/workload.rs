//! What every workload can be asked to do.

use driver::Target;
use engine::{Load, Stop};
use measure::Failure;
use plan::{Existing, PhaseSql};

use crate::Progress;

/// Where a workload does its work: one system, one plan.
pub struct Site<'a> {
    /// The system under test.
    pub target: &'a Target,
    /// Sessions that load data side by side.
    pub loaders: usize,
    /// What to do with tables that are there already.
    pub existing: Existing,
    /// The seed that all data and all queries come from.
    pub seed: u64,
    /// Statements around phases.
    pub sql: &'a PhaseSql,
    /// Told how far prepare and verify have come.
    pub progress: &'a Progress,
    /// Heeded by prepare, verify and cleanup.
    pub stop: &'a Stop,
}

/// A checked workload.
pub trait Workload: Send + Sync {
    /// One line for people: what it does, with its sizes.
    fn describe(&self) -> String;

    /// Names the data that the workload works on: two workloads that say the same can run on the same
    /// tables one after the other. `None` when nobody else can use them.
    fn dataset(&self) -> Option<String> {
        None
    }

    /// Statements that each client makes ready, for asking whether the server has room for them.
    fn statements_per_client(&self) -> usize;

    /// Makes and fills the tables, or takes those that are there, as [`Site::existing`] says.
    ///
    /// # Errors
    /// What the server says; tables in the way and what to do about them.
    fn prepare(&self, site: &Site<'_>) -> Result<(), Failure>;

    /// Checks that the data is what the workload needs: row counts and sampled values.
    ///
    /// # Errors
    /// What is not as it should be.
    fn verify(&self, site: &Site<'_>) -> Result<(), Failure>;

    /// Removes what `prepare` made, and nothing else.
    ///
    /// # Errors
    /// What the server says.
    fn cleanup(&self, site: &Site<'_>) -> Result<(), Failure>;

    /// The load of one trial. The same seed and trial give each client the same queries.
    fn load(&self, site: &Site<'_>) -> Box<dyn Load>;
}
