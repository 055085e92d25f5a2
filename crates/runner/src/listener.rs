//! Events of a run, and the listener that receives them.

use std::path::Path;
use std::time::Duration;

use measure::{Interval, Operation, Phase};
use record::{Identity, TrialStatus};

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    RunBegins {
        /// Where the record grows.
        folder: &'a Path,
        /// How many trials there will be.
        trials: usize,
    },
    /// A system is being started or reached.
    SystemStarting {
        /// Its name in the plan.
        name: &'a str,
    },
    /// A system is up.
    SystemStarted {
        /// Its name in the plan.
        name: &'a str,
        /// What it is.
        identity: &'a Identity,
    },
    /// A trial begins.
    TrialBegins {
        /// Its place in the run, from 0.
        index: usize,
        /// What it is, such as `sqlite · oltp_read_only · 4 clients`.
        title: &'a str,
    },
    /// A phase begins.
    PhaseBegins {
        /// Which.
        phase: Phase,
        /// How long it will take, when that is known.
        planned: Option<Duration>,
    },
    /// How far a phase of unknown length has come.
    Progress {
        /// What it does now.
        stage: &'a str,
        /// Units of work done.
        done: u64,
        /// Units of work in all; 0 when not known.
        total: u64,
    },
    /// An interval of load is over.
    Interval {
        /// What was counted.
        interval: &'a Interval,
        /// The operations of the workload.
        operations: &'a [Operation],
    },
    /// A trial is over.
    TrialEnds {
        /// How it ended.
        status: &'a TrialStatus,
    },
    /// Something that a person should know.
    Note {
        /// One line.
        text: &'a str,
    },
}

/// Receives the events of a run.
pub trait RunListener {
    /// Handles an event; must return quickly.
    fn on_event(&mut self, event: Event<'_>);
}
