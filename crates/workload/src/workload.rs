//! The trait that every workload implements.

use engine::Load;
use measure::{Condition, Failure, QueryPlan, Rules};
use plan::Limit;

use crate::parallel::unsuitable;
use crate::{Export, Sharing, WorkloadContext};

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

    /// The load of one trial. Equal seeds and trials give each client equal queries.
    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load>;

    /// How several processes can offer the load together.
    fn sharing(&self) -> Sharing<'_> {
        Sharing::Alike
    }
}
