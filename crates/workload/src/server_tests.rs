//! Every SQL workload from its preparation to its end on a PostgreSQL.

use std::path::Path;

use plan::Existing;

use crate::Workload;
use crate::testing::{TestSystem, Trial, message, try_workload, workload};

/// Prepares, verifies, loads and cleans up; `look` sees the system before the tables go.
fn whole(
    database: &str,
    workload: &dyn Workload,
    events: u64,
    look: impl FnOnce(&TestSystem, &Trial),
) {
    let system = TestSystem::postgres(database);
    workload.prepare(&system.context()).unwrap();
    workload.verify(&system.context()).unwrap();
    let trial = system.trial(workload, 4, events);
    // Two clients that insert the same row again wait for each other, and one comes too late.
    let is_late = |key: &measure::ErrorKey| key.class == measure::ErrorClass::DuplicateKey;
    let mut others =
        trial.tally.errors.keys().filter(|key| !is_late(key) && !key.class.is_transient());
    assert_eq!(others.next(), None);
    look(&system, &trial);
    workload.verify(&system.context()).unwrap();
    workload.cleanup(&system.context()).unwrap();
    let left = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(system.integer(left), 0, "tables are left");
    drop(system);
    TestSystem::postgres_server().drop_database(database);
}

#[test]
fn sysbench_scripts_run_on_postgresql() {
    for script in [
        "oltp_read_write",
        "oltp_read_only",
        "oltp_insert",
        "oltp_delete",
        "select_random_ranges",
        "bulk_insert",
    ] {
        let options = match script {
            "bulk_insert" => "tables = 2",
            "select_random_ranges" => "table_size = 1000",
            _ => "tables = 2\ntable_size = 1000",
        };
        let workload = workload(&format!("sysbench/{script}"), options);
        whole("dyno_sysbench", &*workload, 40, |_, _| {});
    }
}

#[test]
fn a_sequence_goes_on_behind_the_rows_of_sysbench() {
    let of = |options: &str| workload("sysbench/oltp_insert", options);
    let inserts = of("tables = 1\ntable_size = 500");
    whole("dyno_sequence", &*inserts, 30, |system, _| {
        assert_eq!(system.integer("SELECT COUNT(*) FROM sbtest1"), 530);
        assert_eq!(system.integer("SELECT MAX(id) FROM sbtest1"), 530);
    });
    let secondary = of("tables = 1\ntable_size = 50\nsecondary = true");
    whole("dyno_sequence", &*secondary, 30, |system, _| {
        let indexes = "SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'xid_1'";
        assert_eq!(system.integer(indexes), 1);
    });
}

#[test]
fn tables_of_sysbench_are_found_again_on_postgresql() {
    let system = TestSystem::postgres("dyno_found");
    let of = |size: u64| {
        workload("sysbench/oltp_read_write", &format!("tables = 1\ntable_size = {size}"))
    };
    of(300).prepare(&system.context()).unwrap();
    let again = system.beside().with(Existing::Match);
    of(300).prepare(&again.context()).unwrap();
    let told = message(of(900).prepare(&again.context()));
    assert!(told.contains("has 300 rows, not 900"), "{told}");
    drop(again);
    TestSystem::postgres_server().drop_database("dyno_found");
}

#[test]
fn ycsb_runs_on_postgresql_with_names_in_any_case() {
    for kind in ["ycsb/a", "ycsb/e", "ycsb/f"] {
        let workload = workload(kind, "recordcount = 300");
        whole("dyno_ycsb", &*workload, 60, |_, _| {});
    }
}

#[test]
fn tpcc_keeps_its_conditions_on_postgresql() {
    for options in ["warehouses = 1", "warehouses = 2\npartitions = 2\nprimary_key = true"] {
        let workload = workload("tpcc", options);
        whole("dyno_tpcc", &*workload, 200, |system, _| {
            let orders = "SELECT COUNT(*) FROM orders WHERE o_id > 3000";
            assert!(system.integer(orders) > 0);
        });
    }
}

