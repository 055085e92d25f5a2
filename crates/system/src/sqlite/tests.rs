//! The embedded database on real files.

use std::ops::ControlFlow;
use std::os::unix::fs::symlink;

use super::*;
use crate::ProgressEvent;
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
fn a_restore_follows_no_planted_link_and_keeps_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("disk")).unwrap();
    symlink("disk/real.db", at("mine.db")).unwrap();
    let mut running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
    rows(&running, &["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"]);
    running.snapshot(&mut ignore_progress).unwrap();
    fs::write(at("victim"), "precious").unwrap();
    symlink(at("victim"), at("disk/real.db-part")).unwrap();
    rows(&running, &["INSERT INTO t VALUES (2)"]);
    running.restore(&mut ignore_progress).unwrap();
    assert_eq!(rows(&running, &["SELECT a FROM t"]), [[driver::Datum::Int(1)]]);
    assert_eq!(fs::read_to_string(at("victim")).unwrap(), "precious");
    assert_eq!(fs::read_link(at("mine.db")).unwrap(), Path::new("disk/real.db"));
}

#[test]
fn a_restore_that_ends_early_leaves_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
    rows(&running, &["CREATE TABLE t (a INTEGER)"]);
    running.snapshot(&mut ignore_progress).unwrap();
    rows(&running, &["INSERT INTO t VALUES (2)"]);
    let mut stop = |event: ProgressEvent<'_>| match event {
        ProgressEvent::Stage { name: "copying the data", .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let error = running.restore(&mut stop).unwrap_err();
    assert!(error.to_string().starts_with("interrupted while copying"), "{error}");
    assert_eq!(rows(&running, &["SELECT a FROM t"]), [[driver::Datum::Int(2)]]);
    assert!(!folder.path().join("mine.db-part").exists());
}

#[test]
fn a_missing_folder_is_reported_before_the_start() {
    let options = Options::parse("path = \"nowhere/x.db\"").unwrap();
    let problems = read(&options, Path::new("/no/such")).err().unwrap();
    assert_eq!(problems[0].message, "there is no folder /no/such/nowhere");
}
