//! trial.json.

use std::mem;
use std::time::Duration;

use jiff::Timestamp;
use measure::{
    Condition, ErrorClass, Failure, Operation, OperationKind, Outage, Phase, Rules, Unfinished,
    nanos,
};
use plan::{Arrivals, Rate, RateStep};
use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::cross_check::CrossCheckFile;
use super::mirror::mirror;
use super::rules::{ConditionFile, RulesFile, rules_file};
use crate::{
    ClientRecord, ClientUsage, CrossCheck, FORMAT_VERSION, Identity, LoadRecord, OpenRecord,
    PhaseRecord, TrialEnd, TrialHeader, TrialRecord, TrialStatus, VariantRecord, WorkloadRecord,
    hlog,
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrialFile {
    format: String,
    version: u32,
    index: usize,
    system: SystemFile,
    workload: WorkloadFile,
    operations: Vec<OperationFile>,
    clients: usize,
    repetition: u32,
    load: LoadFile,
    phases: Vec<PhaseFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outages: Vec<OutageFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionFile>,
    end: Option<EndFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SystemFile {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<VariantFile>,
    product: String,
    version: String,
    build: Option<String>,
    storage: String,
    is_embedded: bool,
    settings: Vec<SettingFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct VariantFile {
    of: String,
    name: String,
    place: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct SettingFile {
    name: String,
    value: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct WorkloadFile {
    name: String,
    kind: String,
    description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<RulesFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OperationFile {
    name: String,
    kind: KindName,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    Transaction,
    Read,
    Write,
    Other,
}

#[derive(Debug, Serialize, Deserialize)]
struct LoadFile {
    description: String,
    threads: usize,
    think_time_ns: u64,
    interval_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OpenFile {
    rate_per_s: f64,
    arrivals: String,
    backlog_max: u64,
    steps: Vec<StepFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StepFile {
    length_ns: u64,
    from_per_s: f64,
    to_per_s: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct PhaseFile {
    phase: String,
    started: Timestamp,
    duration_ns: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    loaded_again: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde lends the field")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
struct EndFile {
    status: StatusName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    measure_started: Option<Timestamp>,
    measure_ended: Option<Timestamp>,
    unfinished: UnfinishedFile,
    /// As in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    lateness: String,
    /// As in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    idle_round_trips: String,
    /// Where the trial's outages stood when only its end told them.
    #[serde(default, skip_serializing)]
    outages: Vec<OutageFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cross_check: Option<CrossCheckFile>,
    usage: Option<UsageFile>,
    clients: Vec<ClientFile>,
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
    /// As in latency.hlog; empty when there are none.
    latencies: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct OutageFile {
    start_ns: u64,
    end_ns: Option<u64>,
    failures: u64,
    reconnects: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct UsageFile {
    user_ns: u64,
    system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    peak_rss_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ClientFile {
    events: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FailureFile {
    class: String,
    code: String,
    message: String,
}

impl From<&TrialRecord> for TrialFile {
    fn from(record: &TrialRecord) -> Self {
        let header = &record.header;
        Self {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            index: header.index,
            system: system_file(header),
            workload: WorkloadFile {
                name: header.workload.name.clone(),
                kind: header.workload.kind.clone(),
                description: header.workload.description.clone(),
                rules: rules_file(&header.workload.rules),
            },
            operations: header.operations.iter().map(OperationFile::from).collect(),
            clients: header.clients,
            repetition: header.repetition,
            load: LoadFile {
                description: header.load.description.clone(),
                threads: header.load.threads,
                think_time_ns: nanos(header.load.think_time),
                interval_ns: nanos(header.load.interval),
                open: header.load.open.as_ref().map(OpenFile::from),
            },
            phases: record.phases.iter().map(PhaseFile::from).collect(),
            outages: record.outages.iter().copied().map(OutageFile::from).collect(),
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
        variant: header.variant.clone().map(VariantFile::from),
        product,
        version,
        build,
        storage,
        is_embedded,
        settings,
    }
}

impl From<&OpenRecord> for OpenFile {
    fn from(open: &OpenRecord) -> Self {
        let step = |step: &RateStep| StepFile {
            length_ns: nanos(step.length),
            from_per_s: step.from_per_s,
            to_per_s: step.to_per_s,
        };
        Self {
            rate_per_s: open.rate_per_s,
            arrivals: open.arrivals.name().to_owned(),
            backlog_max: open.backlog_max,
            steps: open.rate.steps().iter().map(step).collect(),
        }
    }
}

impl OpenFile {
    fn into_record(self) -> Result<OpenRecord, String> {
        let step = |step: StepFile| RateStep {
            length: Duration::from_nanos(step.length_ns),
            from_per_s: step.from_per_s,
            to_per_s: step.to_per_s,
        };
        let rate = Rate::of(self.steps.into_iter().map(step).collect());
        Ok(OpenRecord {
            rate: rate.ok_or("an open loop has no steps")?,
            rate_per_s: self.rate_per_s,
            arrivals: Arrivals::from_name(&self.arrivals)
                .ok_or_else(|| format!("`{}` is no spread of arrivals", self.arrivals))?,
            backlog_max: self.backlog_max,
        })
    }
}

impl From<&Operation> for OperationFile {
    fn from(operation: &Operation) -> Self {
        let kind = match operation.kind {
            OperationKind::Transaction => KindName::Transaction,
            OperationKind::Read => KindName::Read,
            OperationKind::Write => KindName::Write,
            OperationKind::Other => KindName::Other,
        };
        Self { name: operation.name.clone(), kind }
    }
}

impl From<OperationFile> for Operation {
    fn from(file: OperationFile) -> Self {
        let kind = match file.kind {
            KindName::Transaction => OperationKind::Transaction,
            KindName::Read => OperationKind::Read,
            KindName::Write => OperationKind::Write,
            KindName::Other => OperationKind::Other,
        };
        Self { name: file.name, kind }
    }
}

impl From<&PhaseRecord> for PhaseFile {
    fn from(record: &PhaseRecord) -> Self {
        Self {
            phase: record.phase.name().to_owned(),
            started: record.started,
            duration_ns: nanos(record.duration),
            loaded_again: record.loaded_again,
        }
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
            usage: end.usage.map(UsageFile::from),
            clients: end.clients.iter().map(ClientFile::from).collect(),
        }
    }
}

mirror!(Outage, OutageFile, start_ns, end_ns, failures, reconnects);
mirror!(VariantRecord, VariantFile, of, name, place);
mirror!(
    ClientUsage,
    UsageFile,
    user_ns,
    system_ns,
    voluntary_switches,
    involuntary_switches,
    peak_rss_bytes
);

impl From<&ClientRecord> for ClientFile {
    fn from(client: &ClientRecord) -> Self {
        let failure = client.failure.as_ref().map(|failure| FailureFile {
            class: failure.key.class.name().to_owned(),
            code: failure.key.code.clone(),
            message: failure.message.clone(),
        });
        Self { events: client.events, failure }
    }
}

impl TrialFile {
    /// Whether the trial came to its end.
    pub(crate) fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.status == StatusName::Complete)
    }

    /// The trial without its intervals, or what is wrong with it.
    pub(crate) fn into_record(mut self) -> Result<TrialRecord, String> {
        let phases =
            self.phases.into_iter().map(PhaseFile::into_record).collect::<Result<_, _>>()?;
        let of_end = self.end.as_mut().map(|end| mem::take(&mut end.outages)).unwrap_or_default();
        let outages = self.outages.into_iter().chain(of_end).map(Outage::from).collect();
        let conditions = self.conditions.into_iter().map(Condition::from).collect();
        let end = self.end.map(EndFile::into_end).transpose()?;
        let settings = self.system.settings.into_iter().map(|s| (s.name, s.value)).collect();
        let header = TrialHeader {
            index: self.index,
            system: self.system.name,
            variant: self.system.variant.map(VariantRecord::from),
            identity: Identity {
                product: self.system.product,
                version: self.system.version,
                build: self.system.build,
                storage: self.system.storage,
                settings,
            },
            is_embedded: self.system.is_embedded,
            workload: WorkloadRecord {
                name: self.workload.name,
                kind: self.workload.kind,
                description: self.workload.description,
                rules: self.workload.rules.map(Rules::from).unwrap_or_default(),
            },
            operations: self.operations.into_iter().map(Operation::from).collect(),
            clients: self.clients,
            repetition: self.repetition,
            load: LoadRecord {
                description: self.load.description,
                threads: self.load.threads,
                think_time: Duration::from_nanos(self.load.think_time_ns),
                interval: Duration::from_nanos(self.load.interval_ns),
                open: self.load.open.map(OpenFile::into_record).transpose()?,
            },
        };
        Ok(TrialRecord { phases, outages, conditions, end, ..TrialRecord::new(header) })
    }
}

impl PhaseFile {
    fn into_record(self) -> Result<PhaseRecord, String> {
        let phase = Phase::from_name(&self.phase)
            .ok_or_else(|| format!("`{}` is no phase of a trial", self.phase))?;
        let duration = Duration::from_nanos(self.duration_ns);
        let Self { started, loaded_again, .. } = self;
        Ok(PhaseRecord { phase, started, duration, loaded_again })
    }
}

impl EndFile {
    fn into_end(self) -> Result<TrialEnd, String> {
        let clients =
            self.clients.into_iter().map(ClientFile::into_record).collect::<Result<_, _>>()?;
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
            clients,
            unfinished: Unfinished {
                latencies: hlog::decode(&self.unfinished.latencies)?,
                unanswered: self.unfinished.unanswered,
            },
            lateness: hlog::decode(&self.lateness)?,
            idle_round_trips: hlog::decode(&self.idle_round_trips)?,
            cross_check: self.cross_check.map(CrossCheck::from),
            usage: self.usage.map(ClientUsage::from),
        })
    }
}

impl ClientFile {
    fn into_record(self) -> Result<ClientRecord, String> {
        let failure = self.failure.map(FailureFile::into_failure).transpose()?;
        Ok(ClientRecord { events: self.events, failure })
    }
}

impl FailureFile {
    fn into_failure(self) -> Result<Failure, String> {
        let class = ErrorClass::from_name(&self.class)
            .ok_or_else(|| format!("`{}` is no class of errors", self.class))?;
        Ok(Failure::new(class, self.code, self.message))
    }
}
