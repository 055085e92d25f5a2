//! Comparisons of made-up runs, whose figures are known.

use jiff::SignedDuration;
use measure::TrialStatus;
use record::Run;
use serde_json::Value;

use super::*;
use crate::Reading;
use crate::{Digest, sample};

fn selection<'d, 'a>(digest: &'d Digest<'a>, system: &str) -> Selection<'d, 'a> {
    Selection { digest, system: (!system.is_empty()).then(|| system.to_owned()) }
}

fn criteria(thresholds: &[&str]) -> Criteria {
    let thresholds = thresholds.iter().map(|text| Threshold::parse(text).unwrap()).collect();
    Criteria { margin: 0.02, thresholds, is_strict: false }
}

/// A run of one system with a trial of 3 s at each of these rates a second, ten seconds from each to the next. Runs begin
/// in the order of the letters that their folders begin with.
fn at_rates(folder: &str, rates: &[u64]) -> Run {
    let mut run = sample::compared();
    let first = run.trials[0].clone();
    run.trials = rates
        .iter()
        .zip(0..)
        .map(|(rate, repetition)| {
            let mut trial = first.clone();
            (trial.header.repetition, trial.header.index) = (repetition, repetition as usize);
            trial.total.transactions = 3 * rate;
            let end = trial.end.as_mut().unwrap();
            let later = 100 * i64::from(folder.as_bytes()[0]) + 10 * i64::from(repetition);
            end.measure_started =
                end.measure_started.map(|time| time + SignedDuration::from_secs(later));
            trial
        })
        .collect();
    run.header.trials_planned = run.trials.len();
    sample::keep_in(&mut run, folder);
    run
}

fn compared(baseline: &Run, candidate: &Run, criteria: Criteria) -> Value {
    let digests = [Digest::new(baseline), Digest::new(candidate)];
    let [one, other] = [0, 1].map(|side| [selection(&digests[side], "")]);
    let compared = RunComparison::new(&one, &other, criteria).unwrap();
    serde_json::from_str(&compared.json()).unwrap()
}

fn refusal(baseline: &Run, candidate: &Run) -> String {
    let digests = [Digest::new(baseline), Digest::new(candidate)];
    let [one, other] = [0, 1].map(|side| [selection(&digests[side], "")]);
    RunComparison::new(&one, &other, criteria(&[])).unwrap_err().to_string()
}

fn row<'v>(compared: &'v Value, figure: &str) -> &'v Value {
    let rows = compared["compared"].as_array().unwrap();
    rows.iter().find(|row| row["figure"] == figure).unwrap()
}

#[test]
fn variants_of_a_run_are_compared_by_the_rounds_and_ratios_of_its_report() {
    let run = sample::variants();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let sides = ["v1", "tidb.v3"].map(|name| [selection(digest, name)]);
    let compared = RunComparison::new(&sides[0], &sides[1], criteria(&[])).unwrap();
    let group = &reading.groups()[0];
    let mut seen = 0;
    for row in &compared.rows {
        if !matches!(row.figure, Figure::Throughput | Figure::Latency(_)) {
            continue;
        }
        let clients = compared.place(row).clients;
        let points = group.points("v3");
        let point = points.iter().find(|point| point.clients == clients).unwrap();
        let of_report = group.compare(point, row.figure).unwrap();
        let found = row.found.as_ref().unwrap();
        assert_eq!(found.contrast, of_report.ratio.logs);
        assert_eq!(found.values, [of_report.baseline, of_report.variant]);
        seen += 1;
    }
    assert_eq!(seen, 2 * 5, "throughput and four percentiles for each number of clients");
    insta::assert_snapshot!(compared.text(None));
}

