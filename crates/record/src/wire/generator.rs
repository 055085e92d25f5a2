//! The part of trial.json about the load generator itself.

use measure::{Generator, GeneratorStall, WorkerCpu};
use serde::{Deserialize, Serialize};

use crate::hlog;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GeneratorFile {
    /// Encoded as in latency.hlog.
    oversleep: String,
    stalls: Vec<GeneratorStall>,
    workers: Vec<WorkerCpu>,
}

impl From<&Generator> for GeneratorFile {
    fn from(generator: &Generator) -> Self {
        Self {
            oversleep: hlog::encode(&generator.oversleep),
            stalls: generator.stalls.clone(),
            workers: generator.workers.clone(),
        }
    }
}

impl GeneratorFile {
    pub(super) fn into_generator(self) -> Result<Generator, String> {
        let oversleep = hlog::decode(&self.oversleep)?;
        Ok(Generator { oversleep, stalls: self.stalls, workers: self.workers })
    }
}
