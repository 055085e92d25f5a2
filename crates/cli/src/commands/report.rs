//! `dyno report DIR`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use record::{Run, RunStatus, TrialRecord, TrialStatus};
use report::{Better, Doubt, Reading};

use super::{WrongArgument, print_message};
use crate::args::{Format, ReportArgs};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let accepted = accepted(&args.accept)?;
    let folder = run_folder(&args.folder)?;
    let run = report::open(&folder)?;
    let run = match args.trial {
        Some(number) => only(run, number)?,
        None => run,
    };
    let out = match &args.out {
        Some(out) => {
            fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
            Some(out)
        }
        // The files of the run show all of its trials.
        None => args.trial.is_none().then_some(&folder),
    };
    let view =
        View { format: args.format, is_full: args.full, is_brief: args.brief, accepted: &accepted };
    let shown = show(&run, view, out)?;
    if let Some(folder) = &args.plots {
        report::write_plots(&Reading::new(&run), folder)?;
    }
    let is_damaged =
        run.plan_damage.is_some() || run.trials.iter().any(|trial| trial.damage.is_some());
    let code = match run.status {
        RunStatus::Failed(_) => ExitCode::FAILURE,
        _ if is_damaged => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    };
    Ok(strict(code, args.strict, &shown.validity))
}

/// Whether every trial of a run is valid.
pub(super) enum RunValidity {
    Valid,
    /// Some are not: which, and why.
    NotValid(String),
}

/// How a run is shown.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) format: Format,
    pub(super) is_full: bool,
    /// A few lines of Markdown in place of the format.
    pub(super) is_brief: bool,
    /// Doubts with which a trial is as good as a valid one.
    pub(super) accepted: &'a [Doubt],
}

/// The doubts of `--accept`.
pub(super) fn accepted(codes: &[String]) -> Result<Vec<Doubt>> {
    let wrong = |why: String| WrongArgument(format!("--accept: {why}")).into();
    codes.iter().map(|code| Doubt::parse(code).map_err(wrong)).collect()
}

/// What a command that shows a run makes of it.
pub(super) struct Shown {
    pub(super) validity: RunValidity,
    /// How many bounds of the run are crossed or not known; `None` when all are kept.
    pub(super) crossed: Option<String>,
}

/// The exit code of a run; a success is a failure when bounds of it are crossed or not known, and a line says so.
pub(super) fn bounded(code: ExitCode, crossed: Option<&str>) -> ExitCode {
    let Some(crossed) = crossed else { return code };
    print_message(&format!("fail_if: {crossed}"));
    if code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
}

/// The exit code of a command that shows a run; with `--strict` a success is a failure when some trial is not valid,
/// and a line says which and why.
pub(super) fn strict(code: ExitCode, is_strict: bool, validity: &RunValidity) -> ExitCode {
    match validity {
        RunValidity::NotValid(trials) if is_strict => {
            print_message(&format!("--strict: {trials}"));
            if code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
        }
        _ => code,
    }
}

/// The run with one trial alone, by its number from 1.
///
/// # Errors
/// When the record has no such trial.
fn only(run: Run, number: usize) -> Result<Run> {
    let Run { folder, mut header, plan_damage, trials, ended, .. } = run;
    // The windows of a trial are in the record under numbers of their own.
    let parts = |mut trial: TrialRecord| match std::mem::take(&mut trial.windows) {
        windows if windows.is_empty() => vec![trial],
        windows => windows,
    };
    let trials: Vec<TrialRecord> = trials.into_iter().flat_map(parts).collect();
    let count = trials.len();
    let trial = trials.into_iter().find(|trial| trial.header.index + 1 == number);
    let Some(trial) = trial else {
        let message = format!("there is no trial {number}: the record has {count}, from 1");
        return Err(WrongArgument(message).into());
    };
    let title = header.title.as_deref().unwrap_or(&header.plan_name);
    header.title = Some(format!("{title}, trial {number}"));
    (header.seek, header.windows, header.rounds) = (None, None, None);
    header.trials_planned = 1;
    let status = match trial.end.as_ref().map(|end| &end.status) {
        _ if trial.is_done() => RunStatus::Complete,
        _ if trial.damage.is_some() => RunStatus::Failed(String::new()),
        None => RunStatus::Cut,
        Some(TrialStatus::Interrupted) => RunStatus::Interrupted,
        Some(_) => RunStatus::Failed(String::new()),
    };
    Ok(Run { folder, header, plan_damage, trials: vec![trial], status, ended })
}

/// Writes the views into a folder, if one is given, and prints one of them, even if the files cannot be written.
pub(super) fn show(run: &Run, view: View<'_>, folder: Option<&PathBuf>) -> Result<Shown> {
    let reading = Reading::new(run);
    let written =
        folder.map(|folder| report::write_all(&reading, folder, &super::this_dyno())).transpose();
    let page = written.as_ref().ok().and_then(Option::as_deref);
    super::print(&view.text(&reading, page))?;
    written?;
    let validity =
        reading.not_valid(view.accepted).map_or(RunValidity::Valid, RunValidity::NotValid);
    Ok(Shown { validity, crossed: reading.crossed() })
}

impl View<'_> {
    /// The run as text; `page` is where the HTML page is.
    fn text(self, reading: &Reading<'_>, page: Option<&Path>) -> String {
        let width = super::output_width();
        match self.format {
            _ if self.is_brief => report::brief(reading),
            Format::Text if self.is_full => report::full_summary(reading, page, width),
            Format::Text => report::summary(reading, page, width, super::has_colours()),
            Format::Json => report::json(reading),
            Format::Markdown => report::markdown(reading),
            Format::Csv => report::csv(reading),
            Format::Junit => report::junit(reading),
            Format::BiggerIsBetter => report::figure_list(reading, Better::Bigger),
            Format::SmallerIsBetter => report::figure_list(reading, Better::Smaller),
        }
    }
}

/// The folder itself if it is a run, otherwise the newest run in it.
pub(super) fn run_folder(folder: &Path) -> Result<PathBuf> {
    if folder.join("run.json").exists() {
        return Ok(folder.to_path_buf());
    }
    if !folder.exists() {
        return Err(super::no_results(folder));
    }
    let newest = super::list::newest(folder)?;
    newest.with_context(|| format!("{} has no run; `dyno run PLAN` makes one", folder.display()))
}
