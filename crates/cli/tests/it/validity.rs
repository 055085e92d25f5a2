//! Conclusions and `--strict`, from the command line to the exit code, on simulated systems whose figures are known.

use std::fs;

use crate::sandbox::{SIMULATED, Sandbox, both, json};

/// A server of 100 a second, to which 95 and 105 arrive.
const OVERLOAD: &str = "percentiles = [50]\n[systems.simulated]\nservice_times = [\"10ms\"]\n[workloads.simulated]\n\
                        [load]\nclients = 1000\nrate = [95, 105]\narrivals = \"constant\"\ntime = \"60s\"\n";

#[test]
fn strict_fails_a_run_with_a_doubtful_trial_after_it_was_written() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", OVERLOAD);
    let output = sandbox.dyno(["run", "plan.toml", "--strict", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    let validity: Vec<&serde_json::Value> =
        report["trials"].as_array().unwrap().iter().map(|trial| &trial["validity"]).collect();
    assert_eq!(validity, ["valid", "doubtful"]);
    let told = "--strict: 1 of 2 trials is not valid: simulated simulated, 1000 clients, 105/s (doubtful: \
                rate-missed)";
    assert!(both(&output).contains(told), "{}", both(&output));
    let first = &report["conclusions"][0];
    assert_eq!(first["code"], "rate-kept");
    let value = |name: &str| first["values"][name].as_f64().unwrap();
    assert!((value("kept_per_s") - 95.0).abs() < 0.1, "{first}");
    assert!((value("missed_per_s") - 105.0).abs() < 0.1, "{first}");
    assert!((value("achieved_per_s") - 100.0).abs() < 0.1, "{first}");
    // The record and its reports are there, and another report fails only when it is asked to.
    sandbox.succeed(["report"]);
    let message = sandbox.fail(1, ["report", "--strict"]);
    assert!(message.contains(told), "{message}");
    sandbox.succeed(["report", "--trial=1", "--strict"]);
    sandbox.fail(1, ["report", "--trial=2", "--strict"]);
}

#[test]
fn strict_passes_a_run_whose_trials_are_valid() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let text = |output: std::process::Output| String::from_utf8(output.stdout).unwrap();
    let told = text(sandbox.succeed([
        "run",
        "plan.toml",
        "--set=percentiles=[50]",
        "--set=load.time=10s",
        "--strict",
        "--full",
    ]));
    let answer = "- simulated, simulated: throughput still grows at 6 clients, the most that were measured: 200 \
                  per s, 100 % higher than with 1 client; p50 is 30.0 ms.\n- Valid: 2 of 2 trials.\n";
    let conclusions = told.find(answer).unwrap_or_else(|| panic!("{told}"));
    assert!(conclusions < told.find("system     clients").unwrap(), "they stand first: {told}");
}

#[test]
fn a_list_has_the_verdict_of_each_run_as_long_as_its_record_is_the_same() {
    let sandbox = Sandbox::new();
    // 95 of 100 a second are answered, and 100 of 105: one trial is valid, and one is doubtful.
    sandbox.file("plan.toml", OVERLOAD);
    sandbox.succeed(["run", "plan.toml"]);
    let row = || {
        let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
        listed.lines().nth(1).unwrap().to_owned()
    };
    let judged = row();
    assert!(judged.contains(" 2 of 2  1 valid, 1 doubtful "), "{judged}");
    let run = sandbox.runs().remove(0);
    let change = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(run.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(run.join(name), text.replacen(from, to, 1)).unwrap();
    };
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    change("verdict.json", &version, "\"version\": \"0.0.7\"");
    assert!(row().contains("1 valid, 1 doubtful (by dyno 0.0.7) "), "{}", row());
    change("trials/0000/trial.json", "\n", "\n\n");
    let unjudged = row();
    assert!(unjudged.contains(" 2 of 2  not judged "), "{unjudged}");
    let figures =
        |row: &str| row.split_whitespace().rev().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(figures(&unjudged), figures(&judged), "they are in the record");
    sandbox.succeed(["report"]);
    assert_eq!(row(), judged);
}

#[test]
fn data_that_is_not_as_the_workload_needs_it_makes_trials_invalid_in_every_view() {
    let sandbox = Sandbox::new();
    let file = "\\prepare\nCREATE TABLE t (a INTEGER);\n\\verify\nSELECT COUNT(*) = 1 FROM t;\n\
                \\transaction look\nSELECT a FROM t;\n";
    sandbox.file("empty.sql", file);
    sandbox.file("one.sql", "SELECT 1;\n");
    // A run in which nothing can be measured has no record.
    let plan = "system = \"sqlite\"\n[workloads.empty]\nkind = \"empty.sql\"\n[workloads.one]\nkind = \"one.sql\"\n\
                [load]\nclients = [1, 2]\nevents = 5\nwarm_up = \"0s\"\n";
    sandbox.file("plan.toml", plan);
    let output = sandbox.dyno(["run", "plan.toml", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    let trials = report["trials"].as_array().unwrap();
    let of_empty: Vec<usize> =
        (0..trials.len()).filter(|at| trials[*at]["workload"] == "empty").collect();
    assert_eq!((of_empty.len(), trials.len()), (2, 4));
    for trial in of_empty.iter().map(|at| &trials[*at]) {
        assert_eq!((&trial["status"], &trial["validity"]), (&"failed".into(), &"invalid".into()));
        let found = trial["warnings"].as_array().unwrap().iter();
        let codes: Vec<&serde_json::Value> = found.map(|finding| &finding["code"]).collect();
        assert_eq!(codes, ["data-not-verified", "nothing-measured"], "{trial}");
    }
    let run = sandbox.runs().remove(0);
    let file = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let text =
        String::from_utf8(sandbox.dyno(["report", "--full"]).output().unwrap().stdout).unwrap();
    for view in [text, file("report.md"), crate::sandbox::whole_page(&run)] {
        assert!(view.contains("The data was not verified"), "{view}");
    }
    assert!(file("report.csv").contains("data-not-verified"));
    for at in of_empty {
        let trial = file(&format!("trials/{at:04}/trial.json"));
        assert!(trial.contains("\"failed_phase\": \"verify\""), "{trial}");
    }
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    assert!(listed.contains(" 2 of 4 ") && listed.contains("2 invalid"), "{listed}");
}
