//! Events of a run, and the listener that receives them.

use std::path::Path;
use std::time::Duration;

use measure::{Interval, Operation, Phase};
use record::{Identity, TrialStatus, TrialWriter};
use system::ProgressEvent;

/// An event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    RunBegins {
        /// The folder of the record.
        folder: &'a Path,
        /// How many trials there will be; `None` when their results decide.
        trials: Option<usize>,
    },
    /// A system is being started, or connected to.
    SystemStarting {
        /// Its name in the plan.
        name: &'a str,
    },
    /// A system has started.
    SystemStarted {
        /// Its name in the plan.
        name: &'a str,
        /// Its identity.
        identity: &'a Identity,
    },
    /// A trial begins.
    TrialBegins {
        /// Its index in the run, from 0.
        index: usize,
        /// Its title, such as `sqlite · oltp_read_only · 4 clients`.
        title: &'a str,
    },
    /// A phase begins.
    PhaseBegins {
        /// The phase.
        phase: Phase,
        /// How long it will take, when that is known.
        planned: Option<Duration>,
    },
    /// The progress of a start or of a phase of unknown length, or a note for the user.
    Progress(ProgressEvent<'a>),
    /// An interval of load has ended.
    Interval {
        /// Its counts.
        interval: &'a Interval,
        /// The operations of the workload.
        operations: &'a [Operation],
    },
    /// A trial has ended.
    TrialEnds {
        /// How it ended.
        status: &'a TrialStatus,
        /// Its record; `None` when its load could not begin.
        record: Option<&'a TrialWriter>,
    },
}

/// Receives the events of a run.
pub trait RunListener {
    /// Handles an event; must return quickly.
    fn on_event(&mut self, event: Event<'_>);

    /// Handles a note for the user, one line.
    fn on_note(&mut self, text: &str) {
        self.on_event(Event::Progress(ProgressEvent::Note(text)));
    }
}
