//! SQLite on real files.

use std::cell::Cell;
use std::future::Future as _;
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use measure::ErrorClass;
use tempfile::TempDir;

use super::{Config, Loader, Session, Synchronous, probe};
use crate::running::Running;
use crate::{Answer, Datum, Value};

fn config(folder: &Path) -> Config {
    Config {
        busy_timeout: Duration::ZERO,
        synchronous: Synchronous::Off,
        cache_bytes: Some(8 << 20),
        ..Config::new(folder.join("data.db"))
    }
}

/// A session on a new file with a table `t`, and another on the same file.
fn two_sessions() -> (TempDir, Session, Session) {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Session::open(&config(folder.path()), None).unwrap();
    first.run("CREATE TABLE t (id INTEGER PRIMARY KEY, f REAL, c TEXT)").unwrap();
    let second = Session::open(&config(folder.path()), None).unwrap();
    (folder, first, second)
}

#[test]
fn statements_run_with_parameters_and_count_rows() {
    let (_folder, mut session, _) = two_sessions();
    let insert = session.prepare("INSERT INTO t VALUES (?, ?, ?)").unwrap();
    for id in 0..5 {
        let row = [Value::Int(id), Value::Float(0.5), Value::Text("it's")];
        assert_eq!(session.execute(insert, &row), Ok(Answer { rows: 0, affected: 1 }));
    }
    session.execute(insert, &[Value::Int(9), Value::Null, Value::Null]).unwrap();
    let select = session.prepare("SELECT c FROM t WHERE id BETWEEN ? AND ?").unwrap();
    let answer = session.execute(select, &[Value::Int(1), Value::Int(3)]);
    assert_eq!(answer, Ok(Answer { rows: 3, affected: 0 }));
    let rows = session.rows("SELECT * FROM t WHERE id IN (4, 9) ORDER BY id").unwrap();
    let text = Datum::Text("it's".into());
    let wanted = vec![
        vec![Datum::Int(4), Datum::Float(0.5), text],
        vec![Datum::Int(9), Datum::Null, Datum::Null],
    ];
    assert_eq!(rows, wanted);
    let too_few = session.execute(select, &[Value::Int(1)]).unwrap_err();
    assert_eq!(too_few.key.class, ErrorClass::Server);
}

#[test]
fn text_of_several_statements_runs_all_of_them() {
    let (_folder, mut session, _) = two_sessions();
    let text = "INSERT INTO t (id) VALUES (1), (2); UPDATE t SET f = 1; SELECT * FROM t;";
    assert_eq!(session.run(text), Ok(Answer { rows: 2, affected: 4 }));
}

#[test]
fn a_second_writer_gets_busy() {
    let (_folder, mut first, mut second) = two_sessions();
    first.run("BEGIN IMMEDIATE").unwrap();
    let failure = second.run("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::Busy);
    assert_eq!(failure.key.code, "SQLITE_BUSY");
    first.run("COMMIT").unwrap();
    second.run("BEGIN IMMEDIATE").unwrap();
}

#[test]
fn writing_over_an_old_snapshot_is_a_write_conflict() {
    let (_folder, mut first, mut second) = two_sessions();
    second.run("BEGIN").unwrap();
    second.run("SELECT * FROM t").unwrap();
    first.run("INSERT INTO t (id) VALUES (1)").unwrap();
    let failure = second.run("INSERT INTO t (id) VALUES (2)").unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::WriteConflict);
    assert_eq!(failure.key.code, "SQLITE_BUSY_SNAPSHOT");
}

#[test]
fn a_duplicate_key_has_its_own_error_class() {
    let (_folder, mut session, _) = two_sessions();
    session.run("INSERT INTO t (id) VALUES (1)").unwrap();
    let failure = session.run("INSERT INTO t (id) VALUES (1)").unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::DuplicateKey);
    let failure = session.run("SELEC 1").unwrap_err();
    assert_eq!(
        (failure.key.class, failure.key.code.as_str()),
        (ErrorClass::Server, "SQLITE_ERROR")
    );
}

