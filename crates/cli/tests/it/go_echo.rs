//! Complete runs on the echo servers in Go, which `cargo xtask test` has built.

use std::env;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, json, report};

fn program(variable: &str) -> String {
    env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run `cargo xtask test`, which builds the echo servers")
    })
}

/// A plan with both modes of trpc-echo as variants.
fn modes(sandbox: &Sandbox) -> PathBuf {
    let program = program("DYNO_TEST_TRPC_ECHO");
    let plan = format!(
        "[systems.echo]\nkind = \"trpc-echo\"\nbinary = \"{program}\"\npollers = 2\n\
         [systems.echo.variants]\nsync.mode = \"sync\"\nasync.mode = \"async\"\n\
         [workloads.calls]\nkind = \"rpc\"\nconnections = 4\n\
         [load]\nclients = 12\nevents = 2000\nwarm_up = \"300ms\"\ncpus = \"0\"\n\
         [watch]\n"
    );
    sandbox.file("modes.toml", &plan)
}

fn setting<'a>(system: &'a Value, name: &str) -> &'a str {
    system["settings"][name].as_str().unwrap_or_else(|| panic!("no {name} in {system}"))
}

#[test]
fn both_modes_are_measured_and_the_server_counts_each_request() {
    let sandbox = Sandbox::new();
    modes(&sandbox);
    let report = report(&mut sandbox.dyno(["run", "modes.toml", "--format=json"]));
    for (trial, mode) in [(0, "sync"), (1, "async")] {
        let (trial, system) = (&report["trials"][trial], &report["systems"][trial]);
        assert_eq!((&system["product"], &system["version"]), (&"trpc-go".into(), &"v1.0.4".into()));
        assert_eq!((setting(system, "mode"), setting(system, "pollers")), (mode, "2"), "{system}");
        assert_eq!((setting(system, "tnet"), setting(system, "timeout")), ("v1.1.0", "1s"));
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(
            (&trial["failed_transactions"], &trial["transactions"]),
            (&0.into(), &2000.into()),
            "{trial}"
        );
        let check = &trial["cross_check"];
        assert_eq!(check["difference"], 0, "{mode}: {check}");
        assert!(check["statements_by_server"].as_u64().unwrap() > 2_000, "{mode}: {check}");
        assert_eq!(check["counters"]["rpc_requests_total"], check["statements_by_server"]);
        assert_eq!(trial["client_cpus"], serde_json::json!([0]));
    }
}

#[test]
fn grpc_go_counts_each_request_too() {
    let sandbox = Sandbox::new();
    let program = program("DYNO_TEST_GRPC_ECHO");
    let plan = format!(
        "[systems.echo]\nkind = \"grpc-echo\"\nbinary = \"{program}\"\nworkers = 2\n\
         [workloads.calls]\nkind = \"rpc\"\nconnections = 4\n\
         [load]\nclients = 12\nevents = 2000\nwarm_up = \"300ms\"\n"
    );
    sandbox.file("grpc.toml", &plan);
    let report = report(&mut sandbox.dyno(["run", "grpc.toml", "--format=json"]));
    let (trial, system) = (&report["trials"][0], &report["systems"][0]);
    assert_eq!((&system["product"], setting(system, "workers")), (&"grpc-go".into(), "2"));
    assert_eq!((&trial["failed_transactions"], &trial["transactions"]), (&0.into(), &2000.into()));
    let check = &trial["cross_check"];
    assert_eq!(check["difference"], 0, "{check}");
    assert!(check["statements_by_server"].as_u64().unwrap() > 2_000, "{check}");
}

#[test]
fn a_server_does_not_outlive_a_killed_dyno() {
    let sandbox = Sandbox::new();
    modes(&sandbox);
    let mut command = sandbox.dyno(["run", "modes.toml", "--set", "load.time=60s"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let server = run.first_trial().unwrap().watched.hosts[0].processes[1].clone();
    assert_eq!(server.name, "trpc-echo");
    run.signal(Signal::SIGKILL);
    run.finish();
    let process = PathBuf::from(format!("/proc/{}/exe", server.pid));
    wait_until("the server is gone", || !process.exists());
}

#[test]
fn cpus_that_this_machine_does_not_have_are_refused_before_anything_starts() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sysbench/oltp_point_select", "--system=sqlite", "--client-cpus=1000"];
    let told = sandbox.fail(2, bench);
    assert!(told.contains("the load's `cpus`: there is no CPU 1000: this machine has "), "{told}");
    assert!(!sandbox.path().join("results").exists(), "there is no record");
}

#[test]
fn a_delay_beyond_the_servers_time_out_is_an_error_of_the_framework() {
    let sandbox = Sandbox::new();
    for (kind, variable, code) in [
        ("trpc-echo", "DYNO_TEST_TRPC_ECHO", "21"),
        ("grpc-echo", "DYNO_TEST_GRPC_ECHO", "DEADLINE_EXCEEDED"),
    ] {
        let binary = format!("binary={}", program(variable));
        let mut command = sandbox.dyno(["bench", "rpc", "--system", kind, "--format=json"]);
        command.args(["--clients=2", "--events=20", "--warm-up=0s", "--system-option", &binary]);
        command.args(["--system-option=delay=60s", "--system-option=timeout=5ms"]);
        let trial = json(&command.output().unwrap())["trials"][0].clone();
        let (error, check) = (&trial["errors"][0], &trial["cross_check"]);
        assert_eq!((&error["class"], &error["code"]), (&"framework".into(), &code.into()));
        assert_eq!(
            (&check["difference"], &trial["transactions"]),
            (&0.into(), &0.into()),
            "{trial}"
        );
    }
}
