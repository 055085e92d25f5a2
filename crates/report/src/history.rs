//! The figures of one plan over its stored runs, and when they changed.

mod chart;
mod plan_text;
#[cfg(test)]
pub(crate) mod tests;
mod views;

use std::path::{Path, PathBuf};

use analysis::{ChangePoint, ChangeTest, Severity, Validity, change_points};
use jiff::Timestamp;
use record::Dyno;

use crate::conclusion;
use crate::digest::{Digest, Point, Trial, load_text};
use crate::figure::Figure;
use crate::number::percentile_name;
use crate::run_comparison::{Difference, differences_of};

pub use plan_text::PlanText;
pub(crate) use plan_text::settings_lines;

/// A shorter series has no change point that either test could show.
const RUNS_MIN: usize = 3;

#[derive(Clone, Debug)]
pub struct HistoryRun {
    folder: PathBuf,
    started: Timestamp,
    dyno: Dyno,
    figures: Vec<(Of, f64)>,
    /// The series in which it has no place, each with the reason.
    missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Of {
    workload: String,
    system: String,
    load: String,
    figure: Figure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub folder: PathBuf,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeCriteria {
    pub test: ChangeTest,
    /// The largest p-value of a change.
    pub level: f64,
}

/// The figures of a plan over its runs, in the order of time.
#[derive(Debug)]
pub struct History {
    plan: String,
    criteria: ChangeCriteria,
    pub(crate) runs: Vec<HistoryRun>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) series: Vec<Series>,
    pub(crate) changes: Vec<RunChange>,
}

/// One figure over the runs that have it.
#[derive(Debug)]
pub(crate) struct Series {
    of: Of,
    /// The value of each run, by its index.
    pub(crate) values: Vec<(usize, f64)>,
    pub(crate) changes: Vec<ChangePoint>,
}

#[derive(Debug)]
pub(crate) struct RunChange {
    pub(crate) run: usize,
    before: usize,
    /// What differs between the two; `None` until it is known.
    differences: Option<Vec<Difference>>,
}

impl HistoryRun {
    /// The throughput and the percentiles under each load, of the trials that are not invalid.
    ///
    /// # Errors
    /// Why the run has none.
    pub fn of(digest: &Digest<'_>) -> Result<Self, String> {
        let header = &digest.run.header;
        if header.seek.is_some() {
            return Err("it seeks a capacity, so that its loads differ from run to run".to_owned());
        }
        let (mut figures, mut missing) = (Vec::new(), Vec::new());
        for point in &digest.points {
            match not_believed(digest, point) {
                Some(reason) => missing.push(format!("{}: {reason}", place(point))),
                None => {
                    let (known, unknown) = of_point(digest, point);
                    figures.extend(known);
                    missing.extend(unknown);
                }
            }
        }
        if figures.is_empty() {
            return Err("it has no trial that is valid or doubtful".to_owned());
        }
        Ok(Self {
            folder: digest.run.folder.clone(),
            started: header.started,
            dyno: header.dyno.clone(),
            figures,
            missing,
        })
    }
}

impl HistoryRun {
    /// Its figures, each with a name, and whether it is a time, ns.
    pub(crate) fn named_figures(&self) -> impl Iterator<Item = (String, bool, f64)> {
        self.figures.iter().map(|(of, value)| {
            let Of { workload, system, load, figure } = of;
            (format!("{workload}, {system}, {load}: {}", figure.name()), figure.is_time(), *value)
        })
    }
}

/// The system, workload and load of a point.
fn place(point: &Point<'_>) -> String {
    let load = load_text(point.clients, point.rate);
    format!("{}, {}, {load}", point.system, point.workload)
}

/// Why nothing of a point has a place in a series: it has no trial that is valid or doubtful.
fn not_believed(digest: &Digest<'_>, point: &Point<'_>) -> Option<String> {
    let is_invalid = |trial: &&Trial<'_>| trial.validity() == Validity::Invalid;
    if !point.counted.iter().map(|at| &digest.trials[*at]).all(|trial| is_invalid(&trial)) {
        return None;
    }
    let trials = point.trials.iter().map(|at| &digest.trials[*at]).filter(is_invalid);
    let why = conclusion::reasons(&trials.collect::<Vec<_>>(), Severity::Invalid);
    Some(match why.is_empty() {
        true => "no trial ran to its end".to_owned(),
        false => format!("no trial is valid or doubtful ({why})"),
    })
}

/// Medians over the repetitions, and the percentiles that have no place in a series, because they are known only from below.
fn of_point(digest: &Digest<'_>, point: &Point<'_>) -> (Vec<(Of, f64)>, Option<String>) {
    let of = |figure: Figure| Of {
        workload: point.workload.to_owned(),
        system: point.system.to_owned(),
        load: load_text(point.clients, point.rate),
        figure,
    };
    let throughput = digest.estimate(point, |summary| summary.transactions_per_s);
    let throughput = throughput.map(|it| (of(Figure::Throughput), it.median));
    let mut figures: Vec<(Of, f64)> = throughput.into_iter().collect();
    let mut unknown: Vec<String> = Vec::new();
    for percent in &digest.run.header.percentiles {
        match digest.bounded(point, |summary| summary.latency.percentile(*percent)) {
            Some((_, true)) => unknown.push(percentile_name(*percent)),
            Some((estimate, false)) => {
                figures.push((of(Figure::Latency(*percent)), estimate.median));
            }
            None => {}
        }
    }
    figures.retain(|(_, value)| value.is_finite());
    let unknown = (!unknown.is_empty()).then(|| {
        format!(
            "{}: {} known only from below, because transactions were never answered",
            place(point),
            unknown.join(", ")
        )
    });
    (figures, unknown)
}

impl History {
    /// Of these runs of a plan.
    pub fn new(
        plan: &str,
        mut all: Vec<HistoryRun>,
        mut left_out: Vec<LeftOut>,
        criteria: ChangeCriteria,
    ) -> Self {
        all.sort_by(|one, other| (one.started, &one.folder).cmp(&(other.started, &other.folder)));
        let mut runs: Vec<HistoryRun> = Vec::new();
        for run in all {
            match runs.last().filter(|known| known.started == run.started) {
                Some(known) => {
                    let reason = format!("it is a copy of {}", known.folder.display());
                    left_out.push(LeftOut { folder: run.folder, reason });
                }
                None => runs.push(run),
            }
        }
        let mut series: Vec<Series> = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            for (of, value) in &run.figures {
                match series.iter_mut().find(|series| series.of == *of) {
                    Some(series) => series.values.push((at, *value)),
                    None => series.push(Series {
                        of: of.clone(),
                        values: vec![(at, *value)],
                        changes: Vec::new(),
                    }),
                }
            }
        }
        for it in series.iter_mut().filter(|series| series.values.len() >= RUNS_MIN) {
            let values: Vec<f64> = it.values.iter().map(|(_, value)| *value).collect();
            it.changes = change_points(&values, criteria.test, criteria.level);
        }
        let changes = run_changes(&series);
        Self { plan: plan.to_owned(), criteria, runs, left_out, series, changes }
    }

