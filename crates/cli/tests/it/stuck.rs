//! Clients whose statements hang on the server: one since the warm-up, and all of them.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, both, json, report};

/// Each client changes a row of its own.
const SCRIPT: &str = "UPDATE t SET k = k + 1 WHERE id = :client_id;\n";

fn server() -> OwnServer {
    let server = OwnServer::start(&["--innodb-lock-wait-timeout=600", "--lock-wait-timeout=600"]);
    server.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL); INSERT INTO t VALUES (0, 0), (1, 0), (2, 0)",
    );
    server
}

fn bench(sandbox: &Sandbox, server: &OwnServer) -> Command {
    let script = sandbox.file("change.sql", SCRIPT);
    let mut command = sandbox.dyno(["bench", "--clients=3", "--warm-up=1s", "--interval=200ms"]);
    command.arg(script).args(["--format=json", "--system", &server.url()]);
    command
}

/// A session that holds the locks of these statements until the server ends.
fn hold(server: &OwnServer, statements: &str) -> Child {
    let session = server.client(&format!("{statements}; DO SLEEP(600)"));
    let holder = { session }.stdout(Stdio::null()).spawn().unwrap();
    let asleep = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE 'DO SLEEP%'";
    wait_until("the locks are held", || server.sql(asleep).trim() == "1");
    holder
}

fn end(mut holder: Child) {
    holder.kill().unwrap();
    holder.wait().unwrap();
}

fn told(trial: &Value) -> String {
    trial["findings"].to_string()
}

#[test]
fn a_client_that_hangs_since_the_warm_up_is_told_with_its_statement_and_nobody_is_accused() {
    let server = server();
    let holder = hold(&server, "BEGIN; SELECT k FROM t WHERE id = 0 FOR UPDATE");
    for pacing in [&["--time=2s"][..], &["--time=2s", "--rate=100"]] {
        let sandbox = Sandbox::new();
        let trial = report(bench(&sandbox, &server).args(pacing))["trials"][0].clone();
        assert_eq!(trial["status"], "complete", "{trial}");
        let findings = told(&trial);
        assert!(findings.contains("1 of 3 clients, for 1"), "{pacing:?}: {findings}");
        let statement = "the answer to `UPDATE t SET k = k + 1 WHERE id = ?`, 1 since the warm-up";
        assert!(findings.contains(statement), "{pacing:?}: {findings}");
        assert!(!findings.contains("not dyno's"), "{pacing:?}: {findings}");
        assert_eq!(trial["cross_check"]["difference"], 1, "the server began it: {trial}");
    }
    end(holder);
}

#[test]
fn when_all_clients_hang_the_outage_has_not_ended() {
    let server = server();
    let sandbox = Sandbox::new();
    let mut run = Background::start(&sandbox, bench(&sandbox, &server).arg("--time=4s"));
    run.wait_for("0000", "measure", 1);
    let holder = hold(&server, "FLUSH TABLES WITH READ LOCK");
    let output = run.finish();
    end(holder);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    assert_eq!(trial["status"], "failed", "{trial}");
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.contains(": no answer came from second "), "{reason}");
    assert!(reason.ends_with(" on, and the outage had not ended"), "{reason}");
    assert!(told(trial).contains(" on, it had not ended"), "{trial}");
    assert_eq!(trial["outages"][0]["end_ns"], Value::Null, "{trial}");
}

#[test]
fn a_system_that_never_answers_is_an_outage_and_not_a_short_trial() {
    let server = server();
    let sandbox = Sandbox::new();
    let holder = hold(&server, "FLUSH TABLES WITH READ LOCK");
    let output = bench(&sandbox, &server).arg("--time=1s").output().unwrap();
    end(holder);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    let reason = trial["reason"].as_str().unwrap();
    let ending =
        "not answered to `UPDATE t SET k = k + 1 WHERE id = ?`, and the outage had not ended";
    assert!(reason.ends_with(ending), "{reason}");
    assert!(told(trial).contains("3 of 3 clients"), "{trial}");
}