#[test]
fn tables_of_tpch_without_statistics_are_told() {
    let system = TestSystem::postgres("dyno_statistics");
    let workload = workload("tpch", "scale = 0.01");
    workload.prepare(&system.context()).unwrap();
    system.context().progress.take_notes();
    let again = system.beside().with(Existing::Reuse);
    let other = self::workload("tpch", "scale = 0.01");
    other.prepare(&again.context()).unwrap();
    assert_eq!(again.context().progress.take_notes(), [""; 0]);
    system.run("DELETE FROM pg_statistic WHERE starelid = 'orders'::regclass");
    other.prepare(&again.context()).unwrap();
    let told = again.context().progress.take_notes().join("\n");
    assert!(told.starts_with("table orders is without statistics"), "{told}");
    assert!(told.ends_with("VACUUM (FREEZE, ANALYZE) orders before the run"), "{told}");
    drop(again);
    TestSystem::postgres_server().drop_database("dyno_statistics");
}

#[test]
fn tables_are_loaded_frozen_where_the_server_does_so_and_a_note_tells_otherwise() {
    for (kind, options, is_frozen) in [
        ("sysbench/oltp_read_only", "tables = 2\ntable_size = 30000", true),
        ("ycsb/c", "recordcount = 6000\nfieldcount = 2", true),
        ("pgbench", "scale = 1", true),
        ("pgbench", "scale = 1\npartitions = 2", false),
        ("tpcc", "warehouses = 1", true),
        ("tpcc", "warehouses = 1\nforeign_keys = true", true),
        ("tpch", "scale = 0.01", true),
    ] {
        let system = TestSystem::postgres("dyno_load");
        let workload = workload(kind, options);
        workload.prepare(&system.context()).unwrap();
        let notes = system.context().progress.take_notes().join("\n");
        assert_eq!(notes.contains("without FREEZE"), !is_frozen, "{kind} {options}: {notes}");
        // A reader of the results is told as well.
        assert_eq!(system.context().progress.remarks().is_empty(), is_frozen, "{kind} {options}");
        workload.verify(&system.context()).unwrap();
        drop(system);
        TestSystem::postgres_server().drop_database("dyno_load");
    }
}

#[test]
fn own_sql_has_the_syntax_of_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.sql");
    let text = "\\prepare\n\
                CREATE TABLE notes (id SERIAL PRIMARY KEY, body JSONB NOT NULL, at TIMESTAMPTZ DEFAULT now());\n\
                CREATE FUNCTION half(n INTEGER) RETURNS INTEGER AS $$ BEGIN RETURN n / 2; END $$ LANGUAGE plpgsql;\n\
                \\cleanup\nDROP TABLE notes;\nDROP FUNCTION half;\n\
                \\transaction notes\n\\set n random(1, 100)\n\
                BEGIN;\n\
                INSERT INTO notes (body) VALUES (jsonb_build_object('n', :n::int, 'k', E'it\\'s'));\n\
                SELECT count(*) FROM notes WHERE body ? 'k' AND body #>> '{n}' <> '' LIMIT :n;\n\
                SELECT half(:n), /* :no */ 'a:b';\n\
                COMMIT;\n";
    std::fs::write(&file, text).unwrap();
    let kind = file.to_str().unwrap();
    let own = try_workload(kind, "", Path::new("/")).unwrap();
    whole("dyno_own", &*own, 20, |system, _| {
        assert_eq!(system.integer("SELECT COUNT(*) FROM notes"), 20);
    });
    let told = {
        let sqlite = TestSystem::sqlite();
        let script = folder.path().join("ask.sql");
        std::fs::write(&script, "SELECT 1 ? 2;").unwrap();
        let ask = try_workload(script.to_str().unwrap(), "", Path::new("/")).unwrap();
        message(ask.verify(&sqlite.context()))
    };
    assert!(told.contains("ask.sql:1: `?` outside of quotes"), "{told}");
}
