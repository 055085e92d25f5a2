//! `dyno report DIR`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use record::{Run, RunStatus, TrialStatus};
use report::Digest;

use super::WrongArgument;
use crate::args::{Format, ReportArgs};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let folder = run_folder(&args.folder)?;
    let mut run = Run::open(&folder)?;
    add_server_kinds(&mut run);
    let run = match args.trial {
        Some(number) => only(run, number)?,
        None => run,
    };
    match &args.out {
        Some(out) => {
            fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
            show(&run, args.format, Some(out))?;
        }
        // The files of the run show all of its trials.
        None => show(&run, args.format, args.trial.is_none().then_some(&folder))?,
    }
    let is_damaged = run.trials.iter().any(|trial| trial.damage.is_some());
    Ok(match run.status {
        RunStatus::Failed(_) => ExitCode::FAILURE,
        _ if is_damaged => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

/// The run with one trial alone, by its number from 1.
///
/// # Errors
/// When the record has no such trial.
fn only(run: Run, number: usize) -> Result<Run> {
    let Run { folder, mut header, trials, ended, .. } = run;
    let count = trials.len();
    let trial = trials.into_iter().find(|trial| trial.header.index + 1 == number);
    let Some(trial) = trial else {
        let message = format!("there is no trial {number}: the record has {count}, from 1");
        return Err(WrongArgument(message).into());
    };
    let title = header.title.as_deref().unwrap_or(&header.plan_name);
    header.title = Some(format!("{title}, trial {number}"));
    (header.seek, header.trials_planned) = (None, 1);
    let status = match trial.end.as_ref().map(|end| &end.status) {
        _ if trial.is_done() => RunStatus::Complete,
        _ if trial.damage.is_some() => RunStatus::Failed(String::new()),
        None => RunStatus::Cut,
        Some(TrialStatus::Interrupted) => RunStatus::Interrupted,
        Some(_) => RunStatus::Failed(String::new()),
    };
    Ok(Run { folder, header, trials: vec![trial], status, ended })
}

/// Records of earlier builds do not define their servers' metrics. For these, this build's own definitions are used.
pub(super) fn add_server_kinds(run: &mut Run) {
    for trial in &mut run.trials {
        if trial.watched.kinds.is_empty() {
            trial.watched.kinds = system::server_kinds();
        }
    }
}

/// Writes the views into a folder, if one is given, and prints one of them, even if the files cannot be written.
pub(super) fn show(run: &Run, format: Format, folder: Option<&PathBuf>) -> Result<()> {
    let digest = Digest::new(run);
    let written = folder.map(|folder| report::write_all(&digest, folder)).transpose();
    let page = written.as_ref().ok().and_then(Option::as_deref);
    super::print(&view(&digest, format, page))?;
    written?;
    Ok(())
}

/// One view of a run as text; `page` is where the HTML page is.
fn view(digest: &Digest<'_>, format: Format, page: Option<&Path>) -> String {
    match format {
        Format::Text => report::summary(digest, page, super::output_width()),
        Format::Json => report::json(digest),
        Format::Markdown => report::markdown(digest),
        Format::Csv => report::csv(digest),
    }
}

/// The folder itself if it is a run, otherwise the newest run in it.
fn run_folder(folder: &Path) -> Result<PathBuf> {
    if folder.join("run.json").exists() {
        return Ok(folder.to_path_buf());
    }
    if !folder.exists() {
        bail!("{} does not exist; `dyno list DIR` shows the runs below a folder", folder.display());
    }
    let runs = super::list::readable(folder)?;
    let newest = runs.into_iter().max_by_key(|run| run.started);
    let newest = newest
        .with_context(|| format!("{} has no run; `dyno run PLAN` makes one", folder.display()))?;
    Ok(newest.folder)
}
