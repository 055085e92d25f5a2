//! `dyno report DIR`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use record::Run;
use report::Digest;

use crate::args::{Format, ReportArgs};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let folder = run_folder(&args.folder)?;
    let mut run = Run::open(&folder)?;
    add_server_kinds(&mut run);
    show(&run, args.format)?;
    Ok(ExitCode::SUCCESS)
}

/// Records of earlier builds do not define their servers' metrics. For these, this build's own definitions are used.
fn add_server_kinds(run: &mut Run) {
    for trial in &mut run.trials {
        if trial.watched.kinds.is_empty() {
            trial.watched.kinds = system::server_kinds();
        }
    }
}

/// Writes the views next to the record and prints one of them, even if the files cannot be written.
pub(super) fn show(run: &Run, format: Format) -> Result<()> {
    let digest = Digest::new(run);
    let written = report::write_all(&digest, &run.folder);
    super::print(&view(&digest, format))?;
    written?;
    Ok(())
}

/// One view of a run as text.
fn view(digest: &Digest<'_>, format: Format) -> String {
    match format {
        Format::Text => report::terminal(digest),
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
