//! The embedded database on real files.

use net::{Clock, Runtime};

use super::*;
use crate::Access;

fn started(options: &str, folder: &Path) -> Running {
    read(&Options::parse(options).unwrap(), folder)
        .unwrap()
        .start(folder, driver::Timeouts::default())
        .unwrap()
}

/// Runs statements in one session; returns the last one's rows.
fn rows(running: &Running, statements: &[&str]) -> Vec<Vec<driver::Datum>> {
    let Access::Database(target) = running.access() else { panic!("no database") };
    let target = target.clone();
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let future = async move {
        let mut session = target.connect(&handle, 0).await.unwrap();
        let mut rows = Vec::new();
        for statement in &statements {
            rows = session.rows(statement).await.unwrap();
        }
        session.close().await;
        rows
    };
    runtime.block_on(future).unwrap()
}

#[test]
fn the_file_lies_where_the_plan_says_or_below_scratch() {
    let folder = tempfile::tempdir().unwrap();
    let running = started("", folder.path());
    assert_eq!(running.identity().product, "SQLite");
    assert_eq!(running.identity().storage, "SQLite file, WAL");
    assert!(folder.path().join("dyno.db").exists());
    let running = started("path = \"mine.db\"", folder.path());
    running.stop().unwrap();
    assert!(folder.path().join("mine.db").exists(), "a file of the user's stays");
}

#[test]
fn settings_reach_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let running = started("synchronous = \"full\"\nbusy_timeout = \"250ms\"", folder.path());
    let settings = &running.identity().settings;
    let value = |name: &str| settings.iter().find(|(this, _)| this == name).unwrap().1.as_str();
    assert_eq!((value("journal_mode"), value("synchronous")), ("wal", "2"));
    assert_eq!(value("busy_timeout"), "250");
}

#[test]
fn restore_brings_back_what_snapshot_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = started("", folder.path());
    assert!(running.restore().is_err());
    rows(&running, &["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"]);
    running.snapshot().unwrap();
    rows(&running, &["DELETE FROM t", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)"]);
    running.restore().unwrap();
    assert_eq!(rows(&running, &["SELECT a FROM t"]), [[driver::Datum::Int(1)]]);
}

#[test]
fn a_folder_that_is_missing_is_said_before_anything_starts() {
    let options = Options::parse("path = \"nowhere/x.db\"").unwrap();
    let problems = read(&options, Path::new("/no/such")).err().unwrap();
    assert_eq!(problems[0].message, "there is no folder /no/such/nowhere");
}
