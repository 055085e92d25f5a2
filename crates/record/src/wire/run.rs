//! run.json and plan-files.json.

use std::path::PathBuf;

use jiff::Timestamp;
use measure::RoundsRule;
use plan::FailIf;
use serde::{Deserialize, Serialize};

use super::head::FORMAT;
use crate::values::at_most;
use crate::{Dyno, Environment, FORMAT_VERSION, PlanFile, RunHeader, RunStatus, SeekRecord};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunFile {
    format: String,
    version: u32,
    status: StatusName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    started: Timestamp,
    ended: Option<Timestamp>,
    plan: PlanPart,
    command: String,
    percentiles: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fail_if: Vec<FailIf>,
    least_difference: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seek: Option<SeekRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    windows: Option<u32>,
    rounds: Option<RoundsRule>,
    seed: u64,
    trials_planned: usize,
    dyno: Dyno,
    environment: Environment,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanFilesFile {
    format: String,
    version: u32,
    pub(crate) files: Vec<PlanFile>,
}

impl PlanFilesFile {
    pub(crate) fn of(files: &[PlanFile]) -> Self {
        Self { format: FORMAT.to_owned(), version: FORMAT_VERSION, files: files.to_vec() }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct PlanPart {
    name: String,
    title: Option<String>,
    origin: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StatusName {
    Running,
    Complete,
    Interrupted,
    Failed,
}

impl RunFile {
    pub(crate) fn new(header: &RunHeader, status: &RunStatus, ended: Option<Timestamp>) -> Self {
        let (status, reason) = match status {
            RunStatus::Complete => (StatusName::Complete, None),
            RunStatus::Interrupted => (StatusName::Interrupted, None),
            RunStatus::Failed(_) => (StatusName::Failed, status.reason().map(plan::scrub)),
            RunStatus::Running | RunStatus::Cut => (StatusName::Running, None),
        };
        let RunHeader { dyno, environment, .. } = header.clone();
        Self {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            status,
            reason,
            started: header.started,
            ended,
            plan: PlanPart {
                name: header.plan_name.clone(),
                title: header.title.clone(),
                origin: header.plan_origin.clone(),
            },
            command: header.command.clone(),
            percentiles: header.percentiles.clone(),
            fail_if: header.fail_if.clone(),
            least_difference: header.least_difference,
            seek: header.seek.clone(),
            windows: header.windows,
            rounds: header.rounds,
            seed: header.seed,
            trials_planned: header.trials_planned,
            dyno: Dyno { version: dyno.version, build: dyno.build },
            environment,
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        at_most("percentiles", self.percentiles.len(), plan::PERCENTILES_MAX)?;
        at_most("bounds", self.fail_if.len(), plan::FAIL_IF_MAX)
    }

    pub(crate) fn ended(&self) -> Option<Timestamp> {
        self.ended
    }

    /// The status in the file; `is_written` is whether a writer still holds the run's lock.
    pub(crate) fn status(&self, is_written: bool) -> RunStatus {
        match self.status {
            StatusName::Running if is_written => RunStatus::Running,
            StatusName::Running => RunStatus::Cut,
            StatusName::Complete => RunStatus::Complete,
            StatusName::Interrupted => RunStatus::Interrupted,
            StatusName::Failed => RunStatus::Failed(self.reason.clone().unwrap_or_default()),
        }
    }

    pub(crate) fn into_header(self, plan_text: String, files: Vec<PlanFile>) -> RunHeader {
        RunHeader {
            plan_name: self.plan.name,
            title: self.plan.title,
            plan_origin: self.plan.origin,
            plan_text,
            files,
            command: self.command,
            started: self.started,
            environment: self.environment,
            percentiles: self.percentiles,
            fail_if: self.fail_if,
            least_difference: self.least_difference,
            seek: self.seek,
            windows: self.windows,
            rounds: self.rounds,
            seed: self.seed,
            dyno: self.dyno,
            trials_planned: self.trials_planned,
        }
    }

    pub(crate) fn summary(&self, folder: PathBuf, is_written: bool) -> crate::RunSummary {
        crate::RunSummary {
            folder,
            plan_name: self.plan.name.clone(),
            title: self.plan.title.clone(),
            started: self.started,
            ended: self.ended,
            status: self.status(is_written),
        }
    }
}
