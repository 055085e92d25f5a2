//! The MySQL protocol against a real server: statements, answers, failures.

use driver::{Answer, Datum, Demand, Value};
use measure::ErrorClass;
use net::Gate;

use crate::driver_support::{address, cell, run, session, target, text, url_of};
use crate::server;

/// Values that are difficult to transfer unchanged.
const AWKWARD: &str = "it's \"quoted\" \\ back\\\\slash \0 tab\t line\n ? % _ \u{1f40e} \u{e9}";

/// Both ways to send statements.
const PROTOCOLS: [&str; 2] = ["?ps=on", "?ps=off"];

#[test]
fn values_come_back_as_they_were_sent() {
    server::database("driver_values");
    run(|handle| async move {
        for options in PROTOCOLS {
            let mut session = session(&handle, "driver_values", options).await;
            session.run("DROP TABLE IF EXISTS t").await.unwrap();
            let create = "CREATE TABLE t (id BIGINT PRIMARY KEY, f DOUBLE, c TEXT) CHARSET utf8mb4";
            session.run(create).await.unwrap();
            let insert =
                session.prepare("INSERT INTO t (id, f, c) VALUES (?, ?, ?)").await.unwrap();
            let rows = [
                [Value::Int(i64::MIN), Value::Float(0.1), Value::Text(AWKWARD)],
                [Value::Int(0), Value::Null, Value::Null],
                [Value::Int(7), Value::Int(3), Value::Int(12)],
                [Value::Int(i64::MAX), Value::Float(-1.5e300), Value::Text("")],
            ];
            for row in &rows {
                let answer = session.execute(&insert, row).await.unwrap();
                assert_eq!(answer, Answer { rows: 0, affected: 1 }, "{options}");
            }
            let read = session.rows("SELECT id, f, c FROM t ORDER BY id").await.unwrap();
            let wanted = vec![
                vec![Datum::Int(i64::MIN), Datum::Float(0.1), text(AWKWARD)],
                vec![Datum::Int(0), Datum::Null, Datum::Null],
                vec![Datum::Int(7), Datum::Float(3.0), text("12")],
                vec![Datum::Int(i64::MAX), Datum::Float(-1.5e300), text("")],
            ];
            assert_eq!(read, wanted, "{options}");
        }
    });
}

#[test]
fn text_is_unchanged_without_backslash_escapes() {
    server::database("driver_escapes");
    run(|handle| async move {
        let mut session = session(&handle, "driver_escapes", "?ps=off").await;
        session.run("CREATE TABLE t (c TEXT) CHARSET utf8mb4").await.unwrap();
        session.run("SET sql_mode = 'NO_BACKSLASH_ESCAPES'").await.unwrap();
        let insert = session.prepare("INSERT INTO t VALUES (?)").await.unwrap();
        session.execute(&insert, &[Value::Text(AWKWARD)]).await.unwrap();
        assert_eq!(cell(&mut session, "SELECT c FROM t").await, text(AWKWARD));
    });
}

#[test]
fn rows_of_any_number_and_length_are_counted() {
    server::database("driver_rows");
    run(|handle| async move {
        for options in PROTOCOLS {
            let mut session = session(&handle, "driver_rows", options).await;
            let counted = session.run("SELECT seq, REPEAT('x', 100) FROM seq_1_to_50000").await;
            assert_eq!(counted, Ok(Answer { rows: 50_000, affected: 0 }));
            let long = session.prepare("SELECT REPEAT('x', ?) FROM seq_1_to_3").await.unwrap();
            for length in [0, 1, 250, 251, 65_535, 65_536, 3_000_000] {
                let answer = session.execute(&long, &[Value::Int(length)]).await;
                assert_eq!(answer, Ok(Answer { rows: 3, affected: 0 }), "{options} {length}");
            }
            let none = session.prepare("SELECT 1 FROM DUAL WHERE ? = 2").await.unwrap();
            assert_eq!(session.execute(&none, &[Value::Int(1)]).await, Ok(Answer::default()));
        }
    });
}

#[test]
fn a_row_longer_than_a_packet_is_one_row() {
    server::database("driver_long");
    server::sql("SET GLOBAL max_allowed_packet = 67108864");
    run(|handle| async move {
        let mut session = session(&handle, "driver_long", "").await;
        for length in [16_777_210, 16_777_211, 16_777_215, 20_000_000] {
            let sql = format!("SELECT REPEAT('x', {length}) UNION ALL SELECT 'y'");
            assert_eq!(session.run(&sql).await, Ok(Answer { rows: 2, affected: 0 }), "{length}");
            let rows = session.rows(&sql).await.unwrap();
            assert!(matches!(&rows[0][0], Datum::Text(text) if text.len() == length), "{length}");
        }
        let sql = format!("SELECT LENGTH('{}')", "z".repeat(17_000_000));
        assert_eq!(cell(&mut session, &sql).await, Datum::Int(17_000_000));
    });
}

