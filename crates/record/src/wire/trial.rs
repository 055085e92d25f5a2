//! trial.json.

use jiff::Timestamp;
use measure::{
    Ceiling, Condition, DecidedEnds, FailureExamples, FirstExecutions, MemberExit, Operation,
    Outage, Phase, QueryPlan, TimedTurn, Why,
};
use serde::{Deserialize, Serialize};

use super::cross_check::CrossCheckFile;
use super::edges::EdgesFile;
use super::generator::{GeneratorFile, GeneratorPartFile, into_generators};
use super::head::FORMAT;
use crate::values::{at_most, is_default};
use crate::{
    ClientRecord, ClientUsage, CrossCheck, FORMAT_VERSION, Identity, LoadRecord, PhaseRecord,
    ProbeRecord, TrialEnd, TrialHeader, TrialRecord, TrialStatus, VariantRecord, WorkloadRecord,
    hlog,
};

/// A trial with more trials, repetitions, windows or probes before it is refused.
const BEFORE_MAX: usize = 1_000_000_000;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe: Option<ProbeRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    beside: Vec<String>,
    phases: Vec<PhaseRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outages: Vec<Outage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    member_exits: Vec<MemberExit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceiling: Option<Ceiling>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plans: Vec<QueryPlan>,
    /// How many lines `intervals.jsonl` has; from the trial's end on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval_lines: Option<u64>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_executions: Option<FirstExecutions>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_phase: Option<Phase>,
    measure_started: Option<Timestamp>,
    measure_ended: Option<Timestamp>,
    edges: EdgesFile,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    lateness: String,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    start_delays: String,
    /// Encoded as in latency.hlog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    idle_round_trips: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cross_check: Option<CrossCheckFile>,
    usage: Option<ClientUsage>,
    /// Where the process of the run offered the whole load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generator: Option<GeneratorFile>,
    /// Where several processes, or those of other hosts, offered it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    generators: Vec<GeneratorPartFile>,
    #[serde(default, skip_serializing_if = "is_default")]
    decided_ends: DecidedEnds,
    clients: Vec<ClientRecord>,
    #[serde(default, skip_serializing_if = "FailureExamples::is_empty")]
    failures: FailureExamples,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<TimedTurn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StatusName {
    Complete,
    Interrupted,
    Failed,
    Crashed,
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
            probe: header.probe,
            window: header.window,
            beside: header.beside.clone(),
            phases: record.phases.clone(),
            outages: record.outages.clone(),
            member_exits: record.member_exits.clone(),
            conditions: record.conditions.clone(),
            ceiling: record.ceiling.clone(),
            why: record.why.clone(),
            plans: record.plans.clone(),
            interval_lines: None,
            end: record.end.as_ref().map(EndFile::from),
        }
    }
}

fn system_file(header: &TrialHeader) -> SystemFile {
    let Identity { product, version, build, storage, settings, remarks, first_executions } =
        header.identity.clone();
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
        remarks,
        first_executions,
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
            failed_phase: end.failed_phase,
            measure_started: end.measure_started,
            measure_ended: end.measure_ended,
            edges: EdgesFile::from(&end.edges),
            lateness: hlog::encode(&end.lateness),
            start_delays: hlog::encode(&end.start_delays),
            idle_round_trips: hlog::encode(&end.idle_round_trips),
            cross_check: end.cross_check.as_ref().map(CrossCheckFile::from),
            usage: end.usage,
            generator: end.lone_generator().map(GeneratorFile::from),
            generators: end.generator_parts().iter().map(GeneratorPartFile::from).collect(),
            decided_ends: end.decided_ends,
            clients: end.clients.clone(),
            failures: end.failures.clone(),
            turns: end.turns.clone(),
        }
    }
}

impl TrialFile {
    /// How many lines `intervals.jsonl` has, if the trial has ended.
    pub(crate) fn interval_lines(&self) -> Option<u64> {
        self.interval_lines
    }

    /// The file of a trial with so many lines of intervals until now.
    pub(crate) fn with_interval_lines(mut self, lines: u64) -> Self {
        self.interval_lines = self.end.is_some().then_some(lines);
        self
    }

    /// The trial without its intervals, or a description of the error.
    pub(crate) fn into_record(self) -> Result<TrialRecord, String> {
        at_most("operations", self.operations.len(), 10_000)?;
        at_most("conditions", self.conditions.len(), 5_000)?;
        at_most("servers that exited", self.member_exits.len(), 5_000)?;
        let Self { index, repetition, window, probe, .. } = &self;
        at_most("trials before it", *index, BEFORE_MAX)?;
        at_most("repetitions before it", *repetition as usize, BEFORE_MAX)?;
        at_most("windows before it", window.unwrap_or(0) as usize, BEFORE_MAX)?;
        at_most("probes before it", probe.map_or(0, |probe| probe.number), BEFORE_MAX)?;
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
                remarks: self.system.remarks,
                first_executions: self.system.first_executions,
            },
            is_embedded: self.system.is_embedded,
            workload: self.workload,
            operations: self.operations,
            clients: self.clients,
            repetition: self.repetition,
            load: self.load,
            probe: self.probe,
            window: self.window,
            beside: self.beside,
        };
        Ok(TrialRecord {
            phases: self.phases,
            outages: self.outages,
            member_exits: self.member_exits,
            conditions: self.conditions,
            ceiling: self.ceiling,
            why: self.why,
            plans: self.plans,
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
            failures: self.failures,
            turns: self.turns,
            edges: self.edges.into_edges()?,
            lateness: hlog::decode(&self.lateness)?,
            start_delays: hlog::decode(&self.start_delays)?,
            idle_round_trips: hlog::decode(&self.idle_round_trips)?,
            cross_check: self.cross_check.map(CrossCheck::from),
            usage: self.usage,
            generators: into_generators(self.generator, self.generators)?,
            decided_ends: self.decided_ends,
            failed_phase: self.failed_phase,
        })
    }
}
