//! Servers that begin sessions without autocommit.

use crate::own_server::OwnServer;
use crate::sandbox::{Sandbox, both, report};

#[test]
fn statements_that_turn_autocommit_on_are_counted_when_clients_connect_again() {
    let server = OwnServer::start(&["--autocommit=0", "--wait-timeout=1"]);
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=100"]);
    command.args(["--time=7s", "--warm-up=0s", "--clients=3", "--think-time=2s", "--format=json"]);
    let report = report(command.args(["--cleanup", "--system", &server.url()]));
    let trial = &report["trials"][0];
    assert!(trial["idle_reconnects"].as_u64().unwrap() >= 4, "{trial}");
    assert_eq!(trial["cross_check"]["difference"], 0, "{trial}");
}

#[test]
fn work_is_committed_on_a_server_that_begins_sessions_without_autocommit() {
    let server = OwnServer::start(&["--autocommit=0"]);
    let sandbox = Sandbox::new();
    let bench = |script: &str| {
        let mut command = sandbox.dyno(["bench", "--clients=2", "--events=50", "--warm-up=0s"]);
        command.args(["--repetitions=1", "--format=json", "--system"]).arg(server.url());
        report(command.arg(sandbox.file("count.sql", script)))
    };
    server.sql(
        "CREATE TABLE counts (id INT PRIMARY KEY, n INT); \
                INSERT INTO counts VALUES (0, 0); COMMIT",
    );
    let report = bench("UPDATE counts SET n = n + 1 WHERE id = 0;\n");
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!(trial["failed_transactions"], 0, "{trial}");
    assert_eq!(trial["cross_check"]["difference"], 0, "{trial}");
    // Another session sees only what was committed.
    assert_eq!(server.sql("SELECT n FROM counts").trim(), "50");
    assert!(report.to_string().contains("autocommit of dyno's sessions"), "{report}");
}

#[test]
fn a_user_whose_autocommit_init_connect_turns_off_is_refused() {
    let server = OwnServer::start(&["--init-connect=SET autocommit=0"]);
    server.sql(
        "CREATE USER plain@'%'; GRANT ALL ON *.* TO plain@'%'; \
         REVOKE SUPER, CONNECTION ADMIN ON *.* FROM plain@'%'",
    );
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--time=1s"]);
    let output = command.args(["--system", &server.url_of("plain")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    assert!(both(&output).contains("init_connect turns autocommit off"), "{}", both(&output));
}
