//! The embedded database on real files.

use super::*;
use crate::daemon::ignore_progress;
use crate::testing::{rows, started};

#[test]
fn the_database_file_is_at_the_configured_path_or_in_scratch() {
    let folder = tempfile::tempdir().unwrap();
    let running = started(read, "", folder.path()).unwrap();
    assert_eq!(running.identity().product, "SQLite");
    assert_eq!(running.identity().storage, "SQLite file, WAL");
    assert!(folder.path().join("sqlite/dyno.db").exists());
    let running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
    running.stop(&mut ignore_progress).unwrap();
    assert!(folder.path().join("mine.db").exists(), "a file of the user's stays");
}

#[test]
fn settings_reach_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let running =
        started(read, "synchronous = \"full\"\nbusy_timeout = \"250ms\"", folder.path()).unwrap();
    let settings = &running.identity().settings;
    let value = |name: &str| settings.iter().find(|(this, _)| this == name).unwrap().1.as_str();
    assert_eq!((value("journal_mode"), value("synchronous")), ("wal", "2"));
    assert_eq!(value("busy_timeout"), "250");
}

#[test]
fn restore_brings_back_the_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = started(read, "", folder.path()).unwrap();
    assert!(running.restore(&mut ignore_progress).is_err());
    rows(&running, &["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"]);
    running.snapshot(&mut ignore_progress).unwrap();
    rows(&running, &["DELETE FROM t", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)"]);
    running.restore(&mut ignore_progress).unwrap();
    assert_eq!(rows(&running, &["SELECT a FROM t"]), [[driver::Datum::Int(1)]]);
}

#[test]
fn a_missing_folder_is_reported_before_the_start() {
    let options = Options::parse("path = \"nowhere/x.db\"").unwrap();
    let problems = read(&options, Path::new("/no/such")).err().unwrap();
    assert_eq!(problems[0].message, "there is no folder /no/such/nowhere");
}
