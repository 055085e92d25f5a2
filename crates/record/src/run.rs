//! A run in the record.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use measure::{ProbeFacts, RoundsRule, SeekBound, SeekOver, SeekRange};
use plan::FailIf;
use serde::{Deserialize, Serialize};

use crate::values::nanos;
use crate::{Damage, Environment, PlanFile, TrialRecord};

/// The facts about a run that are known before its first trial.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// The plan's name; the folder's name contains it.
    pub plan_name: String,
    pub title: Option<String>,
    pub plan_origin: String,
    /// The plan as given, without its secrets (`Source::scrubbed`).
    pub plan_text: String,
    /// The files that the plan's workloads name.
    pub files: Vec<PlanFile>,
    /// The command line that repeats the run, without its secrets, quoted for a shell.
    pub command: String,
    /// When the run began, by the wall clock.
    pub started: Timestamp,
    pub environment: Environment,
    /// Percentiles in tables, 0 to 100, ascending.
    pub percentiles: Vec<f64>,
    /// The bounds at which the run fails, at each of its loads.
    pub fail_if: Vec<FailIf>,
    /// The least relative difference between variants that matters.
    pub least_difference: f64,
    /// The search for the highest load that keeps bounds; `None` when the loads are fixed.
    pub seek: Option<SeekRecord>,
    /// The number of windows of each variant in each round, under each load; `None` where variants are measured one
    /// after the other.
    pub windows: Option<u32>,
    /// When the rounds of variants end by themselves; `None` when their number was set.
    pub rounds: Option<RoundsRule>,
    /// The seed that every random choice came from.
    pub seed: u64,
    pub dyno: Dyno,
    /// Number of planned trials; while results decide it, the most that there can be. The windows of one variant, round
    /// and load count as one.
    pub trials_planned: usize,
}

/// Summary of a run, for lists of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its folder.
    pub folder: PathBuf,
    /// The plan's name.
    pub plan_name: String,
    /// The plan's title.
    pub title: Option<String>,
    /// When it began, by the wall clock.
    pub started: Timestamp,
    /// When it ended; `None` when it was cut short or still runs.
    pub ended: Option<Timestamp>,
    /// How it ended.
    pub status: RunStatus,
}

/// A search for the highest load that keeps bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekRecord {
    /// The bounds; all of them are kept.
    pub bounds: Vec<SeekBound>,
    /// The loads, and when the search ends.
    #[serde(flatten)]
    pub range: SeekRange,
    #[serde(rename = "probe_time_ns", with = "nanos")]
    pub probe_time: Duration,
    /// Measured time of a trial that confirms the result.
    #[serde(rename = "confirm_time_ns", with = "nanos")]
    pub confirm_time: Duration,
}

impl SeekRecord {
    /// The load of a trial, as the seek varies it: clients, or arrivals a second.
    pub fn load(&self, trial: &TrialRecord) -> f64 {
        match self.range.over {
            SeekOver::Clients => trial.header.clients as f64,
            SeekOver::Rate => trial.header.load.open.as_ref().map_or(0.0, |open| open.rate_per_s),
        }
    }

    /// What the seek needs to know of a trial: the run decides on the next load by it, and a report repeats that.
    /// `None` unless it is a [result of a probe](TrialRecord::is_probe_result).
    pub fn facts<'a>(&self, trial: &'a TrialRecord) -> Option<ProbeFacts<'a>> {
        let (probe, end) = trial.header.probe.zip(trial.end.as_ref())?;
        trial.is_probe_result().then(|| ProbeFacts {
            load: self.load(trial),
            is_confirming: probe.is_confirming,
            operations: &trial.header.operations,
            total: &trial.total,
            edges: &end.edges,
            seconds: trial.seconds(),
            status: &end.status,
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dyno {
    pub version: String,
    /// Its build: commit, profile, target; empty when not known.
    pub build: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Every planned trial was done.
    Complete,
    /// The user ended the run.
    Interrupted,
    /// The run could not continue, with the reason; or trials have failed, and the reason is empty: each of them has its
    /// own.
    Failed(String),
    /// The run is still being written.
    Running,
    /// The record ends without a status: dyno or the machine crashed. At most the current interval is lost.
    Cut,
}

/// A run that was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub folder: PathBuf,
    /// The facts from before the first trial.
    pub header: RunHeader,
    /// Why the copy of the plan cannot be read, or not as it was written.
    pub plan_damage: Option<Damage>,
    /// Its trials in the order in which they ran; a window is a trial of its own.
    pub trials: Vec<TrialRecord>,
    pub status: RunStatus,
    /// When it ended, by the wall clock; `None` when it was cut short or still runs.
    pub ended: Option<Timestamp>,
}

impl Run {
    /// The plan as views show it: its text or, where there is none, why it cannot be read.
    pub fn shown_plan(&self) -> String {
        match &self.plan_damage {
            Some(damage) if self.header.plan_text.is_empty() => damage.to_string(),
            _ => self.header.plan_text.clone(),
        }
    }

    /// Whether both are records of one run, such as copies: no two runs begin in the same nanosecond on one machine.
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.folder == other.folder || self.header == other.header
    }

    /// How many trials the run was to have; the results of a seek decide that, and those of rounds that end by themselves.
    pub fn trials_planned(&self) -> usize {
        let RunHeader { seek, rounds, trials_planned, .. } = &self.header;
        let is_decided = seek.is_some() || rounds.is_some();
        if is_decided { self.trials.len() } else { *trials_planned }
    }

    pub fn trials_done(&self) -> usize {
        self.trials.iter().filter(|trial| trial.is_done()).count()
    }
}

impl RunStatus {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
            Self::Running => "running",
            Self::Cut => "cut",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed(reason) if !reason.is_empty() => Some(reason),
            _ => None,
        }
    }
}
