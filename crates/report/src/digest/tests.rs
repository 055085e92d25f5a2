//! Rows say which trials their figures are of, in every view.

use measure::{
    Condition, ConditionResult, ConditionSubject, MemberExit, OperationId, Rules, Score, Share,
    Tally, TrialStatus,
};

use super::*;
use crate::Reading;
use crate::sample;

fn repeated() -> Run {
    let mut run = sample::compared();
    run.trials.retain(|trial| trial.header.system == "sqlite");
    run.header.trials_planned = run.trials.len();
    // The trials have too few values for higher ones.
    run.header.percentiles = vec![50.0, 95.0];
    run
}

fn set_status(run: &mut Run, trial: usize, status: TrialStatus) {
    run.trials[trial].end.as_mut().unwrap().status = status;
}

fn remarks(run: &Run) -> String {
    let digest = Digest::new(run);
    digest.remarks(&digest.points[0])
}

#[test]
fn a_row_says_how_many_of_its_trials_count() {
    let mut run = repeated();
    assert_eq!(remarks(&run), "");
    set_status(&mut run, 1, TrialStatus::Crashed("killed".to_owned()));
    assert_eq!(remarks(&run), "3 of 4 trials, 1 crashed");
    run.trials[2].end.as_mut().unwrap().clients[0].failure =
        Some(measure::Failure::new(measure::ErrorClass::Server, "1", "gone"));
    assert_eq!(remarks(&run), "3 of 4 trials, 1 crashed, 1 invalid");
    let reading = Reading::new(&run);
    let told = "3 of 4 trials, 1 crashed, 1 invalid";
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains(told), "{view}");
        assert!(view.contains("failed and retries are sums over all trials"), "{view}");
    }
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let point = &json["points"][0];
    assert_eq!((&point["trials"], &point["trials_counted"]), (&4.into(), &3.into()));
    assert_eq!(point["remarks"], told);
}

#[test]
fn a_damaged_trial_is_shown_and_never_counts_as_complete() {
    let mut run = repeated();
    run.trials[1].damage = Some(record::Damage {
        file: "intervals.jsonl".to_owned(),
        line: 3,
        what: "expected value".to_owned(),
    });
    assert_eq!(remarks(&run), "3 of 4 trials, 1 damaged");
    assert_eq!(run.trials_done(), 3);
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    assert_eq!(digest.points[0].counted, [0, 2, 3]);
    assert_eq!(digest.failed_trials(), "1 damaged");
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("The record of the trial is damaged"), "{view}");
        assert!(view.contains("intervals.jsonl, line 3: expected value"), "{view}");
    }
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    assert_eq!(json["trials"][1]["status"], "damaged");
    let codes = json["trials"][1]["warnings"].as_array().unwrap();
    let damaged = codes.iter().find(|finding| finding["code"] == "damaged").unwrap();
    assert_eq!((&damaged["severity"], &damaged["values"]["line"]), (&"invalid".into(), &3.into()));
}

#[test]
fn the_title_has_what_is_known_of_trials_whose_header_cannot_be_read() {
    let mut run = repeated();
    run.header.title = None;
    let title = |run: &Run| Digest::new(run).whole_title();
    let whole = title(&run);
    assert!(whole.contains(" on ") && whole.contains(" client"), "{whole}");
    let mut damage = |at: usize| {
        let trial = &mut run.trials[at];
        trial.damage = Some(record::Damage {
            file: "trial.json".to_owned(),
            line: 0,
            what: "it is missing".to_owned(),
        });
        trial.header.system = "unknown".to_owned();
        trial.header.workload.name = "unknown".to_owned();
        trial.header.clients = 0;
        trial.header.identity = record::Identity::default();
        title(&run)
    };
    assert_eq!(damage(1), whole);
    [0, 2].into_iter().for_each(|at| drop(damage(at)));
    let none = damage(3);
    let name = &run.header.plan_name;
    assert_eq!(none, format!("{name}, 4 trials whose headers cannot be read"));
    let reading = Reading::new(&run);
    let page = crate::whole_html(&reading);
    assert!(page.contains("trial 2, whose header cannot be read"), "{page}");
    run.trials.truncate(1);
    let name = &run.header.plan_name;
    assert_eq!(title(&run), format!("{name}, a trial whose header cannot be read"));
}

