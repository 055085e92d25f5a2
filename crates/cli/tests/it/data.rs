//! `dyno prepare`, `dyno check` and `dyno cleanup`, on the embedded database and on a real server.

use std::fs;

use crate::sandbox::{Sandbox, both, json};
use crate::server;

/// Options of a small workload.
const SMALL: [&str; 4] = ["sysbench/oltp_read_write", "--tables=2", "--table-size=100", "--system"];

/// Runs a subcommand on the small workload; returns the exit code and both streams.
fn on(sandbox: &Sandbox, command: &str, system: &str, more: &[&str]) -> (i32, String) {
    let output = sandbox.dyno([command]).args(SMALL).arg(system).args(more).output().unwrap();
    (output.status.code().unwrap(), both(&output))
}

/// The three commands, and a run between them, each in a process of its own. Tables are checked at the same time, so
/// either of two missing ones may be named.
fn data_is_kept_between_commands(sandbox: &Sandbox, system: &str) {
    let (code, said) = on(sandbox, "prepare", system, &[]);
    assert!(code == 0 && said.contains("prepared: sysbench oltp_read_write"), "{said}");
    let (code, said) = on(sandbox, "prepare", system, &["--existing=refuse"]);
    assert!(code == 1 && said.contains("already exist"), "{said}");
    let (code, said) = on(sandbox, "prepare", system, &[]);
    assert!(code == 0 && said.contains("exist and match"), "{said}");
    let (code, said) = on(sandbox, "prepare", system, &["--existing=reuse"]);
    assert_eq!(code, 0, "{said}");
    let load = ["--existing=reuse", "--events=50", "--warm-up=0", "--format=json", "--quiet"];
    let output = sandbox.dyno(["bench"]).args(SMALL).arg(system).args(load).output().unwrap();
    assert_eq!(json(&output)["trials"][0]["transactions"], 50);
    let (code, said) = on(sandbox, "check", system, &[]);
    assert!(code == 0 && said.contains("the data is in order"), "{said}");
    let (code, said) = on(sandbox, "cleanup", system, &[]);
    assert!(code == 0 && said.contains("dropped sbtest1\ndropped sbtest2\n"), "{said}");
    let (code, said) = on(sandbox, "cleanup", system, &[]);
    assert!(code == 0 && said.contains("there was nothing to remove"), "{said}");
    let (code, said) = on(sandbox, "check", system, &[]);
    assert!(code == 1 && said.contains("there is no table sbtest"), "{said}");
}

#[test]
fn data_outlives_the_command_that_made_it() {
    let sandbox = Sandbox::new();
    for command in ["check", "cleanup"] {
        let (code, said) = on(&sandbox, command, "sqlite:kept.db", &[]);
        assert!(code == 2 && said.contains("there is no file ./kept.db"), "{said}");
    }
    data_is_kept_between_commands(&sandbox, "sqlite:kept.db");
    assert_eq!(sandbox.runs().len(), 1, "only the run between leaves a record");
    data_is_kept_between_commands(&sandbox, &server::database("data_kept"));
    server::sql("DROP DATABASE data_kept");
}

#[test]
fn a_missing_database_is_created_when_asked() {
    let sandbox = Sandbox::new();
    let url = server::database("data_made");
    server::sql("DROP DATABASE data_made");
    let (code, said) = on(&sandbox, "prepare", &url, &[]);
    assert!(code == 1 && said.contains("data_made"), "{said}");
    for expected in ["prepared: ", "exist and match"] {
        let (_, said) = on(&sandbox, "prepare", &url, &["--create-database"]);
        assert!(said.contains(expected), "{said}");
    }
    let rows = server::sql("SELECT COUNT(*) FROM data_made.sbtest2");
    assert_eq!(rows.trim(), "100");
    server::sql("DROP DATABASE data_made");
    let nameless = url.trim_end_matches("data_made");
    let (code, said) = on(&sandbox, "prepare", nameless, &["--create-database"]);
    assert!(code == 2 && said.contains("names no database"), "{said}");
}