#[test]
fn partial_writes_do_not_interleave_requests() {
    server::database("driver_pieces");
    server::sql("SET GLOBAL max_allowed_packet = 67108864");
    run(|handle| async move {
        for options in PROTOCOLS {
            let mut patient = session(&handle, "driver_pieces", options).await;
            let mut quick = session(&handle, "driver_pieces", options).await;
            let sql = "SELECT 1 FROM DUAL WHERE MD5(?) = MD5(REPEAT(?, 9000000))";
            let compare = patient.prepare(sql).await.unwrap();
            let text = "ab".repeat(9_000_000);
            let same = quick.prepare("SELECT 1 FROM DUAL WHERE ? = 7").await.unwrap();
            // More than a socket buffer holds: most of it is still unsent when the others are sent.
            let long = patient.execute(&compare, &[Value::Text(&text), Value::Text("ab")]);
            for _ in 0..3 {
                let one = quick.execute(&same, &[Value::Int(7)]).await;
                assert_eq!(one, Ok(Answer { rows: 1, affected: 0 }), "{options}");
            }
            assert_eq!(long.await, Ok(Answer { rows: 1, affected: 0 }), "{options}");
            let short = patient.execute(&compare, &[Value::Text("ab"), Value::Text("ab")]).await;
            assert_eq!(short, Ok(Answer { rows: 0, affected: 0 }), "{options}");
            let one = quick.execute(&same, &[Value::Int(7)]).await;
            assert_eq!(one, Ok(Answer { rows: 1, affected: 0 }), "{options}");
        }
    });
}

#[test]
fn bytes_are_counted_both_ways() {
    server::database("driver_traffic");
    run(|handle| async move {
        let mut session = session(&handle, "driver_traffic", "").await;
        let select = session.prepare("SELECT CAST(? AS CHAR(20))").await.unwrap();
        session.execute(&select, &[Value::Int(1)]).await.unwrap();
        session.take_traffic();
        session.execute(&select, &[Value::Int(2)]).await.unwrap();
        let traffic = session.take_traffic();
        // Header 4, command 1, statement 4, flags 1, iterations 4, NULL bits 1, types known 1, value 8.
        assert_eq!(traffic.sent_bytes, 24);
        assert!((30..200).contains(&traffic.received_bytes), "{traffic:?}");
        assert_eq!(session.take_traffic().sent_bytes, 0);
    });
}

#[test]
fn failures_are_classified_and_keep_the_session_usable() {
    server::database("driver_failures");
    run(|handle| async move {
        for options in PROTOCOLS {
            let mut session = session(&handle, "driver_failures", options).await;
            session.run("DROP TABLE IF EXISTS t").await.unwrap();
            session.run("CREATE TABLE t (id INT PRIMARY KEY)").await.unwrap();
            let insert = session.prepare("INSERT INTO t VALUES (?)").await.unwrap();
            session.execute(&insert, &[Value::Int(1)]).await.unwrap();
            let failure = session.execute(&insert, &[Value::Int(1)]).await.unwrap_err();
            assert_eq!(failure.key.to_string(), "duplicate-key 1062");
            assert!(failure.message.starts_with(&address()), "{failure}");
            assert!(!failure.is_transient());
            let failure = session.run("SELECT * FROM nowhere").await.unwrap_err();
            assert_eq!(failure.key.to_string(), "server 1146");
            let failure = session.execute(&insert, &[]).await.unwrap_err();
            assert_eq!(failure.message, "the statement has 1 parameters, 0 were given");
            session.execute(&insert, &[Value::Int(2)]).await.unwrap();
            assert_eq!(cell(&mut session, "SELECT COUNT(*) FROM t").await, Datum::Int(2));
        }
    });
}

#[test]
fn lock_time_outs_and_deadlocks_may_be_tried_again() {
    server::database("driver_locks");
    run(|handle| async move {
        let mut first = session(&handle, "driver_locks", "").await;
        let mut second = session(&handle, "driver_locks", "").await;
        first.run("CREATE TABLE t (id INT PRIMARY KEY, k INT)").await.unwrap();
        first.run("INSERT INTO t VALUES (1, 0), (2, 0)").await.unwrap();
        second.run("SET innodb_lock_wait_timeout = 1").await.unwrap();
        for session in [&mut first, &mut second] {
            session.run("BEGIN").await.unwrap();
        }
        first.run("UPDATE t SET k = 1 WHERE id = 1").await.unwrap();
        let failure = second.run("UPDATE t SET k = 2 WHERE id = 1").await.unwrap_err();
        assert_eq!(failure.key.to_string(), "lock-timeout 1205");
        assert!(failure.is_transient());
    });
}

