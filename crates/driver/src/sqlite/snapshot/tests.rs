//! Copies of real files, while other connections use them as other programs would.

use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use tempfile::TempDir;

use super::super::Session;
use super::*;

/// Rows of about a page each, more than one step of them.
const ROWS: i64 = 600;

/// A database with a table of dyno's own and one of another program's, and the snapshot of it.
struct Fixture {
    folder: TempDir,
    config: Config,
    snapshot: Snapshot,
    /// The connection of another program, which is open all the time.
    other: Connection,
}

impl Fixture {
    fn new() -> Self {
        Self::with("SELECT 1")
    }

    /// `schema` is added before the snapshot.
    fn with(schema: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            busy_timeout: Duration::from_millis(30),
            ..Config::new(folder.path().join("data.db"))
        };
        let mut session = Session::open(&config, None).unwrap();
        session.run("CREATE TABLE own (id INTEGER PRIMARY KEY, value INTEGER, pad BLOB)").unwrap();
        session.run("CREATE TABLE theirs (id INTEGER PRIMARY KEY, value TEXT)").unwrap();
        session.run("INSERT INTO theirs VALUES (1, 'one'), (2, NULL)").unwrap();
        session.run(schema).unwrap();
        let rows = format!(
            "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ROWS}) \
             INSERT INTO own SELECT id, 0, randomblob(4000) FROM n"
        );
        session.run(&rows).unwrap();
        drop(session);
        let other = Connection::open(&config.path).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        let snapshot =
            Snapshot::take(&config, &folder.path().join("copy.db"), &mut |_| {}).unwrap();
        Self { folder, config, snapshot, other }
    }

    /// What a trial does: a session of dyno's runs a statement.
    fn trial(&self, sql: &str) {
        Session::open(&self.config, None).unwrap().run(sql).unwrap();
    }

    fn restore(&self) -> Result<(), String> {
        self.snapshot.restore(&mut |_| {}).map_err(|failure| failure.message.clone())
    }

    /// The number of dyno's rows and the sum of their values, as the other program sees them.
    fn own(&self) -> (i64, i64) {
        let sql = "SELECT count(*), sum(value) FROM own";
        self.other.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    fn text(&self, sql: &str) -> String {
        self.other.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn log_bytes(&self) -> u64 {
        fs::metadata(self.folder.path().join("data.db-wal")).map_or(0, |log| log.len())
    }
}

const UNCHANGED: (i64, i64) = (ROWS, 0);

#[test]
fn a_connection_that_stays_open_reads_restored_rows_and_writes_on() {
    let fixture = Fixture::new();
    fixture.trial("UPDATE own SET value = 1");
    fixture.trial("DELETE FROM own WHERE id > 10");
    assert_eq!(fixture.own(), (10, 10));
    let (mut steps, mut last) = (0, Copied::default());
    let mut on_step = |copied| (steps, last) = (steps + 1, copied);
    fixture.snapshot.restore(&mut on_step).unwrap();
    assert!(steps > 2 && last.pages == last.total && last.total > 600, "{steps} steps, {last:?}");
    assert_eq!(fixture.own(), UNCHANGED);
    assert_eq!(fixture.log_bytes(), 0, "the restored pages are in the file itself");
    fixture.other.execute("INSERT INTO theirs VALUES (3, 'after')", []).unwrap();
    let mut session = Session::open(&fixture.config, None).unwrap();
    let theirs = session.rows("SELECT value FROM theirs WHERE id = 3").unwrap();
    assert_eq!(theirs, [[crate::Datum::Text("after".into())]], "all use the same file");
    assert_eq!(fixture.text("PRAGMA integrity_check"), "ok");
    assert_eq!(fixture.text("PRAGMA journal_mode"), "wal");
}

#[test]
fn rows_of_another_program_are_not_lost_by_a_restore() {
    let changes = [
        ("INSERT INTO theirs VALUES (3, 'new')", "theirs"),
        ("UPDATE theirs SET value = 'two' WHERE id = 2", "theirs"),
        ("DELETE FROM theirs WHERE id = 1", "theirs"),
        ("CREATE TABLE more (id INTEGER)", "more"),
        ("CREATE INDEX by_value ON theirs (value)", "by_value"),
        ("ALTER TABLE theirs ADD COLUMN size INTEGER", "theirs"),
        ("DROP TABLE theirs", "theirs"),
    ];
    for (change, name) in changes {
        let fixture = Fixture::new();
        fixture.trial("UPDATE own SET value = 1");
        fixture.other.execute(change, []).unwrap();
        let schema = "SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_schema ORDER BY name)";
        let before = fixture.text(schema);
        let error = fixture.restore().unwrap_err();
        let wanted = format!("another program has changed \"{name}\" since the data were copied");
        assert!(error.contains(&wanted) && error.contains("\"reload\""), "{change}: {error}");
        assert_eq!(fixture.own(), (ROWS, ROWS), "{change}: nothing is restored");
        assert_eq!(fixture.text(schema), before);
    }
}

#[test]
fn what_own_statements_change_is_restored_whatever_they_are() {
    let schema = "CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER REFERENCES parent ON DELETE CASCADE);
        CREATE TABLE log (id INTEGER);
        CREATE TRIGGER noted AFTER INSERT ON parent BEGIN INSERT INTO log VALUES (new.id); END;
        CREATE VIRTUAL TABLE words USING fts5(text);
        INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1), (2);";
    let changes = [
        "DELETE FROM parent WHERE id = 1",
        "INSERT INTO Parent VALUES (7)",
        "INSERT INTO words VALUES ('a few')",
        "DROP TABLE words",
        "CREATE TABLE more AS SELECT * FROM own; CREATE INDEX by_value ON more (value)",
        "CREATE VIEW view AS SELECT * FROM own",
        "DROP TABLE theirs; CREATE TABLE theirs (text)",
        "DROP TRIGGER noted",
        "ALTER TABLE theirs ADD COLUMN size INTEGER",
        "ANALYZE",
    ];
    for change in changes {
        let fixture = Fixture::with(schema);
        let all = "SELECT (SELECT group_concat(id) FROM parent) || (SELECT group_concat(id) FROM child) \
                   || (SELECT count(*) FROM log) || (SELECT count(*) FROM words) || (SELECT value FROM theirs) \
                   || (SELECT count(*) FROM sqlite_schema)";
        let before = fixture.text(all);
        fixture.trial(change);
        fixture.restore().unwrap_or_else(|error| panic!("{change}: {error}"));
        assert_eq!(fixture.text(all), before, "{change}");
    }
}

