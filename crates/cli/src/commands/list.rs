//! `dyno list`

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use record::{Run, RunSummary};
use report::Table;

use crate::args::{ListArgs, RESULTS};

/// The runs below a folder, the oldest first. Prints a message for each run that cannot be read, with the reason.
pub(super) fn readable(out: &Path) -> Result<Vec<RunSummary>> {
    let runs = record::list(out)?;
    for (folder, cause) in &runs.unreadable {
        super::print_message(&format!("skipped {}: {cause}", folder.display()));
    }
    Ok(runs.readable)
}

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    let runs = readable(&args.out)?;
    if runs.is_empty() {
        let out = args.out.display();
        // The default folder is made by the first run.
        if !args.out.exists() && args.out != Path::new(RESULTS) {
            bail!("{out} does not exist; name the folder of results, the `--out` of a run");
        }
        let text = if args.out.join("run.json").exists() {
            format!("{out} is a run: `dyno report {out}` shows it\n")
        } else {
            format!("no runs yet below {out}\n")
        };
        super::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let heads = ["started", "plan", "status", "trials", "best tps", "its p99", "folder"];
    let mut table = heads.into_iter().fold(Table::new(), Table::words);
    runs.iter().for_each(|run| table.row(row(run)));
    super::print(&table.text_within(super::output_width()))?;
    Ok(ExitCode::SUCCESS)
}

/// A run with its best figures, as far as its trials can be read.
fn row(summary: &RunSummary) -> Vec<String> {
    let run = Run::open_unwatched(&summary.folder);
    let (trials, best) = match &run {
        Ok(run) => {
            let trials = format!("{} of {}", run.trials_done(), run.trials_planned());
            (trials, report::best_trial(run))
        }
        Err(cause) => {
            super::print_message(&format!("no figures of {}: {cause}", summary.folder.display()));
            ("-".to_owned(), None)
        }
    };
    let [tps, p99] = best.unwrap_or_else(|| ["-", "-"].map(str::to_owned));
    vec![
        summary.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        summary.plan_name.clone(),
        summary.status.name().to_owned(),
        trials,
        tps,
        p99,
        summary.folder.display().to_string(),
    ]
}
