//! Conditions that data and answers must satisfy, and the results of checking them.

use serde::{Deserialize, Serialize};

/// One condition that a workload's data or its answers must satisfy, and what a check of it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    #[serde(default, skip_serializing_if = "ConditionSubject::is_data")]
    pub about: ConditionSubject,
    /// Its name, such as `3.3.2.1` or `Q14`.
    pub name: String,
    /// The condition itself, such as `W_YTD = sum(D_YTD)`.
    pub meaning: String,
    #[serde(flatten)]
    pub verdict: ConditionResult,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionSubject {
    #[default]
    Data,
    Answer,
    /// The answer to a query, which is the same on every system.
    SameAnswer,
}

/// The result of checking one condition; in files its name, and the text of it apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "detail", rename_all = "kebab-case")]
pub enum ConditionResult {
    Holds,
    /// It does not hold, and where.
    Broken(String),
    /// It could not be checked, and why.
    Unknown(String),
}

impl ConditionSubject {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_data(&self) -> bool {
        *self == Self::Data
    }

    /// Whether it is about answers, and not about data.
    pub fn is_answer(self) -> bool {
        self != Self::Data
    }
}

impl Condition {
    /// Where the condition is violated, if it is.
    pub fn broken(&self) -> Option<&str> {
        match &self.verdict {
            ConditionResult::Broken(place) => Some(place),
            ConditionResult::Holds | ConditionResult::Unknown(_) => None,
        }
    }
}
