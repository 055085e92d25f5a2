//! Events of a run, and the listener that receives them.

use std::path::Path;
use std::time::Duration;

use measure::{Interval, Operation, Phase};
use plan::Trial;
use record::{Identity, TrialStatus, TrialWriter};
use system::ProgressEvent;

#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    RunBegins {
        folder: &'a Path,
        /// How many trials there will be; `None` when their results decide.
        trials: Option<usize>,
    },
    SystemStarting {
        name: &'a str,
    },
    SystemStarted {
        name: &'a str,
        identity: &'a Identity,
    },
    TrialBegins {
        trial: Trial,
        /// Its title, such as `sqlite · oltp_read_only · 4 clients`.
        title: &'a str,
    },
    PhaseBegins {
        phase: Phase,
        /// How long it will take, when that is known.
        planned: Option<Duration>,
    },
    /// The progress of a start or of a phase of unknown length, or a note for the user.
    Progress(ProgressEvent<'a>),
    Interval {
        interval: &'a Interval,
        operations: &'a [Operation],
    },
    TrialEnds {
        status: &'a TrialStatus,
        /// Its record; `None` when its load could not begin.
        record: Option<&'a TrialWriter>,
    },
}

pub trait RunListener {
    /// Handles an event; must return quickly.
    fn on_event(&mut self, event: Event<'_>);

    /// Handles a note for the user, one line.
    fn on_note(&mut self, text: &str) {
        self.on_event(Event::Progress(ProgressEvent::Note(text)));
    }
}
