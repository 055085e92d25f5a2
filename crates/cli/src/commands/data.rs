//! `dyno prepare`, `dyno check` and `dyno cleanup`: the data of one workload on one system, without load.

use std::process::ExitCode;

use anyhow::{Context, Result};
use driver::set_environment_passwords;
use measure::{Condition, ConditionResult};
use plan::Draft;
use report::{Table, fold};
use runner::{Cause, DataOutcome, DataTask, Experiment};

use super::WrongArgument;
use super::option_names::OptionNames;
use super::subject::{self, given};
use crate::args::{DataArgs, PrepareArgs};
use crate::progress::ProgressDisplay;
use crate::signals;

pub(crate) fn prepare(args: PrepareArgs) -> Result<ExitCode> {
    let mut draft = subject::draft(&args.data.subject)?;
    draft.settings.extend(given([("existing", args.existing)]));
    run(draft, args.data, DataTask::Prepare)
}

pub(crate) fn check(args: DataArgs) -> Result<ExitCode> {
    run(subject::draft(&args.subject)?, args, DataTask::Check)
}

pub(crate) fn clean_up(args: DataArgs) -> Result<ExitCode> {
    run(subject::draft(&args.subject)?, args, DataTask::Cleanup)
}

fn run(draft: Draft, args: DataArgs, task: DataTask) -> Result<ExitCode> {
    let source = plan::compose(&draft).with_overrides(&args.overrides, workload::text_options)?;
    source.hide_secrets();
    let names = OptionNames { subject: Some(&args.subject), overrides: &args.overrides };
    let experiment = Experiment::read(source).map_err(|problems| names.at_options(problems))?;
    if let Some(problem) = experiment.data_problem(task) {
        return Err(WrongArgument(problem).into());
    }
    let stop = signals::listen().context("cannot listen for signals")?;
    let mut progress = ProgressDisplay::of_data(args.quiet);
    // A URL among them may have a password.
    drop((draft, args));
    let done = experiment.run_data_task(task, &stop, &mut progress);
    progress.end_stages();
    progress.finish();
    // No login follows.
    drop(experiment);
    set_environment_passwords(Vec::new());
    match done {
        Ok(outcome) => {
            super::print(&shown(&outcome, super::output_width()))?;
            let is_broken = outcome.conditions.iter().any(|condition| condition.broken().is_some());
            Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        Err(_) if stop.is_asked() => Ok(ExitCode::from(signals::INTERRUPTED)),
        Err(cause) => {
            super::tell_cause(&Cause::of(&format!("{cause:#}")));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The result for people, without secrets: each condition, and a last line on the whole.
fn shown(outcome: &DataOutcome, width: Option<usize>) -> String {
    let DataOutcome { task, workload, conditions, removed } = outcome;
    let text = match task {
        DataTask::Prepare => format!("prepared: {workload}\n"),
        DataTask::Check => {
            format!("{}{}\n", table_of(conditions, width), verdict(workload, conditions))
        }
        DataTask::Cleanup if removed.is_empty() => "there was nothing to remove\n".to_owned(),
        DataTask::Cleanup => removed.iter().map(|what| format!("{what}\n")).collect(),
    };
    fold(&plan::scrub(&text), width)
}

fn table_of(conditions: &[Condition], width: Option<usize>) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let row = |condition: &Condition| {
        let (word, detail) = match &condition.verdict {
            ConditionResult::Holds => ("holds", String::new()),
            ConditionResult::Broken(place) => ("broken", format!(": {place}")),
            ConditionResult::Unknown(reason) => ("unknown", format!(": {reason}")),
        };
        // A secret that is broken over two lines would not be found.
        let meaning = plan::scrub(&format!("{}{detail}", condition.meaning));
        vec![condition.name.clone(), word.to_owned(), meaning]
    };
    let mut table = Table::new().words("condition").words("result").words("meaning");
    conditions.iter().for_each(|condition| table.row(row(condition)));
    format!("{}\n", table.text_within(width))
}

fn verdict(workload: &str, conditions: &[Condition]) -> String {
    match conditions.iter().filter(|condition| condition.broken().is_some()).count() {
        0 => format!("the data is in order: {workload}"),
        1 => format!("1 condition is broken: {workload}"),
        broken => format!("{broken} conditions are broken: {workload}"),
    }
}

#[cfg(test)]
mod tests {
    use measure::ConditionSubject;

    use super::*;

    fn condition(name: &str, verdict: ConditionResult) -> Condition {
        let (about, name, meaning) = (ConditionSubject::Data, name.to_owned(), "a = b".to_owned());
        Condition { about, name, meaning, verdict }
    }

    fn outcome(task: DataTask) -> DataOutcome {
        let workload = "tpcc: 1 warehouse".to_owned();
        DataOutcome { task, workload, conditions: Vec::new(), removed: Vec::new() }
    }

    #[test]
    fn results_are_shown_with_the_place_of_what_is_broken() {
        let conditions = vec![
            condition("3.3.2.1", ConditionResult::Holds),
            condition("3.3.2.2", ConditionResult::Broken("warehouse 1".to_owned())),
            condition("2.1.6.1", ConditionResult::Unknown("loaded elsewhere".to_owned())),
        ];
        let check = DataOutcome { conditions, ..outcome(DataTask::Check) };
        let removed = vec!["dropped sbtest1".to_owned()];
        let cleanup = DataOutcome { removed, ..outcome(DataTask::Cleanup) };
        let all = [
            outcome(DataTask::Prepare),
            outcome(DataTask::Check),
            check,
            outcome(DataTask::Cleanup),
            cleanup,
        ];
        let text: String = all.iter().map(|outcome| shown(outcome, None)).collect();
        insta::assert_snapshot!(text, @r"
        prepared: tpcc: 1 warehouse
        the data is in order: tpcc: 1 warehouse
        condition  result   meaning
        3.3.2.1    holds    a = b
        3.3.2.2    broken   a = b: warehouse 1
        2.1.6.1    unknown  a = b: loaded elsewhere

        1 condition is broken: tpcc: 1 warehouse
        there was nothing to remove
        dropped sbtest1
        ");
    }
}
