//! `dyno list`

use std::process::ExitCode;

use anyhow::Result;

use crate::args::ListArgs;
use crate::table;

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    if !args.out.exists() {
        super::print(&format!("no runs yet below {}\n", args.out.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut runs = record::list(&args.out)?;
    runs.sort_by_key(|run| run.started);
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            vec![
                run.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
                run.plan_name.clone(),
                run.status.name().to_owned(),
                run.trials_planned.to_string(),
                run.folder.display().to_string(),
            ]
        })
        .collect();
    super::print(&table::render(&["started", "plan", "status", "trials", "folder"], &rows))?;
    Ok(ExitCode::SUCCESS)
}
