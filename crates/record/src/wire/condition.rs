//! What was found of the conditions on a workload's data: its verdict and the detail apart.

use measure::{Condition, Verdict};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConditionFile {
    name: String,
    meaning: String,
    verdict: VerdictName,
    /// Where it is broken, or why it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum VerdictName {
    Holds,
    Broken,
    Unknown,
}

impl From<&Condition> for ConditionFile {
    fn from(condition: &Condition) -> Self {
        let (verdict, detail) = match &condition.verdict {
            Verdict::Holds => (VerdictName::Holds, String::new()),
            Verdict::Broken(place) => (VerdictName::Broken, place.clone()),
            Verdict::Unknown(reason) => (VerdictName::Unknown, reason.clone()),
        };
        Self { name: condition.name.clone(), meaning: condition.meaning.clone(), verdict, detail }
    }
}

impl From<ConditionFile> for Condition {
    fn from(file: ConditionFile) -> Self {
        let verdict = match file.verdict {
            VerdictName::Holds => Verdict::Holds,
            VerdictName::Broken => Verdict::Broken(file.detail),
            VerdictName::Unknown => Verdict::Unknown(file.detail),
        };
        Self { name: file.name, meaning: file.meaning, verdict }
    }
}
