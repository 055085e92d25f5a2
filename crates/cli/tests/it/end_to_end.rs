//! Tests from the command line to the record and its views.

use std::fs;
use std::process::Command;

use crate::own_server::Background;
use crate::sandbox::{SIMULATED, Sandbox, both, json, report};

#[test]
fn figures_of_a_simulated_run_match_arithmetic() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format", "json"]));
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    for (trial, clients, rate, latency_ms) in
        [(&trials[0], 1, 100.0, 10.0), (&trials[1], 6, 200.0, 30.0)]
    {
        assert_eq!(trial["clients"], clients);
        let seen = trial["transactions_per_s"].as_f64().unwrap();
        assert!((seen - rate).abs() < 1e-9, "{seen} against {rate}");
        let mean = trial["latency"]["mean_ns"].as_f64().unwrap() / 1e6;
        assert!((mean / latency_ms - 1.0).abs() < 1e-3, "{mean} ms against {latency_ms} ms");
    }
}

#[test]
fn reports_are_rebuilt_from_the_record_alone() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let first = sandbox.succeed(["run", "plan.toml"]);
    let run = sandbox.runs().pop().unwrap();
    let views = ["report.html", "report.md", "report.csv", "report.json"];
    let before: Vec<String> =
        views.iter().map(|view| fs::read_to_string(run.join(view)).unwrap()).collect();
    for view in views {
        fs::remove_file(run.join(view)).unwrap();
    }
    let again = sandbox.succeed(["report", "results"]);
    assert_eq!(first.stdout, again.stdout);
    for (view, before) in views.iter().zip(before) {
        assert_eq!(fs::read_to_string(run.join(view)).unwrap(), before, "{view}");
    }
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    for told in ["simulated", "complete", "2 of 2"] {
        assert!(listed.contains(told), "{told}: {listed}");
    }
}

#[test]
fn sqlite_is_prepared_measured_and_reported() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--tables=2"]);
    command.args(["--table-size=500", "--clients=1,3", "--events=60", "--warm-up=200ms"]);
    let report = report(command.args(["--system=sqlite", "--format=json"]));
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!((&trial["status"], &trial["transactions"]), (&"complete".into(), &60.into()));
        // Each transaction has 14 reads and 4 writes, as in sysbench. Statements whose transaction ended outside the
        // measured time, or failed, are counted in addition. Each client may have begun a transaction in the warm-up.
        assert!(trial["queries"]["read"].as_u64().unwrap() >= 14 * 57, "{trial}");
        assert!(trial["queries"]["write"].as_u64().unwrap() >= 4 * 57, "{trial}");
    }
}

#[test]
fn the_first_process_of_a_container_needs_no_shell() {
    let sandbox = Sandbox::new();
    let load = "sysbench/oltp_point_select";
    let words = ["bench", load, "--table-size=10", "--events=50", "--format=json"];
    let mut without_shell = sandbox.dyno(words);
    let output = without_shell.env("PATH", sandbox.path()).output().unwrap();
    let error = both(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot start `sh`") && error.contains("first process"), "{error}");

    let mut container = Command::new("unshare");
    container.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "env", "-i"]);
    container.arg(format!("TMPDIR={}", sandbox.path().display())).arg(env!("CARGO_BIN_EXE_dyno"));
    let report = report(container.args(words).current_dir(sandbox.path()));
    assert_eq!(report["trials"][0]["transactions"], 50);
    assert!(sandbox.scratch_folders().is_empty(), "removed at a normal end");
}

#[test]
fn an_event_limit_measures_exactly_that_many_transactions() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=100"]);
    let report = report(command.args(["--clients=2", "--events=1234", "--format=json"]));
    let trial = &report["trials"][0];
    assert_eq!(trial["transactions"], 1234);
    let edges = &trial["edges"];
    let edge = |name: &str| edges[name].as_u64().unwrap();
    assert_eq!(trial["latency"]["count"], 1234 + edge("succeeded_after") - edge("before"));
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno([
        "bench",
        "sysbench/oltp_point_select",
        "--table-size=100",
        "--time=60s",
        "--repetitions=1",
    ]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    let run = sandbox.runs().pop().unwrap();
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["status"], "interrupted");
    assert!(report["trials"][0]["transactions"].as_u64().unwrap() > 0);
}

#[test]
fn kinds_of_simulated_requests_are_operations_of_their_own() {
    let sandbox = Sandbox::new();
    let plan = "[systems.simulated]\noperations = 2\nservice_times = [\"10ms\", \"30ms\"]\n\
                [workloads.simulated]\n[load]\nclients = 1\nwarm_up = \"0s\"\ntime = \"4s\"\n";
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format", "json"]));
    let operations = report["trials"][0]["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 2);
    // The last of the second kind ends at exactly 4 s, which is outside of the window.
    for (operation, name, count, latency_ms) in
        [(&operations[0], "request 1", 100, 10.0), (&operations[1], "request 2", 99, 30.0)]
    {
        assert_eq!((&operation["name"], &operation["succeeded"]), (&name.into(), &count.into()));
        let mean = operation["latency"]["mean_ns"].as_f64().unwrap() / 1e6;
        assert!((mean / latency_ms - 1.0).abs() < 1e-3, "{mean} ms against {latency_ms} ms");
    }
}
