//! `dyno list`

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use record::RunSummary;

use crate::args::ListArgs;
use crate::table;

/// The runs below a folder, the oldest first. Prints a message for each run that cannot be read, with the reason.
pub(super) fn readable(out: &Path) -> Result<Vec<RunSummary>> {
    let runs = record::list(out)?;
    for (folder, cause) in &runs.unreadable {
        super::print_error(&format!("skipped {}: {cause}", folder.display()));
    }
    Ok(runs.readable)
}

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    let runs = readable(&args.out)?;
    if runs.is_empty() {
        let out = args.out.display();
        let text = if args.out.join("run.json").exists() {
            format!("{out} is a run: `dyno report {out}` shows it\n")
        } else {
            format!("no runs yet below {out}\n")
        };
        super::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            vec![
                run.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
                run.plan_name.clone(),
                run.status.name().to_owned(),
                format!("{} of {}", run.trials_complete(), run.trials_planned),
                run.folder.display().to_string(),
            ]
        })
        .collect();
    super::print(&table::render(
        &["started", "plan", "status", "trials complete", "folder"],
        &rows,
    ))?;
    Ok(ExitCode::SUCCESS)
}
