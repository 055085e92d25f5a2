//! Compares dyno's counts with those of a real server. Only the test uses this server, because its counters include
//! all its clients.

use std::process::Command;

use serde_json::Value;

use crate::own_server::{Background, OwnServer};
use crate::sandbox::{Sandbox, both, json, report};

fn bench(sandbox: &Sandbox, server: &OwnServer, workload: &str) -> Command {
    let mut command = sandbox.dyno(["bench", workload, "--tables=2", "--table-size=500"]);
    command.args(["--cleanup", "--format=json", "--interval=200ms", "--system", &server.url()]);
    command
}

/// The only trial's cross-check, and its findings as one text.
fn checked(mut command: Command) -> (Value, String) {
    let trial = report(&mut command)["trials"][0].clone();
    assert_eq!(trial["status"], "complete", "{trial}");
    (trial["cross_check"].clone(), trial["findings"].to_string())
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

fn logins(server: &OwnServer) -> u64 {
    let status = server.sql("SHOW GLOBAL STATUS LIKE 'Connections'");
    status.split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn both_sides_count_the_same_statements_by_either_protocol() {
    let server = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    for ps in ["on", "off"] {
        let mut command = bench(&sandbox, &server, "sysbench/oltp_read_write");
        command.args(["--clients=8", "--events=300", "--warm-up=500ms", "--ps", ps]);
        let before = logins(&server);
        let (check, findings) = checked(command);
        assert_eq!(check["difference"], 0, "{ps}: {check}");
        assert_eq!(check["by_dyno"], check["by_server"], "{ps}");
        assert!(number(&check["by_dyno"]["read"]) >= 14 * 300, "{ps}: {check}");
        assert!(!findings.contains("The server"), "{ps}: {findings}");
        // Statements with parameters are prepared and executed; BEGIN and COMMIT have none and are sent as text.
        let (by_dyno, counters) = (&check["by_dyno"], &check["counters"]);
        let with_parameters = number(&by_dyno["read"]) + number(&by_dyno["write"]);
        let executed = if ps == "on" { Some(with_parameters) } else { None };
        assert_eq!(counters["Com_stmt_execute"].as_u64(), executed, "{ps}: {check}");
        assert!(number(&counters["Com_commit"]) >= 300, "{ps}: {check}");
        // The server counts logouts as questions too. A busy server may count them late, for sessions before the
        // first reading: at most one for each login.
        let besides = number(&counters["Questions"]) - number(&check["statements_by_dyno"]);
        let logins = logins(&server) - before - 1;
        assert!(besides <= logins, "{ps}: {besides} besides, {logins} logins, {check}");
    }
}

#[test]
fn event_limits_and_single_statements_are_counted_equally() {
    let server = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    for workload in
        ["sysbench/oltp_point_select", "sysbench/oltp_insert", "sysbench/oltp_write_only"]
    {
        let mut command = bench(&sandbox, &server, workload);
        command.args(["--clients=4", "--events=400", "--warm-up=200ms"]);
        let (check, _) = checked(command);
        assert_eq!(check["difference"], 0, "{workload}: {check}");
        assert!(number(&check["statements_by_server"]) >= 400, "{workload}: {check}");
    }
}

#[test]
fn the_difference_is_another_clients_statements() {
    let server = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &server, "sysbench/oltp_point_select");
    command.args(["--clients=2", "--time=60s", "--repetitions=1", "--warm-up=200ms"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    server.sql(&"SELECT 1; ".repeat(100));
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    let trial = json(&output)["trials"][0].clone();
    let check = &trial["cross_check"];
    assert_eq!(check["difference"], 100, "{check}");
    let reads = number(&check["by_server"]["read"]) - number(&check["by_dyno"]["read"]);
    assert_eq!(reads, 100, "{check}");
    let findings = trial["findings"].to_string();
    assert!(
        findings.contains("The server ran statements that were not dyno's (+100"),
        "{findings}"
    );
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("Cross-check with the server") && page.contains("+100"));
}

/// A load of single statements that need no tables, on the servers behind these ports.
fn without_tables(sandbox: &Sandbox, ports: &[u16], account: &str) -> (Value, String) {
    let script = sandbox.file("one.sql", "SELECT 1;\n");
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let url = format!("mysql://{account}@{}/test", hosts.join(","));
    let mut command = sandbox.dyno(["bench", "--clients=5", "--events=1000", "--warm-up=200ms"]);
    command.arg(script).args(["--format=json", "--interval=200ms", "--system", &url]);
    checked(command)
}

#[test]
fn counts_of_several_servers_are_summed() {
    let sandbox = Sandbox::new();
    let servers = [OwnServer::start(&[]), OwnServer::start(&[])];
    let ports = [servers[0].server.port(), servers[1].server.port()];
    servers.iter().for_each(|server| server.make_user("shared", "same"));
    let (check, findings) = without_tables(&sandbox, &ports, "shared:same");
    assert_eq!(check["difference"], 0, "{check}");
    assert_eq!(check["by_dyno"], check["by_server"]);
    assert!(number(&check["by_server"]["read"]) >= 1_000, "{check}");
    assert!(!findings.contains("The server"), "{findings}");
    // Three clients used one server, two the other, so neither alone counted everything.
    let (alone, _) = without_tables(&sandbox, &ports[..1], "shared:same");
    assert_eq!(alone["difference"], 0, "{alone}");
}

#[test]
fn a_server_behind_two_addresses_is_counted_once() {
    let server = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let account = format!("root:{}", server.login().password);
    let ports = [server.server.port(), server.server.port()];
    let (check, _) = without_tables(&sandbox, &ports, &account);
    assert_eq!(check["difference"], 0, "{check}");
    assert!(number(&check["by_server"]["read"]) >= 1_000, "{check}");
}

#[test]
fn systems_without_counters_are_not_cross_checked() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--system=sqlite"]);
    command.args(["--table-size=100", "--events=50", "--format=json"]);
    let (check, _) = checked(command);
    assert_eq!(check, Value::Null);
}
