//! dyno and pgbench on the same PostgreSQL: equal tables, and each runs on those of the other.

use driver::Datum;
use measure::ConditionResult;
use plan::Existing;

use super::schema::{Table, create};
use super::settings::Settings;
use crate::parallel::as_text;
use crate::testing::{TestSystem, postgres_command, postgres_program, workload};
use crate::{Workload, tables};

fn pgbench(database: &str, arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    String::from_utf8(postgres_program("pgbench", database, &arguments)).unwrap()
}

/// What the catalogue says of all tables: their kinds, columns, keys and options.
const CATALOGUE: &str = "SELECT format('%s %s %s %s %s %s', c.relname, c.relkind, c.relpersistence, c.reloptions, \
    pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid)) FROM pg_class c \
    WHERE relnamespace = 'public'::regnamespace \
    UNION ALL SELECT format('%s %s %s %s %s', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), \
    attnotnull) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid \
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0 \
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indrelid \
    WHERE relnamespace = 'public'::regnamespace \
    UNION ALL SELECT format('%s %s %s %s', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)) \
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1";

fn catalogue(system: &TestSystem) -> Vec<String> {
    system.rows(CATALOGUE).iter().filter_map(|row| as_text(row.first())).collect()
}

/// All rows, as COPY writes them.
fn rows(database: &str) -> Vec<u8> {
    let copies = [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid"), ("history", "tid")];
    let copy = copies.map(|(table, key)| {
        format!("COPY (SELECT * FROM pgbench_{table} ORDER BY {key}) TO STDOUT;")
    });
    postgres_program("psql", database, &["-X", "-q", "-c", &copy.concat()])
}

#[test]
fn tables_are_those_of_pgbench_byte_for_byte() {
    let (theirs, ours) =
        (TestSystem::postgres("dyno_pgbench_their"), TestSystem::postgres("dyno_pgbench_our"));
    for (arguments, options) in [
        ("-s 2", "scale = 2"),
        (
            "--partitions=3 --partition-method=hash -F 80",
            "partitions = 3\npartition_method = 'hash'\nfillfactor = 80",
        ),
        (
            "--partitions=3 --unlogged-tables --foreign-keys",
            "partitions = 3\nunlogged = true\nforeign_keys = true",
        ),
        ("--foreign-keys -F 90", "fillfactor = 90\nforeign_keys = true"),
    ] {
        pgbench("dyno_pgbench_their", &format!("-i -q {arguments}"));
        let workload = workload("pgbench", options);
        workload.prepare(&ours.context()).unwrap();
        workload.verify(&ours.context()).unwrap();
        assert_eq!(catalogue(&ours), catalogue(&theirs), "{arguments}");
        let (our, their) = (rows("dyno_pgbench_our"), rows("dyno_pgbench_their"));
        assert!(our.len() > 9_000_000 && our == their, "{arguments}: rows differ");
        let left = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
        workload.cleanup(&ours.context()).unwrap();
        assert_eq!(ours.integer(left), 0, "tables are left");
    }
    drop((theirs, ours));
    let server = TestSystem::postgres_server();
    for name in ["dyno_pgbench_their", "dyno_pgbench_our"] {
        server.drop_database(name);
    }
}

#[test]
fn numbers_of_accounts_are_longer_from_the_scale_on_where_pgbench_makes_them_so() {
    let (theirs, ours) =
        (TestSystem::postgres("dyno_pgbench_wide"), TestSystem::postgres("dyno_pgbench_wider"));
    for scale in [19_999, 20_000] {
        // Tables alone.
        pgbench("dyno_pgbench_wide", &format!("-i -q -I dt -s {scale} --partitions=7"));
        let text = format!("scale = {scale}\npartitions = 7");
        let options = plan::Options::parse(&text).unwrap();
        let settings = Settings::read(&mut options.reader());
        let dialect = ours.target.dialect();
        Table::ALL.into_iter().for_each(|table| {
            ours.run(&format!("DROP TABLE IF EXISTS {}", table.name()));
            create(table, &settings, dialect).iter().for_each(|sql| ours.run(sql));
        });
        assert_eq!(catalogue(&ours), catalogue(&theirs), "{scale}");
    }
    drop((theirs, ours));
    let server = TestSystem::postgres_server();
    for name in ["dyno_pgbench_wide", "dyno_pgbench_wider"] {
        server.drop_database(name);
    }
}

/// Runs a load of dyno on tables that are there, and checks the balances.
fn load(system: &TestSystem, workload: &dyn Workload) {
    workload.verify(&system.context()).unwrap();
    let trial = system.trial(workload, 4, 200);
    assert_eq!(trial.tally.failed_transactions, 0);
    let conditions = workload.check(&system.context()).unwrap();
    assert!(conditions.iter().all(|it| it.verdict == ConditionResult::Holds), "{conditions:?}");
}

#[test]
fn each_tool_runs_on_the_tables_of_the_other() {
    let system = TestSystem::postgres("dyno_pgbench_both");
    let tpcb = workload("pgbench", "");
    tpcb.prepare(&system.context()).unwrap();
    load(&system, &*tpcb);
    let history = "SELECT COUNT(*) FROM pgbench_history";
    assert_eq!(system.integer(history), 200);
    for protocol in ["simple", "prepared"] {
        let told = pgbench("dyno_pgbench_both", &format!("-n -c 4 -t 25 -M {protocol}"));
        assert!(told.contains("number of transactions actually processed: 100/100"), "{told}");
    }
    assert_eq!(system.integer(history), 400);
    let told = tpcb.examine(&system.context()).unwrap();
    assert_eq!(told[0].verdict, ConditionResult::Holds);
    // It empties its history before a run.
    pgbench("dyno_pgbench_both", "-N -t 10");
    assert_eq!(system.integer(history), 10);
    load(&system, &*tpcb);
    load(&system, &*workload("pgbench", "builtin = 'simple@2,tpcb,select-only'"));

    pgbench("dyno_pgbench_both", "-i -q");
    let matching = system.beside().with(Existing::Match);
    let theirs = workload("pgbench", "");
    theirs.prepare(&matching.context()).unwrap();
    load(&matching, &*theirs);
    theirs.cleanup(&matching.context()).unwrap();
    assert_eq!(system.integer(history), 200, "it made them not");
    theirs.remove(&matching.context()).unwrap();
    let left = tables::existing(&system.context(), vec!["pgbench_accounts".to_owned()]).unwrap();
    assert_eq!(left, [0; 0]);
    drop((system, matching));
    TestSystem::postgres_server().drop_database("dyno_pgbench_both");
}

#[test]
fn statements_are_those_of_the_scripts_of_pgbench() {
    for script in super::scripts::Builtin::ALL {
        let show = format!("--show-script={}", script.name());
        let output = postgres_command("pgbench").arg(show).output().unwrap();
        let shown = String::from_utf8(output.stderr).unwrap();
        let (_, text) = shown.split_once('\n').unwrap();
        assert_eq!(text.trim_end(), script.text().trim_end());
    }
}

#[test]
fn a_row_of_a_script_is_written_as_pgbench_writes_it() {
    let system = TestSystem::postgres("dyno_pgbench_row");
    let tpcb = workload("pgbench", "");
    tpcb.prepare(&system.context()).unwrap();
    system.trial(&*tpcb, 1, 1);
    let sql = "SELECT h.delta - a.abalance, h.delta - t.tbalance, h.delta - b.bbalance, \
               CASE WHEN h.mtime > now() - interval '1 hour' AND h.filler IS NULL THEN 1 ELSE 0 END \
               FROM pgbench_history h JOIN pgbench_accounts a USING (aid) JOIN pgbench_tellers t USING (tid) \
               JOIN pgbench_branches b ON b.bid = h.bid";
    let row = [0, 0, 0, 1].map(Datum::Int).to_vec();
    assert_eq!(system.rows(sql), [row]);
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_pgbench_row");
}
