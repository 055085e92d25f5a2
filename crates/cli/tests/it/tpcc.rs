//! TPC-C through the command line: on real servers, compared with go-tpc on the same data, and as files.

use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Sandbox, both, json, report};
use crate::{server, tidb};

/// The path of go-tpc, from `cargo xtask test`.
pub(crate) fn go_tpc() -> String {
    std::env::var("DYNO_TEST_GO_TPC")
        .expect("DYNO_TEST_GO_TPC is not set: run `cargo xtask test`, which builds a go-tpc")
}

/// Runs go-tpc on the database of a URL.
fn their(sandbox: &Sandbox, verb: &str, url: &str, arguments: &[&str]) -> String {
    let login = server::login(url);
    let mut command = Command::new(go_tpc());
    command.args(["tpcc", verb, "-H", &login.host, "-P", &login.port, "-D", &login.database]);
    command.args(["-U", &login.user, "-p", &login.password]);
    command.args(["--warehouses", "1", "-T", "4"]).args(arguments);
    let output = command.current_dir(sandbox.path()).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn ours(sandbox: &Sandbox, url: &str, arguments: &[&str]) -> Value {
    let mut command = sandbox.dyno(["bench", "tpcc", "--warm-up=0s", "--format=json", "--quiet"]);
    report(command.args(["--system", url]).args(arguments))
}

/// Conditions by verdict, such as `holds`.
pub(crate) fn conditions(trial: &Value, verdict: &str) -> Vec<String> {
    let all = trial["own"]["conditions"].as_array().unwrap().iter();
    let of = all.filter(|condition| condition["verdict"] == verdict);
    of.map(|condition| format!("{}: {}", condition["name"], condition["detail"])).collect()
}

fn succeeded(trial: &Value, name: &str) -> u64 {
    let operations = trial["operations"].as_array().unwrap();
    let operation = operations.iter().find(|operation| operation["name"] == name).unwrap();
    operation["succeeded"].as_u64().unwrap()
}

#[test]
fn a_run_on_mariadb_keeps_its_mix_and_every_condition() {
    let sandbox = Sandbox::new();
    // A separate server, so that it counts no other test's statements.
    let arguments = ["--clients=4", "--events=920", "--cleanup"];
    let report = ours(&sandbox, "mariadb", &arguments);
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!((&trial["transactions"], &trial["failed_transactions"]), (&920.into(), &0.into()));
    assert_eq!(conditions(trial, "broken"), Vec::<String>::new());
    assert_eq!(conditions(trial, "holds").len(), 13);
    let own = &trial["own"];
    let new_orders = succeeded(trial, "new_order") + succeeded(trial, "new_order_rollback");
    let tpmc = own["scores"][0]["value"].as_f64().unwrap();
    let per_minute = new_orders as f64 * 60.0 / trial["seconds"].as_f64().unwrap();
    assert!((tpmc / per_minute - 1.0).abs() < 1e-6, "{tpmc} {per_minute}");
    assert_eq!(own["mix"].as_array().unwrap().len(), 5);
    // Every statement, including COMMIT and ROLLBACK, is counted in the same way as by the server.
    assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
}

#[test]
fn partitions_and_foreign_keys_hold_on_mariadb() {
    let sandbox = Sandbox::new();
    let url = server::database("tpcc_parts");
    let events = ["--clients=2", "--events=46"];
    let options = ["--option=partitions=2", "--option=warehouses=1"];
    let report = ours(&sandbox, &url, &[&events[..], &options].concat());
    assert_eq!(conditions(&report["trials"][0], "broken"), Vec::<String>::new());
    let parts = server::sql(
        "SELECT COUNT(*) FROM information_schema.partitions \
         WHERE TABLE_SCHEMA = 'tpcc_parts' AND PARTITION_NAME IS NOT NULL",
    );
    assert_eq!(parts.trim(), "16", "eight tables of two");
    let options = ["--option=foreign_keys=true", "--existing=replace"];
    let report = ours(&sandbox, &url, &[&events[..], &options].concat());
    assert_eq!(conditions(&report["trials"][0], "broken"), Vec::<String>::new());
    let keys = server::sql(
        "SELECT COUNT(*) FROM information_schema.table_constraints \
         WHERE TABLE_SCHEMA = 'tpcc_parts' AND CONSTRAINT_TYPE = 'FOREIGN KEY'",
    );
    assert_eq!(keys.trim(), "10");
    server::sql("DROP DATABASE tpcc_parts");
}

#[test]
fn dyno_runs_on_go_tpc_data_and_reports_unknown_conditions() {
    let sandbox = Sandbox::new();
    let url = server::database("tpcc_theirs");
    their(&sandbox, "prepare", &url, &["--no-check"]);
    let report = ours(&sandbox, &url, &["--existing=reuse", "--clients=3", "--events=230"]);
    let trial = &report["trials"][0];
    assert_eq!((&trial["transactions"], &trial["failed_transactions"]), (&230.into(), &0.into()));
    assert_eq!(conditions(trial, "broken"), Vec::<String>::new());
    let unknown = conditions(trial, "unknown");
    assert_eq!(unknown.len(), 1);
    assert!(unknown[0].contains("2.1.6.1") && unknown[0].contains("not loaded by this run"));
    server::sql("DROP DATABASE tpcc_theirs");
}

#[test]
fn loaded_data_are_those_of_the_files_run_under_go_tpc_and_are_refused_when_broken() {
    let sandbox = Sandbox::new();
    let url = server::database("tpcc_csv");
    sandbox.succeed(["generate", "tpcc", "--option", "warehouses=1", "--out", "files", "--quiet"]);
    let files = sandbox.path().join("files");
    let schema = std::fs::read_to_string(files.join("schema.sql")).unwrap();
    server::sql(&format!("USE tpcc_csv; {schema}"));
    for entry in std::fs::read_dir(&files).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(table) = name.strip_prefix("tpcc.") else { continue };
        let table = table.split('.').next().unwrap();
        server::sql(&format!(
            "LOAD DATA LOCAL INFILE '{}' INTO TABLE tpcc_csv.{table} FIELDS TERMINATED BY ','",
            path.display()
        ));
    }
    // The same seed loads the same rows, except for the time of loading.
    let loaded = server::database("tpcc_loaded");
    ours(&sandbox, &loaded, &["--clients=1", "--events=1", "--option=mix=0,0,1,0,0"]);
    for (table, columns) in [
        ("item", "i_id, i_im_id, i_name, i_price, i_data"),
        ("stock", "s_i_id, s_quantity, s_dist_10, s_data"),
        ("customer", "c_id, c_d_id, c_last, c_credit, c_discount, c_balance, c_data"),
        ("orders", "o_id, o_d_id, o_c_id, o_carrier_id, o_ol_cnt"),
        ("order_line", "ol_o_id, ol_d_id, ol_number, ol_i_id, ol_amount, ol_dist_info"),
    ] {
        let sum = |database: &str| {
            server::sql(&format!(
                "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', {columns}))) FROM {database}.{table}"
            ))
        };
        assert_eq!(sum("tpcc_csv"), sum("tpcc_loaded"), "{table}");
    }
    let report = ours(&sandbox, &url, &["--existing=reuse", "--clients=1", "--events=23"]);
    assert_eq!(conditions(&report["trials"][0], "broken"), Vec::<String>::new());
    let told = sandbox.fail(1, ["generate", "tpcc", "--out", "files"]);
    assert!(told.contains("is not empty"), "{told}");
    go_tpc_runs(&sandbox, &loaded);
    inconsistent_data_are_refused(&sandbox, &loaded);
    server::sql("DROP DATABASE tpcc_csv; DROP DATABASE tpcc_loaded");
}

