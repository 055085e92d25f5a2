//! What every workload can be asked to do.

use std::time::Duration;

use driver::Target;
use engine::{Load, Stop};
use measure::{Condition, Failure, Rules};
use plan::{Existing, Limit, PhaseSql};

use crate::crewed::unfit;
use crate::random::Random;
use crate::{Export, Progress};

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
    /// Which load it is, of those on the same data; anything in a phase that is none.
    pub occasion: Occasion,
    /// Statements around phases.
    pub sql: &'a PhaseSql,
    /// Told how far prepare and verify have come.
    pub progress: &'a Progress,
    /// For how long a piece of a load is tried again whose connection was lost; `None` for not at all.
    pub reconnect_limit: Option<Duration>,
    /// Heeded by prepare, verify and cleanup.
    pub stop: &'a Stop,
}

/// What tells the loads on the same data apart.
///
/// Every occasion has queries of its own, or a second trial would write what the first has written, which
/// servers pass over. Systems that are compared have the same occasions, and so the same queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occasion {
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Concurrent clients.
    pub clients: usize,
    /// Which of the rates of an open loop, from 0.
    pub rate: usize,
}

impl Site<'_> {
    /// The seed of what clients draw.
    pub(crate) fn client_seed(&self) -> u64 {
        let Occasion { repetition, clients, rate } = self.occasion;
        Random::of_part(self.seed, &[repetition.into(), clients as u64, rate as u64]).next_u64()
    }
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

    /// When a trial ends, where the plan does not say.
    fn limit(&self) -> Option<Limit> {
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

    /// Whether [`Workload::check`] has anything to check.
    fn has_conditions(&self) -> bool {
        false
    }

    /// Checks what must hold of the data whatever transactions changed, after each load; a workload that has
    /// such conditions checks them in [`Workload::verify`] too. Empty when there is nothing to check.
    ///
    /// # Errors
    /// What the server says; a condition that does not hold is no error of the check.
    fn check(&self, _site: &Site<'_>) -> Result<Vec<Condition>, Failure> {
        Ok(Vec::new())
    }

    /// Figures and a mix of the workload's own.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// Removes what `prepare` made, and nothing else.
    ///
    /// # Errors
    /// What the server says.
    fn cleanup(&self, site: &Site<'_>) -> Result<(), Failure>;

    /// Writes the data that [`Workload::prepare`] would load as files, for a system's own bulk loader.
    ///
    /// # Errors
    /// When there is no such thing for this workload, or a file cannot be written.
    fn export(&self, _export: &Export<'_>) -> Result<(), Failure> {
        Err(unfit("this workload's data cannot be written as files; tpcc's can"))
    }

    /// The load of one trial. The same seed and trial give each client the same queries.
    fn load(&self, site: &Site<'_>) -> Box<dyn Load>;
}
