//! trial.json.

use std::mem;

use jiff::Timestamp;
use measure::{Condition, Operation, Outage, Unfinished};
use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::condition::ConditionFile;
use super::cross_check::CrossCheckFile;
use crate::{
    ClientRecord, ClientUsage, CrossCheck, FORMAT_VERSION, Identity, LoadRecord, PhaseRecord,
    TrialEnd, TrialHeader, TrialRecord, TrialStatus, VariantRecord, WorkloadRecord, hlog,
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrialFile {
    format: String,
    version: u32,
    index: usize,
    system: SystemFile,
    workload: WorkloadRecord,
    operations: Vec<Operation>,
    clients: usize,
    repetition: u32,
    load: LoadRecord,
    phases: Vec<PhaseRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outages: Vec<Outage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionFile>,
    end: Option<EndFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SystemFile {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<VariantRecord>,
    product: String,
    version: String,
    build: Option<String>,
    storage: String,
    is_embedded: bool,
    settings: Vec<SettingFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SettingFile {
    name: String,
    value: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct EndFile {
    status: StatusName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    measure_started: Option<Timestamp>,
    measure_ended: Option<Timestamp>,
    unfinished: UnfinishedFile,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    lateness: String,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    idle_round_trips: String,
    /// Older records have the outages here, at the trial's end.
    #[serde(default, skip_serializing)]
    outages: Vec<Outage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cross_check: Option<CrossCheckFile>,
    usage: Option<ClientUsage>,
    clients: Vec<ClientRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StatusName {
    Complete,
    Interrupted,
    Failed,
    Crashed,
}

#[derive(Debug, Serialize, Deserialize)]
struct UnfinishedFile {
    requests: u64,
    unanswered: u64,
    longest_ns: u64,
    /// Encoded as in latency.hlog; empty when there are no values.
    latencies: String,
}

impl From<&TrialRecord> for TrialFile {
    fn from(record: &TrialRecord) -> Self {
        let header = &record.header;
        Self {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            index: header.index,
            system: system_file(header),
            workload: header.workload.clone(),
            operations: header.operations.clone(),
            clients: header.clients,
            repetition: header.repetition,
            load: header.load.clone(),
            phases: record.phases.clone(),
            outages: record.outages.clone(),
            conditions: record.conditions.iter().map(ConditionFile::from).collect(),
            end: record.end.as_ref().map(EndFile::from),
        }
    }
}

fn system_file(header: &TrialHeader) -> SystemFile {
    let Identity { product, version, build, storage, settings } = header.identity.clone();
    let settings = settings.into_iter().map(|(name, value)| SettingFile { name, value }).collect();
    let is_embedded = header.is_embedded;
    SystemFile {
        name: header.system.clone(),
        variant: header.variant.clone(),
        product,
        version,
        build,
        storage,
        is_embedded,
        settings,
    }
}

impl From<&TrialEnd> for EndFile {
    fn from(end: &TrialEnd) -> Self {
        let (status, reason) = match &end.status {
            TrialStatus::Complete => (StatusName::Complete, None),
            TrialStatus::Interrupted => (StatusName::Interrupted, None),
            TrialStatus::Failed(reason) => (StatusName::Failed, Some(reason.clone())),
            TrialStatus::Crashed(reason) => (StatusName::Crashed, Some(reason.clone())),
        };
        Self {
            status,
            reason,
            measure_started: end.measure_started,
            measure_ended: end.measure_ended,
            unfinished: UnfinishedFile {
                requests: end.unfinished.latencies.count(),
                unanswered: end.unfinished.unanswered,
                longest_ns: end.unfinished.longest_ns(),
                latencies: hlog::encode(&end.unfinished.latencies),
            },
            lateness: hlog::encode(&end.lateness),
            idle_round_trips: hlog::encode(&end.idle_round_trips),
            outages: Vec::new(),
            cross_check: end.cross_check.as_ref().map(CrossCheckFile::from),
            usage: end.usage,
            clients: end.clients.clone(),
        }
    }
}

impl TrialFile {
    /// Whether the trial completed.
    pub(crate) fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.status == StatusName::Complete)
    }

    /// The trial without its intervals, or a description of the error.
    pub(crate) fn into_record(mut self) -> Result<TrialRecord, String> {
        let of_end = self.end.as_mut().map(|end| mem::take(&mut end.outages)).unwrap_or_default();
        let outages = self.outages.into_iter().chain(of_end).collect();
        let conditions = self.conditions.into_iter().map(Condition::from).collect();
        let end = self.end.map(EndFile::into_end).transpose()?;
        let settings = self.system.settings.into_iter().map(|s| (s.name, s.value)).collect();
        let header = TrialHeader {
            index: self.index,
            system: self.system.name,
            variant: self.system.variant,
            identity: Identity {
                product: self.system.product,
                version: self.system.version,
                build: self.system.build,
                storage: self.system.storage,
                settings,
            },
            is_embedded: self.system.is_embedded,
            workload: self.workload,
            operations: self.operations,
            clients: self.clients,
            repetition: self.repetition,
            load: self.load,
        };
        Ok(TrialRecord {
            phases: self.phases,
            outages,
            conditions,
            end,
            ..TrialRecord::new(header)
        })
    }
}

impl EndFile {
    fn into_end(self) -> Result<TrialEnd, String> {
        let status = match self.status {
            StatusName::Complete => TrialStatus::Complete,
            StatusName::Interrupted => TrialStatus::Interrupted,
            StatusName::Failed => TrialStatus::Failed(self.reason.unwrap_or_default()),
            StatusName::Crashed => TrialStatus::Crashed(self.reason.unwrap_or_default()),
        };
        Ok(TrialEnd {
            status,
            measure_started: self.measure_started,
            measure_ended: self.measure_ended,
            clients: self.clients,
            unfinished: Unfinished {
                latencies: hlog::decode(&self.unfinished.latencies)?,
                unanswered: self.unfinished.unanswered,
            },
            lateness: hlog::decode(&self.lateness)?,
            idle_round_trips: hlog::decode(&self.idle_round_trips)?,
            cross_check: self.cross_check.map(CrossCheck::from),
            usage: self.usage,
        })
    }
}