#[test]
fn a_loader_commits_at_the_end_and_rolls_back_when_dropped() {
    let (_folder, mut session, mut other) = two_sessions();
    let mut loader = Loader::new(&mut session, "t", &["id", "c"]);
    for id in 0..1000 {
        loader.push(&[Value::Int(id), Value::Text("x")]).unwrap();
    }
    let added = loader.finish().unwrap();
    assert_eq!((added.rows, added.inserts.count()), (1000, 1000));
    let count = vec![vec![Datum::Int(1000)]];
    assert_eq!(other.rows("SELECT count(*) FROM t").unwrap(), count);
    let mut loader = Loader::new(&mut session, "t", &["id", "c"]);
    loader.push(&[Value::Int(2000), Value::Null]).unwrap();
    let failure = loader.push(&[Value::Int(5), Value::Null]).unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::DuplicateKey);
    drop(loader);
    assert_eq!(other.rows("SELECT count(*) FROM t").unwrap(), count);
    session.run("BEGIN IMMEDIATE").unwrap();
}

#[test]
fn settings_are_those_of_the_plan() {
    let (_folder, mut session, _) = two_sessions();
    let facts = probe(&mut session).unwrap();
    assert_eq!(
        (facts.identity.product.as_str(), facts.identity.storage.as_str()),
        ("SQLite", "SQLite file, WAL")
    );
    let setting = |name: &str| {
        facts
            .identity
            .settings
            .iter()
            .find(|(this, _)| this == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(setting("journal_mode"), Some("wal"));
    assert_eq!(setting("synchronous"), Some("0"));
    assert_eq!(setting("busy_timeout"), Some("0"));
    assert_eq!(setting("cache_size"), Some("-8192"));
}

#[test]
fn a_missing_folder_is_reported() {
    let failure = Session::open(&config(Path::new("/nonexistent")), None).unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::Connection);
    assert!(failure.message.contains("check that the folder exists"), "{failure}");
}

/// Counts to a hundred thousand million, which takes hours.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) \
                       SELECT COUNT(*) FROM n";

#[test]
fn a_statement_that_takes_longer_than_its_time_out_is_interrupted_and_the_next_one_runs() {
    let (folder, ..) = two_sessions();
    let timeout = Duration::from_millis(50);
    let mut session = Session::open(&config(folder.path()), Some(timeout)).unwrap();
    let endless = session.prepare(ENDLESS).unwrap();
    let failures = [
        session.rows(ENDLESS).unwrap_err(),
        session.run(ENDLESS).unwrap_err(),
        session.execute(endless, &[]).unwrap_err(),
        session.fetch(endless, &[]).unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(failure.key.class, ErrorClass::Timeout, "{failure}");
        assert!(failure.message.contains("query_timeout"), "{failure}");
        // The session is older than the time-out by now, and the statement is not.
        assert_eq!(session.rows("SELECT 1").unwrap(), [[Datum::Int(1)]]);
    }
}

#[test]
fn a_statement_ends_when_the_loop_of_its_thread_gives_it_up() {
    let (folder, ..) = two_sessions();
    let mut session = Session::open(&config(folder.path()), None).unwrap();
    let asked = Rc::new(Cell::new(0));
    let counted = Rc::clone(&asked);
    let check = net::BlockingCheck::set(move || {
        counted.set(counted.get() + 1);
        counted.get() >= 3
    });
    let failure = session.rows(ENDLESS).unwrap_err();
    assert_eq!(failure.key.class, ErrorClass::Connection);
    assert!(failure.message.ends_with("data.db: interrupted"), "{failure}");
    assert_eq!(asked.get(), 3, "the loop turns while the statement runs");
    // Nothing waits for a statement of the load: the loop ends before its answer.
    let result = session.run(ENDLESS);
    let mut running = pin!(Running::blocking(result, || session.has_given_up()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(running.as_mut().poll(&mut context).is_pending());
    drop(check);
    assert_eq!(session.rows("SELECT 1").unwrap(), [[Datum::Int(1)]]);
}

#[test]
fn an_interrupted_change_leaves_nothing_behind() {
    let (folder, mut other, _) = two_sessions();
    let timeout = Duration::from_millis(50);
    let mut session = Session::open(&config(folder.path()), Some(timeout)).unwrap();
    let failure = session.run(&format!("INSERT INTO t (id) {ENDLESS} WHERE i < 0")).err();
    assert_eq!(failure.map(|failure| failure.key.class), Some(ErrorClass::Timeout));
    assert_eq!(other.rows("SELECT COUNT(*) FROM t").unwrap(), [[Datum::Int(0)]]);
    // Nor does it hold a lock.
    other.run("INSERT INTO t (id) VALUES (1)").unwrap();
}
