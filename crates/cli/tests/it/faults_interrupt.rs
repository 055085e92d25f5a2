//! Ctrl-C in each phase: what was measured is kept, and what dyno made half-way is taken away.

use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::own_server::{Background, wait_until};
use crate::server;
use crate::support::{Desk, both};

fn bench(desk: &Desk, url: &str) -> Command {
    let mut command = desk.dyno(["bench", "sysbench/oltp_read_write", "--clients=2"]);
    command.args(["--time=60s", "--interval=200ms", "--think-time=5ms", "--system", url]);
    command
}

fn tables(database: &str) -> String {
    server::sql(&format!("SHOW TABLES IN {database}"))
}

fn assert_interrupted(output: &Output) {
    assert_eq!(output.status.code(), Some(130), "{}", both(output));
}

fn report(desk: &Desk) -> Value {
    let text = std::fs::read_to_string(desk.runs()[0].join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn in_prepare_half_made_tables_are_taken_away() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_prepare");
    let url = server::database(database);
    let mut command = bench(&desk, &url);
    let run = Background::start(&desk, command.args(["--tables=2", "--table-size=20M"]));
    let rows = format!("SELECT EXISTS (SELECT 1 FROM {database}.sbtest1)");
    let has_table = || tables(database).contains("sbtest1");
    wait_until("rows go in", || has_table() && server::sql(&rows).trim() == "1");
    run.interrupt();
    assert_interrupted(&run.finish());
    assert_eq!(tables(database), "");
    assert_eq!(report(&desk)["status"], "interrupted");
}

#[test]
fn in_the_warm_up_nothing_was_measured_and_that_is_said() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_warm_up");
    let url = server::database(database);
    let mut command = bench(&desk, &url);
    command.args(["--table-size=200", "--warm-up=60s", "--cleanup"]);
    let mut run = Background::start(&desk, &mut command);
    run.wait_for("0000", "warm-up", 2);
    run.interrupt();
    assert_interrupted(&run.finish());
    let report = report(&desk);
    let trial = &report["trials"][0];
    assert_eq!((&trial["status"], &trial["transactions"]), (&"interrupted".into(), &0.into()));
    assert!(trial["intervals"][0]["transactions"].as_u64().unwrap() > 0, "{trial}");
    assert_eq!(tables(database), "");
}

#[test]
fn in_the_measured_time_what_was_measured_is_kept_and_the_cleanup_done() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_measure");
    let url = server::database(database);
    let mut command = bench(&desk, &url);
    command.args(["--table-size=200", "--warm-up=0s", "--cleanup"]);
    let mut run = Background::start(&desk, &mut command);
    run.wait_for("0000", "measure", 2);
    run.interrupt();
    assert_interrupted(&run.finish());
    let report = report(&desk);
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "interrupted");
    assert!(trial["transactions"].as_u64().unwrap() > 0);
    assert_eq!(tables(database), "");
}

/// Holds back whoever wants to drop a table, until it is killed.
fn reader_of(database: &str) -> std::process::Child {
    let statements = format!("BEGIN; SELECT COUNT(*) FROM {database}.sbtest1; DO SLEEP(600)");
    server::client(&statements).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn in_the_cleanup_it_is_brought_to_its_end() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_cleanup");
    let url = server::database(database);
    let mut command = desk.dyno(["bench", "sysbench/oltp_read_only", "--table-size=200"]);
    command.args([
        "--warm-up=0s",
        "--time=2s",
        "--interval=200ms",
        "--think-time=5ms",
        "--cleanup",
    ]);
    let mut run = Background::start(&desk, command.args(["--system", &url]));
    run.wait_for("0000", "measure", 1);
    let mut reader = reader_of(database);
    let of_database = format!("FROM information_schema.PROCESSLIST WHERE db = '{database}'");
    let dropping = format!("SELECT COUNT(*) {of_database} AND info LIKE 'DROP TABLE%'");
    wait_until("the cleanup waits for the reader", || server::sql(&dropping).trim() == "1");
    run.interrupt();
    // The reader's end lets the cleanup go on; killing its client alone would not end its sleep.
    let kill = "SELECT id INTO @reader FROM information_schema.PROCESSLIST WHERE info = \
                'DO SLEEP(600)' AND id <> CONNECTION_ID() LIMIT 1; \
                EXECUTE IMMEDIATE CONCAT('KILL ', @reader)";
    server::sql(kill);
    reader.wait().unwrap();
    assert_interrupted(&run.finish());
    assert_eq!(tables(database), "");
    assert!(report(&desk)["trials"][0]["transactions"].as_u64().unwrap() > 0);
}

/// A workload of one's own whose verification takes so many seconds.
fn slow_to_verify(desk: &Desk, url: &str, seconds: u32, more: &[&str]) -> Command {
    let text = format!(
        "\\prepare\nCREATE TABLE slow (id INTEGER);\n\\verify\nSELECT SLEEP({seconds}) = 0;\n\
         \\cleanup\nDROP TABLE slow;\n\\transaction look\nSELECT id FROM slow;\n"
    );
    desk.file("slow.sql", &text);
    let mut command = desk.dyno(["bench", "slow.sql", "--time=1s", "--cleanup", "--system", url]);
    command.args(more);
    command
}

fn is_verifying(seconds: u32) -> bool {
    let sleeping = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info = 'SELECT SLEEP({seconds}) = 0'"
    );
    server::sql(&sleeping).trim() == "1"
}

#[test]
fn in_verify_the_tables_go_when_that_was_asked_for() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_verify");
    let url = server::database(database);
    let run = Background::start(&desk, &mut slow_to_verify(&desk, &url, 3, &[]));
    wait_until("it verifies", || is_verifying(3));
    run.interrupt();
    assert_interrupted(&run.finish());
    assert_eq!(tables(database), "");
    assert_eq!(report(&desk)["status"], "interrupted");
}

#[test]
fn the_second_one_does_not_wait_for_the_server() {
    let (desk, database) = (Desk::new(), "dyno_interrupt_twice");
    let url = server::database(database);
    let run = Background::start(&desk, &mut slow_to_verify(&desk, &url, 601, &[]));
    wait_until("it verifies", || is_verifying(601));
    run.interrupt();
    thread::sleep(Duration::from_millis(50));
    run.interrupt();
    assert_interrupted(&run.finish());
}

#[test]
fn a_phase_that_takes_too_long_is_broken_off() {
    let (desk, database) = (Desk::new(), "dyno_phase_timeout");
    let url = server::database(database);
    let more = ["--phase-timeout=300ms"];
    let output = slow_to_verify(&desk, &url, 602, &more).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let told = both(&output);
    assert!(told.contains("it took longer than 300ms, its phase_timeout"), "{told}");
}
