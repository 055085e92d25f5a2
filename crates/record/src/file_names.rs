//! Names of the files of a trial.

/// The file of a trial's intervals.
pub(crate) const INTERVALS: &str = "intervals.jsonl";
/// The file of everything else of a trial.
pub(crate) const TRIAL: &str = "trial.json";
