//! `dyno history` on records of real runs of simulated systems, whose figures are known, and on damaged ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::{Sandbox, both, json};

/// One client of a server with services of this length: one transaction in each.
fn plan(service: &str) -> String {
    format!(
        "percentiles = [50]\n[systems.simulated]\nservice_times = [\"{service}\"]\n[workloads.simulated]\n[load]\n\
         clients = 1\ntime = \"5s\"\nwarm_up = \"1s\"\n"
    )
}

/// Runs a plan, and keeps it in the record as one with services of 10 ms: the system has changed, not the plan.
fn run(sandbox: &Sandbox, name: &str, service: &str) -> PathBuf {
    let before = runs(sandbox);
    sandbox.file(&format!("{name}.toml"), &plan(service));
    let args = ["run", &format!("{name}.toml"), "--quiet"];
    let output = sandbox.dyno([]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let made = runs(sandbox).into_iter().find(|run| !before.contains(run)).unwrap();
    fs::write(made.join("plan.toml"), plan("10ms")).unwrap();
    made
}

fn runs(sandbox: &Sandbox) -> Vec<PathBuf> {
    if sandbox.path().join("results").exists() { sandbox.runs() } else { Vec::new() }
}

/// Six runs with services of 10 ms, and six with 12.5 ms.
fn slower(sandbox: &Sandbox) {
    for service in ["10ms", "12.5ms"] {
        (0..6).for_each(|_| drop(run(sandbox, "nightly", service)));
    }
}

fn history(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.dyno(["history", "--format=json"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    json(&output)
}

fn left_out(found: &Value) -> Vec<&str> {
    let all = found["left_out"].as_array().unwrap().iter();
    all.map(|it| it["reason"].as_str().unwrap()).collect()
}

#[test]
fn runs_with_other_addresses_and_seeds_are_taken_where_any_will_do() {
    let sandbox = Sandbox::new();
    for number in 1..=3 {
        let run = run(&sandbox, "nightly", "10ms");
        let url = format!("# {number}\nseed = {number}\n{}", plan("10ms"));
        fs::write(run.join("plan.toml"), url).unwrap();
    }
    let found = history(&sandbox, &[]);
    assert_eq!((found["runs"].as_array().unwrap().len(), left_out(&found).len()), (1, 2));
    assert!(left_out(&found)[0].contains("--any-address leaves"), "{:?}", left_out(&found));
    let found = history(&sandbox, &["--any-address"]);
    assert_eq!((found["runs"].as_array().unwrap().len(), left_out(&found).len()), (3, 0));
}

#[test]
fn the_run_with_which_a_system_became_slower_is_named_by_both_tests() {
    let sandbox = Sandbox::new();
    slower(&sandbox);
    for test in ["--test=permutation", "--test=student"] {
        let found = history(&sandbox, &[test]);
        assert_eq!((found["runs"].as_array().unwrap().len(), left_out(&found).len()), (12, 0));
        let series = found["series"].as_array().unwrap();
        let of = |figure: &str| series.iter().find(|it| it["figure"] == figure).unwrap();
        // One transaction in 10 and in 12.5 ms.
        for (figure, before, after) in
            [("transactions_per_s", 100.0, 80.0), ("p50_ns", 10e6, 12.5e6)]
        {
            let change = &of(figure)["changes"][0];
            let number = |key: &str| change[key].as_f64().unwrap();
            assert_eq!(
                (&change["run"], of(figure)["changes"].as_array().unwrap().len()),
                (&6.into(), 1)
            );
            assert!((number("before") / before - 1.0).abs() < 2e-3, "{change}");
            assert!((number("after") / after - 1.0).abs() < 2e-3, "{change}");
        }
        assert_eq!(found["changes"][0]["run_before"], 5);
    }
    let told =
        String::from_utf8(sandbox.succeed(["history", "--page=history.html"]).stdout).unwrap();
    assert!(told.starts_with("History of nightly: 12 runs from ") && told.contains("│"), "{told}");
    let page = fs::read_to_string(sandbox.path().join("history.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("-20 %"), "{page}");
}

#[test]
fn a_change_fails_only_when_it_is_asked_to_and_within_the_time_that_is_asked_for() {
    let sandbox = Sandbox::new();
    slower(&sandbox);
    sandbox.succeed(["history"]);
    sandbox.fail(1, ["history", "--fail-on-change"]);
    let found = history(&sandbox, &[]);
    let since = format!("--since={}", found["runs"][6]["started"].as_str().unwrap());
    sandbox.succeed(["history", "--fail-on-change", &since]);
    let later = history(&sandbox, &[&since]);
    assert_eq!(left_out(&later), ["it began earlier"; 6]);
}

#[test]
fn runs_of_other_plans_are_left_out_with_the_reason() {
    let sandbox = Sandbox::new();
    let changed = run(&sandbox, "nightly", "10ms");
    fs::write(changed.join("plan.toml"), plan("10ms").replace("5s", "9s")).unwrap();
    run(&sandbox, "other", "10ms");
    run(&sandbox, "nightly", "10ms");
    let before = sandbox.runs();
    sandbox.succeed(["run", "nightly.toml", "--quiet", "--set=load.time=4s"]);
    let overridden = sandbox.runs().into_iter().find(|run| !before.contains(run)).unwrap();
    run(&sandbox, "nightly", "10ms");
    let found = history(&sandbox, &["--plan=nightly"]);
    assert_eq!(found["runs"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(
        left_out(&found),
        [
            "its plan differs: with time = \"4s\", with --set load.time=4s, without time = \"5s\"",
            "plan other",
            "its plan differs: with time = \"9s\", without time = \"5s\"",
        ]
    );
    let folder = found["left_out"][0]["folder"].as_str().unwrap();
    assert!(folder.ends_with(overridden.file_name().unwrap().to_str().unwrap()), "{found}");
    assert_eq!(history(&sandbox, &["--plan=other"])["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn without_runs_there_is_no_history_and_no_failure() {
    let sandbox = Sandbox::new();
    let told = String::from_utf8(sandbox.succeed(["history", "--fail-on-change"]).stdout).unwrap();
    assert_eq!(told, "no runs yet below results\n");
    fs::create_dir(sandbox.path().join("empty")).unwrap();
    sandbox.succeed(["history", "empty"]);
    assert!(sandbox.fail(2, ["history", "nowhere"]).contains("nowhere does not exist"));
    let made = run(&sandbox, "nightly", "10ms");
    let message = sandbox.fail(2, ["history", made.to_str().unwrap()]);
    assert!(message.contains("is a run: name the folder"), "{message}");
    let told = String::from_utf8(sandbox.succeed(["history", "--plan=unknown"]).stdout).unwrap();
    assert!(told.starts_with("History of unknown: 0 runs, 1 left out\n"), "{told}");
    for wrong in ["--level=0%", "--level=1", "--since=yesterday", "--test=guess"] {
        sandbox.fail(2, ["history", wrong]);
    }
}

#[test]
fn damaged_runs_are_left_out_or_read_as_far_as_they_go() {
    let sandbox = Sandbox::new();
    let whole: Vec<PathBuf> = (0..6).map(|_| run(&sandbox, "nightly", "10ms")).collect();
    let trial = |run: &Path, file: &str| run.join("trials/0000").join(file);
    let cut = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    };
    cut(whole[0].join("run.json"));
    cut(trial(&whole[1], "trial.json"));
    fs::write(trial(&whole[2], "intervals.jsonl"), [0xff; 4_096]).unwrap();
    fs::remove_dir_all(whole[3].join("trials")).unwrap();
    let results = sandbox.path().join("results");
    fs::create_dir(results.join("deep")).unwrap();
    fs::write(results.join("deep/run.json"), "[".repeat(200_000)).unwrap();
    fs::write(results.join("file"), "no folder").unwrap();
    let found = history(&sandbox, &["--plan=nightly", "--fail-on-change"]);
    let names = |all: &Value| -> Vec<String> {
        let folders = all.as_array().unwrap().iter().map(|it| it["folder"].as_str().unwrap());
        folders
            .map(|it| Path::new(it).file_name().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    let name = |run: &PathBuf| run.file_name().unwrap().to_string_lossy().into_owned();
    let read = names(&found["runs"]);
    assert!(whole[4..].iter().all(|run| read.contains(&name(run))), "{found}");
    let out = names(&found["left_out"]);
    for run in [&whole[0], &whole[1], &whole[2], &whole[3]] {
        assert!(out.contains(&name(run)), "{run:?}: {found}");
    }
    assert!(out.contains(&"deep".to_owned()), "{found}");
    assert!(left_out(&found).iter().all(|reason| !reason.is_empty()), "{found}");
}
