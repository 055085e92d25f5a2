//! What data must satisfy, and whether it did.

/// One condition that a workload's data must satisfy, and what a check of it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its name, such as `3.3.2.1`.
    pub name: String,
    /// What it says, such as `W_YTD = sum(D_YTD)`.
    pub meaning: String,
    /// What was found.
    pub verdict: Verdict,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not, and where.
    Broken(String),
    /// It cannot be known, and why.
    Unknown(String),
}

impl Condition {
    /// Where it is broken, if it is.
    pub fn broken(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Broken(place) => Some(place),
            Verdict::Holds | Verdict::Unknown(_) => None,
        }
    }
}
