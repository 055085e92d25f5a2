//! The sysbench set through the command line, on a real server, and compared with sysbench itself.

use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Sandbox, both, report};
use crate::server;

fn succeeded(trial: &Value, name: &str) -> u64 {
    let operations = trial["operations"].as_array().unwrap();
    let operation = operations.iter().find(|operation| operation["name"] == name);
    operation.unwrap_or_else(|| panic!("no operation {name}"))["succeeded"].as_u64().unwrap()
}

#[test]
fn transactions_are_counted_statement_by_statement() {
    let sandbox = Sandbox::new();
    let url = server::database("workload_counts");
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--tables=3"]);
    command.args(["--table-size=5000", "--clients=2", "--events=300", "--warm-up=0s"]);
    let report = report(command.args(["--system", &url, "--format=json"]));
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!(trial["transactions"], 300);
    // A retried statement counts each time it is sent, so only whole events are exact.
    if trial["retries"] == 0 {
        assert_eq!(succeeded(trial, "point_select"), 3000);
        assert_eq!(trial["queries"]["read"], 14 * 300);
        assert_eq!(trial["queries"]["write"], 4 * 300);
        assert_eq!(trial["queries"]["other"], 2 * 300);
    }
    assert_eq!(succeeded(trial, "commit"), 300);
    assert_eq!(server::sql("SELECT COUNT(*) FROM workload_counts.sbtest3"), "5000\n");
    server::sql("DROP DATABASE workload_counts");
}

#[test]
fn a_single_statement_counts_as_often_as_its_transaction() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=1000"]);
    command.args(["--clients=2", "--events=500", "--warm-up=200ms", "--format=json"]);
    let report = report(&mut command);
    for interval in report["trials"][0]["intervals"].as_array().unwrap() {
        assert_eq!(interval["transactions"], interval["queries"], "{interval}");
    }
    let trial = &report["trials"][0];
    assert_eq!(trial["transactions"], 500);
    assert_eq!(trial["queries"]["read"], 500);
}

#[test]
fn tables_that_sysbench_made_are_refused_then_reused_and_stay() {
    let sandbox = Sandbox::new();
    let url = server::database("workload_theirs");
    let output = Command::new("sysbench")
        .args(server::login(&url).of_sysbench())
        .args(["--tables=2", "--table-size=700", "oltp_read_write", "prepare"])
        .output()
        .expect("sysbench is installed: run the tests by `cargo xtask test`");
    assert!(output.status.success(), "{}", both(&output));
    let common = ["--tables=2", "--table-size=700", "--events=50", "--warm-up=0s"];
    let [tables, size, events, warm_up] = common;
    let system = format!("--system={url}");
    let read_only = "sysbench/oltp_read_only";
    let refuse = "--existing=refuse";
    let refused = sandbox.fail(2, ["bench", read_only, &system, tables, size, events, refuse]);
    assert!(refused.contains("tables sbtest1, sbtest2 already exist"), "{refused}");
    assert!(refused.contains("--existing reuse"), "{refused}");
    let reuse = ["bench", read_only, &system, tables, size, events, warm_up, "--existing=reuse"];
    sandbox.succeed(reuse);
    let wrong = "--table-size=800";
    let wrong =
        sandbox.fail(2, ["bench", read_only, &system, tables, wrong, events, "--existing=reuse"]);
    assert!(wrong.contains(" has 700 rows, not at least 800"), "{wrong}");
    assert_eq!(server::sql("SELECT COUNT(*) FROM workload_theirs.sbtest2"), "700\n");
    server::sql("DROP DATABASE workload_theirs");
}

#[test]
fn sysbench_runs_on_tables_that_dyno_made() {
    let sandbox = Sandbox::new();
    let url = server::database("workload_ours");
    sandbox.succeed([
        "bench",
        "sysbench/oltp_read_write",
        "--system",
        &url,
        "--tables=2",
        "--table-size=3000",
        "--events=20",
        "--warm-up=0s",
    ]);
    let output = Command::new("sysbench")
        .args(server::login(&url).of_sysbench())
        .args(["--tables=2", "--table-size=3000", "--threads=2", "--events=100", "--time=0"])
        .args(["oltp_read_write", "run"])
        .output()
        .expect("sysbench is installed: run the tests by `cargo xtask test`");
    assert!(output.status.success(), "{}", both(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("transactions:                        100 "), "{said}");
    server::sql("DROP DATABASE workload_ours");
}
