//! From a plan's text to a run and its report; shared by `run` and `bench`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use plan::{Plan, SeekPlan, Source, Trial, show_duration};
use record::{Dyno, Run, RunStatus};
use report::{Digest, several};
use runner::{Experiment, RunOptions, RunOutcome};

use crate::args::OutputArgs;
use crate::progress::ProgressDisplay;
use crate::table;
use crate::{command_line, signals};

/// Checks a plan, runs it, writes the report and prints the requested view.
pub(crate) fn run(source: Source, output: &OutputArgs) -> Result<ExitCode> {
    let source = match &output.seek {
        Some(bounds) => source.set("seek.bounds", bounds)?,
        None => source,
    };
    let source = source.with_overrides(&output.overrides)?;
    super::hide_secrets(&source);
    let experiment = Experiment::check(Plan::parse(source)?)?;
    if output.dry_run {
        super::print(&plan::scrub(&dry_run(&experiment)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = signals::listen().context("cannot listen for signals")?;
    let plan = experiment.plan();
    let trials = plan.seek.is_none().then(|| plan.trials().len());
    let mut progress = ProgressDisplay::new(output.quiet, plan.estimate(), trials);
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
                clients(plan, *trial),
                rate(plan, *trial),
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
    for note in experiment.notes() {
        text.push_str(&format!("{note}\n"));
    }
    let trials = several(rows.len() as u64, "trial", "trials");
    if let Some(seek) = &plan.seek {
        text.push_str(&sought(seek, rows.len()));
        return text;
    }
    text.push_str(&match plan.estimate() {
        Some(load) => format!(
            "\n{trials}, {} of load, and the time to prepare the data\n",
            show_duration(rounded(load))
        ),
        None => format!("\n{trials}, as long as their events take\n"),
    });
    text
}

/// The clients of a trial, or the range in which they are sought.
fn clients(plan: &Plan, trial: Trial) -> String {
    match &plan.seek {
        Some(seek) if !seek.is_open() => format!("{} to {}", seek.from, seek.to),
        _ => trial.clients.to_string(),
    }
}

/// The rate of a trial, or the range in which it is sought.
fn rate(plan: &Plan, trial: Trial) -> String {
    match &plan.seek {
        Some(seek) if seek.is_open() => format!("{} to {}/s", seek.from, seek.to),
        _ => plan.rate(trial).map_or("closed loop".to_owned(), |rate| rate.to_string()),
    }
}

/// What is sought, and how long it can take.
fn sought(seek: &SeekPlan, seeks: usize) -> String {
    let bounds: Vec<String> = seek.bounds.iter().map(ToString::to_string).collect();
    format!(
        "\n{} for the highest load that keeps {}: at most {} probes of {} each, and a trial of {} that confirms it\n",
        several(seeks as u64, "seek", "seeks"),
        bounds.join(", "),
        seek.probes,
        show_duration(seek.probe_time),
        show_duration(seek.confirm_time),
    )
}

fn rounded(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
