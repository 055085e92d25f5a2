//! Histories of made-up runs, whose figures are known.

use std::path::Path;

use analysis::ChangeTest;
use record::Run;
use serde_json::Value;

use super::*;
use crate::sample;

const CRITERIA: ChangeCriteria = ChangeCriteria { test: ChangeTest::Permutation, level: 0.01 };

/// A run of one system whose trial of 3 s has this rate a second.
fn at_rate(day: i64, rate: u64) -> Run {
    let mut run = sample::compared();
    run.trials.truncate(1);
    run.trials[0].total.transactions = 3 * rate;
    run.header.trials_planned = 1;
    run.header.plan_name = "nightly".to_owned();
    let after = jiff::SignedDuration::from_hours(24 * day);
    run.header.started = run.header.started.checked_add(after).unwrap();
    run.folder = Path::new("results").join(format!("run-{day:02}"));
    run
}

/// Eight runs around 100 a second, then eight around 80, with another version of the system.
fn runs() -> Vec<Run> {
    let rates = [100, 101, 99, 100, 102, 98, 100, 101, 80, 81, 79, 80, 82, 78, 80, 79];
    let mut runs: Vec<Run> =
        rates.into_iter().zip(0..).map(|(rate, day)| at_rate(day, rate)).collect();
    for run in &mut runs[8..] {
        run.trials[0].header.identity.version = "3.51.0".to_owned();
    }
    runs
}

fn history_of(runs: &[Run], left_out: Vec<LeftOut>) -> History {
    let of = |run: &Run| HistoryRun::of(&Digest::new(run)).unwrap();
    History::new("nightly", runs.iter().rev().map(of).collect(), left_out, CRITERIA)
}

/// With what differs at each change.
fn explained(runs: &[Run]) -> History {
    let mut history = history_of(runs, Vec::new());
    for (before, after) in history.changed() {
        let run = |folder: &Path| runs.iter().find(|run| run.folder == folder).unwrap();
        let (before, after) = (run(&before), run(&after));
        history.explain(&Digest::new(before), &Digest::new(after));
    }
    history
}

fn json(history: &History) -> Value {
    serde_json::from_str(&history.json()).unwrap()
}

