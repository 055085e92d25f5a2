//! dyno is stopped itself while it measures: the report names the time, in closed and open loops.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::own_server::Background;
use crate::sandbox::{Sandbox, report};
use crate::server;

/// How long dyno is stopped, of three measured seconds.
const STOP: Duration = Duration::from_millis(1_500);
const OPEN_LOOP: &[&str] = &["--rate=400", "--arrivals=constant"];

fn bench(sandbox: &Sandbox, system: &str, time: &str, load: &[&str]) -> std::process::Command {
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--clients=2"]);
    command.args(["--table-size=100", "--warm-up=0s", "--interval=100ms", "--format=json"]);
    command.args(["--system", system, "--time", time]).args(load);
    command
}

fn seconds(ns: &Value) -> f64 {
    ns.as_f64().unwrap() / 1e9
}

/// Stops dyno in a trial, and checks that the report names the stop. Returns the trial.
fn stopped(system: &str, load: &[&str]) -> Value {
    let sandbox = Sandbox::new();
    let mut run = Background::start(&sandbox, &mut bench(&sandbox, system, "3s", load));
    run.wait_for("0000", "measure", 2);
    let before = run.first_trial().unwrap().intervals.last().unwrap().end_ns as f64 / 1e9;
    let began = Instant::now();
    run.signal(Signal::SIGSTOP);
    thread::sleep(STOP);
    run.signal(Signal::SIGCONT);
    let stopped_for = began.elapsed().as_secs_f64();
    let trial = run.report()["trials"][0].clone();
    let stalls = trial["generator"]["stalls"].as_array().unwrap().iter();
    let stalls = stalls.map(|it| (seconds(&it["start_ns"]), seconds(&it["end_ns"])));
    let (start, end) = stalls.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap();
    assert!((before..before + 1.0).contains(&start), "{start} s, {before} s were on disk");
    let length = end - start;
    assert!((1.4..stopped_for + 0.3).contains(&length), "{length} s, stopped for {stopped_for} s");
    let mut warnings = trial["warnings"].as_array().unwrap().iter();
    let stalled = warnings.find(|warning| warning["code"] == "generator-stalled").unwrap();
    assert_eq!(
        (&stalled["severity"], seconds(&stalled["values"]["start_ns"])),
        (&"invalid".into(), start)
    );
    assert_eq!(trial["outages"], json!([]), "the system was not away");
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("<rect class=\"shade stall\""), "the plots show it");
    trial
}

/// Arrivals wait for the stopped dyno, most of them without an idle client: the delays of all have to show it.
fn assert_delays_include_the_stop(trial: &Value) {
    let open = &trial["open_loop"];
    let (all, own) = (&open["start_delay"], &open["generator_late"]);
    assert!(all["count"].as_u64() > own["count"].as_u64(), "{open}");
    assert!(all["count"].as_u64() >= trial["transactions"].as_u64(), "{open}");
    assert!(seconds(&all["percentiles"]["p99_ns"]) > 1.0, "{open}");
}

#[test]
fn a_stopped_dyno_is_named_in_a_closed_loop_on_sqlite() {
    stopped("sqlite", &[]);
}

#[test]
fn a_stopped_dyno_is_named_in_an_open_loop_on_sqlite() {
    assert_delays_include_the_stop(&stopped("sqlite", OPEN_LOOP));
}

#[test]
fn a_stopped_dyno_is_named_in_a_closed_loop_on_a_server() {
    stopped(&server::database("dyno_generator_closed"), &[]);
}

#[test]
fn a_stopped_dyno_is_named_in_an_open_loop_on_a_server() {
    assert_delays_include_the_stop(&stopped(&server::database("dyno_generator_open"), OPEN_LOOP));
}

#[test]
fn a_dyno_that_is_not_stopped_reports_its_sleeps_and_workers() {
    let sandbox = Sandbox::new();
    let report = report(&mut bench(&sandbox, "sqlite", "1500ms", &["--think-time=1ms"]));
    let generator = &report["trials"][0]["generator"];
    let sleeps = generator["oversleep"]["count"].as_u64().unwrap();
    assert!((1..=301).contains(&sleeps), "{sleeps} sleeps of 5 ms or more in 1.5 s");
    // A busy machine may stop it, but only what is longer than noise has a name.
    for stall in generator["stalls"].as_array().unwrap() {
        assert!(seconds(&stall["end_ns"]) - seconds(&stall["start_ns"]) >= 0.05, "{stall}");
    }
    let workers = &generator["workers"];
    assert_eq!(workers["count"], 2, "each client of SQLite has a thread");
    let running = workers["running_mean"].as_f64().unwrap();
    assert!(0.0 < running && running < 1.0, "{workers}");
    let second = &workers["busiest_second"];
    assert!(seconds(&second["end_ns"]) - seconds(&second["start_ns"]) >= 1.0, "{second}");
}