#[test]
fn what_differs_stands_before_the_ratios_of_two_runs() {
    let baseline = at_rates("before", &[1_000, 1_005, 995, 1_000]);
    let mut candidate = at_rates("candidate", &[1_100, 1_110, 1_090, 1_100]);
    candidate.header.environment.system.kernel = Some("Linux 6.12.1".to_owned());
    candidate.header.environment.cpu.flags.push("zvbb".to_owned());
    candidate.header.dyno.version = "0.2.0".to_owned();
    candidate.header.seed = 7;
    candidate.header.plan_text = candidate.header.plan_text.replace("[1, 4]", "16");
    for trial in &mut candidate.trials {
        trial.header.identity.settings[0].1 = "OFF".to_owned();
        trial.header.load.threads = 4;
    }
    let digests = [Digest::new(&baseline), Digest::new(&candidate)];
    let [one, other] = [0, 1].map(|side| [selection(&digests[side], "")]);
    let found = RunComparison::new(&one, &other, criteria(&["tps < -3%", "p99 > +5%"])).unwrap();
    insta::assert_snapshot!(found.text(None));
    insta::assert_snapshot!("markdown", found.markdown());
    insta::assert_snapshot!("json", found.json());
    insta::assert_snapshot!("junit", found.junit());
    for width in 60..140 {
        let text = found.text(Some(width));
        let is_wide = |line: &&str| unicode_width::UnicodeWidthStr::width(*line) > width;
        assert_eq!(text.lines().find(is_wide), None, "in {width} columns");
    }
    assert_eq!(found.outcome(), Outcome::Passed);
    let value: Value = serde_json::from_str(&found.json()).unwrap();
    let tps = row(&value, "tps");
    assert_eq!((&tps["verdict"], &tps["repetitions"]["of"]), (&"faster".into(), &"trials".into()));
    assert!((tps["ratio"].as_f64().unwrap() - 1.1).abs() < 1e-3, "{tps}");
    // The latencies are the same in every trial.
    let p99 = row(&value, "p99");
    assert_eq!(p99["verdict"], "no-difference-larger");
    assert_eq!(p99["text"], "no difference larger than 0 %");
}

