//! `dyno list`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use record::RunSummary;
use report::{BestLoad, Digest, Table, Verdict};

use crate::args::{ListArgs, RESULTS};

/// In place of a verdict where there is none on the record as it is.
const NOT_JUDGED: &str = "not judged";

/// The runs below a folder, the oldest first. Prints a message for each run that cannot be read, with the reason.
pub(super) fn readable(out: &Path) -> Result<Vec<RunSummary>> {
    let runs = record::list(out)?;
    for (folder, cause) in &runs.unreadable {
        super::print_message(&format!("skipped {}: {cause}", folder.display()));
    }
    Ok(runs.readable)
}

/// The newest run of a folder of results; `None` when it has none.
pub(super) fn newest(out: &Path) -> Result<Option<PathBuf>> {
    let newest = readable(out)?.into_iter().max_by_key(|run| run.started);
    Ok(newest.map(|run| run.folder))
}

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    let runs = readable(&args.out)?;
    if runs.is_empty() {
        let out = args.out.display();
        // The default folder is made by the first run.
        if !args.out.exists() && args.out != Path::new(RESULTS) {
            return Err(super::no_results(&args.out));
        }
        let text = if args.out.join("run.json").exists() {
            format!("{out} is a run: `dyno report {out}` shows it\n")
        } else {
            format!("no runs yet below {out}\n")
        };
        super::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let heads = [
        "started",
        "plan",
        "status",
        "trials",
        "verdict",
        "best load",
        "clients",
        "tps",
        "p99",
        "folder",
    ];
    let mut table = heads.into_iter().fold(Table::new(), Table::words);
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let has_unjudged = rows.iter().any(|row| row.iter().any(|cell| cell == NOT_JUDGED));
    rows.into_iter().for_each(|row| table.row(row));
    super::print(&table.text_within(super::output_width()))?;
    if has_unjudged {
        super::print(&format!(
            "{NOT_JUDGED}: `dyno report FOLDER` judges the trials of the run\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A run with its trials, their verdict, and the medians of its best load.
fn row(summary: &RunSummary) -> Vec<String> {
    let [trials, verdict, best @ ..] = Verdict::kept(&summary.folder)
        .map_or_else(|| as_far_as_read(&summary.folder), |kept| judged(&kept));
    let mut row = vec![
        summary.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        summary.plan_name.clone(),
        summary.status.name().to_owned(),
        trials,
        verdict,
    ];
    row.extend(best);
    row.push(summary.folder.display().to_string());
    row
}

fn judged(kept: &Verdict) -> [String; 6] {
    let [system, clients, tps, p99] = best(kept.best());
    [kept.trials(), kept.text(&super::this_dyno()), system, clients, tps, p99]
}

/// The cells of a run on whose record there is no verdict, as far as its trials can be read. What was watched is not read,
/// without which nothing can be judged.
fn as_far_as_read(folder: &Path) -> [String; 6] {
    let (trials, [system, clients, tps, p99]) = match report::open_unwatched(folder) {
        Ok(run) => {
            let trials = format!("{} of {}", run.trials_done(), run.trials_planned());
            (trials, best(report::best_load(&Digest::new(&run)).as_ref()))
        }
        Err(cause) => {
            super::print_message(&format!("no figures of {}: {cause}", folder.display()));
            ("-".to_owned(), best(None))
        }
    };
    [trials, NOT_JUDGED.to_owned(), system, clients, tps, p99]
}

/// The system and the clients of a load, and its medians.
fn best(load: Option<&BestLoad>) -> [String; 4] {
    load.map_or_else(|| ["-"; 4].map(str::to_owned), BestLoad::cells)
}
