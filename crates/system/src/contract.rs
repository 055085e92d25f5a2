//! What every system under test can do, whatever it is.

use std::path::Path;

use driver::{ServerLimits, Target, Timeouts};
use measure::{Identity, Nanos};

/// How a system is spoken to.
#[derive(Clone, Debug)]
pub enum Access {
    /// Through a driver.
    Database(Target),
    /// A simulation: so many servers with these service times in turn, ns, that stand still at times.
    Simulated {
        /// Servers behind one queue.
        servers: usize,
        /// Service times, ns.
        service_times_ns: Vec<Nanos>,
        /// When nothing is served, in order and apart.
        stalls: Vec<Stall>,
    },
}

/// A stretch of time in which a simulated system stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins, from the first load on, warm-up included, ns.
    pub at_ns: Nanos,
    /// How long it lasts, ns.
    pub length_ns: Nanos,
}

/// A system of the plan, checked, not yet started.
pub trait System: Send + Sync {
    /// Makes it ready: starts what is managed, reaches what is foreign, and asks it what it is.
    /// Files of its own go below `scratch`; sessions keep to these bounds.
    ///
    /// # Errors
    /// What was tried and what to do about it.
    fn start(&self, scratch: &Path, timeouts: Timeouts) -> anyhow::Result<Box<dyn Running>>;
}

/// A system that is up. Dropping it stops what was started for it.
pub trait Running: Send {
    /// How to speak to it.
    fn access(&self) -> &Access;

    /// What it is.
    fn identity(&self) -> &Identity;

    /// How much it takes, so that too little is noticed before load is offered.
    fn limits(&self) -> ServerLimits {
        ServerLimits::default()
    }

    /// Why a managed server is no longer there; `None` while it is, and always for a foreign one.
    fn exited(&mut self) -> Option<String>;

    /// Keeps the state of the data, for [`Running::restore`].
    ///
    /// # Errors
    /// When the system cannot, with what to use instead.
    fn snapshot(&mut self) -> anyhow::Result<()>;

    /// Brings back the state that `snapshot` kept. Sessions made before are broken.
    ///
    /// # Errors
    /// When that fails.
    fn restore(&mut self) -> anyhow::Result<()>;

    /// Stops what was started for it, and waits for its end.
    ///
    /// # Errors
    /// When it does not end.
    fn stop(self: Box<Self>) -> anyhow::Result<()>;
}
