//! Whether a trial can be believed, and why not.

use analysis::{Code, Severity, Validity};

use super::{Digest, Point, Trial};

impl Digest<'_> {
    /// The worst verdict on the trials of a point; one that did not run to its end is not valid.
    pub(crate) fn validity_of(&self, point: &Point<'_>) -> Validity {
        let of_each = point.trials.iter().map(|at| self.trials[*at].validity());
        of_each.max().unwrap_or(Validity::Invalid)
    }
}

impl Trial<'_> {
    /// How the trial ended when it did not run to its end, and otherwise whether it is doubtful or invalid; empty for
    /// a valid one.
    pub(crate) fn remark(&self) -> &'static str {
        match (self.status(), self.validity()) {
            ("complete", Validity::Valid) => "",
            ("complete", validity) => validity.name(),
            (status, _) => status,
        }
    }

    /// Whether the figures can be believed. What a probe of a seek is for does not speak against it.
    pub(crate) fn validity(&self) -> Validity {
        let findings = self.findings.iter();
        Validity::of(findings.filter(|finding| !self.is_expected(finding.code)))
    }

    /// The findings that make the trial doubtful or invalid, by name, each once.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        let mut names = self.reason_codes().into_iter().map(Code::name).collect::<Vec<_>>();
        names.dedup();
        names
    }

    /// The same as codes, the most serious first.
    pub(crate) fn reason_codes(&self) -> Vec<Code> {
        let codes = self.findings.iter().map(|finding| finding.code);
        let is_reason = |code: &Code| code.severity() != Severity::Note && !self.is_expected(*code);
        let mut codes: Vec<Code> = codes.filter(is_reason).collect();
        codes.sort_by_key(|code| code.severity());
        codes
    }

    /// `valid`, or the verdict with its reasons: `doubtful: trend, retries`.
    pub(crate) fn validity_text(&self) -> String {
        let reasons = self.reasons();
        let name = self.validity().name();
        if reasons.is_empty() { name.to_owned() } else { format!("{name}: {}", reasons.join(", ")) }
    }

    /// Names of the findings that are more than notes.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        let codes = self.findings.iter().map(|finding| finding.code);
        codes.filter(|code| code.severity() != Severity::Note).map(Code::name).collect()
    }
}
