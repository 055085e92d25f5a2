//! What passes between the process of a run and its generators.

use engine::{Command, Part, Report};
use measure::Generator;
use record::ClientUsage;
use serde::{Deserialize, Serialize};

use super::job::GeneratorJob;

/// To a generator. Each load has a number, so that nothing of one load is taken for that of the next.
#[derive(Serialize, Deserialize)]
pub(super) enum ToGenerator {
    /// Offer a part of a load.
    Job { load: u64, part: Part, job: Box<GeneratorJob> },
    /// A command on that load.
    Command { load: u64, command: Command },
}

/// From a generator.
#[derive(Serialize, Deserialize)]
pub(super) enum FromGenerator {
    /// A report on a load.
    Report { load: u64, report: Report },
    /// What the generator has seen of itself, before its last report.
    Watched { load: u64, watched: Box<Watched> },
}

/// What a generator has seen of itself during a load.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Watched {
    /// Whether its threads ran; `None` when it did not begin.
    pub(super) generator: Option<Generator>,
    pub(super) usage: Option<ClientUsage>,
}
