//! Names of the files of a run and of its trials.

/// The file of the files that the plan names.
pub(crate) const PLAN_FILES: &str = "plan-files.json";
/// The file of a trial's intervals.
pub(crate) const INTERVALS: &str = "intervals.jsonl";
/// The file of everything else of a trial.
pub(crate) const TRIAL: &str = "trial.json";
