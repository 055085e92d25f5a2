//! The edges of the measured window: what was in flight when it ended, and times in which no transaction succeeded.

use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::own_server::{Background, OwnServer};
use crate::sandbox::{Sandbox, both, json};
use crate::server;

/// A workload of the transaction `text` on `url`, that ends as JSON.
fn bench(sandbox: &Sandbox, text: &str, url: &str) -> Command {
    sandbox.file("ask.sql", text);
    let mut command = sandbox.dyno(["bench", "ask.sql", "--warm-up=0s", "--interval=200ms"]);
    command.args(["--format=json", "--system", url]);
    command
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn edge(trial: &Value, name: &str) -> u64 {
    trial["edges"][name].as_u64().unwrap()
}

/// From the begin to the end of the measured window by the wall clock.
fn wall_clock_seconds(trial: &Value) -> f64 {
    let time = |name: &str| trial[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    time("measure_ended").duration_since(time("measure_started")).as_secs_f64()
}

#[test]
fn an_interrupted_window_ends_before_the_last_answers() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_edges_interrupt");
    // All but one in fifty are quick, so that nearly always every client waits for a slow one.
    let text = "SELECT SLEEP(IF(RAND() < 0.02, 0.7, 0));\n";
    let mut command = bench(&sandbox, text, &url);
    let mut run =
        Background::start(&sandbox, command.args(["--clients=4", "--time=60s", "--repetitions=1"]));
    run.wait_for("0000", "measure", 1);
    thread::sleep(Duration::from_secs(1));
    let trial = &run.interrupted_trial();
    assert!(edge(trial, "succeeded_after") >= 1, "{}", trial["edges"]);
    let window = seconds(&trial["seconds"]);
    // The last answers come within 0.7 s of its end; after an interruption dyno waits for a second.
    assert!((1.0..5.5).contains(&window), "{window} s");
    let wall_clock = wall_clock_seconds(trial);
    assert!((wall_clock - window).abs() < 1.0, "{wall_clock} s by the wall clock, {window} s");
    let due = trial["latency"]["count"].as_u64().unwrap();
    let ended = trial["transactions"].as_u64().unwrap();
    assert_eq!(due, ended + edge(trial, "succeeded_after") + edge(trial, "unanswered"));
}

#[test]
fn a_number_of_events_is_measured_without_those_that_are_never_answered() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_edges_events");
    // The clients with an even number wait for longer than dyno does.
    let text = "SELECT SLEEP(IF(CONNECTION_ID() % 2 = 0, 60, 0));\n";
    let mut command = bench(&sandbox, text, &url);
    let output = command.args(["--clients=8", "--events=500"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    let unanswered = edge(trial, "unanswered");
    assert!((1..8).contains(&unanswered), "{unanswered}");
    assert_eq!(trial["transactions"], 500 - unanswered);
    assert_eq!(trial["latency"]["count"], 500);
    assert!(seconds(&trial["seconds"]) < 5.0, "{}", trial["seconds"]);
    let bounds = trial["latency"]["at_least"].as_array().unwrap();
    assert!(bounds.contains(&"max_ns".into()) && !bounds.contains(&"p50_ns".into()), "{bounds:?}");
}

/// Stops a server for two seconds while these loads run on it; returns the outage of each.
fn stalled<const N: usize>(loads: [&[&str]; N]) -> [Value; N] {
    let own = OwnServer::start(&[]);
    let sandboxes = loads.map(|_| Sandbox::new());
    let mut runs: Vec<Background<'_>> = sandboxes
        .iter()
        .zip(loads)
        .map(|(sandbox, load)| {
            let mut command = bench(sandbox, "SELECT 1;\n", &own.url());
            Background::start(sandbox, command.args(["--clients=4", "--time=8s"]).args(load))
        })
        .collect();
    runs.iter_mut().for_each(|run| run.wait_for("0000", "measure", 5));
    own.signal(Signal::SIGSTOP);
    thread::sleep(Duration::from_secs(2));
    own.signal(Signal::SIGCONT);
    let outages: Vec<Value> = runs.into_iter().map(|run| only_outage(&run.finish())).collect();
    outages.try_into().unwrap()
}

fn only_outage(output: &Output) -> Value {
    assert!(output.status.success(), "{}", both(output));
    let trial = &json(output)["trials"][0];
    assert_eq!(trial["status"], "complete");
    let [outage] = trial["outages"].as_array().unwrap().as_slice() else {
        panic!("one outage: {}", trial["outages"]);
    };
    outage.clone()
}

fn length_s(outage: &Value) -> f64 {
    let time = |name: &str| outage[name].as_u64().unwrap() as f64 / 1e9;
    time("end_ns") - time("start_ns")
}

#[test]
fn a_server_that_stands_still_is_an_outage_in_closed_and_open_loops() {
    let [closed, open, timed_out] = stalled([
        &["--think-time=2ms"],
        &["--rate=200"],
        &["--think-time=2ms", "--query-timeout=1s"],
    ]);
    assert_eq!((&closed["failures"], &closed["reconnects"]), (&0.into(), &0.into()));
    assert!((1.9..4.0).contains(&length_s(&closed)), "{closed}");
    assert_eq!(open["failures"], 0);
    assert!((1.9..4.0).contains(&length_s(&open)), "{open}");
    // An outage that a time-out shows begins with the request.
    assert!(timed_out["failures"].as_u64().unwrap() >= 4, "{timed_out}");
    assert!((1.9..4.5).contains(&length_s(&timed_out)), "{timed_out}");
}

#[test]
fn a_window_that_was_an_outage_is_not_complete() {
    let own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "SELECT 1;\n", &own.url());
    command.args(["--clients=2", "--time=4s", "--think-time=2ms"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 3);
    own.signal(Signal::SIGSTOP);
    thread::sleep(Duration::from_secs(5));
    own.signal(Signal::SIGCONT);
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    assert_eq!(trial["status"], "failed");
    let reason = trial["reason"].as_str().unwrap();
    // Of four seconds it is those after the first intervals, which take longer on a busy machine.
    assert!(
        reason.starts_with("no transaction succeeded for ") && reason.ends_with(" of 4.0 s"),
        "{reason}"
    );
    assert_eq!(edge(trial, "succeeded_after"), 2);
    // The server went on more than five seconds after the window began.
    assert!(wall_clock_seconds(trial) < 5.0, "without the drain: {}", wall_clock_seconds(trial));
}

#[test]
fn a_load_in_which_nothing_succeeds_has_failed() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_edges_nothing");
    server::sql(
        "CREATE TABLE dyno_edges_nothing.t (id INT PRIMARY KEY); INSERT INTO dyno_edges_nothing.t VALUES (1)",
    );
    let mut command = bench(&sandbox, "INSERT INTO t VALUES (1);\n", &url);
    let output = command.args(["--clients=2", "--time=1s", "--think-time=5ms"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let reason = json(&output)["trials"][0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("no transaction succeeded from the warm-up on, and "), "{reason}");
    assert!(reason.contains("failed, most often with error duplicate-key 1062: "), "{reason}");
    assert!(reason.contains("Duplicate entry '1' for key"), "{reason}");
}
