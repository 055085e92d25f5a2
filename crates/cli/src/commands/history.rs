//! `dyno history`

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use record::{RunStatus, RunSummary, replace_durably};
use report::{ChangeCriteria, ChangeTest, Digest, History, HistoryRun, LeftOut, PlanText};

use super::WrongArgument;
use super::compare::part;
use crate::args::{HistoryArgs, HistoryFormat, RESULTS, TestOfChanges};

/// The levels that make sense, in per cent: no permutation test of 499 orders has a smaller p-value.
const LEVELS: RangeInclusive<f64> = 0.2..=50.0;
/// A history has at most so many runs, the newest: the search for changes takes the square of their number.
const RUNS_MAX: usize = 1_000;

pub(crate) fn run(args: &HistoryArgs) -> Result<ExitCode> {
    let test = match args.test {
        TestOfChanges::Permutation => ChangeTest::Permutation,
        TestOfChanges::Student => ChangeTest::Student,
    };
    let criteria = ChangeCriteria { test, level: part("--level", &args.level, &LEVELS)? };
    let since = args.since.as_deref().map(moment).transpose()?;
    let mut stored = Stored::below(&args.folders)?;
    let Some(plan) = args.plan.clone().or_else(|| stored.newest_plan()) else {
        let folders: Vec<String> =
            args.folders.iter().map(|folder| folder.display().to_string()).collect();
        super::print(&format!("no runs yet below {}\n", folders.join(", ")))?;
        return Ok(ExitCode::SUCCESS);
    };
    let runs = stored.of_plan((&plan, args.any_address), since);
    let mut history = History::new(&plan, runs, stored.left_out, criteria);
    for (before, after) in history.changed() {
        let (before, after) = (report::open(&before)?, report::open(&after)?);
        history.explain(&Digest::new(&before), &Digest::new(&after));
    }
    if let Some(page) = &args.page {
        replace_durably(page, history.html().as_bytes())
            .with_context(|| format!("cannot write {}", page.display()))?;
    }
    super::print(&match args.format {
        HistoryFormat::Text => history.text(super::output_width()),
        HistoryFormat::Json => history.json(),
    })?;
    let is_failed = args.fail_on_change && history.has_change();
    Ok(if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A date, at its beginning in UTC, or a moment.
fn moment(text: &str) -> Result<Timestamp> {
    let text = text.trim();
    let of_date = || {
        let date = text.parse::<Date>().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse::<Timestamp>().ok().or_else(of_date).ok_or_else(|| {
        let message =
            format!("--since {text:?} is not a time: write 2026-03-01 or 2026-03-01T12:00:00Z");
        WrongArgument(message).into()
    })
}

/// The runs below folders of results.
#[derive(Default)]
struct Stored {
    /// Those that can be read, the oldest first.
    runs: Vec<RunSummary>,
    left_out: Vec<LeftOut>,
}

impl Stored {
    fn below(folders: &[PathBuf]) -> Result<Self> {
        let mut stored = Self::default();
        let mut seen = BTreeSet::new();
        for folder in folders {
            // The default folder is made by the first run.
            if !folder.exists() && folder != Path::new(RESULTS) {
                return Err(super::no_results(folder));
            }
            if folder.join("run.json").exists() {
                let message = format!(
                    "{} is a run: name the folder that it and the runs before it are in",
                    folder.display()
                );
                return Err(WrongArgument(message).into());
            }
            let found = record::list(folder)?;
            let is_new = |run: &RunSummary| {
                seen.insert(fs::canonicalize(&run.folder).unwrap_or_else(|_| run.folder.clone()))
            };
            stored.runs.extend(found.readable.into_iter().filter(is_new));
            for (folder, cause) in found.unreadable {
                stored.leave_out(folder, &cause.to_string());
            }
        }
        stored.runs.sort_by(|a, b| (a.started, &a.folder).cmp(&(b.started, &b.folder)));
        Ok(stored)
    }

    fn leave_out(&mut self, folder: PathBuf, reason: &str) {
        self.left_out.push(LeftOut { folder, reason: plan::scrub(reason) });
    }

    fn newest_plan(&self) -> Option<String> {
        self.runs.last().map(|run| run.plan_name.clone())
    }

    /// The runs of a plan with the text of the newest one, but for addresses where any will do. Each is read by itself: only
    /// its figures are kept.
    fn of_plan(
        &mut self,
        (plan, is_any_address): (&str, bool),
        since: Option<Timestamp>,
    ) -> Vec<HistoryRun> {
        let mut text: Option<PlanText> = None;
        let mut runs: Vec<HistoryRun> = Vec::new();
        for summary in std::mem::take(&mut self.runs).into_iter().rev() {
            let found = match reason(&summary, plan, since) {
                Some(reason) => Err(reason),
                None if runs.len() >= RUNS_MAX => {
                    Err(format!("there are {RUNS_MAX} newer runs; `--since` shortens the history"))
                }
                None => figures(&summary.folder, is_any_address, &mut text),
            };
            match found {
                Ok(run) => runs.push(run),
                Err(reason) => self.leave_out(summary.folder, &reason),
            }
        }
        runs
    }
}

/// Why a run has no place in a history, as far as its list entry tells.
fn reason(summary: &RunSummary, plan: &str, since: Option<Timestamp>) -> Option<String> {
    if summary.plan_name != plan {
        return Some(format!("plan {}", summary.plan_name));
    }
    if since.is_some_and(|since| summary.started < since) {
        return Some("it began earlier".to_owned());
    }
    (summary.status == RunStatus::Running).then(|| "it still runs".to_owned())
}

/// The figures of a run; the text of the first one is that of all others.
fn figures(
    folder: &Path,
    is_any_address: bool,
    text: &mut Option<PlanText>,
) -> Result<HistoryRun, String> {
    let run = report::open(folder).map_err(|cause| format!("{:#}", anyhow::Error::from(cause)))?;
    if let Some(damage) = &run.plan_damage {
        return Err(damage.to_string());
    }
    let own = PlanText::of(&run);
    let own = if is_any_address { own.without_addresses() } else { own };
    if let Some(difference) = text.as_ref().and_then(|text| own.difference(text)) {
        return Err(difference);
    }
    let found = HistoryRun::of(&Digest::new(&run))?;
    text.get_or_insert(own);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_a_time() {
        let shown = |text: &str| moment(text).unwrap().to_string();
        assert_eq!(shown("2026-03-01"), "2026-03-01T00:00:00Z");
        assert_eq!(shown(" 2026-03-01T12:30:00+02:00 "), "2026-03-01T10:30:00Z");
        for wrong in ["", "yesterday", "2026-13-01", "2026-03-01 25:00"] {
            let message = moment(wrong).unwrap_err().to_string();
            assert!(message.starts_with("--since ") && message.contains("2026-03-01"), "{message}");
        }
    }
}