/// go-tpc runs on data that dyno has loaded, and keeps them consistent.
fn go_tpc_runs(sandbox: &Sandbox, url: &str) {
    let said = their(sandbox, "run", url, &["--count", "200"]);
    assert!(said.contains("tpmC"), "{said}");
    let ran = server::sql_on(url, "SELECT COUNT(*) > 30000 FROM orders");
    assert_eq!(ran.trim(), "1", "{said}");
    let report = ours(sandbox, url, &["--existing=reuse", "--clients=2", "--events=46"]);
    assert_eq!(conditions(&report["trials"][0], "broken"), Vec::<String>::new());
}

/// Data that were made inconsistent are refused before a run, unless it checks nothing.
fn inconsistent_data_are_refused(sandbox: &Sandbox, url: &str) {
    server::sql_on(url, "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 3");
    let bench = |more: &[&str]| {
        let mut command = sandbox.dyno(["bench", "tpcc", "--quiet", "--format=json"]);
        command.args(["--system", url, "--existing=reuse", "--events=1"]).args(more);
        command.output().unwrap()
    };
    let refused = bench(&[]);
    assert_eq!(refused.status.code(), Some(2));
    let told = both(&refused);
    assert!(
        told.contains("condition 3.3.2.1 (W_YTD = sum(D_YTD)): warehouse 1, W_YTD is"),
        "{told}"
    );
    assert!(told.contains("condition 3.3.2.9"), "{told}");
    let unchecked = bench(&["--option=check=false"]);
    assert!(unchecked.status.success(), "{}", both(&unchecked));
    assert_eq!(json(&unchecked)["trials"][0]["own"]["conditions"], Value::Array(Vec::new()));
}

#[test]
fn tidb_keeps_every_condition_and_a_nearly_empty_queue_of_new_orders_ends_no_client() {
    let sandbox = Sandbox::new();
    let url = tidb::up(&sandbox);
    let report = ours(&sandbox, &url, &["--clients=4", "--events=230"]);
    let trial = &report["trials"][0];
    assert_eq!((&trial["transactions"], &trial["failed_transactions"]), (&230.into(), &0.into()));
    assert_eq!(conditions(trial, "broken"), Vec::<String>::new());
    assert_eq!(conditions(trial, "holds").len(), 13);
    // A Delivery finds orders that were committed after it began: the lock reads the latest rows, a plain SELECT
    // those at the transaction's start.
    let few = "--set=sql.before_run=\"DELETE FROM new_order WHERE no_o_id < 3000\"";
    let load = ["--existing=reuse", "--clients=16", "--events=1500", "--workers=2"];
    let options = ["--option=mix=60,0,0,40,0", "--option=check=false"];
    let report = ours(&sandbox, &url, &[&[few], &load[..], &options].concat());
    let trial = &report["trials"][0];
    assert_eq!((&trial["status"], &trial["latency"]["count"]), (&"complete".into(), &1500.into()));
    let warnings = trial["warnings"].as_array().unwrap();
    assert!(warnings.iter().all(|it| it["code"] != "clients-left"), "{warnings:?}");
    assert!(succeeded(trial, "delivery_skipped") > 0, "the queue was nearly empty: {trial}");
    sandbox.succeed(["down"]);
}
