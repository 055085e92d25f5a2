//! Tests on a real server, which `cargo xtask test` provides.

use std::time::Duration;

use measure::{ErrorClass, Failure, TransactionCounts};
use net::{Clock, Runtime};

use super::{StatementProtocol, Url};
use crate::{Datum, LoginSources, ServerFigures, Session, Target, Timeouts, Value};

fn target(options: &str) -> Target {
    let name = "DYNO_TEST_POSTGRES";
    let url =
        std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask test`"));
    let url = Url::parse(&format!("{url}?{options}")).unwrap();
    Target::postgres(url.resolve(&LoginSources::default()).unwrap())
}

/// What a client does with a session; `second` is another one.
fn on_sessions<T: 'static>(
    target: Target,
    client: impl AsyncFnOnce(&mut Session, &mut Session) -> Result<T, Failure> + 'static,
) -> Result<T, Failure> {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let ended = runtime.block_on(async move {
        let mut first = target.connect(&handle, 0).await?;
        // Without a query time-out.
        let patient = target.with_timeouts(Timeouts::default());
        let mut second = patient.connect(&handle, 1).await?;
        let result = client(&mut first, &mut second).await;
        first.close().await;
        second.close().await;
        result
    });
    ended.unwrap()
}

async fn integer(session: &mut Session, sql: &str) -> Result<i64, Failure> {
    match session.rows(sql).await?.first().and_then(|row| row.first()) {
        Some(Datum::Int(number)) => Ok(*number),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn statements_have_the_same_answers_in_every_protocol() {
    for protocol in ["named", "unnamed", "text"] {
        let target = target(&format!("ps={protocol}"));
        let seen = on_sessions(target, async |session, _| {
            session.run("CREATE TEMPORARY TABLE t (id INTEGER PRIMARY KEY, k SMALLINT, b BIGINT, m NUMERIC(12,2), x FLOAT8, c CHAR(5), d TIMESTAMP)").await?;
            let insert = session.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)").await?;
            for id in [1, 2] {
                let values = [
                    Value::Int(id),
                    Value::Int(-3),
                    Value::Int(i64::MAX),
                    Value::Float(12.34),
                    Value::Float(0.5),
                    Value::Text("it's"),
                    Value::Text("2026-11-28 01:02:03"),
                ];
                assert_eq!(session.execute(&insert, &values).await?.affected, 1);
            }
            let nulls = session.prepare("UPDATE t SET k = ?, c = ? WHERE id = ?").await?;
            let changed =
                session.execute(&nulls, &[Value::Null, Value::Null, Value::Int(2)]).await?;
            assert_eq!(changed.affected, 1);
            let read = session
                .prepare("SELECT id, k, b, m, x, c, d FROM t WHERE id >= ? ORDER BY id")
                .await?;
            let answer = session.fetch(&read, &[Value::Int(1)]).await?;
            assert_eq!((answer.rows, answer.affected), (2, 0));
            let rows = session.fetched();
            assert_eq!((rows.int(0, 1), rows.int(0, 2)), (Some(-3), Some(i64::MAX)));
            assert_eq!((rows.float(0, 3), rows.float(0, 4)), (Some(12.34), Some(0.5)));
            assert_eq!(
                (rows.text(0, 5), rows.text(0, 6)),
                (Some("it's "), Some("2026-11-28 01:02:03"))
            );
            assert!(rows.is_null(1, 1) && rows.is_null(1, 5));
            assert_eq!(session.execute(&read, &[Value::Int(2)]).await?.rows, 1);
            // A fault leaves the session usable.
            let twice = session.execute(&insert, &[Value::Int(1); 7]).await;
            assert!(twice.is_err());
            integer(session, "SELECT COUNT(*) FROM t").await
        });
        assert_eq!(seen, Ok(2), "{protocol}");
    }
}

#[test]
fn statements_that_are_prepared_together_are_those_that_were_given() {
    for protocol in ["named", "unnamed", "text"] {
        let seen = on_sessions(target(&format!("ps={protocol}")), async |session, _| {
            // More than one request has room for.
            let texts: Vec<String> =
                (0..2_000).map(|number| format!("SELECT {number} + ?::int")).collect();
            let statements = session.prepare_all(&texts).await?;
            assert_eq!(statements.len(), texts.len());
            for number in [0, 1, 999, 1_999] {
                session.fetch(&statements[number], &[Value::Int(5)]).await?;
                assert_eq!(session.fetched().int(0, 0), Some(number as i64 + 5));
            }
            assert_eq!(session.prepare_all::<&str>(&[]).await?.len(), 0);
            Ok(())
        });
        assert_eq!(seen, Ok(()), "{protocol}");
    }
}

#[test]
fn of_statements_that_are_prepared_together_the_one_that_is_refused_is_named() {
    for protocol in ["named", "unnamed"] {
        let told = on_sessions(target(&format!("ps={protocol}")), async |session, _| {
            let ok = ["SELECT 1", "SELECT ?::int"];
            session.prepare_all(&ok).await?;
            let mut texts = vec!["SELECT 2"; 3_000];
            let mut told = Vec::new();
            // The first, one in the middle of the second request, and the last.
            for wrong in [0, 1_700, 2_999] {
                texts[wrong] = "SELECT ? FROM absent";
                let refused = session.prepare_all(&texts).await.unwrap_err();
                assert_eq!(refused.index, wrong);
                assert_eq!(refused.failure.key.code, "42P01");
                told.push(refused.failure.message.to_string());
                texts[wrong] = "SELECT 2";
            }
            // The session goes on, and the names of its statements are its own.
            let statements = session.prepare_all(&["SELECT ?::int", "SELECT 7"]).await?;
            session.fetch(&statements[0], &[Value::Int(6)]).await?;
            assert_eq!(session.fetched().int(0, 0), Some(6));
            session.fetch(&statements[1], &[]).await?;
            assert_eq!(session.fetched().int(0, 0), Some(7));
            Ok(told)
        });
        for told in told.unwrap() {
            assert!(told.ends_with("(in `SELECT $1 FROM absent`)"), "{told}");
        }
    }
}

#[test]
fn rows_that_are_copied_arrive_as_they_were_given() {
    let texts = ["plain", "tab\tand\nline\r", "back\\slash", "\\.", "\\N", "", "é\u{1}"];
    let read = on_sessions(target(""), async move |session, _| {
        session.run("CREATE TEMPORARY TABLE t (ID INTEGER, C TEXT)").await?;
        let mut loader = session.loader("t", &["ID", "C"]);
        for (id, text) in (0..).zip(texts) {
            loader.push(&[Value::Int(id), Value::Text(text)]).await?;
        }
        loader.push(&[Value::Int(99), Value::Null]).await?;
        assert_eq!(loader.finish().await?.rows, texts.len() as u64 + 1);
        let mut refused = session.loader("t", &["ID"]);
        refused.push(&[Value::Text("no number")]).await?;
        let failure = refused.finish().await.unwrap_err();
        assert_eq!(failure.key.code, "22P02", "{failure}");
        session.rows("SELECT c FROM t ORDER BY id").await
    });
    let read = read.unwrap();
    let found: Vec<Datum> = read.into_iter().map(|mut row| row.remove(0)).collect();
    let mut wanted: Vec<Datum> = texts.map(|text| Datum::Text(text.to_owned())).to_vec();
    wanted.push(Datum::Null);
    assert_eq!(found, wanted);
}

#[test]
fn a_text_with_a_zero_byte_is_refused_before_it_is_sent() {
    let told = on_sessions(target(""), async |session, _| {
        session.run("CREATE TEMPORARY TABLE t (c TEXT)").await?;
        let mut loader = session.loader("t", &["c"]);
        let told = loader.push(&[Value::Text("a\0b")]).await.unwrap_err().message.to_string();
        drop(loader);
        // Nothing was sent, so the session is as before.
        assert_eq!(integer(session, "SELECT COUNT(*) FROM t").await?, 0);
        Ok(told)
    });
    assert!(told.unwrap().contains("zero byte"));
}

#[test]
fn a_session_with_other_rules_for_texts_is_refused() {
    let of = |options: &str| target(&format!("options=-c%20{options}"));
    let off = of("standard_conforming_strings=off");
    let told = on_sessions(off, async |_, _| Ok(())).unwrap_err();
    assert!(told.message.contains("backslashes change where a text ends"), "{told}");
    // What the login asks for wins.
    let read = on_sessions(of("client_encoding=LATIN1"), async |session, _| {
        session.run("CREATE TEMPORARY TABLE t (c TEXT)").await?;
        session.run("INSERT INTO t VALUES ('\u{e9}')").await?;
        session.rows("SELECT c FROM t WHERE octet_length(c) = 2").await
    });
    assert_eq!(read, Ok(vec![vec![Datum::Text("\u{e9}".to_owned())]]));
}

#[test]
fn rows_that_are_all_of_a_table_are_written_frozen_where_the_server_does_so() {
    let seen = on_sessions(target(""), async |session, _| {
        let name = |what: &str| format!("dyno_frozen_{what}_{}", std::process::id());
        let [plain, divided, referred] = ["plain", "divided", "referred"].map(name);
        for text in [
            "CREATE EXTENSION IF NOT EXISTS pg_visibility".to_owned(),
            format!("CREATE TABLE {plain} (id INTEGER)"),
            format!("INSERT INTO {plain} VALUES (99)"),
            format!("CREATE TABLE {divided} (id INTEGER) PARTITION BY HASH (id)"),
            format!(
                "CREATE TABLE {divided}_0 PARTITION OF {divided} FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
            ),
            format!("CREATE TABLE {referred} (id INTEGER PRIMARY KEY)"),
            format!("CREATE TABLE {referred}_by (id INTEGER REFERENCES {referred})"),
        ] {
            session.run(&text).await?;
        }
        let mut told = Vec::new();
        for table in [&plain, &divided, &referred] {
            session.run("BEGIN").await?;
            let mut loader = session.loader_of_all(table, &["id"]);
            for id in 0..50_000 {
                loader.push(&[Value::Int(id)]).await?;
            }
            let added = loader.finish().await?;
            assert_eq!(added.rows, 50_000);
            session.run("COMMIT").await?;
            let rows = integer(session, &format!("SELECT COUNT(*) FROM {table}")).await?;
            assert_eq!(rows, 50_000, "{table}: what was there before is gone");
            told.push(added.not_frozen);
        }
        let visible = format!(
            "SELECT COUNT(*) FROM pg_visibility_map('{plain}') WHERE NOT (all_frozen AND all_visible)"
        );
        let unfrozen = integer(session, &visible).await?;
        session.run(&format!("DROP TABLE {plain}, {divided}, {referred}, {referred}_by")).await?;
        Ok((told, unfrozen))
    });
    let (told, unfrozen) = seen.unwrap();
    assert_eq!((told[0].as_deref(), unfrozen), (None, 0));
    let why = |place: usize| told[place].clone().unwrap_or_default();
    assert!(why(1).contains("cannot perform COPY FREEZE on a partitioned table"), "{told:?}");
    assert!(why(2).contains("cannot truncate a table referenced in a foreign key"), "{told:?}");
}

#[test]
fn a_statement_that_takes_too_long_is_cancelled_and_lets_its_locks_go() {
    let timeouts = Timeouts { query: Some(Duration::from_millis(100)), ..Timeouts::default() };
    let target = target("").with_timeouts(timeouts);
    let left = on_sessions(target, async |session, other| {
        let pid = integer(session, "SELECT pg_backend_pid()").await?;
        let failure =
            session.run("SELECT pg_advisory_lock(4711), pg_sleep(100)").await.unwrap_err();
        assert_eq!(failure.key.class, ErrorClass::Timeout, "{failure}");
        let still =
            format!("SELECT COUNT(*) FROM pg_stat_activity WHERE pid = {pid} AND state = 'active'");
        assert_eq!(integer(other, &still).await?, 0);
        // The session ends when its server has read the end of its connection.
        for _ in 0..1_000 {
            let locks =
                "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711";
            if integer(other, locks).await? == 0 {
                return Ok(0);
            }
        }
        Ok(1)
    });
    assert_eq!(left, Ok(0));
}

#[test]
fn conflicts_have_the_classes_that_are_retried() {
    let keys = on_sessions(target(""), async |one, other| {
        let name = format!("dyno_conflict_{}", std::process::id());
        one.run(&format!("CREATE TABLE {name} (id INTEGER PRIMARY KEY, k INTEGER)")).await?;
        one.run(&format!("INSERT INTO {name} VALUES (1, 0), (2, 0)")).await?;
        let twice = one.run(&format!("INSERT INTO {name} VALUES (1, 0)")).await.unwrap_err();
        for session in [&mut *one, &mut *other] {
            session.run("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
            session.run(&format!("SELECT * FROM {name}")).await?;
        }
        let update = format!("UPDATE {name} SET k = k + 1 WHERE id = 1");
        one.run(&update).await?;
        one.run("COMMIT").await?;
        let conflict = other.run(&update).await.unwrap_err();
        let failed = other.run("SELECT 1").await.unwrap_err();
        let commit = other.run("COMMIT").await.unwrap_err();
        let missing = one.run("SELECT * FROM no_such_table_here").await.unwrap_err();
        one.run(&format!("DROP TABLE {name}")).await?;
        let failures = [twice, conflict, failed, commit, missing];
        Ok(failures.map(|failure| failure.key.to_string()))
    });
    let wanted = [
        "duplicate-key 23505",
        "write-conflict 40001",
        "server 25P02",
        "server rolled-back",
        "server 42P01",
    ];
    assert_eq!(keys.unwrap(), wanted);
}

#[test]
fn a_plan_whose_columns_have_changed_may_be_retried() {
    let key = on_sessions(target(""), async |session, _| {
        session.run("CREATE TEMPORARY TABLE t (id INTEGER)").await?;
        let read = session.prepare("SELECT * FROM t").await?;
        session.execute(&read, &[]).await?;
        session.run("ALTER TABLE t ADD COLUMN k INTEGER").await?;
        Ok(session.execute(&read, &[]).await.unwrap_err().key.to_string())
    });
    assert_eq!(key, Ok("write-conflict 0A000".to_owned()));
}

#[test]
fn a_wrong_password_and_a_missing_database_are_told_with_a_remedy() {
    let url = std::env::var("DYNO_TEST_POSTGRES").unwrap();
    let url = Url::parse(&url).unwrap();
    let failure = |url: Url| {
        let target = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
        on_sessions(target, async |_, _| Ok(())).unwrap_err()
    };
    let wrong = failure(Url { password: Some(plan::Password::new("wrong")), ..url.clone() });
    assert_eq!(wrong.key.to_string(), "login 28P01", "{wrong}");
    assert!(wrong.message.contains("PGPASSWORD"), "{wrong}");
    let missing = failure(Url { database: Some("no such one".to_owned()), ..url });
    assert_eq!(missing.key.to_string(), "login 3D000", "{missing}");
    assert_eq!(StatementProtocol::default(), StatementProtocol::Named);
}

#[test]
fn a_session_is_made_as_new() {
    let seen = on_sessions(target(""), async |session, _| {
        session.run("SET work_mem = '3MB'").await?;
        session.prepare("SELECT ?").await?;
        assert!(session.reset().await);
        let left = integer(session, "SELECT COUNT(*) FROM pg_prepared_statements").await?;
        let again = session.prepare("SELECT 1").await?;
        session.execute(&again, &[]).await?;
        let set = "SELECT COUNT(*) FROM pg_settings WHERE name = 'work_mem' AND source = 'session'";
        Ok((left, integer(session, set).await?))
    });
    assert_eq!(seen, Ok((0, 0)));
}

/// The target of a database of its own on the server, which no other test uses.
fn own_database(name: &str) -> Target {
    let create = format!("CREATE DATABASE {name}");
    let drop = format!("DROP DATABASE IF EXISTS {name}");
    on_sessions(target(""), async move |session, _| {
        session.run(&drop).await?;
        session.run(&create).await
    })
    .unwrap();
    in_database(name)
}

fn in_database(name: &str) -> Target {
    let url = std::env::var("DYNO_TEST_POSTGRES").unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    let url = Url::parse(&format!("{server}/{name}")).unwrap();
    Target::postgres(url.resolve(&LoginSources::default()).unwrap())
}

/// What the server counts while `client` does something with a session of its own.
fn counted(
    target: &Target,
    client: impl AsyncFnOnce(&mut Session) -> Result<(), Failure> + 'static,
) -> TransactionCounts {
    let target = target.clone();
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let ended = runtime.block_on(async move {
        let before = target.counters(&handle).await?.unwrap();
        let mut session = target.connect(&handle, 0).await?;
        client(&mut session).await?;
        session.close().await;
        let after = target.counters(&handle).await?.unwrap();
        Ok::<_, Failure>(after.since(&before).unwrap().count.transactions().unwrap())
    });
    ended.unwrap().unwrap()
}

/// Every way in which a transaction ends; returns how many do.
async fn transactions(session: &mut Session) -> Result<u64, Failure> {
    for text in ["SELECT 1", "BEGIN", "SELECT 2", "COMMIT", "BEGIN", "SELECT 3", "ROLLBACK"] {
        session.run(text).await?;
    }
    assert!(session.run("SELECT 1/0").await.is_err());
    session.run("BEGIN").await?;
    assert!(session.run("SELECT 1/0").await.is_err());
    session.run("ROLLBACK").await?;
    let statement = session.prepare("SELECT ?::int").await?;
    for number in 0..5 {
        session.execute(&statement, &[Value::Int(number)]).await?;
    }
    // One that is left open ends with the session.
    session.run("BEGIN").await?;
    session.run("SELECT 4").await?;
    Ok(1 + 1 + 1 + 1 + 1 + 5 + 1)
}

#[test]
fn dyno_and_the_server_count_the_same_transactions() {
    for protocol in ["named", "unnamed", "text"] {
        let name = format!("dyno_counted_{protocol}");
        let target = own_database(&name);
        let url = std::env::var("DYNO_TEST_POSTGRES").unwrap();
        let (server, _) = url.rsplit_once('/').unwrap();
        let url = Url::parse(&format!("{server}/{name}?ps={protocol}")).unwrap();
        let with = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
        // A look of autovacuum may fall into one of them.
        let all: Vec<TransactionCounts> = (0..3)
            .map(|_| counted(&with, async |session| transactions(session).await.map(drop)))
            .collect();
        assert!(all.iter().any(|counts| counts.difference() == 0), "{protocol}: {all:?}");
        for counts in all {
            assert!((0..=10).contains(&counts.difference()), "{protocol}: {counts:?}");
            // A login and what the session did at least.
            assert!(counts.by_dyno > 11, "{protocol}: {counts:?}");
            assert!(!counts.others_connected && counts.unsure == 0, "{protocol}: {counts:?}");
        }
        drop(target);
        drop_database(&name);
    }
}

fn drop_database(name: &str) {
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    on_sessions(target(""), async move |session, _| session.run(&drop).await).unwrap();
}

#[test]
fn transactions_of_another_client_are_told_from_dynos_own() {
    let name = "dyno_counted_others";
    let target = own_database(name);
    let other = in_database(name);
    let counts = counted(&target, async move |session| {
        session.run("SELECT 1").await?;
        std::thread::spawn(move || {
            on_sessions(other, async |session, _| {
                for _ in 0..100 {
                    session.run("SELECT 1").await?;
                }
                Ok(())
            })
        })
        .join()
        .unwrap()?;
        // The other's processes may take a moment to end.
        for _ in 0..100 {
            let left = integer(
                session,
                "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND \
                 backend_type = 'client backend' AND pid <> pg_backend_pid()",
            );
            if left.await? == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    });
    assert!(counts.others_connected, "{counts:?}");
    // Two logins, and what autovacuum may do.
    assert!((102..=112).contains(&counts.difference()), "{counts:?}");
    drop_database(name);
}

#[test]
fn a_server_tells_its_figures_as_a_page() {
    let name = "dyno_figures";
    let target = own_database(name);
    let figures = ServerFigures::of(&target, 0, Duration::from_secs(10)).unwrap();
    let version = on_sessions(target.clone(), async |session, _| {
        integer(session, "SELECT current_setting('server_version_num')::int").await
    });
    let version = version.unwrap();
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let page = runtime.block_on(async move {
        let mut figures = figures;
        let mut session = target.connect(&handle, 0).await?;
        session.run("BEGIN").await?;
        session.run("SELECT 1").await?;
        for _ in 0..3 {
            figures.sample(&handle).await;
        }
        let page = figures.read(&handle).await?;
        assert_eq!(figures.remarks(), Vec::<String>::new());
        figures.close().await;
        session.close().await;
        Ok::<_, Failure>(page)
    });
    let page = page.unwrap().unwrap();
    for line in [
        "# TYPE postgresql_transactions_total counter",
        "# TYPE postgresql_dead_rows gauge",
        "postgresql_shared_buffers_bytes ",
        "postgresql_checkpoints_total{why=\"requested\"} ",
        "postgresql_wal_bytes_total ",
        "postgresql_session_seconds_total{state=\"at work\"} ",
        "postgresql_active_sessions_count{class=\"LWLock\"} 3\n",
        // Only the session with the open transaction is seen, each time.
        "postgresql_open_sessions_sum 3\n",
        "postgresql_active_sessions_sum{class=\"CPU\"} 0\n",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    for line in [
        "# TYPE postgresql_io_read_bytes_total counter",
        "postgresql_io_read_bytes_total{by=\"sessions\"} ",
        "postgresql_io_written_bytes_total{by=\"checkpointer\"} ",
    ] {
        assert_eq!(page.matches(line).count(), usize::from(version >= 160_000), "{line}: {page}");
    }
    drop_database(name);
}

#[test]
fn sessions_that_a_login_may_not_see_are_told_and_count_as_others() {
    let (name, user) = ("dyno_hidden", "dyno_sees_little");
    let target_of_all = own_database(name);
    on_sessions(target(""), async move |session, _| {
        session.run(&format!("DROP ROLE IF EXISTS {user}")).await?;
        session.run(&format!("CREATE ROLE {user} LOGIN PASSWORD 'little'")).await
    })
    .unwrap();
    let url = std::env::var("DYNO_TEST_POSTGRES").unwrap();
    let (_, place) = url.rsplit_once('@').unwrap();
    let (place, _) = place.rsplit_once('/').unwrap();
    let url = Url::parse(&format!("postgresql://{user}:little@{place}/{name}")).unwrap();
    let little = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
    let figures = ServerFigures::of(&little, 0, Duration::from_secs(10)).unwrap();
    let (counts, remarks) = on_sessions(target_of_all, async move |_, _| {
        let counts = counted(&little, async |session| session.run("SELECT 1").await.map(drop));
        let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
        let handle = runtime.handle();
        let remarks = runtime.block_on(async move {
            let mut figures = figures;
            figures.sample(&handle).await;
            let remarks = figures.remarks();
            figures.close().await;
            remarks
        });
        Ok((counts, remarks.unwrap()))
    })
    .unwrap();
    assert!(counts.others_connected, "{counts:?}");
    assert!(remarks.len() == 1 && remarks[0].contains("pg_monitor"), "{remarks:?}");
    drop_database(name);
    on_sessions(target(""), async move |session, _| {
        session.run(&format!("DROP ROLE {user}")).await
    })
    .unwrap();
}