/// A server, or who made the record, chooses all of these.
#[test]
fn texts_of_others_control_no_terminal_and_are_not_formulas() {
    const EVIL: &str = "=1\u{1b}]0;x\u{7}\u{9b}31m\r\u{202e}";
    const SHOWN: &str = "=1␛]0;x␇\u{fffd}31m␍\u{fffd}";
    let mut run = repeated();
    run.header.title = Some(EVIL.to_owned());
    run.header.command = EVIL.to_owned();
    run.header.plan_text = EVIL.to_owned();
    for trial in &mut run.trials {
        let header = &mut trial.header;
        header.system = EVIL.to_owned();
        header.identity.product = EVIL.to_owned();
        header.identity.settings.push(("evil".to_owned(), EVIL.to_owned()));
        header.operations[0].name = EVIL.to_owned();
        header.workload.rules.remarks.push(EVIL.to_owned());
        let end = trial.end.as_mut().unwrap();
        end.status = TrialStatus::Failed(EVIL.to_owned());
    }
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let csv =
        [crate::csv(&reading), crate::watch_csv(digest)].map(|text| text.replace("\r\n", "\n"));
    let json = crate::json(&reading);
    let views =
        [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading), json];
    for (at, view) in views.iter().chain(&csv).enumerate() {
        let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        let seen = view.find(|c| is_control(c) || c == '\u{202e}');
        assert_eq!(seen, None, "view {at}");
    }
    for view in &views[..2] {
        assert!(view.contains(SHOWN) || view.contains(&SHOWN.replace(']', "\\]")), "{view}");
    }
    assert!(csv[0].contains(&format!(",'{SHOWN},")), "{}", csv[0]);
    assert!(!csv[0].contains(",="), "{}", csv[0]);
}

/// A workload with a score, a mix and conditions, whose server crashed in its only trial.
#[test]
fn a_crashed_trial_marks_its_score_and_says_that_conditions_were_not_checked() {
    let mut run = repeated();
    run.trials.truncate(1);
    let operations = vec![OperationId(0)];
    run.trials[0].header.workload.rules = Rules {
        scores: vec![Score {
            name: "tpmX".to_owned(),
            meaning: "transactions a minute".to_owned(),
            operations: operations.clone(),
            period_s: 60,
            formula: measure::Formula::Rate,
            most: None,
        }],
        shares: vec![Share { name: "all".to_owned(), operations, least_percent: 50.0 }],
        has_waits: false,
        ..Rules::default()
    };
    let whole = Reading::new(&run);
    assert!(!crate::terminal(&whole).contains("crashed"));
    set_status(&mut run, 0, TrialStatus::Crashed("killed".to_owned()));
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let table = crate::rules::table(digest, None).text();
    let row = table.lines().nth(1).unwrap();
    assert!(row.ends_with("kept          not checked after the load  crashed"), "{table}");
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("not checked after the load"), "{view}");
    }
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    assert_eq!(json["trials"][0]["own"]["conditions_checked"], false);
    // Another repetition, whose conditions were checked.
    let mut other = run.trials[0].clone();
    other.header.repetition = 1;
    let (name, meaning) = ("one".to_owned(), "one is one".to_owned());
    other.conditions = vec![Condition {
        about: ConditionSubject::Data,
        name,
        meaning,
        verdict: ConditionResult::Holds,
    }];
    other.end.as_mut().unwrap().status = TrialStatus::Complete;
    run.trials.push(other);
    let table = crate::rules::table(&Digest::new(&run), None).text();
    let told = "1 of 1 hold; not checked after the load in 1 of 2 trials  1 of 2 trials, 1 crashed";
    assert!(table.contains(told), "{table}");
}

#[test]
fn an_outage_without_an_end_took_so_long_or_more_in_every_view() {
    let mut run = repeated();
    run.trials.truncate(1);
    let end_ns = run.trials[0].intervals.last().unwrap().end_ns;
    let start_ns = end_ns - 1_300_000_000;
    run.trials[0].outages = vec![Outage { start_ns, end_ns: None, failures: 16, reconnects: 0 }];
    let reading = Reading::new(&run);
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("1.30 s or more"), "{view}");
    }
    assert!(crate::whole_html(&reading).contains("outage of 1.300 s or more"));
}