#[test]
fn the_first_run_after_a_change_is_named_with_what_differs() {
    let history = explained(&runs());
    assert!(history.has_change());
    let value = json(&history);
    let tps = &value["series"][0];
    assert_eq!(
        (&tps["figure"], &tps["load"]),
        (&"transactions_per_s".into(), &"16 clients".into())
    );
    let change = &tps["changes"][0];
    assert_eq!((&change["run"], &change["folder"]), (&8.into(), &"results/run-08".into()));
    // (100 + 101 + 99 + 100 + 102 + 98 + 100 + 101) / 8 and (80 + 81 + 79 + 80 + 82 + 78 + 80 + 79) / 8.
    let number = |key: &str| change[key].as_f64().unwrap();
    assert!((number("before") - 100.125).abs() < 1e-9 && (number("after") - 79.875).abs() < 1e-9);
    assert!((number("change") - (79.875 / 100.125 - 1.0)).abs() < 1e-12);
    let of_run = &value["changes"][0];
    assert_eq!((&of_run["run"], &of_run["run_before"]), (&8.into(), &7.into()));
    let differences = of_run["differences"].as_array().unwrap();
    let version = differences.iter().find(|it| it["fact"] == "version").unwrap();
    assert_eq!(version["values"][1], "3.51.0");
    let text = history.text(None);
    assert!(
        text.starts_with("History of nightly: 16 runs from 2026-07-30 to 2026-08-14\n"),
        "{text}"
    );
    for part in ["▁", "│", "-20 %", "3.51.0", "the permutation test of E-divisive means at 1.0 %"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let named = "2026-08-07 12:00:00 UTC, results/run-08:";
    assert!(text.contains(named), "{text}");
}

#[test]
fn every_line_of_the_text_fits_the_terminal() {
    let text = explained(&runs()).text(Some(72));
    let longest = text.lines().map(unicode_width::UnicodeWidthStr::width).max();
    assert!(longest.is_some_and(|width| width <= 72), "{text}");
}

#[test]
fn runs_without_a_change_have_none() {
    let history = history_of(&runs()[..8], Vec::new());
    assert!(!history.has_change() && history.changed().is_empty());
    assert_eq!(json(&history)["changes"].as_array().unwrap().len(), 0);
    let tps = &json(&history)["series"][0];
    assert_eq!(tps["values"].as_array().unwrap().len(), 8);
    assert!(history.html().contains("No figure changed."));
}

#[test]
fn a_history_without_runs_and_of_few_runs_is_told() {
    let left_out =
        LeftOut { folder: "results/x".into(), reason: "plan\u{1b}[31m other".to_owned() };
    let none = history_of(&[], vec![left_out]);
    let text = none.text(Some(80));
    assert!(text.starts_with("History of nightly: 0 runs, 1 left out\n"), "{text}");
    // No text of a record reaches a terminal as it is.
    let told =
        text.lines().any(|line| line.starts_with("results/x") && line.ends_with("plan␛[31m other"));
    assert!(told, "{text}");
    assert!(json(&none)["series"].as_array().unwrap().is_empty());
    assert!(!history_of(&runs()[7..9], Vec::new()).has_change());
}

#[test]
fn invalid_runs_and_those_of_a_seek_have_no_place() {
    let seek = sample::sought(20e6, 1.0, 64.0);
    assert!(HistoryRun::of(&Digest::new(&seek)).unwrap_err().contains("seeks a capacity"));
    let failed = sample::failed();
    assert!(HistoryRun::of(&Digest::new(&failed)).unwrap_err().contains("no trial"));
}

#[test]
fn a_load_that_some_runs_do_not_have_is_a_series_of_the_others() {
    let mut runs = runs();
    for run in &mut runs[..4] {
        run.trials[0].header.clients = 8;
    }
    let value = json(&history_of(&runs, Vec::new()));
    let series = value["series"].as_array().unwrap();
    let tps = |load: &str| {
        series.iter().find(|it| it["load"] == load && it["figure"] == "transactions_per_s").unwrap()
    };
    assert_eq!(tps("8 clients")["values"].as_array().unwrap().len(), 4);
    let later = tps("16 clients");
    assert_eq!(later["values"][0]["run"], 4);
    // Four runs before and eight after: in random order few look like it.
    assert_eq!(later["changes"][0]["run"], 8);
}

/// The history of the runs with one change, for the test of its page.
pub(crate) fn explained_runs() -> History {
    explained(&runs())
}

#[test]
fn a_run_that_is_missing_in_a_series_is_named_with_the_reason() {
    let mut run = sample::long();
    run.folder = Path::new("results").join("cut");
    let [damaged, whole] = [0, 1].map(|at| run.trials[at].header.clients);
    for trial in run.trials.iter_mut().filter(|it| it.header.clients == damaged) {
        let (file, what) = ("intervals.jsonl".to_owned(), "cut".to_owned());
        trial.damage = Some(record::Damage { file, line: 1, what });
    }
    let history = history_of(&[run], Vec::new());
    let of_whole = format!("{whole} clients");
    assert_eq!((damaged, whole), (1, 4));
    assert!(history.series.iter().all(|series| series.of.load == of_whole));
    let text = history.text(None);
    let damaged = "sqlite, oltp_point_select, 1 client: no trial is valid or doubtful (the record";
    let (_, missing) = text.split_once("Missing in a series:\n").unwrap();
    assert!(missing.contains(&format!("results/cut  {damaged}")), "{text}");
    let missing = &json(&history)["runs"][0]["missing"];
    assert!(missing[0].as_str().unwrap().starts_with(damaged), "{missing}");
    assert!(history.html().contains("missing because"));
    assert!(!history_of(&runs(), Vec::new()).text(None).contains("Missing in a series"));
}

#[test]
fn percentiles_without_an_upper_bound_are_named() {
    let mut run = at_rate(1, 100);
    let edges = &mut run.trials[0].end.as_mut().unwrap().edges;
    (0..1_000).for_each(|_| edges.unsent.record(5_000_000_000));
    let text = history_of(&[run], Vec::new()).text(None);
    let (_, missing) = text.split_once("Missing in a series:\n").unwrap();
    assert!(
        missing.contains("results/run-01 ") && missing.contains("known only from below"),
        "{text}"
    );
}

#[test]
fn a_copy_of_a_run_is_left_out_of_a_history() {
    let run = at_rate(1, 100);
    let mut copy = run.clone();
    copy.folder = "results/run-01-copy".into();
    let text = history_of(&[run, copy], Vec::new()).text(None);
    assert!(text.contains("it is a copy of results/run-01"), "{text}");
}
