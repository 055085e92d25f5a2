//! The interface of every system under test.

use std::ops::ControlFlow;
use std::path::Path;

use driver::{Target, Timeouts};
use plan::SimulatedSystem;

use crate::Running;

/// How clients access a system.
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
    /// A note for the user, one line.
    Note(&'a str),
    /// Progress of the current step.
    Progress {
        /// The current step.
        stage: &'a str,
        /// Units of work done.
        done: u64,
        /// Total units of work; 0 when not known.
        total: u64,
    },
}

/// Is called with the progress of a step, and returns whether the step should continue.
pub type ProgressListener<'a> = dyn FnMut(ProgressEvent<'_>) -> ControlFlow<()> + 'a;

/// A system of the plan that has been checked, but not yet started.
pub trait System: Send + Sync {
    /// Gets what the start needs and may take minutes, such as a build of the server. The result is kept: later calls
    /// return at once.
    ///
    /// # Errors
    /// What is missing and what to install, what failed, or that a stop was requested.
    fn provide(&self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
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
