//! Whether a trial can be believed: one verdict that follows from all findings about it.

use crate::{Finding, Severity};

/// Whether the figures of a trial are those of the system under test, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    #[default]
    Valid,
    /// They may mislead.
    Doubtful,
    /// They are missing, or are not those of the system.
    Invalid,
}

impl Validity {
    /// The verdict on a trial with these findings: that of the most serious one.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let of_each = findings.into_iter().map(|finding| match finding.code.severity() {
            Severity::Invalid => Self::Invalid,
            Severity::Doubtful => Self::Doubtful,
            Severity::Note => Self::Valid,
        });
        of_each.max().unwrap_or(Self::Valid)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Doubtful => "doubtful",
            Self::Invalid => "invalid",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn validity(codes: &[Code]) -> Validity {
        let findings: Vec<Finding> = codes.iter().map(|code| Finding::new(*code)).collect();
        Validity::of(&findings)
    }

    #[test]
    fn the_most_serious_finding_decides() {
        assert_eq!(validity(&[]), Validity::Valid);
        assert_eq!(validity(&[Code::Retries, Code::FewValues]), Validity::Valid);
        assert_eq!(validity(&[Code::Retries, Code::Trend]), Validity::Doubtful);
        assert_eq!(validity(&[Code::ClientSaturated, Code::Trend]), Validity::Invalid);
    }

    #[test]
    fn what_does_not_touch_the_figures_of_a_trial_is_a_note() {
        for code in
            [Code::MemberNotWatched, Code::WorkloadRemark, Code::ServerGaps, Code::LoadUneven]
        {
            assert_eq!(code.severity(), Severity::Note, "{code:?}");
        }
    }
}
