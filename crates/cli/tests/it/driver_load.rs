//! Loads rows into a real server, in each of the ways.

use driver::{Datum, Session, Value};
use measure::{ErrorClass, Failure};
use net::Handle;

use crate::driver_support::{cell, run, target, text, url_of};
use crate::server;

const AWKWARD: &str = "tab\t line\n return\r back\\slash \\N it's \0 \u{1f40e}";

/// Ways to load, as options of the URL: prepared (MariaDB accepts the rows as an array) and as text. (Other servers
/// get prepared INSERTs of many rows; the workloads' tests on TiDB cover these.)
const WAYS: [&str; 2] = ["", "?ps=off"];

/// A session that loads in the given way, and an empty table `t`.
async fn loading(handle: &Handle, database: &str, way: &str) -> Session {
    let mut session = target(&url_of(database, way)).connect(handle, 0).await.unwrap();
    session.run("DROP TABLE IF EXISTS t").await.unwrap();
    let create = "CREATE TABLE t (id INT PRIMARY KEY, f DOUBLE, c VARCHAR(200)) CHARSET utf8mb4";
    session.run(create).await.unwrap();
    session
}

/// Loads rows with these numbers; every third has no `f`.
async fn load(session: &mut Session, ids: std::ops::Range<i64>) -> Result<u64, Failure> {
    let mut loader = session.loader("t", &["id", "f", "c"]);
    for id in ids {
        let float = if id % 3 == 0 { Value::Null } else { Value::Float(id as f64 / 8.0) };
        loader.push(&[Value::Int(id), float, Value::Text(AWKWARD)]).await?;
    }
    loader.finish().await.map(|added| added.rows)
}

async fn check(session: &mut Session, rows: i64) {
    let counts = "SELECT COUNT(*), COUNT(f), SUM(id), SUM(f) FROM t";
    let ids = 0..rows;
    let (with_float, floats) = ids
        .clone()
        .filter(|id| id % 3 != 0)
        .fold((0, 0.0), |(count, sum), id| (count + 1, sum + id as f64 / 8.0));
    let sum = text(&ids.sum::<i64>().to_string());
    let wanted = vec![vec![Datum::Int(rows), Datum::Int(with_float), sum, Datum::Float(floats)]];
    assert_eq!(session.rows(counts).await.unwrap(), wanted);
    assert_eq!(cell(session, "SELECT DISTINCT c FROM t").await, text(AWKWARD));
}

#[test]
fn rows_are_inserted_in_batches() {
    server::database("driver_load_many");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_load_many", way).await;
            // Several megabytes, too much for a single statement.
            assert_eq!(load(&mut session, 0..60_000).await, Ok(60_000));
            check(&mut session, 60_000).await;
            let statements = "SHOW SESSION STATUS WHERE Variable_name = 'Com_insert'";
            let rows = session.rows(statements).await.unwrap();
            let Datum::Text(count) = &rows[0][1] else { panic!("{rows:?}") };
            assert!((2..100).contains(&count.parse::<u64>().unwrap()), "{count} statements");
        }
    });
}

#[test]
fn rows_join_the_open_transaction() {
    server::database("driver_within");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_within", way).await;
            session.run("BEGIN").await.unwrap();
            assert_eq!(load(&mut session, 0..10).await, Ok(10));
            session.run("ROLLBACK").await.unwrap();
            assert_eq!(cell(&mut session, "SELECT COUNT(*) FROM t").await, Datum::Int(0));
        }
    });
}

#[test]
fn a_column_may_change_its_type_from_row_to_row() {
    server::database("driver_load_types");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_load_types", way).await;
            let mut loader = session.loader("t", &["id", "c"]);
            for (id, value) in
                [(1, Value::Null), (2, Value::Int(7)), (3, Value::Text("x")), (4, Value::Null)]
            {
                loader.push(&[Value::Int(id), value]).await.unwrap();
            }
            assert_eq!(loader.finish().await.unwrap().rows, 4);
            let rows = "SELECT GROUP_CONCAT(COALESCE(c, '-') ORDER BY id) FROM t";
            assert_eq!(cell(&mut session, rows).await, text("-,7,x,-"));
        }
    });
}

#[test]
fn a_binary_session_loads_texts_unchanged() {
    server::database("driver_bytes");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_bytes", way).await;
            session.run("SET NAMES binary").await.unwrap();
            assert_eq!(load(&mut session, 0..100).await, Ok(100));
            session.run("SET NAMES utf8mb4").await.unwrap();
            check(&mut session, 100).await;
        }
    });
}

#[test]
fn an_empty_load_inserts_nothing() {
    server::database("driver_nothing");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_nothing", way).await;
            assert_eq!(load(&mut session, 0..0).await, Ok(0));
            assert_eq!(load(&mut session, 0..1).await, Ok(1));
        }
    });
}

#[test]
fn a_rejected_row_is_an_error() {
    server::database("driver_silent");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_silent", way).await;
            load(&mut session, 0..10).await.unwrap();
            let failure = load(&mut session, 9..20).await.unwrap_err();
            assert_eq!(failure.key.class, ErrorClass::DuplicateKey, "{way:?} {failure}");
            let mut loader = session.loader("t", &["id", "c"]);
            let long = "x".repeat(201);
            let pushed = loader.push(&[Value::Int(100), Value::Text(&long)]).await;
            let failure = pushed.and(loader.finish().await).unwrap_err();
            assert_eq!(failure.key.class, ErrorClass::Server, "{way:?} {failure}");
            let message = &failure.message;
            assert!(message.contains("too long") || message.contains("truncated"), "{failure}");
            // The session remains usable.
            assert_eq!(load(&mut session, 200..210).await, Ok(10));
        }
    });
}

#[test]
fn dropping_a_loader_keeps_its_session_usable() {
    server::database("driver_half");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_half", way).await;
            let mut loader = session.loader("t", &["id", "c"]);
            for id in 0..100 {
                loader.push(&[Value::Int(id), Value::Text(AWKWARD)]).await.unwrap();
            }
            drop(loader);
            assert_eq!(cell(&mut session, "SELECT COUNT(*) FROM t").await, Datum::Int(0));
        }
    });
}

#[test]
fn an_infinite_number_is_refused() {
    server::database("driver_infinite");
    run(|handle| async move {
        for way in WAYS {
            let mut session = loading(&handle, "driver_infinite", way).await;
            let mut loader = session.loader("t", &["id", "f"]);
            let pushed = loader.push(&[Value::Int(1), Value::Float(f64::NAN)]).await;
            assert!(pushed.unwrap_err().message.contains("not finite"));
        }
    });
}
