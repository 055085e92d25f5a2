//! Gates of continuous integration: bounds at which a run fails, doubts that are accepted, names of runs.

use crate::sandbox::{SIMULATED, Sandbox, both, json};

#[test]
fn a_run_fails_when_a_figure_of_a_load_is_beyond_a_bound() {
    let sandbox = Sandbox::new();
    // 1 client: 100 per s, 10 ms; 6 clients: 200 per s, 30 ms.
    let bounds = "fail_if = [\"p99 > 20ms\", \"errors > 0.1%, throughput < 90\"]\n";
    sandbox.file("plan.toml", &format!("{bounds}{SIMULATED}"));
    let output = sandbox.dyno(["run", "plan.toml"]).output().unwrap();
    let told = both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for line in [
        "p99 > 20ms: crossed with 30.0 ms (simulated on simulated, 6 clients)",
        "kept: errors > 0.1%, throughput < 90",
        "fail_if: of 6 bounds, 1 crossed",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    // Everything was written, and a report of it shows the same; to show it is no failure.
    let report = json(&sandbox.succeed(["report", "--format=json"]));
    assert_eq!(
        (report["status"].as_str(), report["bounds_kept"].as_bool()),
        (Some("complete"), Some(false))
    );
    let results: Vec<_> =
        report["fail_if"].as_array().unwrap().iter().map(|it| &it["result"]).collect();
    assert_eq!(results, ["kept", "crossed", "kept", "kept", "kept", "kept"]);
    let crossed = &report["fail_if"][1];
    assert_eq!((&crossed["figure"], &crossed["limit"]), (&"p99".into(), &20e6.into()));
    let value = crossed["value"].as_f64().unwrap();
    assert!((value / 30e6 - 1.0).abs() < 0.01, "{crossed}");
    let markdown =
        String::from_utf8(sandbox.succeed(["report", "--format=markdown"]).stdout).unwrap();
    assert!(markdown.contains("## Bounds") && markdown.contains("| crossed |"), "{markdown}");
    // Bounds of the command line stand in place of those of the plan.
    let run = ["run", "plan.toml", "--fail-if", "p99 > 40ms", "--fail-if=tps < 90", "-q"];
    let told = both(&sandbox.succeed(run));
    assert!(told.contains("kept: p99 > 40ms, throughput < 90"), "{told}");
}

#[test]
fn a_bound_that_cannot_be_checked_fails_the_run() {
    let sandbox = Sandbox::new();
    // All 1000 clients wait for the first answer, which takes longer than the load.
    let slow = "[systems.simulated]\nservice_times = [\"100s\"]\n[workloads.simulated]\n[load]\ntime = \"1s\"\n";
    sandbox.file("plan.toml", slow);
    let told = sandbox.fail(1, ["run", "plan.toml", "--fail-if=p99 > 1h"]);
    assert!(told.contains("fail_if: of 1 bound, 1 not known"), "{told}");
}

#[test]
fn wrong_bounds_are_told_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("fail_if = \"p99 > 10\"\n{SIMULATED}"));
    let told = sandbox.fail(2, ["run", "plan.toml"]);
    for part in ["plan.toml:1", "a latency has a unit, such as 10ms", "help: write such as"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for bound in ["p99 > +5%", "latency > 1s", "p99"] {
        let told = sandbox.fail(2, ["bench", "oltp_point_select", "--fail-if", bound]);
        assert!(told.contains("--fail-if: `") && told.contains("write such as"), "{told}");
    }
    assert!(!sandbox.path().join("results").exists());
}
