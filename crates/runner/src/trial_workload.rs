//! The workload of a trial, on any kind of system.

use plan::{Files, Problem, WorkloadPlan};
use system::Offer;
use workload::{Rpc, Sharing, Workload};

/// The kind of workload that goes with a simulated system.
pub(crate) const SIMULATED: &str = "simulated";

/// The workload of a trial's clients.
pub enum TrialWorkload {
    /// A workload on a database.
    Database(Box<dyn Workload>),
    /// Calls of an RPC service.
    Service(Box<Rpc>),
    /// Requests to a simulated system.
    Simulated,
}

impl TrialWorkload {
    /// Reads a workload, which names files of `files`.
    ///
    /// # Errors
    /// Every wrong option, with its place.
    pub(crate) fn read(it: &WorkloadPlan, files: &Files) -> Result<Self, Vec<Problem>> {
        if it.kind == SIMULATED {
            return it.options.reader().finish().map(|()| Self::Simulated);
        }
        if it.kind == Rpc::KIND {
            return Rpc::read(it, files).map(|rpc| Self::Service(Box::new(rpc)));
        }
        workload::read(it, files).map(Self::Database)
    }

    /// The access to a system that it needs.
    pub(crate) fn needs(&self) -> Offer {
        match self {
            Self::Database(_) => Offer::Sql,
            Self::Service(_) => Offer::Calls,
            Self::Simulated => Offer::Simulation,
        }
    }

    /// The workload, if it is one on a database.
    pub(crate) fn database(&self) -> Option<&dyn Workload> {
        match self {
            Self::Database(workload) => Some(workload.as_ref()),
            Self::Service(_) | Self::Simulated => None,
        }
    }

    /// How several processes can offer its load together.
    pub(crate) fn sharing(&self) -> Sharing<'_> {
        self.database().map_or(Sharing::Alike, Workload::sharing)
    }

    /// Whether each client runs a fixed sequence of transactions once.
    pub(crate) fn runs_once(&self) -> bool {
        self.database().is_some_and(Workload::runs_once)
    }
}
