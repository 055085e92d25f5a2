//! Complete runs on a PostgreSQL that dyno starts.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::faults_interrupt::{interrupt, report as report_of};
use crate::own_server::Background;
use crate::sandbox::{Sandbox, both, json, report};

/// Whether a process with the folder of the sandbox in its command line is left.
pub(crate) fn is_something_left(sandbox: &Sandbox) -> bool {
    let folder = sandbox.path().display().to_string();
    let found = Command::new("pgrep").args(["-f", &folder]).output().unwrap();
    !found.stdout.is_empty()
}

#[test]
fn a_managed_postgres_is_started_measured_and_stopped() {
    for workload in ["sysbench/oltp_read_write", "ycsb/a", "tpcc"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.dyno(["bench", workload, "--system=postgres", "--clients=2"]);
        match workload {
            "tpcc" => command.args(["-o", "warehouses=1"]),
            "ycsb/a" => command.args(["-o", "recordcount=500"]),
            // Two clients on the same few rows lock each other out, until the server looks for that after a second: half
            // of the load.
            _ => command.args(["--tables=2", "--table-size=10000", "-o", "rand_type=uniform"]),
        };
        command.args(["--time=2s", "--warm-up=200ms", "--format=json"]);
        let report = report(command.env("TMPDIR", sandbox.path()));
        assert_eq!(report["systems"][0]["product"], "PostgreSQL", "{workload}");
        let trial = &report["trials"][0];
        assert_eq!(trial["status"], "complete", "{workload}");
        assert!(trial["transactions"].as_u64().unwrap() > 20, "{workload}: {trial:#}");
        // Nobody else was there: what is more is of autovacuum.
        let check = &trial["cross_check"];
        let more = 0..=check["routine_max"].as_i64().unwrap();
        assert!(more.contains(&check["difference"].as_i64().unwrap()), "{workload}: {check}");
        assert_eq!(check["others_connected"], false, "{workload}: {check}");
        assert!(!is_something_left(&sandbox), "{workload}");
    }
}

#[test]
fn a_thousand_clients_have_connections_and_more_are_told_how() {
    let sandbox = Sandbox::new();
    let bench = |clients: &str| {
        let mut command = sandbox.dyno(["bench", "oltp_point_select", "--system=postgres"]);
        command.args(["--table-size=100", "--warm-up=0s", "--format=json"]);
        command.args([format!("--clients={clients}"), format!("--events={clients}")]);
        command.env("TMPDIR", sandbox.path()).output().unwrap()
    };
    let told = both(&bench("1098"));
    assert!(told.contains("too few connections: 1098 needed, 1097 available"), "{told}");
    assert!(told.contains("--system-option settings.max_connections=1108"), "{told}");
    let output = bench("1000");
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(json(&output)["trials"][0]["transactions"], 1000);
}

#[test]
fn trials_begin_with_the_data_after_the_load_where_that_is_asked_for() {
    for (between, failed) in [("restore", [0, 0]), ("keep", [0, 1])] {
        let sandbox = Sandbox::new();
        sandbox.file(
            "once.sql",
            "\\prepare\nCREATE TABLE once (id INTEGER PRIMARY KEY);\n\\cleanup\nDROP TABLE once;\n\
             \\transaction once\nINSERT INTO once VALUES (1);\n",
        );
        let plan = format!(
            "between = \"{between}\"\nrepetitions = 2\nsystem = {{ kind = \"postgres\" }}\n\
             workload = {{ kind = \"once.sql\" }}\n[load]\nclients = 1\nevents = 1\nwarm_up = \"0s\"\n"
        );
        sandbox.file("plan.toml", &plan);
        let mut command = sandbox.dyno(["run", "plan.toml", "--format=json"]);
        let output = command.env("TMPDIR", sandbox.path()).output().unwrap();
        let report = json(&output);
        let seen = [0, 1].map(|trial| report["trials"][trial]["failed_transactions"].clone());
        assert_eq!(seen, failed, "{between}: {}", both(&output));
        assert!(!is_something_left(&sandbox), "{between}");
    }
}

#[test]
fn ctrl_c_and_a_kill_of_dyno_end_a_managed_postgres() {
    for kill in [false, true] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.dyno(["bench", "oltp_point_select", "--system=postgres"]);
        command.args(["--tables=1", "--table-size=500", "--clients=2", "--time=60s"]);
        command.args(["--warm-up=0s", "--interval=200ms"]).env("TMPDIR", sandbox.path());
        let mut run = Background::start(&sandbox, &mut command);
        run.wait_for("0000", "measure", 2);
        if kill {
            run.signal(Signal::SIGKILL);
            run.finish();
        } else {
            interrupt(run);
            let trial = &report_of(&sandbox)["trials"][0];
            assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial:#}");
        }
        crate::own_server::wait_until("nothing is left", || !is_something_left(&sandbox));
    }
}