    pub fn has_change(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The folders of each first run after a change and of the run before it.
    pub fn changed(&self) -> Vec<(PathBuf, PathBuf)> {
        let folder = |at: usize| self.runs[at].folder.clone();
        self.changes.iter().map(|it| (folder(it.before), folder(it.run))).collect()
    }

    /// Adds what differs between a first run after a change and the run before it.
    pub fn explain(&mut self, before: &Digest<'_>, after: &Digest<'_>) {
        let is_of = |run: usize, digest: &Digest<'_>| self.runs[run].folder == digest.run.folder;
        let of =
            self.changes.iter().position(|it| is_of(it.before, before) && is_of(it.run, after));
        if let Some(change) = of {
            self.changes[change].differences = differences_of(before, after);
        }
    }

    /// The series with a change that begins with a run, each with its change.
    fn at(&self, run: usize) -> impl Iterator<Item = (&Series, &ChangePoint)> {
        self.series.iter().filter_map(move |series| {
            let is_here = |change: &&ChangePoint| series.values[change.at].0 == run;
            Some((series, series.changes.iter().find(is_here)?))
        })
    }

    fn folder(&self, run: usize) -> &Path {
        &self.runs[run].folder
    }
}

/// The runs at which any series changed. What differs is looked for from the run before, of several series the nearest.
fn run_changes(series: &[Series]) -> Vec<RunChange> {
    let mut all: Vec<RunChange> = Vec::new();
    for Series { values, changes, .. } in series {
        for change in changes {
            let (before, run) = (values[change.at - 1].0, values[change.at].0);
            match all.iter_mut().find(|known| known.run == run) {
                Some(known) => known.before = known.before.max(before),
                None => all.push(RunChange { run, before, differences: None }),
            }
        }
    }
    all.sort_by_key(|change| change.run);
    all
}