#[test]
fn two_halves_of_the_same_trials_give_no_alarm() {
    let rates = [1_000, 1_030, 980, 1_010, 990, 1_020];
    let mut others = rates;
    others.reverse();
    let found = compared(&at_rates("a", &rates), &at_rates("b", &others), criteria(&["tps < -3%"]));
    let tps = row(&found, "tps");
    assert!((tps["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-12, "{tps}");
    assert!(["no-difference-larger", "not-decided"].contains(&tps["verdict"].as_str().unwrap()));
    assert_eq!(found["passed"], true);
    assert_eq!(found["differences"], Value::Array(Vec::new()));
}

#[test]
fn verdicts_are_corrected_over_all_figures_and_intervals_are_not() {
    let found = compared(
        &at_rates("a", &[1_000, 1_040, 960, 1_000]),
        &at_rates("b", &[1_200, 1_160, 1_240, 1_190]),
        criteria(&[]),
    );
    let tps = row(&found, "tps");
    let p_value = |key: &str| tps["p_values"][key].as_f64().unwrap();
    let family = found["correction"]["family"].as_u64().unwrap();
    assert_eq!(family, 5, "throughput and four percentiles: {found}");
    // Of the ten tests the equality of the percentiles, which do not vary, comes first with four p-values of 0. Six are
    // left, of which five can be true.
    let corrected = p_value("difference_corrected");
    assert!((corrected - p_value("difference") * 5.0).abs() < 1e-12, "{tps}");
    assert!(p_value("difference") < 0.05 && p_value("difference_corrected") > 0.01);
    assert!(tps["change"]["low_95"].as_f64().unwrap() > 0.0, "{tps}");
}

#[test]
fn a_run_counts_once_when_both_sides_have_several() {
    // Trials within a run hardly vary, runs do.
    let runs = [("a1", 1_000), ("a2", 1_100), ("b1", 1_050), ("b2", 1_150)];
    let runs = runs.map(|(name, rate)| at_rates(name, &[rate - 1, rate, rate + 1]));
    let digests: Vec<Digest<'_>> = runs.iter().map(Digest::new).collect();
    let side = |from: usize| [selection(&digests[from], ""), selection(&digests[from + 1], "")];
    let found = RunComparison::new(&side(0), &side(2), criteria(&[])).unwrap();
    let value: Value = serde_json::from_str(&found.json()).unwrap();
    let tps = row(&value, "tps");
    assert_eq!(
        tps["repetitions"],
        serde_json::json!({ "of": "runs", "baseline": 2, "candidate": 2 })
    );
    assert_eq!(tps["verdict"], "not-decided", "{tps}");
    let ratio = tps["ratio"].as_f64().unwrap();
    let known = (1_050.0_f64 * 1_150.0 / 1_000.0 / 1_100.0).sqrt();
    assert!((ratio / known - 1.0).abs() < 1e-5, "{ratio} {known}");
    // With the trials as repetitions the interval would exclude 1.
    let pooled = RunComparison::new(&side(0)[..1], &side(2)[..1], criteria(&[])).unwrap();
    let pooled: Value = serde_json::from_str(&pooled.json()).unwrap();
    assert_eq!(row(&pooled, "tps")["verdict"], "faster");
}

#[test]
fn one_trial_on_a_side_shows_no_difference_and_strict_thresholds_fail() {
    let baseline = at_rates("a", &[1_000, 1_010]);
    let candidate = at_rates("b", &[500]);
    let found = compared(&baseline, &candidate, criteria(&["tps < -3%"]));
    let tps = row(&found, "tps");
    assert_eq!(
        (&tps["verdict"], &tps["text"]),
        (&"too-few-repetitions".into(), &"too few trials".into())
    );
    assert_eq!(tps["change"]["low_95"], Value::Null);
    assert_eq!(
        (&found["thresholds"][0]["result"], &found["passed"]),
        (&"not-decided".into(), &true.into())
    );
    let detail = found["thresholds"][0]["text"].as_str().unwrap();
    let expected = "too few trials: could not have been crossed with these repetitions";
    assert!(detail.ends_with(expected), "{detail}");
    let strict = Criteria { is_strict: true, ..criteria(&["tps < -3%"]) };
    assert_eq!(compared(&baseline, &candidate, strict)["passed"], false);
}

#[test]
fn a_threshold_is_crossed_by_the_whole_interval_alone() {
    let baseline = at_rates("a", &[1_000, 1_005, 995, 1_000]);
    let slower = at_rates("b", &[900, 905, 895, 900]);
    for (threshold, result) in [
        ("tps < -3%", "crossed"),
        ("tps < -20%", "kept"),
        ("tps < -10%", "not-decided"),
        ("p50 > +5%", "kept"),
        ("failed > +1%", "kept"),
    ] {
        let found = compared(&baseline, &slower, criteria(&[threshold]));
        let check = &found["thresholds"][0];
        assert_eq!(check["result"], result, "{check}");
        assert_eq!(found["passed"], result != "crossed");
        assert_eq!(check["fails_if"], threshold);
    }
}

/// Five figures are judged together: a loss whose own interval is beyond 0 is not decided after the correction. The
/// threshold and the verdict have one answer.
#[test]
fn a_threshold_is_not_crossed_where_the_verdict_is_not_decided() {
    let mut beyond_alone = 0;
    for loss in (20..200).step_by(10) {
        let rates = [1_000, 1_040, 960, 1_000];
        let lower = rates.map(|rate| rate - loss);
        let found =
            compared(&at_rates("a", &rates), &at_rates("b", &lower), criteria(&["tps < -0%"]));
        let tps = row(&found, "tps");
        let is_beyond = tps["change"]["high_95"].as_f64().unwrap() < 0.0;
        let is_decided = tps["verdict"] != "not-decided";
        let result = if is_beyond && is_decided { "crossed" } else { "not-decided" };
        assert_eq!(found["thresholds"][0]["result"], result, "{loss}: {found}");
        beyond_alone += usize::from(is_beyond && !is_decided);
    }
    assert!(beyond_alone > 0);
}

/// 43 times as many, by 10 % more or less.
#[test]
fn a_change_of_more_than_twice_is_told_as_a_multiple() {
    let found = compared(
        &at_rates("a", &[100, 104, 96, 100]),
        &at_rates("b", &[4_300, 4_470, 4_130, 4_300]),
        criteria(&["tps < -3%"]),
    );
    let text = row(&found, "tps")["text"].as_str().unwrap();
    assert!(text.starts_with("faster: 43.0 times (") && text.contains(" to "), "{text}");
}

#[test]
fn crash_rates_are_compared_by_fishers_test_and_survivors_are_marked() {
    let baseline = at_rates("a", &[1_000; 8]);
    let mut candidate = at_rates("b", &[1_000; 8]);
    for trial in candidate.trials.iter_mut().take(6) {
        let end = trial.end.as_mut().unwrap();
        end.status = TrialStatus::Crashed("killed".to_owned());
    }
    let found = compared(&baseline, &candidate, criteria(&[]));
    let crashes = &found["crashes"][0];
    assert_eq!(crashes["candidate"], serde_json::json!({ "crashed": 6, "trials": 8 }));
    // Of the 8,008 ways to choose 6 of 16 trials 28 lie in one side: 2 x 28 / 8,008.
    let p_value = crashes["p_value"].as_f64().unwrap();
    assert!((p_value - 56.0 / 8_008.0).abs() < 1e-12, "{p_value}");
    // All other figures are equal beyond doubt, and come before it.
    assert_eq!(crashes["verdict"], "more", "{crashes}");
    let tps = row(&found, "tps");
    let remarks = tps["remarks"].as_str().unwrap();
    assert!(remarks.starts_with("survivors of the candidate; "), "{remarks}");
    assert!(remarks.contains("candidate: 2 of 8 trials, 6 crashed"), "{remarks}");
    assert_eq!(tps["repetitions"]["candidate"], 2);
}

#[test]
fn a_candidate_without_a_complete_trial_crosses_every_threshold() {
    let baseline = at_rates("a", &[1_000; 2]);
    let mut candidate = at_rates("b", &[1_000; 2]);
    for trial in &mut candidate.trials {
        trial.end.as_mut().unwrap().status = TrialStatus::Failed("no server".to_owned());
    }
    let found = compared(&baseline, &candidate, criteria(&["p99 > +5%"]));
    assert_eq!(found["thresholds"][0]["result"], "crossed");
    let reason = &row(&found, "p99")["reason"];
    assert_eq!(reason, "no trial of the candidate ran to its end");
}

#[test]
fn failures_are_compared_by_the_difference_of_their_parts() {
    let baseline = at_rates("a", &[1_000; 4]);
    let mut candidate = at_rates("b", &[900; 4]);
    for trial in &mut candidate.trials {
        trial.total.failed_transactions = 300;
    }
    let found = compared(&baseline, &candidate, criteria(&["failed > +5%"]));
    let failed = row(&found, "failed");
    assert_eq!((&failed["verdict"], &failed["ratio"]), (&"more".into(), &Value::Null));
    assert_eq!(failed["text"], "more by 10 points (10 to 10)");
    assert_eq!(failed["change"]["value"], 0.1);
    assert_eq!(found["thresholds"][0]["result"], "crossed");
    let none = compared(&baseline, &at_rates("c", &[900; 4]), criteria(&[]));
    assert!(none["compared"].as_array().unwrap().iter().all(|row| row["figure"] != "failed"));
}

#[test]
fn comparisons_that_make_no_sense_are_refused() {
    let run = at_rates("a", &[1_000; 2]);
    let other = |change: fn(&mut record::TrialHeader)| {
        let mut other = at_rates("b", &[1_000; 2]);
        other.trials.iter_mut().for_each(|trial| change(&mut trial.header));
        other
    };
    let scale = other(|it| it.workload.description = "4 tables of 1,000,000 rows".to_owned());
    let message = refusal(&run, &scale);
    assert!(message.starts_with("workload oltp_read_write is not the same: `4 tables of 10,000"));
    let kind = other(|it| it.workload.kind = "ycsb/a".to_owned());
    assert!(refusal(&run, &kind).contains("(ycsb/a)"));
    let name = other(|it| it.workload.name = "mine".to_owned());
    let message = refusal(&run, &name);
    assert!(message.ends_with("the baseline has oltp_read_write, the candidate mine"), "{message}");
    let clients = other(|it| it.clients = 3);
    let message = refusal(&run, &clients);
    assert!(
        message.contains("no load is the same") && message.contains(", 3 clients"),
        "{message}"
    );
    assert!(refusal(&run, &run).contains("compared with themselves"));
    let mut empty = at_rates("b", &[]);
    empty.trials.clear();
    assert!(refusal(&run, &empty).contains("no trial whose load began"));
}

/// An A/A pair of runs, each of which was named with a copy of it, was told to differ for certain.
#[test]
fn a_copy_of_a_run_is_no_second_run() {
    let run = at_rates("a", &[100, 101]);
    let mut copy = run.clone();
    copy.folder = "results/copy".into();
    let message = refusal(&run, &copy);
    assert!(message.starts_with("results/copy is a copy of results/a, or"), "{message}");
}

/// The SQL of two runs differed, and nothing told so.
#[test]
fn files_that_a_plan_names_are_compared() {
    let with = |folder: &str, files: &[(&str, &[u8])]| {
        let mut run = at_rates(folder, &[100, 101]);
        run.header.files = record::PlanFile::of(files.iter().copied());
        run
    };
    let before = with("a", &[("q.sql", b"SELECT 1;\nSELECT 2;"), ("p.bin", &[255, 0])]);
    let after = with("b", &[("q.sql", b"SELECT 1;\nSELECT 3;"), ("p.bin", &[255, 0])]);
    let value = compared(&before, &after, criteria(&[]));
    let text = value["differences"].to_string();
    assert!(text.contains("file q.sql") && !text.contains("p.bin"), "{text}");
    assert!(text.contains("SELECT 2;") && text.contains("SELECT 3;"), "{text}");
    assert!(!text.contains("SELECT 1;"), "{text}");
    // Older dynos recorded no files.
    let value = compared(&before, &with("c", &[]), criteria(&[]));
    assert!(!value["differences"].to_string().contains("q.sql"), "{value}");
    let [before, after] = [before, after].map(|run| crate::PlanText::of(&run));
    assert_eq!(after.difference(&before).unwrap(), "its file q.sql differs");
}

#[test]
fn systems_of_several_are_matched_by_name_or_named() {
    let run = sample::compared();
    let mut renamed = sample::compared();
    sample::keep_in(&mut renamed, "other");
    for trial in &mut renamed.trials {
        trial.header.system += "2";
    }
    let message = refusal(&run, &renamed);
    assert!(message.contains("RUN:SYSTEM") && message.contains("candidate: sqlite2, mariadb2"));
    let digests = [Digest::new(&run), Digest::new(&renamed)];
    let side = |at: usize, name: &str| [selection(&digests[at], name)];
    let found =
        RunComparison::new(&side(0, "sqlite"), &side(1, "mariadb2"), criteria(&[])).unwrap();
    assert_eq!(found.sides.systems, [["sqlite", "mariadb2"]]);
    let wrong = RunComparison::new(&side(0, "pg"), &side(1, "mariadb2"), criteria(&[]));
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("has no system pg; it has sqlite, mariadb"), "{message}");
    renamed.trials.iter_mut().for_each(|trial| {
        trial.header.system = trial.header.system.replace("sqlite2", "sqlite");
    });
    let found = compared(&run, &renamed, criteria(&[]));
    let only = found["only_on_one_side"].as_array().unwrap();
    assert_eq!(only[..], ["the baseline's system mariadb", "the candidate's system mariadb2"]);
}

#[test]
fn a_threshold_on_a_figure_that_nobody_has_is_refused() {
    let runs = [at_rates("a", &[1_000; 2]), at_rates("b", &[1_000; 2])];
    let digests: Vec<Digest<'_>> = runs.iter().map(Digest::new).collect();
    let side = |at: usize| [selection(&digests[at], "")];
    let refused = RunComparison::new(&side(0), &side(1), criteria(&["cpu > +5%"]));
    let message = refused.unwrap_err().to_string();
    assert!(message.starts_with("--fail-if cpu > +5%: neither side has cpu"), "{message}");
}

/// The made-up server keeps half a thread busy and writes 1 MiB a second.
#[test]
fn costs_of_a_query_are_compared_where_they_are_known() {
    let rename = |name: &str| {
        let mut run = sample::watched();
        sample::keep_in(&mut run, name);
        run
    };
    let found = compared(&rename("a"), &rename("b"), criteria(&[]));
    assert_eq!(row(&found, "cpu")["ratio"], 1.0);
    assert_eq!(row(&found, "written_kb")["ratio"], 1.0);
    let rows = found["compared"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["figure"] != "read_kb"), "nothing is read on either side");
}

#[test]
fn the_variance_over_runs_is_split_into_its_levels() {
    let run = |folder: &str, rates: [u64; 2]| {
        let mut run = sample::repeated();
        run.trials.truncate(2);
        for (trial, rate) in run.trials.iter_mut().zip(rates) {
            trial.total.transactions = 10 * rate;
        }
        sample::keep_in(&mut run, folder);
        run
    };
    let baseline =
        [run("b1", [1_000, 1_010]), run("b2", [1_100, 1_110]), run("b3", [1_200, 1_210])];
    let candidate = [run("c1", [1_000, 1_010])];
    let digests =
        [&baseline[..], &candidate[..]].map(|runs| runs.iter().map(Digest::new).collect());
    let [baseline, candidate]: [Vec<Digest<'_>>; 2] = digests;
    let baseline: Vec<_> = baseline.iter().map(|it| selection(it, "")).collect();
    let candidate: Vec<_> = candidate.iter().map(|it| selection(it, "")).collect();
    let compared = RunComparison::new(&baseline, &candidate, criteria(&[])).unwrap();
    let text = compared.text(None);
    let table = text.split("Variance:").nth(1).expect(&text);
    let row = table.lines().find(|line| line.starts_with("baseline")).expect(&text);
    // Means of 1,005, 1,105 and 1,205: 20,000 less 50, over two trials each: 99.9 of 1,105.
    assert!(row.contains("9.0 %"), "{row}");
    assert!(row.contains(" 3 "), "{row}");
    assert!(
        !table.lines().any(|line| line.starts_with("candidate")),
        "it has a single run: {text}"
    );
}

/// A database that was built for two levels of a processor, under three workloads in three rounds; `factors` say how many
/// times as much the second build did in each.
fn builds(factors: [[f64; 3]; 3]) -> Run {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    run.header.percentiles = vec![50.0, 95.0];
    let of_one = std::mem::take(&mut run.trials);
    for (workload, factors) in ["point_select", "update_index", "read_only"].iter().zip(factors) {
        for mut trial in of_one.iter().cloned() {
            let round = trial.header.repetition as usize;
            let is_v3 = trial.header.system == "tidb.v3";
            let factor = if is_v3 { factors[round] } else { 1.0 };
            trial.header.index = run.trials.len();
            trial.header.workload.name = (*workload).to_owned();
            trial.total.transactions = ([20_000.0, 10_000.0, 30_000.0][round] * factor) as u64;
            trial.end.as_mut().unwrap().status = TrialStatus::Complete;
            run.trials.push(trial);
        }
    }
    run.header.trials_planned = run.trials.len();
    run
}

/// The first words on two builds of one run.
fn told_of(run: &Run) -> String {
    let digest = Digest::new(run);
    let sides = ["v1", "v3"].map(|name| [selection(&digest, name)]);
    let compared = RunComparison::new(&sides[0], &sides[1], criteria(&[])).unwrap();
    let (text, markdown) = (compared.text(None), compared.markdown());
    let told =
        text.strip_prefix("Conclusions:\n\n").unwrap().split_once('\n').unwrap().0.to_owned();
    let value: Value = serde_json::from_str(&compared.json()).unwrap();
    assert_eq!(value["conclusions"][0]["text"], told);
    let first = markdown.split_once("## Conclusions\n\n").unwrap().1;
    assert!(first.starts_with(&told), "{markdown}");
    told
}

#[test]
fn a_comparison_of_two_builds_ends_in_a_sentence_that_answers_it() {
    let alike = [[0.897, 1.106, 0.971], [1.08, 0.92, 1.01], [0.99, 1.05, 0.95]];
    insta::assert_snapshot!(told_of(&builds(alike)), @"Whether tidb.v3 or tidb.v1 is faster is not decided: throughput of tidb.v3 -1.2 % to +0.1 % under 3 loads, with 95 % intervals from -24 % to +28 %, 3 rounds; more rounds would narrow it.");
    let faster = [[1.05, 1.051, 1.049], [1.03, 1.031, 1.029], [1.04, 1.041, 1.039]];
    insta::assert_snapshot!(told_of(&builds(faster)), @"tidb.v3 is faster than tidb.v1 under 3 of 3 loads: throughput +3.0 % to +5.0 %, 3 rounds.");
    let same = [[1.001, 1.0, 0.999], [1.0, 1.001, 0.999], [1.0, 1.0, 1.0]];
    insta::assert_snapshot!(told_of(&builds(same)), @"tidb.v3 and tidb.v1 show no difference larger than 0.2 % in throughput, under 3 loads, 3 rounds.");
}

#[test]
fn a_crash_is_told_beside_the_speed_of_the_survivors() {
    let mut run = builds([[1.1, 1.101, 1.099]; 3]);
    for trial in run.trials.iter_mut().filter(|it| it.header.system == "tidb.v3").take(2) {
        trial.end.as_mut().unwrap().status = TrialStatus::Crashed("killed".to_owned());
    }
    let digest = Digest::new(&run);
    let sides = ["v1", "v3"].map(|name| [selection(&digest, name)]);
    let compared = RunComparison::new(&sides[0], &sides[1], criteria(&[])).unwrap();
    let all: Vec<String> =
        conclusion::all(&compared).iter().map(crate::conclusion::Conclusion::text).collect();
    // Fisher's exact test of 0 of 9 and 2 of 9: 2 C(9, 2) / C(18, 2) = 72 / 153 = 0.4706, and more after the correction.
    insta::assert_snapshot!(all[1], @"tidb.v3 crashed in 2 of 9 trials, tidb.v1 in 0 of 9 trials: not decided (p 1.0000); figures are those of the trials that survived.");
}

/// The interval is the one that the report of the run has: 1.2 and exp 0.024 370 times that and 1 / that (see the tests of
/// `rounds`), and not Student's.
#[test]
fn rounds_that_ended_by_themselves_are_compared_by_the_intervals_of_their_report() {
    let run = sample::rounds(measure::RoundsGoal::Decide(0.03), 6, 1.2, 0.01);
    let digest = Digest::new(&run);
    let sides = ["v1", "v3"].map(|name| [selection(&digest, name)]);
    let compared = RunComparison::new(&sides[0], &sides[1], criteria(&[])).unwrap();
    let value: Value = serde_json::from_str(&compared.json()).unwrap();
    let tps = row(&value, "tps");
    for (key, expected) in
        [("low_95", 1.2 * (-0.024_370_f64).exp()), ("high_95", 1.2 * 0.024_370_f64.exp())]
    {
        let seen = 1.0 + tps["change"][key].as_f64().unwrap();
        assert!((seen - expected).abs() < 1e-4, "{key}: {seen} against {expected}");
    }
}

#[test]
fn variants_in_windows_have_the_ratio_of_the_report_of_their_run() {
    let run = sample::in_windows();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let sides = ["v1", "tidb.v3"].map(|name| [selection(digest, name)]);
    let compared = RunComparison::new(&sides[0], &sides[1], criteria(&[])).unwrap();
    let group = &reading.groups()[0];
    let of_report = group.compare(group.points("v3")[0], Figure::Throughput).unwrap();
    let of_row = compared.rows.iter().find(|row| row.figure == Figure::Throughput).unwrap();
    assert_eq!(of_row.found.as_ref().unwrap().contrast, of_report.ratio.logs);
    let value: Value = serde_json::from_str(&compared.json()).unwrap();
    // The rounds' ratios are e^-0.16, e^0.17 and e^-0.15 times 1.03.
    let expected = (-0.14_f64 / 3.0).exp() * 1.03;
    let tps = row(&value, "tps");
    assert!((tps["ratio"].as_f64().unwrap() - expected).abs() < 1e-6, "{tps}");
    assert!(compared.text(None).contains("3 rounds"));
}

#[test]
fn each_side_is_told_with_its_own_number_of_trials() {
    let base = at_rates("base", &[100, 101, 99, 100, 102]);
    let many: Vec<u64> = (0..32).map(|at| 109 + at % 3).collect();
    let value = compared(&base, &at_rates("many", &many), criteria(&[]));
    let text = value["conclusions"][0]["text"].as_str().unwrap();
    assert!(text.contains(", 32 trials against 5"), "{text}");
    let value = compared(&base, &at_rates("five", &[110, 109, 111, 110, 110]), criteria(&[]));
    let text = value["conclusions"][0]["text"].as_str().unwrap();
    assert!(text.contains(", 5 trials of each"), "{text}");
}

/// One trial of each run has transactions that were never answered after 1 us, so that p95 is known within bounds.
#[test]
fn latencies_within_close_bounds_are_compared() {
    let with_ages = |folder: &str, rates: &[u64], ages: usize| {
        let mut run = at_rates(folder, rates);
        let trial = &mut run.trials[0];
        let mut tally = measure::Tally::new(trial.total.operations.len());
        for at in 1..1_000 {
            let kind = measure::OperationKind::Transaction;
            tally.success(measure::OperationId(0), kind, 1_000_000 + 10_000 * at);
        }
        trial.total = tally;
        (0..ages).for_each(|_| trial.end.as_mut().unwrap().edges.unsent.record(1_000));
        run
    };
    // Trials of one run over time: one leaves 0.1 % of p95 open and 2 % of the mean at most; 40 leave 4 % and more.
    let rates = [100, 101, 99];
    let of = |ages| {
        compared(&with_ages("a", &rates, ages), &at_rates("b", &rates), criteria(&["mean > +5%"]))
    };
    let (one, many) = (of(1), of(40));
    for figure in ["mean", "p95"] {
        assert_ne!(row(&one, figure)["verdict"], "not-compared", "{}", row(&one, figure));
        assert_eq!(row(&many, figure)["verdict"], "not-compared", "{}", row(&many, figure));
    }
    let reason = row(&many, "p95")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("known only within wide bounds in a trial"), "{reason}");
    let with_age = |folder: &str, rates: &[u64]| with_ages(folder, rates, 1);
    let runs =
        [with_age("a", &[100]), with_age("b", &[101]), with_age("c", &[99]), with_age("d", &[100])];
    let digests: Vec<Digest<'_>> = runs.iter().map(Digest::new).collect();
    let all: Vec<Selection<'_, '_>> =
        digests.iter().map(|digest| Selection { digest, system: None }).collect();
    let compared = RunComparison::new(&all[..2], &all[2..], criteria(&[])).unwrap();
    let found = compared.rows.iter().find(|row| row.figure == Figure::Latency(95.0)).unwrap();
    let slack = found.found.as_ref().unwrap().contrast.slack;
    // Ranks 949 and 950 are 10.49 and 10.50 ms: both sides leave as much open.
    assert!((slack / (10.50_f64 / 10.49).ln() - 1.0).abs() < 0.2, "{slack}");
}

#[test]
fn damaged_trials_are_counted_and_told() {
    let baseline = at_rates("a", &[1_000, 1_010, 990]);
    let mut candidate = at_rates("b", &[1_000, 1_010, 990]);
    let damage = |file: &str, line| record::Damage {
        file: file.to_owned(),
        line,
        what: "it ends early".to_owned(),
    };
    candidate.trials[1].damage = Some(damage("trial.json", 0));
    candidate.trials[1].header.system = "unknown".to_owned();
    candidate.trials[1].header.workload.name = "unknown".to_owned();
    candidate.trials[2].damage = Some(damage("intervals.jsonl", 3));
    candidate.plan_damage = Some(damage("plan.toml", 0));
    let found = compared(&baseline, &candidate, criteria(&[]));
    assert_eq!(found["baseline"][0]["damaged"], serde_json::json!([]));
    let told = found["candidate"][0]["damaged"].as_array().unwrap();
    let files: Vec<_> = told.iter().map(|it| (&it["trial"], &it["file"], &it["line"])).collect();
    let [none, two, three] = [Value::Null, 2.into(), 3.into()];
    let [plan, trial, intervals] = ["plan.toml", "trial.json", "intervals.jsonl"].map(Value::from);
    let wanted = [(&none, &plan, &none), (&two, &trial, &none), (&three, &intervals, &three)];
    assert_eq!(files[..], wanted);
    assert_eq!(found["only_on_one_side"], serde_json::json!([]), "no system is called unknown");
    let row = row(&found, "tps");
    assert_eq!(row["repetitions"]["candidate"], 1, "{row}");
    let digests = [Digest::new(&baseline), Digest::new(&candidate)];
    let [one, other] = [0, 1].map(|side| [selection(&digests[side], "")]);
    let compared = RunComparison::new(&one, &other, criteria(&[])).unwrap();
    for text in [compared.text(None), compared.markdown()] {
        assert!(text.contains("3 of 3 ended as planned"), "{text}");
        assert!(text.contains("1 of 3 ended as planned, 2 damaged"), "{text}");
        let named = "The candidate, results/b, trial 2: trial.json is damaged: it ends early.";
        assert!(text.contains(named), "{text}");
        assert!(text.contains("trial 3: intervals.jsonl is damaged at line 3"), "{text}");
        assert!(text.contains("results/b: plan.toml is damaged: it ends early."), "{text}");
    }
}

#[test]
fn a_run_of_which_no_trial_can_be_read_is_refused_with_the_damage() {
    let baseline = at_rates("a", &[1_000]);
    let mut candidate = at_rates("b", &[1_000]);
    candidate.trials[0].damage = Some(record::Damage {
        file: "trial.json".to_owned(),
        line: 0,
        what: "it is missing".to_owned(),
    });
    let message = refusal(&baseline, &candidate);
    let wanted = "results/b has no trial whose load began: trial.json is damaged: it is missing";
    assert_eq!(message, wanted);
}

/// Dyno's part of the time for a transaction goes from 4 to 20 %.
#[test]
fn shares_of_two_experiments_are_compared() {
    let with = |folder: &str, client_ns: u64| {
        let mut run = at_rates(folder, &[100]);
        run.trials[0].why = Some(sample::experiment(client_ns));
        run
    };
    let (baseline, candidate) = (with("a", 8_000), with("b", 40_000));
    let limits = &compared(&baseline, &candidate, criteria(&[]))["limits"][0]["limit"];
    assert_eq!((&limits["baseline"], &limits["candidate"]), (&"latency".into(), &"latency".into()));
    let shares = limits["shares"].as_array().unwrap();
    let of = |place: &str| &shares.iter().find(|it| it["place"] == place).unwrap()["change"];
    let change = of("client_cpu");
    let bound = |key: &str| change[key].as_f64().unwrap();
    assert!((bound("value") - 0.16).abs() < 0.01, "{limits:#}");
    assert!(bound("low_95") < bound("value") && bound("value") < bound("high_95"), "{limits:#}");
    let sum: f64 = shares.iter().map(|it| it["change"]["value"].as_f64().unwrap()).sum();
    assert!(sum.abs() < 1e-9, "{limits:#}");
    // A side without an experiment has nothing to compare.
    let none = compared(&at_rates("c", &[100]), &candidate, criteria(&[]));
    assert_eq!(none["limits"].as_array().unwrap().len(), 0);
}
