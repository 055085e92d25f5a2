//! Connections that the server closes while others go on: idle ones, as `wait_timeout` has it, and a busy one.

use serde_json::Value;

use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, report};

/// The trial of a load whose clients pause for longer than the server waits for them.
fn trial(server: &OwnServer, workload: &str, arguments: &[&str]) -> Value {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", workload, "--table-size=100", "--warm-up=0s"]);
    command.args(["--time=7s", "--clients=3", "--cleanup", "--format=json"]).args(arguments);
    report(command.args(["--system", &server.url()]))["trials"][0].clone()
}

#[test]
fn connections_that_the_server_closes_while_clients_pause_are_no_failures_and_no_outage() {
    let server = OwnServer::start(&["--wait-timeout=1"]);
    let paced: [(&str, &[&str]); 3] = [
        ("sysbench/oltp_point_select", &["--think-time=2s"]),
        ("sysbench/oltp_read_write", &["--think-time=2s", "-o", "isolation=read-committed"]),
        ("sysbench/oltp_point_select", &["--rate=1", "--ps=off"]),
    ];
    for (workload, arguments) in paced {
        let trial = trial(&server, workload, arguments);
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["failed_transactions"], 0, "{arguments:?}: {trial}");
        assert_eq!(trial["outages"], serde_json::json!([]), "{arguments:?}: {trial}");
        assert_eq!(trial["cross_check"]["difference"], 0, "{arguments:?}: {trial}");
        let reconnects = trial["idle_reconnects"].as_u64().unwrap();
        assert!(reconnects >= 4, "{arguments:?}: {trial}");
        assert_eq!(trial["reconnects"], reconnects, "{arguments:?}");
        let findings = trial["findings"].to_string();
        let told = format!("The server closed idle connections ({reconnects} reconnects)");
        assert!(findings.contains(&told), "{findings}");
        assert!(findings.contains("wait_timeout"), "{findings}");
    }
}

#[test]
fn a_connection_that_breaks_while_others_are_answered_is_no_outage() {
    let server = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let script = sandbox.file("wait.sql", "SELECT IF(:client_id = 0, SLEEP(3), 0);\n");
    let mut command =
        sandbox.dyno(["bench", "--clients=3", "--rate=100", "--time=10s", "--repetitions=1"]);
    command.args(["--warm-up=0s", "--interval=200ms", "--format=json", "--system"]);
    let mut run = Background::start(&sandbox, command.arg(server.url()).arg(script));
    run.wait_for("0000", "measure", 1);
    let busy = "FROM information_schema.PROCESSLIST WHERE state = 'User sleep'";
    wait_until("a statement is under way", || {
        server.sql(&format!("SELECT COUNT(*) {busy}")).trim() == "1"
    });
    server.sql(&format!(
        "SELECT id INTO @one {busy} LIMIT 1; EXECUTE IMMEDIATE CONCAT('KILL ', @one)"
    ));
    let trial = run.report()["trials"][0].clone();
    assert_eq!(trial["failed_transactions"], 1, "{trial}");
    let findings = trial["findings"].to_string();
    let told = "Connections broke during transactions (1 connection, 1 reconnect)";
    assert!(findings.contains(told), "{findings}");
    assert!(!findings.contains("The system was away"), "{findings}");
    let [lost] = &trial["outages"].as_array().unwrap()[..] else { panic!("{trial}") };
    assert_eq!(lost["end_ns"], lost["start_ns"], "{trial}");
}
