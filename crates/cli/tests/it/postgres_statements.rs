//! dyno's statements beside those that `pg_stat_statements` counts, on servers that only one test uses.

use std::process::Command;

use serde_json::Value;
use system::Daemon;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::own_server::Background;
use crate::postgres_refusals::ask;
use crate::sandbox::{Sandbox, json, report, whole_page};

/// A server that counts the statements of functions too, and not many different ones.
fn counting_server(scratch: &TempDir) -> Daemon {
    let settings = [
        "shared_preload_libraries=pg_stat_statements",
        "pg_stat_statements.track=all",
        "pg_stat_statements.max=200",
    ];
    let settings = settings.map(str::to_owned).to_vec();
    let server = start(Settings { settings, ..Settings::default() }, scratch.path()).unwrap();
    ask(&server, &["CREATE EXTENSION pg_stat_statements"]);
    server
}

fn bench(sandbox: &Sandbox, url: &str, workload: &str) -> Command {
    let mut command = sandbox.dyno(["bench", workload, "--repetitions=1", "--format=json"]);
    command.args(["--clients=4", "--interval=200ms", "--system", url]);
    command
}

fn sysbench(sandbox: &Sandbox, url: &str) -> Command {
    let mut command = bench(sandbox, url, "sysbench/oltp_read_write");
    command.args(["--tables=1", "--table-size=1000", "-o", "rand_type=uniform", "--cleanup"]);
    command
}

/// The only trial's statements of both sides, and its findings.
fn checked(report: &Value) -> (Value, String) {
    let trial = &report["trials"][0];
    (trial["cross_check"]["session_statements"].clone(), trial["findings"].to_string())
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn both_sides_count_the_same_statements_however_they_are_sent() {
    let scratch = TempDir::new().unwrap();
    let server = counting_server(&scratch);
    ask(
        &server,
        &["CREATE FUNCTION three() RETURNS int LANGUAGE plpgsql AS \
           'BEGIN PERFORM 1; PERFORM 2; PERFORM 3; RETURN 4; END'"],
    );
    for ps in ["named", "unnamed", "text"] {
        let sandbox = Sandbox::new();
        let script = sandbox.file(
            "nested.sql",
            "\\set id random(1, 9)\nSELECT three() + :id;\nSELECT 1 / (:id - 1);\n",
        );
        let mut by_script = bench(&sandbox, &server.url(), script.to_str().unwrap());
        by_script.args(["--events=200", "--warm-up=0s", "--ps", ps]);
        by_script.args(["-o", "ignore_errors=22012"]);
        let mut by_sysbench = sysbench(&sandbox, &server.url());
        by_sysbench.args(["--events=200", "--warm-up=500ms", "--ps", ps]);
        for (mut command, least) in [(by_sysbench, 20 * 200), (by_script, 350)] {
            let report = report(&mut command);
            let (check, findings) = checked(&report);
            assert_eq!(check["difference"], 0, "{ps}: {check}");
            assert!(number(&check["by_dyno"]) > least, "{ps}: {check}");
            assert!(!findings.contains("The server ran"), "{ps}: {findings}");
        }
    }
}

#[test]
fn statements_of_another_client_and_counts_that_were_lost_are_told() {
    let scratch = TempDir::new().unwrap();
    let server = counting_server(&scratch);
    let different =
        (1..300).map(|length| &*format!("SELECT {}", vec!["1"; length].join(", ")).leak());
    for (statements, reason) in [
        (vec!["SELECT 'another'"; 300], None),
        (vec!["SELECT pg_stat_statements_reset()"], Some("was reset during the load")),
        (different.collect(), Some("raise pg_stat_statements.max")),
    ] {
        let sandbox = Sandbox::new();
        let mut command = sysbench(&sandbox, &server.url());
        let mut run =
            Background::start(&sandbox, command.args(["--time=60s", "--think-time=10ms"]));
        run.wait_for("0000", "measure", 1);
        ask(&server, statements.leak());
        run.interrupt();
        let (check, findings) = checked(&json(&run.finish()));
        let is_told = findings.contains("statements that were not dyno's");
        assert_eq!(is_told, reason.is_none(), "{check} {findings}");
        if let Some(reason) = reason {
            assert!(check["missing"].as_str().unwrap().contains(reason), "{check}");
            let page = whole_page(&sandbox.runs()[0]);
            assert!(page.contains("count of statements could not be compared: "), "{page}");
        } else {
            // Of a statement that the interrupt cut off dyno saw no answer.
            assert!((300..=304).contains(&number(&check["difference"])), "{check}");
        }
    }
}

#[test]
fn an_extension_that_counts_not_all_or_nothing_is_not_compared() {
    let scratch = TempDir::new().unwrap();
    let server = counting_server(&scratch);
    ask(&server, &["CREATE DATABASE without", "CREATE ROLE stranger LOGIN PASSWORD 'p'"]);
    ask(&server, &["REVOKE SELECT ON pg_stat_statements_info FROM PUBLIC"]);
    let url = server.url();
    let (place, _) = url.rsplit_once('/').unwrap();
    let stranger = format!("postgresql://stranger:p@127.0.0.1:{}/postgres", server.port());
    for (url, reason) in [
        (format!("{place}/without"), None),
        (format!("{url}?options=-c%20pg_stat_statements.track%3Dnone"), Some("track is none")),
        (
            format!("{url}?options=-c%20pg_stat_statements.track_utility%3Doff"),
            Some("BEGIN and COMMIT"),
        ),
        (format!("{url}?options=-c%20compute_query_id%3Doff"), Some("compute_query_id is off")),
        (stranger, Some("permission denied")),
    ] {
        let sandbox = Sandbox::new();
        let script = sandbox.file("one.sql", "SELECT 1;\n");
        let mut command = bench(&sandbox, &url, script.to_str().unwrap());
        command.args(["--events=50", "--warm-up=0s"]);
        let (check, findings) = checked(&report(&mut command));
        match reason {
            None => assert_eq!(check, Value::Null),
            Some(reason) => {
                assert!(check["missing"].as_str().unwrap().contains(reason), "{check}");
            }
        }
        assert!(!findings.contains("The server ran"), "{url}: {findings}");
    }
}
