//! A run as every view reads it: its digest, and what is drawn from it.

use analysis::Finding;
use record::Run;

use crate::comparison::{self, Group, Row};
use crate::conclusion::{self, Conclusion};
use crate::digest::Digest;
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
        Self { digest, compared, sweeps, findings, conclusions }
    }

    /// Every group of variants of the run.
    pub(crate) fn groups(&self) -> Vec<Group<'_, 'a>> {
        comparison::groups(&self.digest, &self.compared)
    }

    /// Which trials are doubtful or invalid, and why, in a line; `None` when all are valid.
    pub fn not_valid(&self) -> Option<String> {
        conclusion::not_valid(&self.digest)
    }
}
