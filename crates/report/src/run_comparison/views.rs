//! The comparison as text for a terminal, as Markdown and as a page.

use super::RunComparison;
use super::blocks::{document, sections};
use super::thresholds::Check;
use super::thresholds::CheckResult;
use super::{Outcome, conclusion};
use crate::brief::Lines;
use crate::document::Weight;
use crate::number::several;
use crate::visible::visible;
use crate::{html, markdown, terminal};

/// Conclusions and thresholds of a brief view.
const CONCLUSIONS_MAX: usize = 6;
const CHECKS_MAX: usize = 12;

impl RunComparison<'_, '_> {
    /// For a terminal; with a width, no line is wider.
    pub fn text(&self, width: Option<usize>) -> String {
        let all = terminal::sections(&sections(self), Weight::Report, width);
        format!("{}\n", visible(all.trim_end()))
    }

    /// As a page.
    pub fn html(&self) -> String {
        html::page(&document(self))
    }

    /// In at most 25 lines of Markdown, the verdict first: for a pull request.
    pub fn brief(&self) -> String {
        let count =
            |wanted: CheckResult| self.checks.iter().filter(|check| check.result == wanted).count();
        let [crossed, undecided] = [CheckResult::Crossed, CheckResult::NotDecided].map(count);
        let all = several(self.checks.len() as u64, "threshold", "thresholds");
        let verdict = match self.outcome() {
            _ if self.checks.is_empty() => "Compared".to_owned(),
            Outcome::Failed => {
                format!("Failed: of {all}, {crossed} crossed, {undecided} not decided")
            }
            Outcome::Passed => format!("Passed: of {all}, none crossed, {undecided} not decided"),
        };
        let mut out = Lines::new(&verdict, "candidate to baseline");
        let conclusions = conclusion::all(self);
        let told: Vec<String> = conclusions.iter().map(|it| it.text()).collect();
        out.list(&told, CONCLUSIONS_MAX);
        let mut checks: Vec<_> = self.checks.iter().collect();
        checks.sort_by_key(|check| !check.is_failure(self.criteria.is_strict));
        let line = |check: &&Check| {
            let place = &self.sides.matched[check.matched];
            let (bound, result) = (check.threshold.text(), check.result.text());
            format!("{bound}: {result}, {} ({}, {})", check.detail, place.workload, place.load())
        };
        out.list(&checks.iter().map(line).collect::<Vec<_>>(), CHECKS_MAX);
        out.text()
    }

    pub fn markdown(&self) -> String {
        let mut all = "# Comparison\n\n".to_owned();
        markdown::sections(&sections(self), &mut all);
        format!("{}\n", visible(all.trim_end()))
    }
}
