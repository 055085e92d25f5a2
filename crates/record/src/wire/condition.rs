//! Result of a condition on a workload's data, with verdict and detail in separate fields.

use measure::{Condition, ConditionResult, ConditionSubject};
use serde::{Deserialize, Serialize};

use crate::values::is_default;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConditionFile {
    #[serde(default, skip_serializing_if = "is_default")]
    about: ConditionSubject,
    name: String,
    meaning: String,
    verdict: ConditionResultName,
    /// Where the condition is broken, or why the result is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ConditionResultName {
    Holds,
    Broken,
    Unknown,
}

impl From<&Condition> for ConditionFile {
    fn from(condition: &Condition) -> Self {
        let (verdict, detail) = match &condition.verdict {
            ConditionResult::Holds => (ConditionResultName::Holds, String::new()),
            ConditionResult::Broken(place) => (ConditionResultName::Broken, place.clone()),
            ConditionResult::Unknown(reason) => (ConditionResultName::Unknown, reason.clone()),
        };
        Self {
            about: condition.about,
            name: condition.name.clone(),
            meaning: condition.meaning.clone(),
            verdict,
            detail,
        }
    }
}

impl From<ConditionFile> for Condition {
    fn from(file: ConditionFile) -> Self {
        let verdict = match file.verdict {
            ConditionResultName::Holds => ConditionResult::Holds,
            ConditionResultName::Broken => ConditionResult::Broken(file.detail),
            ConditionResultName::Unknown => ConditionResult::Unknown(file.detail),
        };
        Self { about: file.about, name: file.name, meaning: file.meaning, verdict }
    }
}
