//! The interface of every system under test.

use std::ops::ControlFlow;
use std::path::Path;

use driver::rpc::Service;
use driver::{Target, Timeouts};
use net::Endpoint;
use plan::SimulatedSystem;

use crate::Running;

#[derive(Clone, Debug)]
pub enum Access {
    Database(Target),
    /// Through calls of an RPC service.
    Service(Service),
    Simulated(SimulatedSystem),
}

impl Access {
    /// The addresses that clients connect to; none of a system in this process.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        match self {
            Self::Database(target) => target.endpoints(),
            Self::Service(service) => service.endpoints(),
            Self::Simulated(_) => Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Sql,
    Calls,
    Simulation,
}

impl Offer {
    /// The workloads that go with it, as a help text.
    pub fn help(self) -> &'static str {
        match self {
            Self::Sql => "a database goes with workloads of SQL; `dyno workloads` lists them",
            Self::Calls => "an RPC service goes with workloads of kind \"rpc\" only",
            Self::Simulation => "a simulated system goes with workloads of kind \"simulated\" only",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressEvent<'a> {
    Note(&'a str),
    Stage {
        /// The current stage, such as `starting TiDB`.
        name: &'a str,
        done: u64,
        /// Total units of work; 0 when not known.
        total: u64,
    },
}

impl<'a> ProgressEvent<'a> {
    /// A stage whose work is not counted.
    pub fn stage(name: &'a str) -> Self {
        Self::Stage { name, done: 0, total: 0 }
    }
}

/// Is called with the progress of a step, and returns whether the step should continue.
pub type ProgressListener<'a> = dyn FnMut(ProgressEvent<'_>) -> ControlFlow<()> + 'a;

/// A system of the plan that has been checked, but not yet started.
pub trait System: Send + Sync {
    fn offers(&self) -> Offer {
        Offer::Sql
    }

    /// Whether it is a service of methods and names none, so that the workload has to.
    fn lacks_method(&self) -> bool {
        false
    }

    /// Whether it runs within the process of its clients, so that other processes cannot reach it.
    fn is_embedded(&self) -> bool {
        false
    }

    /// Whether the data stay after the system has been stopped: servers that dyno does not start, and files of the
    /// user's.
    fn keeps_data(&self) -> bool {
        false
    }

    /// The file of the user's that has the data; `None` when another process has them.
    fn data_file(&self) -> Option<&Path> {
        None
    }

    /// The service as far as it is known before the start: its protocol and method, and names of addresses. `None` for a
    /// database.
    fn service(&self) -> Option<Service> {
        None
    }

    /// Gets what the start needs and may take minutes, such as a build of the server. The result is kept: later calls
    /// return at once.
    ///
    /// # Errors
    /// What is missing and what to install, what failed, or that a stop was requested.
    fn provide(&self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// What [`System::provide`] still has to build, with how long that takes; `None` when nothing is to be built.
    fn build_to_come(&self) -> Option<String> {
        None
    }

    /// Makes the system ready: starts managed servers, connects to external ones, and asks for the system's identity.
    /// Its files go below `scratch`; sessions keep to these timeouts. The listener is called several times a second;
    /// when it requests a stop, everything started so far is stopped too.
    ///
    /// # Errors
    /// What was tried and what to do about it, or that a stop was requested.
    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running>;
}
