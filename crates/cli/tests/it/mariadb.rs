//! Complete runs on a real MariaDB: one that dyno starts, and an existing one.

use std::fs;
use std::process::Command;

use crate::own_server::OwnServer;
use crate::sandbox::{Sandbox, both, report};
use crate::server;

#[test]
fn a_managed_server_is_started_measured_and_stopped() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--system=mariadb"]);
    command.args(["--tables=2", "--table-size=1000", "--clients=1,8", "--events=100"]);
    command.args(["--warm-up=200ms", "--cleanup", "--format=json"]);
    // The folder identifies the processes that dyno starts.
    let report = report(command.env("TMPDIR", sandbox.path()));
    assert_eq!(report["systems"][0]["product"], "MariaDB");
    assert_eq!(report["systems"][0]["storage"], "InnoDB by default");
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "complete");
        assert_eq!(trial["transactions"], 100);
        let idle = &trial["idle_round_trip_ns"];
        // The number of round trips within a second each; fewer when the machine pauses.
        assert!((1..=50).contains(&idle["count"].as_u64().unwrap()), "{idle}");
        assert!(
            idle["min"].as_u64().unwrap() > 1_000,
            "no server answers within a microsecond: {idle}"
        );
        assert!(idle["min"].as_u64() <= idle["median"].as_u64(), "{idle}");
        assert!(trial["cost_per_transaction"]["sent_bytes"].as_f64().unwrap() > 100.0);
    }
    let phases = fs::read_to_string(sandbox.runs()[0].join("trials/0001/trial.json")).unwrap();
    assert!(phases.contains("\"cleanup\""), "the cleanup is timed: {phases}");
    let servers =
        Command::new("pgrep").args(["-f", &sandbox.path().display().to_string()]).output();
    assert!(servers.unwrap().stdout.is_empty(), "nothing is left running");
}

#[test]
fn text_statements_do_the_same_work_as_prepared_ones() {
    let sandbox = Sandbox::new();
    for ps in ["on", "off"] {
        let url = server::database(&format!("dyno_ps_{ps}"));
        let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--table-size=200"]);
        command.args(["--events=50", "--warm-up=0s", "--ps", ps, "--cleanup", "--format=json"]);
        let report = report(command.args(["--system", &url]));
        let trial = &report["trials"][0];
        assert_eq!(trial["transactions"], 50);
        let queries = &trial["queries"];
        assert_eq!((&queries["read"], &queries["write"]), (&700.into(), &200.into()), "{ps}");
    }
}

#[test]
fn existing_tables_are_refused_reused_or_replaced_as_configured() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_existing");
    let bench = |existing: &str, size: &str| {
        let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--events=20"]);
        command.args(["--system", &url, "--table-size", size, "--existing", existing]);
        command.output().unwrap()
    };
    assert!(bench("refuse", "100").status.success(), "nothing is there yet");
    let refused = bench("refuse", "100");
    assert_eq!(refused.status.code(), Some(2));
    assert!(both(&refused).contains("sbtest1"), "{}", both(&refused));
    assert!(both(&refused).contains("--existing reuse"), "{}", both(&refused));
    assert!(bench("reuse", "100").status.success());
    let wrong_size = bench("reuse", "300");
    assert_eq!(wrong_size.status.code(), Some(2), "300 rows are not there");
    assert_eq!(server::sql("SELECT COUNT(*) FROM dyno_existing.sbtest1").trim(), "100");
    assert!(bench("replace", "300").status.success());
    assert_eq!(server::sql("SELECT COUNT(*) FROM dyno_existing.sbtest1").trim(), "300");
}

#[test]
fn tables_of_sysbench_are_reused_and_never_dropped() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_sysbench");
    let made = Command::new("sysbench")
        .arg("oltp_read_write")
        .args(server::login(&url).of_sysbench())
        .args(["--tables=2", "--table-size=500", "prepare"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    let output = sandbox
        .dyno(["bench", "sysbench/oltp_read_write", "--tables=2", "--table-size=500"])
        .args(["--events=50", "--clients=4", "--existing=reuse", "--cleanup", "--system", &url])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(server::sql("SELECT COUNT(*) FROM dyno_sysbench.sbtest2").trim(), "500");
}

#[test]
fn too_few_connections_are_reported_before_the_load() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_limits");
    let output = sandbox
        .dyno(["bench", "sysbench/oltp_point_select", "--table-size=50", "--events=10"])
        .args(["--clients=100000", "--cleanup", "--system", &url])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let text = both(&output);
    assert!(text.contains("max_connections"), "{text}");
    assert!(text.contains("SET GLOBAL"), "{text}");
}

#[test]
fn the_same_seed_sends_the_same_queries() {
    let sandbox = Sandbox::new();
    // A server that logs every statement would slow down other tests.
    let server = OwnServer::start(&["--log-output=TABLE", "--general-log=ON"]);
    let questions = |name: &str, seed: &str| {
        server.sql(&format!("CREATE DATABASE {name}"));
        let url = server.url().replace("/test", &format!("/{name}"));
        let output = sandbox
            .dyno(["bench", "sysbench/oltp_read_write", "--table-size=500", "--events=20"])
            .args(["--ps=off", "--warm-up=0s", "--cleanup", "--system", &url, "--seed", seed])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
        server.sql(&format!(
            "SELECT argument FROM mysql.general_log WHERE command_type = 'Query' AND thread_id IN \
             (SELECT thread_id FROM mysql.general_log WHERE argument LIKE '%{name}%' \
             AND command_type = 'Connect') AND argument LIKE '% FROM sbtest1 WHERE id%' \
             ORDER BY event_time, thread_id"
        ))
    };
    let first = questions("dyno_seed_a", "7");
    assert!(first.lines().count() > 200, "{first}");
    assert_eq!(first, questions("dyno_seed_b", "7"));
    assert_ne!(first, questions("dyno_seed_c", "8"));
}
