//! What a workload works on: a system, and the plan's settings for it.

use std::time::Duration;

use driver::Target;
use engine::Stop;
use plan::{Existing, PhaseSql};
use serde::{Deserialize, Serialize};

use crate::LoadProgress;
use crate::random::Random;

/// The context of a workload: one system and one plan.
pub struct WorkloadContext<'a> {
    /// The name of the system in the plan.
    pub system: &'a str,
    /// The system under test.
    pub target: &'a Target,
    /// Whether the data stay when this process ends, so that what is left of them is worth a note.
    pub keeps_data: bool,
    /// Sessions that load data in parallel.
    pub loaders: usize,
    /// How to treat tables that exist already.
    pub existing: Existing,
    /// The seed of all data and queries.
    pub seed: u64,
    /// Identifies the load among those on the same data; of no meaning in phases without load.
    pub load_key: LoadKey,
    /// Statements before and after phases.
    pub sql: &'a PhaseSql,
    /// Receives the progress of prepare and verify.
    pub progress: &'a LoadProgress,
    /// How long a batch of rows is retried after its connection broke; `None` for no retry.
    pub reconnect_limit: Option<Duration>,
    /// Prepare, verify and cleanup check this for requests to stop.
    pub stop: &'a Stop,
}

/// Identifies one load among those on the same data.
///
/// Each load draws different queries: a second trial with the queries of the first would write values that already
/// exist, which servers skip. Systems that are compared get the same loads, and therefore the same queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadKey {
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Concurrent clients.
    pub clients: usize,
    /// Which of the rates of an open loop, from 0.
    pub rate: usize,
}

impl LoadKey {
    /// The seed for the draws of this load's clients on data of that seed.
    pub(crate) fn client_seed(self, seed: u64) -> u64 {
        let Self { repetition, clients, rate } = self;
        Random::of_part(seed, &[repetition.into(), clients as u64, rate as u64]).next_u64()
    }
}

impl WorkloadContext<'_> {
    /// The seed for the draws of clients.
    pub(crate) fn client_seed(&self) -> u64 {
        self.load_key.client_seed(self.seed)
    }

    /// Tells what is left of the data, and what to do about it.
    pub(crate) fn note_left(&self, text: impl Into<String>) {
        if self.keeps_data {
            self.progress.note(text);
        }
    }
}
