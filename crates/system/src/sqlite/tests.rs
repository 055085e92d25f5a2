//! The embedded database on real files.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Stdio;
use std::thread;

use super::*;
use crate::ProgressEvent;
use crate::daemon::ignore_progress;
use crate::process::command;
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
fn a_restore_writes_into_the_users_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("disk")).unwrap();
    symlink("disk/real.db", at("mine.db")).unwrap();
    let mut running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
    rows(&running, &["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"]);
    fs::set_permissions(at("disk/real.db"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(at("disk/real.db"), at("disk/second name")).unwrap();
    let facts = || {
        let file = fs::metadata(at("disk/second name")).unwrap();
        (file.ino(), file.nlink(), file.mode(), file.uid(), file.gid())
    };
    let before = facts();
    running.snapshot(&mut ignore_progress).unwrap();
    rows(&running, &["INSERT INTO t VALUES (2)"]);
    running.restore(&mut ignore_progress).unwrap();
    assert_eq!(rows(&running, &["SELECT a FROM t"]), [[driver::Datum::Int(1)]]);
    assert_eq!(fs::read_link(at("mine.db")).unwrap(), Path::new("disk/real.db"));
    assert_eq!(facts(), before, "it is the same file, with both names");
    let mut left: Vec<_> =
        fs::read_dir(at("disk")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["real.db", "second name"], "nothing stays beside it");
}

#[test]
fn a_snapshot_follows_no_planted_link_and_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut running = started(read, "", folder.path()).unwrap();
    rows(&running, &["CREATE TABLE t (a INTEGER)"]);
    fs::write(at("victim"), "precious").unwrap();
    symlink(at("victim"), at("sqlite/dyno-kept.db")).unwrap();
    running.snapshot(&mut ignore_progress).unwrap();
    assert_eq!(fs::read_to_string(at("victim")).unwrap(), "precious");
    let copy = fs::symlink_metadata(at("sqlite/dyno-kept.db")).unwrap();
    assert!(copy.is_file() && copy.mode() & 0o777 == 0o600, "{:o}", copy.mode());
}

/// Ends a step in its midst, once some of its work is done.
fn stop_midway(event: ProgressEvent<'_>) -> ControlFlow<()> {
    match event {
        ProgressEvent::Stage { done, total, .. } if done > 0 => {
            assert!(done <= total);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    }
}

/// Fills a table `t` with values 0, in so many pages that a copy takes many steps.
const FILL: [&str; 2] = [
    "CREATE TABLE t (value INTEGER, pad BLOB)",
    "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 4000) \
     INSERT INTO t SELECT 0, zeroblob(4000) FROM n",
];

#[test]
fn a_restore_that_ends_early_leaves_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
    rows(&running, &FILL);
    running.snapshot(&mut ignore_progress).unwrap();
    rows(&running, &["UPDATE t SET value = 1"]);
    let error = running.restore(&mut stop_midway).unwrap_err();
    assert_eq!(error.to_string(), "interrupted while restoring the data");
    let sum = "SELECT count(*), sum(value) FROM t";
    let found = rows(&running, &[sum]);
    assert_eq!(found, [[driver::Datum::Int(4_000), driver::Datum::Int(4_000)]]);
    running.restore(&mut ignore_progress).unwrap();
    assert_eq!(rows(&running, &[sum]), [[driver::Datum::Int(4_000), driver::Datum::Int(0)]]);
}

#[test]
fn a_snapshot_that_ends_early_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = started(read, "", folder.path()).unwrap();
    rows(&running, &FILL);
    running.snapshot(&mut ignore_progress).unwrap();
    let error = running.snapshot(&mut stop_midway).unwrap_err();
    assert_eq!(error.to_string(), "interrupted while copying the data");
    assert!(!folder.path().join("sqlite/dyno-kept.db").exists());
    let error = running.restore(&mut ignore_progress).unwrap_err();
    assert_eq!(error.to_string(), "no data was kept that could be restored");
}

/// The folder in which the child process works.
const CHILD_FOLDER: &str = "DYNO_TEST_RESTORE_FOLDER";

#[test]
#[ignore = "the child process of the next test, which kills it"]
fn restores_until_it_is_killed() {
    let folder = PathBuf::from(std::env::var_os(CHILD_FOLDER).unwrap());
    let mut running = started(read, "path = \"mine.db\"", &folder).unwrap();
    rows(&running, &["DROP TABLE IF EXISTS t"]);
    rows(&running, &FILL);
    running.snapshot(&mut ignore_progress).unwrap();
    loop {
        rows(&running, &["UPDATE t SET value = 1"]);
        let mut is_told = false;
        let mut tell_first_pages = |event: ProgressEvent<'_>| {
            let is_under_way = matches!(event, ProgressEvent::Stage { done, .. } if done > 0);
            if is_under_way && !is_told {
                writeln!(std::io::stderr(), "under way").unwrap();
                is_told = true;
            }
            ControlFlow::Continue(())
        };
        running.restore(&mut tell_first_pages).unwrap();
    }
}

#[test]
fn a_kill_in_a_restore_leaves_the_old_rows_or_the_restored_ones() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let mut child = command(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "sqlite::tests::restores_until_it_is_killed"]);
        child.args(["--nocapture"]).env(CHILD_FOLDER, folder.path());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let told = lines.take(round % 3 + 1).filter(|line| line == "under way").count();
        // At moments all over a restore: pages are written, synced, or moved from the log.
        thread::sleep(Duration::from_millis(round as u64 * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(told, round % 3 + 1, "the child ended early");
        let running = started(read, "path = \"mine.db\"", folder.path()).unwrap();
        let checked = rows(&running, &["PRAGMA integrity_check"]);
        assert_eq!(checked, [[driver::Datum::Text("ok".into())]]);
        let found = rows(&running, &["SELECT count(*), min(value) = max(value) FROM t"]);
        assert_eq!(found, [[driver::Datum::Int(4_000), driver::Datum::Int(1)]]);
    }
}

#[test]
fn a_missing_folder_is_reported_before_the_start() {
    let options = Options::parse("path = \"nowhere/x.db\"").unwrap();
    let problems = read(&options, Path::new("/no/such")).err().unwrap();
    assert_eq!(problems[0].message, "there is no folder /no/such/nowhere");
}
