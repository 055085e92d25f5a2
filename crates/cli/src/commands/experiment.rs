//! From a plan's text to a run and its report; shared by `run` and `bench`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use driver::set_environment_passwords;
use engine::Stop;
use generators::Fleet;
use plan::{FailIf, Plan, SeekPlan, Source, Trial, show_duration};
use record::RunStatus;
use report::{Doubt, Planned, PlannedTrial, several};
use runner::{Experiment, NothingMeasured, RunOptions, RunOutcome};

use super::option_names::OptionNames;
use super::report::View;
use super::run_name::RunNames;
use super::{WrongArgument, repetitions};
use crate::args::{Format, OutputArgs, SubjectArgs};
use crate::metrics::{Exports, Targets};
use crate::progress::{PlannedLoad, ProgressDisplay};
use crate::{command_line, signals};

/// How long the experiment for what holds the system back may last where nothing else is asked for.
pub(super) const WHY_AT_MOST: &str = "120s";

/// Checks a plan, runs it, writes the report and prints the requested view. `subject` has the options that the plan was
/// made of, if it was; `is_divided` asks for repetitions where it says nothing of them.
pub(crate) fn run(
    source: Source,
    subject: Option<SubjectArgs>,
    is_divided: bool,
    mut output: OutputArgs,
) -> Result<ExitCode> {
    let names_of_run = RunNames::check(&output.out, output.name.take())?;
    let accepted = super::report::accepted(&output.accept)?;
    let targets = Targets::check(&output.metrics).map_err(WrongArgument)?;
    let source = match &output.seek {
        Some(bounds) => source.set("seek.bounds", bounds)?,
        None => source,
    };
    let source = match (output.why.as_deref(), output.profile) {
        (None, false) => source,
        (at_most, profile) => {
            let at_most = at_most.unwrap_or(WHY_AT_MOST);
            source.set("why", &format!("{{ at_most = \"{at_most}\", profile = {profile} }}"))?
        }
    };
    let source = match fail_if(&output.fail_if)? {
        Some(bounds) => source.set("fail_if", &bounds)?,
        None => source,
    };
    let source = source.with_overrides(&output.overrides, workload::text_options)?;
    source.hide_secrets();
    let names = OptionNames { subject: subject.as_ref(), overrides: &output.overrides };
    // What a plan keeps of its text has no password.
    let whole = is_divided.then(|| source.clone());
    let experiment = Experiment::read(source).map_err(|problems| names.at_options(problems))?;
    let divided = match whole {
        Some(whole) => repetitions::divided(experiment.plan(), whole, &output.overrides)?,
        None => None,
    };
    let experiment = match divided {
        Some(source) => Experiment::read(source).map_err(|problems| names.at_options(problems))?,
        None => experiment,
    };
    // A URL among them may have a password.
    drop((subject, std::mem::take(&mut output.overrides)));
    if output.dry_run {
        super::print(&plan::scrub(&planned_text(&experiment, output.format)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = signals::listen().context("cannot listen for signals")?;
    let exports = Exports::open(targets).map_err(WrongArgument)?;
    let code = measure(experiment, &exports, &output, (&names_of_run, &accepted), &stop);
    exports.finish(&stop);
    code
}

/// Runs it, writes the report and prints the requested view.
fn measure(
    experiment: Experiment,
    exports: &Exports,
    output: &OutputArgs,
    (names_of_run, accepted): (&RunNames, &[Doubt]),
    stop: &Stop,
) -> Result<ExitCode> {
    let plan = experiment.plan();
    let trials = plan.seek.is_none().then(|| plan.trials().len());
    let planned = PlannedLoad { time: plan.estimate(), may_end_sooner: plan.may_end_sooner() };
    let mut progress = ProgressDisplay::new(output.quiet, planned, trials);
    let options = RunOptions {
        out: output.out.clone(),
        command: command_line::again(),
        dyno: super::this_dyno(),
    };
    let mut generators = Fleet::of(&plan.load);
    let mut listeners = exports.listen(plan, &mut progress);
    let outcome = experiment.run(&options, Some(&mut generators), stop, &mut listeners);
    progress.finish();
    // No login follows.
    drop(experiment);
    set_environment_passwords(Vec::new());
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(cause) if cause.is::<NothingMeasured>() => return Err(cause),
        Err(cause) => {
            progress.folder.iter().for_each(|folder| names_of_run.give(folder));
            show_broken_off(progress.folder.as_ref(), &cause, output);
            return Err(cause);
        }
    };
    names_of_run.give(&outcome.folder);
    let run = report::open(&outcome.folder)?;
    let view = View { format: output.format, is_full: output.full, is_brief: false, accepted };
    let shown = super::report::show(&run, view, Some(&outcome.folder))?;
    let code = super::report::strict(exit_code(&outcome), output.strict, &shown.validity);
    Ok(super::report::bounded(code, shown.crossed.as_deref()))
}

/// What a dry run prints.
fn planned_text(experiment: &Experiment, format: Format) -> String {
    let planned = planned(experiment);
    match format {
        Format::Text => planned.text(super::output_width()),
        Format::Json | Format::Junit | Format::BiggerIsBetter | Format::SmallerIsBetter => {
            planned.json()
        }
        Format::Markdown => planned.markdown(),
        Format::Csv => planned.csv(),
    }
}

/// The bounds of the command line as the list of a plan; `None` when there are none.
fn fail_if(bounds: &[String]) -> Result<Option<String>> {
    let read = |text: &String| match FailIf::parse(text) {
        Ok(bound) => Ok(format!("\"{bound}\"")),
        Err(why) => Err(WrongArgument(format!("--fail-if: {why}"))),
    };
    let bounds: Vec<String> = bounds.iter().map(read).collect::<Result<_, _>>()?;
    Ok((!bounds.is_empty()).then(|| format!("[{}]", bounds.join(", "))))
}

/// Shows the measurements of a run that could not go on. The error that ended it is more important than those of the
/// report.
fn show_broken_off(folder: Option<&PathBuf>, cause: &anyhow::Error, output: &OutputArgs) {
    let Some((folder, mut run)) = folder.and_then(|it| Some((it, report::open(it).ok()?))) else {
        return;
    };
    if matches!(run.status, RunStatus::Cut | RunStatus::Running) {
        // Not even the reason could be written.
        run.status = RunStatus::Failed(plan::scrub(&format!("{cause:#}")));
    }
    let view = View { format: output.format, is_full: output.full, is_brief: false, accepted: &[] };
    let _ = super::report::show(&run, view, Some(folder));
}

fn exit_code(outcome: &RunOutcome) -> ExitCode {
    match outcome.status {
        RunStatus::Interrupted => ExitCode::from(signals::INTERRUPTED),
        _ if outcome.failed_trials > 0 => ExitCode::FAILURE,
        RunStatus::Complete => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn planned(experiment: &Experiment) -> Planned {
    let plan = experiment.plan();
    let trials: Vec<PlannedTrial> = plan
        .trials()
        .iter()
        .map(|trial| PlannedTrial {
            number: trial.index + 1,
            system: plan.systems[trial.system].name.clone(),
            workload: plan.workloads[trial.workload].name.clone(),
            clients: clients(plan, *trial),
            rate: rate(plan, *trial),
            repetition: trial.repetition + 1,
            window: plan.windows.map(|_| trial.window + 1),
        })
        .collect();
    let named = plan.workloads.iter().enumerate();
    // A secret that is broken over two lines would not be found.
    let described = |index| plan::scrub(&experiment.describe_workload(index));
    let mut count = several(plan.pooled_trials() as u64, "trial", "trials");
    if plan.windows.is_some() {
        count.push_str(&format!(" of {}", several(trials.len() as u64, "window", "windows")));
    }
    let count = if plan.rounds.is_some() { format!("at most {count}") } else { count };
    let duration = match (&plan.seek, plan.estimate()) {
        (Some(seek), _) => sought(seek, trials.len()),
        (None, Some(load)) => {
            let load = show_duration(rounded(load));
            let most = if plan.may_end_sooner() { " at most" } else { "" };
            format!("{count}, {load} of load{most}, and the time to prepare the data")
        }
        (None, None) => format!("{count}, as long as their events take"),
    };
    Planned {
        workloads: named
            .map(|(index, workload)| (workload.name.clone(), described(index)))
            .collect(),
        notes: experiment
            .notes()
            .iter()
            .chain(&experiment.builds_to_come())
            .map(|note| plan::scrub(note))
            .collect(),
        load: plan.estimate().filter(|_| plan.seek.is_none()),
        may_end_sooner: plan.may_end_sooner(),
        duration,
        trials,
    }
}

/// The clients of a trial, or the range in which they are sought.
fn clients(plan: &Plan, trial: Trial) -> String {
    match &plan.seek {
        Some(seek) if !seek.is_open() => format!("{} to {}", seek.from, seek.to),
        _ => trial.clients.to_string(),
    }
}

/// The rate of a trial, or the range in which it is sought; `None` in a closed loop.
fn rate(plan: &Plan, trial: Trial) -> Option<String> {
    match &plan.seek {
        Some(seek) if seek.is_open() => Some(format!("{} to {}/s", seek.from, seek.to)),
        _ => plan.rate(trial).map(|rate| rate.to_string()),
    }
}

/// What is sought, and how long it can take.
fn sought(seek: &SeekPlan, seeks: usize) -> String {
    let bounds: Vec<String> = seek.bounds.iter().map(ToString::to_string).collect();
    format!(
        "{} for the highest load that keeps {}: at most {} probes of {} each, and a trial of {} that confirms it",
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
