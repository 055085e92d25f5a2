//! TPC-H through the command line: answers, plans and loads on SQLite, MariaDB and TiDB, and go-tpc's tables.

use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Sandbox, both, report};
use crate::{server, tpcc};

/// The tables that go-tpc leaves empty at scale 0.
const LARGE: [&str; 6] = ["supplier", "customer", "part", "partsupp", "orders", "lineitem"];

fn ours(sandbox: &Sandbox, url: &str, arguments: &[&str]) -> Value {
    let mut command = sandbox.dyno(["bench", "tpch", "--format=json", "--quiet"]);
    report(command.args(["--system", url, "-o", "scale=0.01"]).args(arguments))
}

/// Runs go-tpc on the database of a URL, and returns what it prints.
fn their(sandbox: &Sandbox, verb: &str, url: &str, arguments: &[&str]) -> String {
    let login = server::login(url);
    let mut command = Command::new(tpcc::go_tpc());
    command.args(["tpch", verb, "-H", &login.host, "-P", &login.port, "-D", &login.database]);
    command.args(["-U", &login.user, "-p", &login.password, "-T", "1"]).args(arguments);
    let output = command.current_dir(sandbox.path()).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that a trial ran `streams` streams and that every answer was right.
fn all_right(trial: &Value, streams: u64) {
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!(trial["failed_transactions"], 0);
    let conditions = trial["own"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 22);
    for condition in conditions {
        assert_eq!(condition["verdict"], "holds", "{condition}");
    }
    for operation in trial["operations"].as_array().unwrap() {
        assert_eq!(operation["succeeded"], streams, "{operation}");
    }
}

#[test]
fn answers_on_sqlite_are_right_cold_and_warm() {
    let sandbox = Sandbox::new();
    let report = ours(&sandbox, "sqlite", &["--repetitions=2"]);
    all_right(&report["trials"][0], 1);
    all_right(&report["trials"][1], 1);
}

#[test]
fn answers_on_mariadb_are_right_after_load_data_local() {
    let sandbox = Sandbox::new();
    let options = ["-o", "load_data_local=true", "--clients=1,2"];
    let report = ours(&sandbox, "mariadb", &options);
    all_right(&report["trials"][0], 1);
    all_right(&report["trials"][1], 2);
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    }
}

#[test]
fn refreshed_data_are_restored_on_mariadb() {
    let sandbox = Sandbox::new();
    let options = ["-o", "refresh=true", "--clients=1,3", "--repetitions=2"];
    let report = ours(&sandbox, "mariadb", &options);
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    }
}

#[test]
fn answers_on_tidb_are_right_after_load_data_local() {
    let sandbox = Sandbox::new();
    let tidb = format!("tidb:{}", std::env::var("DYNO_TEST_TIDB").unwrap());
    let report = ours(&sandbox, &tidb, &["-o", "load_data_local=true"]);
    all_right(&report["trials"][0], 1);
}

#[test]
fn a_server_that_refuses_load_data_local_is_told_how_to_allow_it() {
    let sandbox = Sandbox::new();
    let system = ["--system-option", "settings.local_infile=OFF"];
    let mut command = sandbox.dyno(["bench", "tpch", "--quiet", "--system", "mariadb"]);
    command.args(["-o", "scale=0.01", "-o", "load_data_local=true"]).args(system);
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("SET GLOBAL local_infile = ON"), "{}", both(&output));
}

#[test]
fn tables_that_are_there_are_reused() {
    let sandbox = Sandbox::new();
    let url = server::database("tpch_there");
    let mut prepare = sandbox.dyno(["prepare", "tpch", "--system", &url, "-o", "scale=0.01"]);
    let prepared = prepare.output().unwrap();
    assert!(prepared.status.success(), "{}", both(&prepared));
    let columns =
        "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'tpch_there'";
    assert_eq!(
        server::sql(columns).trim(),
        "61",
        "those of clause 1.4, and none of the load's own table"
    );
    let report = ours(&sandbox, &url, &["--existing=reuse"]);
    all_right(&report["trials"][0], 1);
    server::sql("DROP DATABASE tpch_there");
}

#[test]
fn go_tpc_and_dyno_use_the_tables_of_each_other() {
    let sandbox = Sandbox::new();
    let [ours_url, theirs_url] = ["tpch_ours", "tpch_theirs"].map(server::database);
    let mut prepare = sandbox.dyno(["prepare", "tpch", "--system", &ours_url, "-o", "scale=0.01"]);
    let prepared = prepare.output().unwrap();
    assert!(prepared.status.success(), "{}", both(&prepared));
    // Below scale 1 go-tpc has only scale 0: all tables, but rows only where their number is fixed.
    their(&sandbox, "prepare", &theirs_url, &["--sf=0"]);
    for (table, rows) in [("region", "5"), ("nation", "25")] {
        let equal =
            format!("SELECT COUNT(*) FROM tpch_ours.{table} NATURAL JOIN tpch_theirs.{table}");
        assert_eq!(server::sql(&equal).trim(), rows, "rows of {table} that both have");
    }
    for table in LARGE {
        server::sql(&format!("INSERT INTO tpch_theirs.{table} SELECT * FROM tpch_ours.{table}"));
    }
    let report = ours(&sandbox, &theirs_url, &["--existing=reuse"]);
    all_right(&report["trials"][0], 1);
    let said = their(&sandbox, "run", &ours_url, &["--sf=1", "--count=22"]);
    assert!(!said.contains("failed"), "{said}");
    let summary = said.lines().filter(|line| line.starts_with("[Summary] Q"));
    assert_eq!(summary.count(), 22, "{said}");
    server::sql("DROP DATABASE tpch_ours; DROP DATABASE tpch_theirs");
}