#[test]
fn a_server_that_exited_stands_in_every_view() {
    let mut run = repeated();
    run.trials.truncate(1);
    let exit = |member: &str, at_ns, log: &str| MemberExit {
        member: member.to_owned(),
        role: "store".to_owned(),
        at_ns,
        status: "exit status: 1".to_owned(),
        log: log.to_owned(),
    };
    let late = run.trials[0].intervals.last().unwrap().end_ns + 1;
    run.trials[0].member_exits = vec![
        exit("store-2", Some(2_345_678_901), "out of <space>"),
        exit("store-3", None, ""),
        exit("store-1", Some(late), ""),
    ];
    let reading = Reading::new(&run);
    let told = "store-2 (exit status: 1) at 2.35 s";
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains(told), "{view}");
        assert!(view.contains("store-3 (exit status: 1) before the load"), "{view}");
        assert!(!view.contains("store-1 (exit"), "it exited after the load: {view}");
    }
    let page = crate::whole_html(&reading);
    assert!(page.contains("<pre tabindex=\"0\"><code>out of &lt;space&gt;</code></pre>"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let exits = &json["trials"][0]["member_exits"];
    assert_eq!(exits[0]["at_ns"], 2_345_678_901_u64);
    assert_eq!(
        (&exits[1]["member"], &exits[1]["at_ns"]),
        (&"store-3".into(), &serde_json::Value::Null)
    );
    assert_eq!(exits.as_array().unwrap().len(), 3);
}

#[test]
fn a_damaged_plan_is_told_in_every_view_and_changes_no_verdict() {
    let mut run = repeated();
    let valid = Reading::new(&run).not_valid(&[]);
    run.header.plan_text.clear();
    run.plan_damage = Some(record::Damage {
        file: "plan.toml".to_owned(),
        line: 0,
        what: "it is no regular file".to_owned(),
    });
    let reading = Reading::new(&run);
    assert_eq!(reading.not_valid(&[]), valid);
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("copy of the plan is damaged"), "{view}");
        assert!(view.contains("plan.toml: it is no regular file"), "{view}");
    }
    for view in [crate::markdown(&reading), crate::whole_html(&reading)] {
        assert!(view.contains("plan.toml is damaged: it is no regular file"), "{view}");
    }
    let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    assert_eq!(json["warnings"][0]["code"], "plan-damaged");
    assert_eq!(json["warnings"][0]["severity"], "note");
}

#[test]
fn an_open_loop_says_which_queues_its_arrivals_wait_in() {
    let mut run = sample::open();
    let note = |run: &Run| crate::tables::queues_note(&Digest::new(run)).unwrap();
    assert!(note(&run).contains("(one for each client of sqlite)"), "{}", note(&run));
    for trial in &mut run.trials {
        trial.header.is_embedded = false;
    }
    let loops = "one for each event loop, here 2: their number follows dyno's cores";
    assert!(note(&run).contains(loops), "{}", note(&run));
    let reading = Reading::new(&run);
    for view in [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
    {
        assert!(view.contains("Near saturation response times depend on the number of queues"));
    }
    assert_eq!(crate::tables::queues_note(&Digest::new(&sample::run())), None);
}

#[test]
fn context_switches_that_differ_much_between_loads_are_told() {
    let mut run = sample::quick();
    assert!(crate::tables::switches_notes(&Digest::new(&run)).is_empty());
    for trial in &mut run.trials {
        let queries = trial.total.queries.total();
        let switches = if trial.header.clients == 2 { queries / 2 } else { queries / 100 };
        let usage = trial.end.as_mut().unwrap().usage.as_mut().unwrap();
        (usage.voluntary_switches, usage.involuntary_switches) = (switches, 0);
    }
    run.trials.retain(|trial| trial.header.workload.name == "oltp_point_select");
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let notes = crate::tables::switches_notes(digest);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("0.500 times for a query with 2 clients"), "{notes:?}");
    for view in [crate::markdown(&reading), crate::whole_html(&reading)] {
        assert!(view.contains("Its threads waited in different ways"));
    }
}

#[test]
fn a_complete_repetition_in_which_nothing_succeeded_counts_as_zero() {
    let mut run = sample::large();
    let second = run.trials.iter_mut().find(|trial| trial.header.repetition == 1).unwrap();
    let operations = second.header.operations.len();
    second.total = Tally::new(operations);
    for interval in &mut second.intervals {
        interval.tally = Tally::new(operations);
    }
    let digest = Digest::new(&run);
    let point = &digest.points[0];
    assert_eq!(point.counted.len(), 2);
    let rate = digest.estimate(point, |summary| summary.transactions_per_s).unwrap();
    assert_eq!((rate.min, rate.median), (0.0, rate.max / 2.0));
    // There is one latency, which the round without any does not halve.
    let (latency, _) = digest.bounded(point, |summary| summary.latency.mean()).unwrap();
    assert_eq!((latency.count, latency.min), (1, latency.max));
}

#[test]
fn a_load_that_is_given_cpus_has_no_more_threads_than_these() {
    let mut record = sample::run().trials.swap_remove(0);
    let threads = |record: &TrialRecord, usable| usage(record, usable).unwrap().threads;
    let own = record.header.load.threads;
    assert_eq!((own, threads(&record, None), threads(&record, Some(1))), (2, 2, 1));
    record.header.load.cpus = vec![3];
    assert_eq!(threads(&record, Some(8)), 1);
    record.header.load.cpus = vec![1, 2, 3];
    assert_eq!(threads(&record, Some(8)), 2);
}
