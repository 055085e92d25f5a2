//! Servers that refuse dyno's login or its statements: reported at once, with a remedy.

use crate::own_server::{OwnServer, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::server;

/// Runs a small load that must fail, and returns its message.
fn failure(sandbox: &Sandbox, url: &str, more: &[&str]) -> String {
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--table-size=100"]);
    let output = command.args(["--time=1s", "--system", url]).args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    both(&output)
}

fn assert_told(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word} is missing in: {text}");
    }
}

#[test]
fn login_to_a_closed_port() {
    // Another test could take a free port; no process listens on this one.
    let text = failure(&Sandbox::new(), "mysql://root@127.0.0.1:1/test", &[]);
    let address = "cannot connect to 127.0.0.1:1:";
    assert_told(&text, &[address, "Connection refused", "start the server or correct it"]);
}

#[test]
fn a_wrong_password() {
    let user = server::user_with_password("dyno_wrong_password", "right");
    let sandbox = Sandbox::new();
    let text = failure(&sandbox, &user.url(Some("wr0ng")), &[]);
    assert_told(&text, &["Access denied", "1045", "check user and password", "DYNO_PASSWORD"]);
    assert!(!text.contains("wr0ng"), "{text}");
}

#[test]
fn login_to_a_missing_database() {
    let url = server::url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let text = failure(&Sandbox::new(), &format!("{server}/dyno_no_such_database"), &[]);
    assert_told(&text, &["dyno_no_such_database", "1049", "--create-database"]);
}

#[test]
fn login_to_a_read_only_server() {
    let own = OwnServer::start(&["read_only=1"]);
    own.make_user("guest", "");
    let text = failure(&Sandbox::new(), &own.url_of("guest"), &[]);
    assert_told(&text, &["--read-only", "1290", "the server only reads"]);
}

#[test]
fn login_to_a_server_with_a_low_connection_limit() {
    let own = OwnServer::start(&["max_connections=10"]);
    let text = failure(&Sandbox::new(), &own.url(), &["--clients=20"]);
    let told = ["too few connections: 20 needed", "SET GLOBAL max_connections ="];
    assert_told(&text, &told);
}

#[test]
fn login_to_a_server_with_no_free_connections() {
    let own = OwnServer::start(&[]);
    own.make_user("guest", "");
    let takers: Vec<_> =
        (0..10).map(|_| own.client("SELECT SLEEP(600)").spawn().unwrap()).collect();
    let sleeping =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info = 'SELECT SLEEP(600)'";
    wait_until("all have come", || own.sql(sleeping).trim() == "10");
    own.sql("SET GLOBAL max_connections = 10");
    let text = failure(&Sandbox::new(), &own.url_of("guest"), &[]);
    assert_told(&text, &["Too many connections", "1040", "use fewer clients"]);
    for mut taker in takers {
        taker.kill().unwrap();
        taker.wait().unwrap();
    }
}