#[test]
fn a_system_that_ends_with_the_command_is_refused_before_it_starts() {
    let sandbox = Sandbox::new();
    for system in ["sqlite", "mariadb"] {
        let (code, said) = on(&sandbox, "prepare", system, &[]);
        assert!(code == 2 && said.contains("has no data that outlives this command"), "{said}");
        assert!(!said.contains("MariaDB"), "{said}");
    }
}

#[test]
fn tables_of_others_are_never_dropped() {
    let sandbox = Sandbox::new();
    let url = server::database("data_others");
    server::sql(
        "CREATE TABLE data_others.sbtest2 (name TEXT); CREATE TABLE data_others.orders (id INT); \
         CREATE TABLE data_others.usertable (id INT)",
    );
    let (code, said) = on(&sandbox, "cleanup", &url, &[]);
    assert!(code == 1 && said.contains("table sbtest2 has no column id, k"), "{said}");
    for (workload, table) in [("tpcc", "orders"), ("ycsb/a", "usertable")] {
        let said = sandbox.fail(1, ["cleanup", workload, "--system", &url]);
        assert!(said.contains(&format!("table {table} has no column")), "{said}");
    }
    assert_eq!(server::sql("SHOW TABLES FROM data_others"), "orders\nsbtest2\nusertable\n");
    server::sql("DROP DATABASE data_others");
}

#[test]
fn a_file_is_cleaned_up_by_its_own_section() {
    let sandbox = Sandbox::new();
    let head = "\\prepare\nCREATE TABLE t (a INTEGER);\n\\verify\nSELECT COUNT(*) = 0 FROM t;\n";
    let load = "\\transaction look\nSELECT a FROM t;\n";
    sandbox.file("kept.sql", &format!("{head}{load}"));
    sandbox.file("gone.sql", &format!("{head}\\cleanup\nDROP TABLE IF EXISTS t;\n{load}"));
    let text = |command| {
        let output = sandbox.succeed([command, "gone.sql", "--system=sqlite:f.db"]);
        String::from_utf8(output.stdout).unwrap()
    };
    text("prepare");
    text("check");
    let said = sandbox.fail(1, ["cleanup", "kept.sql", "--system=sqlite:f.db"]);
    assert!(said.contains("kept.sql has no \\cleanup section"), "{said}");
    assert_eq!(text("cleanup"), "gone.sql:6: DROP TABLE IF EXISTS t\n");
    let said = sandbox.fail(1, ["check", "gone.sql", "--system=sqlite:f.db"]);
    assert!(said.contains("no such table: t"), "{said}");
    fs::metadata(sandbox.path().join("f.db")).unwrap();
}

#[test]
fn broken_conditions_are_shown_and_fail_the_check() {
    let sandbox = Sandbox::new();
    let url = server::database("data_tpcc");
    let tpcc = |command: &str, code: i32| {
        let output = sandbox.dyno([command, "tpcc", "--quiet", "--system", &url]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", both(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    tpcc("prepare", 0);
    let shown = tpcc("check", 0);
    assert!(shown.contains("\n3.3.2.12   holds    C_BALANCE + C_YTD_PAYMENT"), "{shown}");
    assert!(shown.contains("\n2.1.6.1    unknown"), "{shown}");
    server::sql("UPDATE data_tpcc.district SET d_ytd = d_ytd + 1 WHERE d_id = 3");
    let shown = tpcc("check", 1);
    assert!(
        shown.contains("\n3.3.2.9    broken   D_YTD = sum(H_AMOUNT): warehouse 1, district 3: ")
    );
    assert!(shown.contains("2 conditions are broken: "), "{shown}");
    let dropped = tpcc("cleanup", 0);
    assert_eq!(dropped.lines().count(), 9, "{dropped}");
    assert_eq!(server::sql("SHOW TABLES FROM data_tpcc"), "");
    server::sql("DROP DATABASE data_tpcc");
}