#[test]
fn a_deadlock_victim_gets_the_deadlock_error() {
    server::database("driver_deadlock");
    server::sql(
        "CREATE TABLE driver_deadlock.t (id INT PRIMARY KEY, k INT); \
                 INSERT INTO driver_deadlock.t VALUES (1, 0), (2, 0)",
    );
    let mut runtime = net::Runtime::new(net::Clock::monotonic()).unwrap();
    let (handle, gate) = (runtime.handle(), Gate::default());
    let locked = std::rc::Rc::new(std::cell::Cell::new(0));
    let told = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    for (mine, other) in [(1, 2), (2, 1)] {
        let (handle, gate, locked, told) =
            (handle.clone(), gate.clone(), locked.clone(), told.clone());
        runtime.spawn(async move {
            let mut session = session(&handle, "driver_deadlock", "").await;
            session.run("BEGIN").await.unwrap();
            session.run(&format!("UPDATE t SET k = 1 WHERE id = {mine}")).await.unwrap();
            locked.set(locked.get() + 1);
            if locked.get() == 2 {
                gate.open(&handle);
            }
            gate.wait(&handle).await;
            let done = session.run(&format!("UPDATE t SET k = 1 WHERE id = {other}")).await;
            session.run("ROLLBACK").await.unwrap();
            told.borrow_mut().push(done.map_err(|failure| failure.key.to_string()));
        });
    }
    runtime.run(|| Some(u64::MAX)).unwrap();
    let told = told.take();
    assert!(told.contains(&Err("deadlock 1213".to_owned())), "{told:?}");
    assert!(told.iter().any(Result::is_ok), "{told:?}");
}

#[test]
fn a_killed_connection_stays_failed() {
    server::database("driver_killed");
    run(|handle| async move {
        let mut session = session(&handle, "driver_killed", "").await;
        let Datum::Int(id) = cell(&mut session, "SELECT CONNECTION_ID()").await else { panic!() };
        server::sql(&format!("KILL {id}"));
        let failure = session.run("SELECT 1").await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Connection);
        let failure = session.run("SELECT 1").await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Connection);
        session.close().await;
    });
}

#[test]
fn local_infile_requests_are_refused() {
    server::database("driver_files");
    server::sql("CREATE TABLE driver_files.t (c TEXT); SET GLOBAL local_infile = 1");
    run(|handle| async move {
        // The capability is not offered.
        let mut session = session(&handle, "driver_files", "").await;
        let failure = session.run("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t").await;
        assert_eq!(failure.unwrap_err().key.class, ErrorClass::Server);
    });
}

#[test]
fn an_abandoned_answer_makes_the_session_unusable() {
    server::database("driver_dropped");
    run(|handle| async move {
        let mut session = session(&handle, "driver_dropped", "").await;
        drop(session.run("SELECT 1"));
        let failure = session.run("SELECT 2").await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Connection);
    });
}

#[test]
fn a_probe_reads_product_settings_and_limits() {
    run(|handle| async move {
        let target = target(&url_of("", ""));
        let facts = target.probe(&handle).await.unwrap();
        assert_eq!(
            (facts.identity.product.as_str(), facts.identity.storage.as_str()),
            ("MariaDB", "InnoDB by default")
        );
        assert!(facts.identity.version.starts_with(|first: char| first.is_ascii_digit()));
        assert!(!facts.identity.version.contains("Maria"), "{}", facts.identity.version);
        assert!(facts.identity.build.is_some_and(|build| !build.is_empty()));
        let names: Vec<&str> =
            facts.identity.settings.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"innodb_buffer_pool_size") && names.contains(&"sync_binlog"));
        assert!(facts.limits.connections.is_some() && facts.limits.prepared_statements.is_some());
        let list = target.dialect().list_columns.replace("{table}", "user");
        let mut session = target.connect(&handle, 0).await.unwrap();
        session.run("USE mysql").await.unwrap();
        let columns = session.rows(&list).await.unwrap();
        assert!(columns.iter().any(|row| row[0] == text("Host")), "{columns:?}");
        let list = target.dialect().list_indexed.replace("{table}", "db");
        let indexed = session.rows(&list).await.unwrap();
        // Its keys are (Host, User, Db) and (User).
        assert!(indexed.iter().any(|row| row[0] == text("Host")), "{indexed:?}");
        assert!(!indexed.iter().any(|row| row[0] == text("Db")), "{indexed:?}");
    });
}

#[test]
fn an_oversized_load_is_refused_with_the_statement_that_helps() {
    run(|handle| async move {
        let target = target(&url_of("", ""));
        let facts = target.probe(&handle).await.unwrap();
        let small = Demand { clients: 1, statements_per_client: 1 };
        assert_eq!(target.shortages(&facts.limits, small), []);
        let connections = facts.limits.connections.unwrap().max as usize;
        let large = Demand { clients: connections + 100, statements_per_client: 1 };
        let told = target.shortages(&facts.limits, large);
        let shortage = told.iter().find(|shortage| shortage.resource == "connections").unwrap();
        assert!(shortage.remedy.contains("SET GLOBAL max_connections = "), "{shortage}");
    });
}
