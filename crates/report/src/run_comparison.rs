//! Runs side by side: the figures of a candidate as ratios to those of a baseline, with what differs besides.

mod blocks;
mod conclusion;
mod crashes;
mod damaged;
mod environment;
mod found;
mod json;
mod junit;
mod limits;
mod row;
mod sides;
#[cfg(test)]
mod tests;
mod thresholds;
mod variance;
mod views;

use analysis::{LEVEL, Significance, Tests, corrected};

pub use sides::{Refusal, Selection};
pub use thresholds::{Criteria, Threshold};

use crashes::CrashRow;
pub(crate) use environment::Difference;
pub(crate) use found::Unit;
use row::Row;
use sides::{Matched, Sides};
use thresholds::Check;

use crate::digest::Digest;
use crate::figure::Figure;

/// A candidate compared with a baseline, each of one run or several.
#[derive(Debug)]
pub struct RunComparison<'d, 'a> {
    sides: Sides<'d, 'a>,
    criteria: Criteria,
    /// What differs besides what is compared.
    differences: Vec<Difference>,
    rows: Vec<Row>,
    crashes: Vec<CrashRow<'a>>,
    checks: Vec<Check>,
}

/// A verdict on one figure under one load, by a relative change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) figure: Figure,
    pub(crate) significance: Significance,
    pub(crate) change: f64,
    pub(crate) interval: [f64; 2],
    /// The larger end of its 90 % interval, in size.
    pub(crate) largest: f64,
    /// Number of rounds, trials or runs: of the baseline, and of the candidate.
    pub(crate) counts: [usize; 2],
    pub(crate) unit: Unit,
}

impl Verdict {
    /// The smaller number of both sides.
    pub(crate) fn repetitions(&self) -> usize {
        self.counts[0].min(self.counts[1])
    }
}

/// Whether a candidate passes its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// A threshold is crossed, or is not decided and has to be.
    Failed,
}

impl<'d, 'a> RunComparison<'d, 'a> {
    /// Compares two sides.
    ///
    /// # Errors
    /// When the comparison makes no sense, such as of two workloads.
    pub fn new(
        baseline: &[Selection<'d, 'a>],
        candidate: &[Selection<'d, 'a>],
        criteria: Criteria,
    ) -> Result<Self, Refusal> {
        let sides = Sides::of(baseline, candidate)?;
        let figures = figures(&sides, &criteria);
        let mut rows = Vec::new();
        for (at, matched) in sides.matched.iter().enumerate() {
            rows.extend(figures.iter().filter_map(|figure| {
                Row::of(at, matched, *figure, &criteria).filter(|row| row.is_shown(&criteria))
            }));
        }
        let crashes = crashes::rows(&sides);
        let differences = environment::differences(&sides);
        let mut compared = Self { sides, criteria, differences, rows, crashes, checks: Vec::new() };
        compared.correct();
        compared.checks = thresholds::checks(&compared)?;
        Ok(compared)
    }

    /// Whether the candidate passes the thresholds that were asked for.
    pub fn outcome(&self) -> Outcome {
        let is_failed = |check: &Check| check.is_failure(self.criteria.is_strict);
        if self.checks.iter().any(is_failed) { Outcome::Failed } else { Outcome::Passed }
    }

    /// The verdict under each load of a workload, by throughput or, under a rate, by response time; what is not
    /// compared is left out. `None` for a workload that is not on both sides.
    pub(crate) fn verdicts(&self, workload: &str) -> Option<Vec<Verdict>> {
        let is_there = self.sides.matched.iter().any(|place| place.workload == workload);
        is_there.then(|| self.verdicts_of(|place| place.workload == workload))
    }

    /// The verdict under each load that is asked for, likewise.
    fn verdicts_of(&self, is_asked: impl Fn(&Matched<'_, '_>) -> bool) -> Vec<Verdict> {
        let latency = Figure::latency_of(&self.sides.percentiles());
        let decides = |row: &&Row| {
            let has_rate = self.place(row).rate.is_some();
            row.figure == if has_rate { latency } else { Figure::Throughput }
        };
        let rows = self.rows.iter().filter(|row| is_asked(self.place(row)));
        rows.filter(decides).filter_map(Row::verdict).collect()
    }

    /// Number of verdicts that are corrected for each other.
    fn family(&self) -> usize {
        self.rows.iter().filter(|row| row.is_judged()).count() + self.crashes.len()
    }

    /// Gives every verdict the p-values that are corrected over the whole family. Of the two hypotheses of a row, no
    /// difference and one of the margin or more, only one can be true.
    fn correct(&mut self) {
        let family = self.family();
        let judged = self.rows.iter().filter(|row| row.is_judged());
        let mut p_values: Vec<f64> =
            judged.flat_map(|row| [row.tests.difference, row.tests.equality]).collect();
        p_values.extend(self.crashes.iter().map(|row| row.p_value));
        let mut corrected = corrected(&p_values, family).into_iter();
        let mut next = || corrected.next().unwrap_or(1.0);
        for row in self.rows.iter_mut().filter(|row| row.is_judged()) {
            let tests = Tests { difference: next(), equality: next() };
            row.set_verdict(tests, LEVEL / family as f64);
        }
        self.crashes.iter_mut().for_each(|row| row.corrected = next());
    }

    fn place(&self, row: &Row) -> &Matched<'d, 'a> {
        &self.sides.matched[row.matched]
    }
}

/// What differs between two runs besides their figures; `None` when they have nothing in common.
pub(crate) fn differences_of(before: &Digest<'_>, after: &Digest<'_>) -> Option<Vec<Difference>> {
    let all = |digest| [Selection { digest, system: None }];
    let sides = Sides::of(&all(before), &all(after)).ok()?;
    Some(environment::differences(&sides))
}

/// Throughput, every percentile of the runs, and what a query cost the servers; then what thresholds ask for.
fn figures(sides: &Sides<'_, '_>, criteria: &Criteria) -> Vec<Figure> {
    let mut figures = Figure::usual(&sides.percentiles());
    for threshold in &criteria.thresholds {
        if !figures.contains(&threshold.figure) {
            figures.push(threshold.figure);
        }
    }
    figures
}
