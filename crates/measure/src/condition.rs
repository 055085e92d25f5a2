//! Conditions that data must satisfy, and the results of checking them.

/// One condition that a workload's data must satisfy, and what a check of it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its name, such as `3.3.2.1`.
    pub name: String,
    /// The condition itself, such as `W_YTD = sum(D_YTD)`.
    pub meaning: String,
    /// The result of the check.
    pub verdict: ConditionResult,
}

/// The result of checking one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionResult {
    /// It holds.
    Holds,
    /// It does not hold, and where.
    Broken(String),
    /// It could not be checked, and why.
    Unknown(String),
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
