//! The part of trial.json about the load generators themselves.

use measure::{Generator, GeneratorClock, GeneratorLoss, GeneratorStall, HostFacts, WorkerCpu};
use serde::{Deserialize, Serialize};

use crate::generator::GENERATORS_MAX;
use crate::values::at_most;
use crate::{ClientUsage, GeneratorRecord, hlog};

/// Whether the threads of one process ran.
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
    fn into_generator(self) -> Result<Generator, String> {
        let oversleep = hlog::decode(&self.oversleep)?;
        Ok(Generator { oversleep, stalls: self.stalls, workers: self.workers })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GeneratorPartFile {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<HostFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clock: Option<GeneratorClock>,
    first_client: usize,
    clients: usize,
    event_loops: usize,
    transactions: u64,
    failed_transactions: u64,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    latencies: String,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    lateness: String,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    start_delays: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<ClientUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generator: Option<GeneratorFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<GeneratorLoss>,
}

impl From<&GeneratorRecord> for GeneratorPartFile {
    fn from(record: &GeneratorRecord) -> Self {
        Self {
            name: record.name.clone(),
            host: record.host.clone(),
            clock: record.clock,
            first_client: record.clients.start,
            clients: record.clients.len(),
            event_loops: record.workers,
            transactions: record.transactions,
            failed_transactions: record.failed_transactions,
            latencies: hlog::encode(&record.latencies),
            lateness: hlog::encode(&record.lateness),
            start_delays: hlog::encode(&record.start_delays),
            usage: record.usage,
            generator: record.generator.as_ref().map(GeneratorFile::from),
            lost: record.lost.clone(),
        }
    }
}

impl GeneratorPartFile {
    fn into_record(self) -> Result<GeneratorRecord, String> {
        let end = self.first_client.checked_add(self.clients);
        let end = end.ok_or("a generator has more clients than can be counted")?;
        Ok(GeneratorRecord {
            name: self.name,
            host: self.host,
            clock: self.clock,
            clients: self.first_client..end,
            workers: self.event_loops,
            transactions: self.transactions,
            failed_transactions: self.failed_transactions,
            latencies: hlog::decode(&self.latencies)?,
            lateness: hlog::decode(&self.lateness)?,
            start_delays: hlog::decode(&self.start_delays)?,
            generator: self.generator.map(GeneratorFile::into_generator).transpose()?,
            usage: self.usage,
            lost: self.lost,
        })
    }
}

/// The generators of a trial: the threads of the run's own process, or several parts of the load.
pub(super) fn into_generators(
    lone: Option<GeneratorFile>,
    parts: Vec<GeneratorPartFile>,
) -> Result<Vec<GeneratorRecord>, String> {
    at_most("generators", parts.len(), GENERATORS_MAX)?;
    if parts.is_empty() {
        let lone = lone.map(GeneratorFile::into_generator).transpose()?;
        return Ok(lone.map(GeneratorRecord::lone).into_iter().collect());
    }
    parts.into_iter().map(GeneratorPartFile::into_record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_with_impossible_numbers_are_refused() {
        let part = |first_client| {
            let part = GeneratorRecord { clients: 0..2, ..GeneratorRecord::default() };
            GeneratorPartFile { first_client, ..GeneratorPartFile::from(&part) }
        };
        assert_eq!(into_generators(None, vec![part(3)]).unwrap()[0].clients, 3..5);
        let error = into_generators(None, vec![part(usize::MAX)]).unwrap_err();
        assert_eq!(error, "a generator has more clients than can be counted");
        let many = (0..=GENERATORS_MAX).map(part).collect();
        let error = into_generators(None, many).unwrap_err();
        assert_eq!(error, "1025 generators, more than 1024");
    }
}
