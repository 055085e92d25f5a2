//! Loading rows into a real server, by each of its ways.

use driver::{BulkLoad, Datum, Session, Target, Value};
use measure::{ErrorClass, Failure};
use net::Handle;

use crate::driver_support::{cell, run, target, text, url_of};
use crate::server;

const AWKWARD: &str = "tab\t line\n return\r back\\slash \\N it's \0 \u{1f40e}";

/// A session that loads in the given way, with an empty table `t`.
async fn loading(handle: &Handle, database: &str, way: BulkLoad) -> Session {
    let mut target: Target = target(&url_of(database, ""));
    if way == BulkLoad::Stream {
        target.probe(handle).await.unwrap();
        assert_eq!(target.capabilities().bulk_load, way, "the server has local_infile on");
    }
    let mut session = target.connect(handle, 0).await.unwrap();
    session.run("DROP TABLE IF EXISTS t").await.unwrap();
    let create = "CREATE TABLE t (id INT PRIMARY KEY, f DOUBLE, c VARCHAR(200)) CHARSET utf8mb4";
    session.run(create).await.unwrap();
    session
}

/// Loads rows with these numbers; every third has no `f`.
async fn load(session: &mut Session, ids: std::ops::Range<i64>) -> Result<u64, Failure> {
    let mut loader = session.loader("t", &["id", "f", "c"]).await?;
    for id in ids {
        let float = if id % 3 == 0 { Value::Null } else { Value::Float(id as f64 / 8.0) };
        loader.push(&[Value::Int(id), float, Value::Text(AWKWARD)]).await?;
    }
    loader.finish().await
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
fn rows_are_streamed_over_several_statements() {
    server::database("driver_stream");
    server::sql("SET GLOBAL local_infile = 1");
    run(|handle| async move {
        let mut session = loading(&handle, "driver_stream", BulkLoad::Stream).await;
        // Ten megabytes, which no single statement takes.
        assert_eq!(load(&mut session, 0..150_000).await, Ok(150_000));
        check(&mut session, 150_000).await;
    });
}

#[test]
fn a_session_of_bytes_loads_texts_as_they_are() {
    server::database("driver_bytes");
    run(|handle| async move {
        for way in [BulkLoad::Stream, BulkLoad::MultiRowInsert] {
            let mut session = loading(&handle, "driver_bytes", way).await;
            session.run("SET NAMES binary").await.unwrap();
            assert_eq!(load(&mut session, 0..100).await, Ok(100));
            session.run("SET NAMES utf8mb4").await.unwrap();
            check(&mut session, 100).await;
        }
    });
}

#[test]
fn rows_are_inserted_many_at_a_time_where_streams_are_not_taken() {
    server::database("driver_multi");
    run(|handle| async move {
        let mut session = loading(&handle, "driver_multi", BulkLoad::MultiRowInsert).await;
        assert_eq!(load(&mut session, 0..30_000).await, Ok(30_000));
        check(&mut session, 30_000).await;
        let statements = "SHOW SESSION STATUS LIKE 'Com_insert'";
        let rows = session.rows(statements).await.unwrap();
        let Datum::Text(count) = &rows[0][1] else { panic!("{rows:?}") };
        assert!(count.parse::<u64>().unwrap() < 20, "{count} statements");
    });
}

#[test]
fn nothing_pushed_is_nothing_loaded() {
    server::database("driver_nothing");
    run(|handle| async move {
        for way in [BulkLoad::Stream, BulkLoad::MultiRowInsert] {
            let mut session = loading(&handle, "driver_nothing", way).await;
            assert_eq!(load(&mut session, 0..0).await, Ok(0));
            assert_eq!(load(&mut session, 0..1).await, Ok(1));
        }
    });
}

#[test]
fn a_row_that_did_not_go_in_is_never_silent() {
    server::database("driver_silent");
    run(|handle| async move {
        for way in [BulkLoad::Stream, BulkLoad::MultiRowInsert] {
            let mut session = loading(&handle, "driver_silent", way).await;
            load(&mut session, 0..10).await.unwrap();
            let failure = load(&mut session, 9..20).await.unwrap_err();
            assert_eq!(failure.key.class, ErrorClass::DuplicateKey, "{way:?} {failure}");
            let mut loader = session.loader("t", &["id", "c"]).await.unwrap();
            let long = "x".repeat(201);
            let pushed = loader.push(&[Value::Int(100), Value::Text(&long)]).await;
            let failure = pushed.and(loader.finish().await).unwrap_err();
            assert_eq!(failure.key.class, ErrorClass::Server, "{way:?} {failure}");
            let message = &failure.message;
            assert!(message.contains("too long") || message.contains("truncated"), "{failure}");
            // The session goes on.
            assert_eq!(load(&mut session, 200..210).await, Ok(10));
        }
    });
}

#[test]
fn a_loader_that_is_dropped_half_way_spoils_the_session() {
    server::database("driver_half");
    run(|handle| async move {
        let mut session = loading(&handle, "driver_half", BulkLoad::Stream).await;
        let mut loader = session.loader("t", &["id", "c"]).await.unwrap();
        // More than one packet, so that a statement is open.
        for id in 0..5_000 {
            loader.push(&[Value::Int(id), Value::Text(AWKWARD)]).await.unwrap();
        }
        drop(loader);
        let failure = session.run("SELECT 1").await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Connection);
    });
}

#[test]
fn an_infinite_number_is_refused() {
    server::database("driver_infinite");
    run(|handle| async move {
        for way in [BulkLoad::Stream, BulkLoad::MultiRowInsert] {
            let mut session = loading(&handle, "driver_infinite", way).await;
            let mut loader = session.loader("t", &["id", "f"]).await.unwrap();
            let pushed = loader.push(&[Value::Int(1), Value::Float(f64::NAN)]).await;
            assert!(pushed.unwrap_err().message.contains("not finite"));
        }
    });
}

#[test]
fn a_server_without_local_infile_is_loaded_by_inserts() {
    // The setting is the whole server's, so it is not changed here: a target that was never probed
    // knows nothing of it and does without.
    let target = target(&url_of("", ""));
    assert_eq!(target.capabilities().bulk_load, BulkLoad::MultiRowInsert);
}
