//! From a plan's text to a run and its report; shared by `run` and `bench`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use plan::{Plan, Source, show_duration};
use record::{Dyno, Run, RunStatus};
use report::{Digest, several};
use runner::{Experiment, RunOptions, RunOutcome};

use crate::args::OutputArgs;
use crate::progress::ProgressDisplay;
use crate::table;
use crate::{command_line, signals};

/// Checks a plan, runs it, writes the report and prints the requested view.
pub(crate) fn run(source: Source, output: &OutputArgs) -> Result<ExitCode> {
    let source = source.with_overrides(&output.overrides)?;
    super::hide_secrets(&source);
    let experiment = Experiment::check(Plan::parse(source)?)?;
    if output.dry_run {
        super::print(&plan::scrub(&dry_run(&experiment)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = signals::listen().context("signals cannot be listened to")?;
    let plan = experiment.plan();
    let mut progress = ProgressDisplay::new(output.quiet, plan.estimate(), plan.trials().len());
    let options = RunOptions {
        out: output.out.clone(),
        command: command_line::again(),
        dyno: Dyno { version: env!("CARGO_PKG_VERSION").to_owned(), build: build() },
    };
    let outcome = experiment.run(&options, &stop, &mut progress);
    progress.finish();
    if outcome.is_err()
        && let Some(folder) = &progress.folder
        && let Ok(run) = Run::open(folder)
    {
        // The measurements so far still get a report; the error that ended the run is more important.
        let _ = report::write_all(&Digest::new(&run), folder);
    }
    let outcome = outcome?;
    super::report::show(&Run::open(&outcome.folder)?, output.format)?;
    Ok(exit_code(&outcome))
}

fn exit_code(outcome: &RunOutcome) -> ExitCode {
    match outcome.status {
        RunStatus::Interrupted => ExitCode::from(signals::INTERRUPTED),
        _ if outcome.failed_trials > 0 => ExitCode::FAILURE,
        RunStatus::Complete => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn build() -> String {
    let profile = if cfg!(debug_assertions) { "debug" } else { "optimised" };
    format!("{profile}, {}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// The trials and how long they take.
fn dry_run(experiment: &Experiment) -> String {
    let plan = experiment.plan();
    let rows: Vec<Vec<String>> = plan
        .trials()
        .iter()
        .map(|trial| {
            vec![
                (trial.index + 1).to_string(),
                plan.systems[trial.system].name.clone(),
                plan.workloads[trial.workload].name.clone(),
                trial.clients.to_string(),
                plan.rate(*trial).map_or("closed loop".to_owned(), ToString::to_string),
                (trial.repetition + 1).to_string(),
            ]
        })
        .collect();
    let mut text =
        table::render(&["trial", "system", "workload", "clients", "rate", "repetition"], &rows);
    text.push('\n');
    for (index, workload) in plan.workloads.iter().enumerate() {
        text.push_str(&format!("{}: {}\n", workload.name, experiment.describe_workload(index)));
    }
    let trials = several(rows.len() as u64, "trial", "trials");
    text.push_str(&match plan.estimate() {
        Some(load) => format!(
            "\n{trials}, {} of load; preparing data comes on top\n",
            show_duration(rounded(load))
        ),
        None => format!("\n{trials}, as long as their events take\n"),
    });
    text
}

fn rounded(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