#[test]
fn a_lock_of_another_program_is_waited_for_and_named() {
    let fixture = Fixture::new();
    fixture.trial("UPDATE own SET value = 1");
    fixture.other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = fixture.restore().unwrap_err();
    assert!(error.starts_with("another program has used ") && error.contains("30ms"), "{error}");
    assert!(error.contains("cannot be copied or restored: end what works with it"), "{error}");
    fixture.other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(fixture.own(), (ROWS, ROWS));
    fixture.restore().unwrap();
    assert_eq!(fixture.own(), UNCHANGED);
}

#[test]
fn a_reader_keeps_the_rows_of_its_transaction_and_is_named() {
    let fixture = Fixture::new();
    fixture.trial("UPDATE own SET value = 1");
    fixture.other.execute_batch("BEGIN").unwrap();
    assert_eq!(fixture.own(), (ROWS, ROWS));
    let error = fixture.restore().unwrap_err();
    assert!(error.contains("so that its log cannot be emptied: end what works with it"), "{error}");
    assert_eq!(fixture.own(), (ROWS, ROWS), "its transaction goes on");
    fixture.other.execute_batch("COMMIT").unwrap();
    assert_eq!(fixture.own(), UNCHANGED);
}

#[test]
fn a_restore_that_ends_midway_is_rolled_back() {
    let fixture = Fixture::new();
    fixture.trial("UPDATE own SET value = 1");
    let is_over = Rc::new(Cell::new(false));
    let asked = Rc::clone(&is_over);
    let _check = net::BlockingCheck::set(move || asked.get());
    let mut seen = Copied::default();
    let mut on_step = |copied: Copied| {
        is_over.set(true);
        seen = copied;
    };
    let failure = fixture.snapshot.restore(&mut on_step).unwrap_err();
    assert!(failure.message.ends_with("data.db: interrupted"), "{failure}");
    assert!(seen.pages > 0 && seen.pages < seen.total, "{seen:?}");
    assert_eq!(fixture.own(), (ROWS, ROWS));
    assert_eq!(fixture.text("PRAGMA integrity_check"), "ok");
    assert_eq!(fixture.log_bytes(), 0, "its pages take no room");
}

#[test]
fn a_snapshot_is_of_one_moment_and_ends_midway_when_asked() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("second.db");
    // Another program writes after each step.
    let mut on_step = |_| {
        fixture.other.execute("UPDATE own SET value = value + 1", []).unwrap();
    };
    Snapshot::take(&fixture.config, &path, &mut on_step).unwrap();
    assert!(fixture.own().1 > ROWS, "there were several steps");
    let copy = Connection::open(&path).unwrap();
    let values: (i64, i64) = copy
        .query_row("SELECT min(value), max(value) FROM own", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(values, (0, 0));
    let _check = net::BlockingCheck::set(|| true);
    let third = fixture.folder.path().join("third.db");
    let failure = Snapshot::take(&fixture.config, &third, &mut |_| {}).unwrap_err();
    assert!(failure.message.ends_with("data.db: interrupted"), "{failure}");
}

#[test]
fn a_database_that_is_gone_or_has_other_pages_is_not_written() {
    let fixture = Fixture::new();
    fixture
        .other
        .execute_batch("PRAGMA journal_mode = delete; PRAGMA page_size = 8192; VACUUM")
        .unwrap();
    let error = fixture.restore().unwrap_err();
    assert!(error.contains("another program has changed the size of its pages"), "{error}");
    fs::remove_file(&fixture.config.path).unwrap();
    let error = fixture.restore().unwrap_err();
    assert!(error.contains("SQLITE_CANTOPEN"), "{error}");
    assert!(!fixture.config.path.exists());
}
