//! A run as every view reads it: its digest, and what is drawn from it.

use analysis::Finding;
use record::Run;

use crate::comparison::{self, Group, Row};
use crate::conclusion::{self, Conclusion};
use crate::digest::Digest;
use crate::doubt::Doubt;
use crate::fail_if::{self, Check};
use crate::run_findings;
use crate::scaling::{self, Sweep};

/// The digest of a run with its comparisons, sweeps, findings and conclusions, each made once for all views.
#[derive(Debug)]
pub struct Reading<'a> {
    pub(crate) digest: Digest<'a>,
    /// What is compared in each group of variants.
    compared: Vec<Vec<Row>>,
    /// The sweeps over clients.
    pub(crate) sweeps: Vec<Sweep>,
    /// Findings about the run as a whole.
    pub(crate) findings: Vec<Finding>,
    /// The answers to the questions of the plan first, then what not to believe.
    pub(crate) conclusions: Vec<Conclusion>,
    /// The bounds at which the run fails, at each load.
    pub(crate) checks: Vec<Check>,
}

impl<'a> Reading<'a> {
    pub fn new(run: &'a Run) -> Self {
        let digest = Digest::new(run);
        let compared = comparison::compared(&digest);
        let groups = comparison::groups(&digest, &compared);
        let sweeps = scaling::fitted(&digest);
        let mut findings = digest.findings.clone();
        findings.extend(run_findings::baseline_again(&groups));
        findings.extend(run_findings::first_windows(&digest, &groups));
        let conclusions = conclusion::drawn(&digest, &groups, &sweeps, &findings);
        let checks = fail_if::checks(&digest);
        Self { digest, compared, sweeps, findings, conclusions, checks }
    }

    /// Every group of variants of the run.
    pub(crate) fn groups(&self) -> Vec<Group<'_, 'a>> {
        comparison::groups(&self.digest, &self.compared)
    }

    /// How many bounds of the run are crossed or not known, in a line; `None` when all are kept.
    pub fn crossed(&self) -> Option<String> {
        fail_if::failure(&self.checks)
    }

    /// Which trials are doubtful or invalid, and why, in a line, but for those with no other than these doubts; `None`
    /// when there are none.
    pub fn not_valid(&self, accepted: &[Doubt]) -> Option<String> {
        conclusion::not_valid(&self.digest, accepted)
    }
}
