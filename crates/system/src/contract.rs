//! What every system under test can do, whatever it is.

use std::ops::ControlFlow;
use std::path::Path;

use driver::{Target, Timeouts};
use plan::SimulatedSystem;

use crate::Running;

/// How a system is spoken to.
#[derive(Clone, Debug)]
pub enum Access {
    /// Through a driver.
    Database(Target),
    /// A simulation.
    Simulated(SimulatedSystem),
}

/// Progress of a long step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressEvent<'a> {
    /// Something that a person should know, in a line.
    Note(&'a str),
    /// How far it has come.
    Progress {
        /// What is done now.
        stage: &'a str,
        /// Units of work done.
        done: u64,
        /// Units of work in all; 0 when not known.
        total: u64,
    },
}

/// Is told how far something has come, and says whether it shall go on.
pub type ProgressListener<'a> = dyn FnMut(ProgressEvent<'_>) -> ControlFlow<()> + 'a;

/// A system of the plan, checked, not yet started.
pub trait System: Send + Sync {
    /// Gets what starting takes and may take minutes, such as building the server; what was got once
    /// is there at once the next time.
    ///
    /// # Errors
    /// What is missing and what to install, what failed, or that a stop was requested.
    fn provide(&self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Makes it ready: starts what is managed, reaches what is foreign, and asks it what it is. Files of
    /// its own go below `scratch`; sessions keep to these bounds. The listener is asked several times a
    /// second; when it wants an end, what was started until then is ended too.
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
