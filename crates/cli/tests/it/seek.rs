//! Seeks from the command line to the report.

use std::fs;

use crate::own_server::Background;
use crate::sandbox::{Sandbox, both, json, report};

/// Response times of one server with exponential services and Poisson arrivals are exponential, with the rate that the
/// arrivals leave of the server's 500 a second: at 400 a second their p99 is ln 100 / 100 s = 46 ms. Source: Kleinrock,
/// Queueing Systems 1, section 5.7.
const QUEUE: &str = r#"
name = "queue"
[systems.simulated]
service_times = ["2ms"]
distribution = "exponential"
[workloads.simulated]
[load]
clients = 2000
warm_up = "2s"
[seek]
bounds = "p99 < 46.05ms"
over = "rate"
from = 50
probe_time = "8s"
"#;

#[test]
fn the_capacity_of_a_simulated_queue_is_that_of_the_formula() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", QUEUE);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format", "json"]));
    let seek = &report["seek"]["seeks"][0];
    let capacity = |key: &str| seek["capacity"][key].as_f64().unwrap();
    assert!((capacity("per_s") / 400.0 - 1.0).abs() < 0.05, "{}", seek["text"]);
    assert!(capacity("low_95") <= 400.0 && capacity("high_95") >= 400.0, "{}", seek["text"]);
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), seek["probes"].as_array().unwrap().len());
    assert_eq!(report["trials_planned"], trials.len());
    // The run chose the load of the first confirming trial, and the report finds the same end of the interval.
    let probes = seek["probes"].as_array().unwrap();
    let confirming = probes.iter().find(|probe| probe["confirming"] == true).unwrap();
    assert_eq!(confirming["load"], seek["capacity"]["load_low_95"]);
    let again = String::from_utf8(sandbox.succeed(["report", "results", "--full"]).stdout).unwrap();
    assert!(again.contains(seek["text"].as_str().unwrap()), "{again}");
}

/// Two systems in one run, each at its own limit: so many clients at a server of 10 ms wait so many times 10 ms. So
/// seven clients keep 76 ms, with 70 ms, and fifteen do at a server of 5 ms, with 75 ms.
#[test]
fn each_system_of_a_plan_is_sought_at_its_own_limit() {
    let sandbox = Sandbox::new();
    let plan = "workload = \"simulated\"\n[load]\nwarm_up = \"1s\"\n\
                [systems.one]\nkind = \"simulated\"\nservice_times = [\"10ms\"]\n\
                [systems.two]\nkind = \"simulated\"\nservice_times = [\"5ms\"]\n\
                [seek]\nprobe_time = \"5s\"\nconfirm_time = \"10s\"\n";
    sandbox.file("plan.toml", plan);
    let mut command = sandbox.dyno(["run", "plan.toml", "--seek", "p90 < 76ms", "--format=json"]);
    let report = report(&mut command);
    let seeks = report["seek"]["seeks"].as_array().unwrap();
    for (seek, system, clients, rate) in
        [(&seeks[0], "one", 7.0, 100.0), (&seeks[1], "two", 15.0, 200.0)]
    {
        assert_eq!(seek["system"], system);
        let capacity = |key: &str| seek["capacity"][key].as_f64().unwrap();
        for key in ["load", "load_low_95", "load_high_95"] {
            assert_eq!(capacity(key), clients, "{}", seek["text"]);
        }
        assert!((capacity("per_s") / rate - 1.0).abs() < 0.01, "{seek}");
        assert_eq!(seek["confirmed"]["load"], clients, "{}", seek["text"]);
    }
}

/// The mean rises by 10 ms with each client, and no p90 is near its bound.
#[test]
fn the_first_of_several_bounds_that_breaks_is_the_limit() {
    let sandbox = Sandbox::new();
    let plan = "workload = \"simulated\"\n[load]\nwarm_up = \"1s\"\n\
                [systems.one]\nkind = \"simulated\"\nservice_times = [\"10ms\"]\n\
                [seek]\nprobe_time = \"5s\"\nconfirm_time = \"10s\"\n";
    sandbox.file("plan.toml", plan);
    let bounds = "p90 < 900ms, mean < 55ms, errors < 0.1%";
    let mut command = sandbox.dyno(["run", "plan.toml", "--seek", bounds, "--format=json"]);
    let report = report(&mut command);
    let seek = &report["seek"]["seeks"][0];
    assert_eq!(seek["capacity"]["load"], 5.0, "{}", seek["text"]);
    assert_eq!(seek["confirmed"]["load"], 5.0, "{}", seek["text"]);
}

#[test]
fn a_bound_that_the_smallest_load_breaks_gives_no_capacity() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", "system = \"simulated\"\nworkload = \"simulated\"\n");
    let output = sandbox.succeed(["run", "plan.toml", "--seek", "max < 100us", "--full"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Even the smallest load, 1 client, breaks max ≤ 100 µs"), "{text}");
    assert!(text.contains("2 of 2 trials"), "{text}");
}

#[test]
fn a_seek_on_a_real_database_tries_its_range_and_confirms_the_largest_load() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=1000"]);
    command.args(["--seek", "p90 < 1s, errors < 5%", "--warm-up=100ms", "--interval=100ms"]);
    command.args(["--set=seek.to=8", "--set=seek.probe_time=300ms"]);
    let report = report(command.args(["--set=seek.confirm_time=600ms", "--format=json"]));
    let seek = &report["seek"]["seeks"][0];
    // No select takes a second, so that even the largest load keeps the bounds.
    assert_eq!(seek["outcome"], "above-range", "{}", seek["text"]);
    let loads =
        seek["probes"].as_array().unwrap().iter().map(|probe| probe["load"].as_f64().unwrap());
    assert_eq!(loads.collect::<Vec<_>>(), [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
    assert_eq!(seek["confirmed"]["load"], 8.0);
    assert!(seek["confirmed"]["transactions_per_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_wrong_bound_is_explained_at_its_place() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--seek", "p99 > 10ms"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = both(&output);
    assert!(text.contains("`p99 > 10ms` is not a bound: it has no `<`"), "{text}");
    assert!(text.contains("--> --seek\n"), "{text}");
}

#[test]
fn a_dry_run_tells_what_is_sought_and_for_how_long() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", QUEUE);
    let text =
        String::from_utf8(sandbox.succeed(["run", "plan.toml", "--dry-run"]).stdout).unwrap();
    assert!(text.contains("50 to 1000000/s"), "{text}");
    assert!(
        text.contains(
            "1 seek for the highest load that keeps p99 < 46050us: at most 50 probes of 8s"
        ),
        "{text}"
    );
}

#[test]
fn an_interrupted_seek_keeps_its_probes_and_tells_what_is_known() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=100"]);
    command.args(["--seek", "p99 < 10s", "--warm-up=0", "--set=seek.probe_time=60s"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    let run = sandbox.runs().pop().unwrap();
    let text = fs::read_to_string(run.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let seek = &report["seek"]["seeks"][0];
    assert_eq!((&report["status"], &seek["outcome"]), (&"interrupted".into(), &"undecided".into()));
    let told = seek["text"].as_str().unwrap();
    assert!(told.ends_with("The seek was interrupted."), "{told}");
    assert!(seek["probes"][0]["transactions_per_s"].as_f64().unwrap() > 0.0, "{seek}");
}
