//! Every script on real databases: its tables, statements and counts, and the data afterwards.

use std::path::Path;

use measure::{ErrorClass, Failure};
use plan::Existing;

use super::warm_cache::statements;
use crate::parallel::as_text;
use crate::testing::{TestSystem, Trial, message, try_workload, workload};
use crate::{LoadKey, Workload};

/// Statements of one event with the default options.
const READ_WRITE: [(&str, u64); 12] = [
    ("oltp_read_write", 1),
    ("begin", 1),
    ("point_select", 10),
    ("simple_range", 1),
    ("sum_range", 1),
    ("order_range", 1),
    ("distinct_range", 1),
    ("index_update", 1),
    ("non_index_update", 1),
    ("delete", 1),
    ("insert", 1),
    ("commit", 1),
];

const SCRIPTS: [&str; 11] = [
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_insert",
    "oltp_delete",
    "select_random_points",
    "select_random_ranges",
    "bulk_insert",
];

fn small(script: &str) -> &'static str {
    match script {
        "select_random_points" | "select_random_ranges" => "table_size = 300",
        "bulk_insert" => "tables = 2\nstatement_bytes = 1000",
        _ => "tables = 2\ntable_size = 300",
    }
}

fn sysbench(script: &str, options: &str) -> Box<dyn Workload> {
    workload(&format!("sysbench/{script}"), options)
}

/// Runs a script from prepare to cleanup, which drops the tables.
fn run_lifecycle(test_system: &TestSystem, script: &str, options: &str) -> Trial {
    let workload = sysbench(script, options);
    workload
        .prepare(&test_system.context())
        .unwrap_or_else(|failure| panic!("{script}: {failure}"));
    workload.verify(&test_system.context()).unwrap_or_else(|failure| panic!("{script}: {failure}"));
    let trial = test_system.trial(&*workload, 3, 60);
    workload.verify(&test_system.context()).unwrap_or_else(|failure| panic!("{script}: {failure}"));
    workload.cleanup(&test_system.context()).unwrap();
    let again = sysbench(script, options);
    assert!(
        again.verify(&test_system.context()).unwrap_err().message.contains("there is no table")
    );
    trial
}

fn run_all_scripts(test_system: &TestSystem) {
    for script in SCRIPTS {
        let trial = run_lifecycle(test_system, script, small(script));
        assert_eq!(trial.names[0], script);
        assert_eq!(trial.tally.transactions, 60, "{script}");
        let queries = trial.tally.queries;
        let is_reading =
            ["oltp_point_select", "select_random_points", "select_random_ranges"].contains(&script);
        match script {
            "oltp_read_write" | "oltp_read_only" | "oltp_write_only" => {}
            _ if is_reading => assert_eq!((queries.read, queries.write), (60, 0), "{script}"),
            _ => assert_eq!((queries.read, queries.write), (0, 60), "{script}"),
        }
        if !["oltp_read_write", "oltp_read_only", "oltp_write_only"].contains(&script) {
            assert_eq!(trial.names.len(), 1, "one statement is not timed twice: {script}");
        }
    }
    for options in ["auto_inc = false", "create_secondary = false", "skip_trx = true"] {
        let options = format!("table_size = 50\n{options}");
        for script in ["oltp_read_write", "oltp_insert"] {
            // Without transactions two clients may delete the same row and both insert it again.
            let tally = run_lifecycle(test_system, script, &options).tally;
            let mut classes = tally.errors.keys().map(|key| key.class);
            assert!(classes.all(|class| class == ErrorClass::DuplicateKey || class.is_transient()));
            assert!(tally.transactions > 0);
        }
    }
}

fn counts_a_transaction_statement_by_statement(test_system: &TestSystem) {
    let trial = run_lifecycle(test_system, "oltp_read_write", "tables = 3\ntable_size = 500");
    // No transaction was retried or abandoned; otherwise counts would differ.
    let transient: u64 = trial.tally.errors.values().map(|counts| counts.total()).sum();
    let expected: Vec<(&str, u64)> =
        READ_WRITE.iter().map(|(name, count)| (*name, count * 60)).collect();
    if transient == 0 {
        assert_eq!(trial.counts(), expected);
        assert_eq!(trial.tally.queries.read, 14 * 60);
        assert_eq!(trial.tally.queries.write, 4 * 60);
        assert_eq!(trial.tally.queries.other, 2 * 60);
    }
    assert_eq!(trial.tally.transactions, 60);
}

#[test]
fn every_script_runs_on_sqlite() {
    let test_system = TestSystem::sqlite();
    run_all_scripts(&test_system);
    counts_a_transaction_statement_by_statement(&test_system);
}

#[test]
fn every_script_runs_on_mysql() {
    let test_system = TestSystem::mysql("dyno_scripts");
    run_all_scripts(&test_system);
    counts_a_transaction_statement_by_statement(&test_system);
    let engine = "engine = \"MyISAM\"\nsecondary = true\ntable_size = 50";
    run_lifecycle(&test_system, "oltp_update_index", engine);
    let isolated = "isolation = \"read-committed\"\ntable_size = 50";
    run_lifecycle(&test_system, "oltp_read_write", isolated);
    test_system.drop_database("dyno_scripts");
}

fn is_refused_reused_or_replaced(test_system: TestSystem) -> TestSystem {
    let options = "tables = 2\ntable_size = 300";
    test_system.run("CREATE TABLE sbtest3 (id INTEGER)");
    sysbench("oltp_read_write", options).prepare(&test_system.context()).unwrap();
    test_system.run("UPDATE sbtest1 SET k = 7 WHERE id = 7");

    let refused = message(sysbench("oltp_read_only", options).prepare(&test_system.context()));
    assert_eq!(
        refused,
        "tables sbtest1, sbtest2 already exist; `--existing reuse` uses what is there, `--existing replace` drops \
         and recreates it"
    );

    let test_system = test_system.with(Existing::Reuse);
    let reusing = sysbench("oltp_read_only", options);
    reusing.prepare(&test_system.context()).unwrap();
    reusing.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.trial(&*reusing, 2, 10).tally.transactions, 10);
    reusing.cleanup(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT k FROM sbtest1 WHERE id = 7"), 7, "still there");
    test_system.progress.take_notes();
    sysbench("oltp_read_only", "table_size = 200").prepare(&test_system.context()).unwrap();
    let notes = [
        "table sbtest1 has 300 rows: those above table_size, 200, are not used",
        "3 tables exist, sbtest1 to sbtest3: 1 of them is used",
    ];
    assert_eq!(test_system.progress.take_notes(), notes, "sysbench allows that, too");
    let wrong =
        message(sysbench("oltp_read_only", "table_size = 400").prepare(&test_system.context()));
    assert!(wrong.starts_with("table sbtest1 has 300 rows, not at least 400"), "{wrong}");
    let wrong = message(
        sysbench("oltp_read_only", "tables = 3\ntable_size = 300").prepare(&test_system.context()),
    );
    assert!(wrong.starts_with("table sbtest3 has no column k, c, pad (it has id)"), "{wrong}");

    let test_system = test_system.with(Existing::Replace);
    let replacing = sysbench("oltp_read_only", "tables = 2\ntable_size = 20");
    replacing.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest1"), 20);
    replacing.cleanup(&test_system.context()).unwrap();
    assert_eq!(
        test_system.integer("SELECT COUNT(*) FROM sbtest3"),
        0,
        "not of the plan: not touched"
    );
    test_system.run("DROP TABLE sbtest3");
    test_system
}

#[test]
fn existing_tables_are_refused_reused_or_replaced() {
    is_refused_reused_or_replaced(TestSystem::sqlite());
    is_refused_reused_or_replaced(TestSystem::mysql("dyno_existing"))
        .drop_database("dyno_existing");
}

/// Returns what is told of tables that do not match.
fn is_used_when_it_matches(test_system: &TestSystem) -> String {
    let options = "tables = 2\ntable_size = 300";
    sysbench("oltp_read_write", options).prepare(&test_system.context()).unwrap();
    let again = sysbench("oltp_read_write", options);
    again.prepare(&test_system.context()).unwrap();
    let note = "tables sbtest1, sbtest2 exist and match: used without loading; `--existing replace` recreates";
    assert_eq!(test_system.progress.take_notes(), [note]);
    again.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.trial(&*again, 2, 10).tally.transactions, 10);
    let other =
        |script, options| message(sysbench(script, options).prepare(&test_system.context()));
    let told = [
        other("oltp_read_write", "tables = 2\ntable_size = 200"),
        other("oltp_read_write", "table_size = 300"),
        other("oltp_read_write", "tables = 4\ntable_size = 300"),
        other("bulk_insert", "tables = 2"),
        other("oltp_insert", "tables = 2"),
    ];
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest2"), 300, "nothing is changed");
    again.prepare(&test_system.context()).unwrap();
    told.join("\n")
}

#[test]
fn existing_tables_are_used_only_when_they_match() {
    let told = is_used_when_it_matches(&TestSystem::sqlite().with(Existing::Match));
    insta::assert_snapshot!(told, @r"
    table sbtest1 has 300 rows, not 200; set table_size to what is there, or recreate it with `--existing replace`
    2 tables exist, sbtest1 to sbtest2, not 1; say `--tables 2`, or `--existing reuse` to use only the first
    tables sbtest1, sbtest2 exist, but not sbtest3, sbtest4; `--existing reuse` makes what is missing, `--existing replace` recreates all
    table sbtest1 has columns id, k, c, pad, and bulk_insert fills a table of id and k only; recreate it with `--existing replace`
    table sbtest1 has 300 rows, not 10000; set table_size to what is there, or recreate it with `--existing replace`
    ");
    let mysql = TestSystem::mysql("dyno_matching").with(Existing::Match);
    // Several sessions check the tables.
    let of_mysql = is_used_when_it_matches(&mysql).replace("sbtest2 has", "sbtest1 has");
    assert_eq!(of_mysql, told);
    mysql.drop_database("dyno_matching");
}

#[test]
fn replace_drops_no_table_of_others() {
    let test_system = TestSystem::sqlite().with(Existing::Replace);
    test_system.run("CREATE TABLE sbtest2 (id INTEGER, name TEXT)");
    let told = message(sysbench("oltp_read_only", "tables = 2").prepare(&test_system.context()));
    insta::assert_snapshot!(told, @"table sbtest2 has no column k (it has id, name): it is not sysbench's; use another database (`--create-database` creates it), or drop the table yourself");
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest2"), 0, "it is there");
}

#[test]
fn a_second_prepare_recreates_its_own_tables() {
    let test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_delete", "table_size = 100\nrand_type = \"uniform\"");
    workload.prepare(&test_system.context()).unwrap();
    test_system.trial(&*workload, 1, 50);
    assert!(test_system.integer("SELECT COUNT(*) FROM sbtest1") < 100);
    workload.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest1"), 100);
}

#[test]
fn a_failed_prepare_drops_its_tables() {
    let test_system = TestSystem::sqlite();
    // In SQLite index names are unique over all tables, so the name of sbtest2's index is taken.
    test_system.run("CREATE TABLE other (a INTEGER)");
    test_system.run("CREATE INDEX k_2 ON other (a)");
    let options = "tables = 3\ntable_size = 300";
    let failure = sysbench("oltp_read_only", options).prepare(&test_system.context()).unwrap_err();
    assert!(failure.message.contains("k_2"), "{failure}");
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'sbtest%'";
    assert_eq!(test_system.integer(tables), 0);
    test_system.run("DROP TABLE other");
    sysbench("oltp_read_only", options).prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer(tables), 3);
}

#[test]
fn an_interrupted_prepare_drops_its_tables() {
    let test_system = TestSystem::sqlite();
    test_system.stop.ask();
    let options = "tables = 3\ntable_size = 300";
    let failure = message(sysbench("oltp_read_only", options).prepare(&test_system.context()));
    assert_eq!(failure, "interrupted");
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'sb%'"), 0);
}

#[test]
fn verify_finds_values_that_do_not_match_the_template() {
    let test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_read_only", "table_size = 50");
    workload.prepare(&test_system.context()).unwrap();
    test_system.run("UPDATE sbtest1 SET pad = 'x'");
    let wrong = message(workload.verify(&test_system.context()));
    assert!(wrong.contains("pad is `x`, not groups of 11 digits"), "{wrong}");
    workload.prepare(&test_system.context()).unwrap();
    test_system.run("UPDATE sbtest1 SET k = 51");
    let wrong = message(workload.verify(&test_system.context()));
    assert!(wrong.contains("k is 51, not a number from 1 to 50"), "{wrong}");
    workload.prepare(&test_system.context()).unwrap();
    test_system.run("UPDATE sbtest1 SET id = 60 WHERE id = 50");
    let wrong = message(workload.verify(&test_system.context()));
    assert!(wrong.contains("the ids of table sbtest1 are not 1 to 50"), "{wrong}");
}

#[test]
fn verify_finds_tables_that_lost_an_index() {
    let test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_read_only", "table_size = 50\ntables = 2");
    workload.prepare(&test_system.context()).unwrap();
    workload.verify(&test_system.context()).unwrap();
    test_system.run("DROP INDEX k_2");
    let wrong = message(workload.verify(&test_system.context()));
    assert!(
        wrong.contains("table sbtest2 has no index on k; make it with CREATE INDEX k_2"),
        "{wrong}"
    );
    let without =
        sysbench("oltp_read_only", "table_size = 50\ntables = 2\ncreate_secondary = false");
    without.verify(&test_system.context()).unwrap();
    test_system.run("ALTER TABLE sbtest1 RENAME TO whole");
    test_system.run("CREATE TABLE sbtest1 AS SELECT * FROM whole");
    let wrong = message(without.verify(&test_system.context()));
    assert!(wrong.contains("table sbtest1 has no index on id"), "{wrong}");
}

#[test]
fn a_load_without_transactions_that_was_cut_leaves_usable_tables() {
    let test_system = TestSystem::sqlite();
    let options = "table_size = 1000";
    sysbench("oltp_write_only", options).prepare(&test_system.context()).unwrap();
    // Two clients were cut between DELETE and INSERT.
    test_system.run("DELETE FROM sbtest1 WHERE id IN (1, 500)");
    let test_system = test_system.with(Existing::Reuse);
    let reusing = sysbench("oltp_write_only", "table_size = 1000\nskip_trx = true");
    reusing.prepare(&test_system.context()).unwrap();
    reusing.verify(&test_system.context()).unwrap();
    let note =
        "table sbtest1 lacks 2 of its rows 1 to 1000, as after a load with skip_trx that was cut";
    assert_eq!(test_system.progress.take_notes(), [note; 2]);
    test_system.run("UPDATE sbtest1 SET id = id + 1000 WHERE id < 200");
    let wrong = message(reusing.verify(&test_system.context()));
    assert!(wrong.contains("the ids of table sbtest1 are not 1 to 1000"), "{wrong}");
    test_system.run("DELETE FROM sbtest1 WHERE id > 1000");
    let wrong = message(reusing.verify(&test_system.context()));
    assert!(wrong.contains("has 800 rows, not at least 1000"), "{wrong}");
}

#[test]
fn tables_that_reuse_has_to_make_are_told() {
    let test_system = TestSystem::sqlite();
    sysbench("oltp_read_only", "tables = 2\ntable_size = 20")
        .prepare(&test_system.context())
        .unwrap();
    let test_system = test_system.with(Existing::Reuse);
    let more = sysbench("oltp_read_only", "tables = 3\ntable_size = 20");
    more.prepare(&test_system.context()).unwrap();
    let note = "2 tables are there and reused; table sbtest3 is made beside them";
    assert_eq!(test_system.progress.take_notes(), [note]);
}

#[test]
fn tables_of_another_engine_are_not_reused_without_a_word() {
    let test_system = TestSystem::mysql("dyno_engines");
    let myisam = sysbench("oltp_read_only", "table_size = 20\nengine = \"MyISAM\"");
    myisam.prepare(&test_system.context()).unwrap();
    myisam.verify(&test_system.context()).unwrap();
    let test_system = test_system.with(Existing::Reuse);
    let innodb = sysbench("oltp_read_only", "table_size = 20");
    let wrong = message(innodb.prepare(&test_system.context()));
    assert!(
        wrong.starts_with("table sbtest1 is stored by MyISAM, not by innodb; say engine=MyISAM"),
        "{wrong}"
    );
    let named = sysbench("oltp_read_only", "table_size = 20\nengine = \"myisam\"");
    named.prepare(&test_system.context()).unwrap();
    named.verify(&test_system.context()).unwrap();
    test_system.drop_database("dyno_engines");
}

#[test]
fn warm_cache_reads_the_rows_and_the_index_of_every_table() {
    let test_system = TestSystem::mysql("dyno_warm_cache");
    let options = "tables = 2\ntable_size = 5000";
    let cold = sysbench("oltp_read_only", options);
    cold.prepare(&test_system.context()).unwrap();
    cold.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.progress.current(), ("verifying tables".to_owned(), 2, 2));
    let warm = sysbench("oltp_read_only", &format!("{options}\nwarm_cache = true"));
    warm.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.progress.current(), ("reading tables".to_owned(), 2, 2));
    let key_of = |sql: &String| {
        let plan = test_system.rows(&format!("EXPLAIN {sql}"));
        as_text(plan[0].get(5)).unwrap_or_default()
    };
    let keys = statements("sbtest1").each_ref().map(key_of);
    assert_eq!(keys, ["", "k_1"], "no index, which is the whole table, and the index on k");
    test_system.drop_database("dyno_warm_cache");
}

#[test]
fn inserts_refuse_tables_that_do_not_number_their_rows() {
    let test_system = TestSystem::sqlite();
    sysbench("oltp_read_only", "table_size = 50").prepare(&test_system.context()).unwrap();
    test_system.run("ALTER TABLE sbtest1 RENAME TO numbered");
    test_system.run("CREATE TABLE sbtest1 (id INT NOT NULL PRIMARY KEY, k INT, c TEXT, pad TEXT)");
    test_system.run("INSERT INTO sbtest1 SELECT * FROM numbered");
    test_system.run("CREATE INDEX k_there ON sbtest1 (k)");
    let test_system = test_system.with(Existing::Reuse);
    let inserts = sysbench("oltp_insert", "table_size = 50");
    insta::assert_snapshot!(message(inserts.prepare(&test_system.context())), @"table sbtest1 does not number its rows, so that inserts would fail; say auto_inc=false, as it was prepared, or recreate it with `--existing replace`");
    for (script, options) in [("oltp_read_write", ""), ("oltp_insert", "auto_inc = false")] {
        let fits = sysbench(script, &format!("table_size = 50\n{options}"));
        fits.prepare(&test_system.context()).unwrap();
        assert_eq!(test_system.trial(&*fits, 1, 20).tally.failed_transactions, 0, "{script}");
    }
}

/// The contents of a table after a trial with one client.
fn outcome(seed: u64) -> (Vec<Vec<driver::Datum>>, Vec<Vec<driver::Datum>>) {
    let mut test_system = TestSystem::sqlite();
    test_system.seed = seed;
    let workload = sysbench("oltp_read_write", "table_size = 100");
    workload.prepare(&test_system.context()).unwrap();
    let all = "SELECT * FROM sbtest1 ORDER BY id";
    let before = test_system.rows(all);
    test_system.trial(&*workload, 1, 20);
    (before, test_system.rows(all))
}

#[test]
fn a_seed_repeats_the_same_data_and_the_same_queries() {
    let (one, two, other) = (outcome(1), outcome(1), outcome(2));
    assert_eq!(one, two);
    assert_ne!(one.0, other.0);
    assert_ne!(one.1, other.1);
}

#[test]
fn a_second_trial_writes_other_values_than_the_first() {
    let mut test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_update_non_index", "table_size = 1");
    workload.prepare(&test_system.context()).unwrap();
    let mut written = Vec::new();
    for (repetition, clients) in [(0, 1), (1, 1), (0, 2), (0, 1)] {
        test_system.load_key = LoadKey { repetition, clients, rate: 0 };
        test_system.trial(workload.as_ref(), 1, 1);
        written.push(test_system.rows("SELECT c FROM sbtest1"));
    }
    assert_ne!(written[0], written[1], "a write of what is there is none to most servers");
    assert_ne!(written[0], written[2]);
    assert_eq!(written[0], written[3], "the same load key is the same for every system");
}

#[test]
fn generated_ids_continue_after_the_last_trial() {
    let test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_insert", "auto_inc = false\ntables = 2");
    workload.prepare(&test_system.context()).unwrap();
    for _ in 0..3 {
        let trial = test_system.trial(&*workload, 2, 50);
        assert_eq!(trial.tally.errors.len(), 0, "{:?}", trial.tally.errors);
    }
    let rows = |table| test_system.integer(&format!("SELECT COUNT(*) FROM sbtest{table}"));
    assert_eq!(rows(1) + rows(2), 150);
    let bulk = sysbench("bulk_insert", "tables = 2\nstatement_bytes = 200");
    let test_system = test_system.with(Existing::Replace);
    bulk.prepare(&test_system.context()).unwrap();
    for _ in 0..2 {
        assert_eq!(test_system.trial(&*bulk, 3, 30).tally.errors.len(), 0);
    }
}

#[test]
fn conflicts_are_retried_and_counted_without_loss() {
    let test_system = TestSystem::mysql("dyno_conflicts");
    // Every client writes the same few rows, each in a different order.
    let options =
        "table_size = 4\nrand_type = \"uniform\"\nindex_updates = 4\nrange_selects = false";
    let workload = sysbench("oltp_write_only", options);
    workload.prepare(&test_system.context()).unwrap();
    let trial = test_system.trial(&*workload, 8, 2000);
    assert_eq!((trial.tally.transactions, trial.tally.failed_transactions), (2000, 0));
    let retried: u64 = trial.tally.errors.values().map(|counts| counts.retried).sum();
    assert!(retried > 0, "eight clients on four rows must meet");
    for (key, counts) in &trial.tally.errors {
        assert!(key.class.is_transient(), "{key}");
        assert_eq!((counts.ignored, counts.fatal), (0, 0), "{key}");
    }
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest1"), 4);

    let ignoring =
        sysbench("oltp_write_only", &format!("{options}\ntransient_errors = \"ignore\""));
    let test_system = test_system.with(Existing::Reuse);
    ignoring.prepare(&test_system.context()).unwrap();
    let trial = test_system.trial(&*ignoring, 8, 2000);
    assert!(trial.tally.failed_transactions > 0);
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM sbtest1"), 4);
    test_system.drop_database("dyno_conflicts");
}

#[test]
fn duplicate_keys_are_ignored_and_other_errors_are_fatal() {
    let test_system = TestSystem::sqlite();
    let workload = sysbench("oltp_insert", "table_size = 10");
    workload.prepare(&test_system.context()).unwrap();
    test_system.run("UPDATE sbtest1 SET k = id");
    test_system.run("CREATE UNIQUE INDEX one_k ON sbtest1 (k)");
    let trial = test_system.trial(&*workload, 2, 40);
    let (key, counts) = trial.tally.errors.first_key_value().unwrap();
    assert_eq!(key.class, ErrorClass::DuplicateKey);
    assert_eq!(counts.ignored, trial.tally.failed_transactions);
    assert!(counts.ignored > 0);

    let load = workload.load(&test_system.context());
    test_system
        .run("CREATE TRIGGER no BEFORE INSERT ON sbtest1 BEGIN SELECT RAISE(ABORT, 'no'); END");
    let trial = test_system.offer(&*load, 2, 40);
    assert_eq!(trial.tally.transactions, 0);
    let failures: Vec<&Failure> =
        trial.outcome.clients.iter().filter_map(|client| client.failure.as_ref()).collect();
    assert_eq!(failures.len(), 2);
}

#[test]
fn statements_of_the_plan_surround_prepare_and_reach_clients() {
    let mut test_system = TestSystem::mysql("dyno_phases");
    test_system.run("CREATE TABLE said (what TEXT)");
    let say = |what: &str| vec![format!("INSERT INTO said VALUES ('{what}')")];
    test_system.sql.before_prepare = say("before");
    test_system.sql.after_prepare = say("after");
    test_system.sql.run_session = say("client");
    let workload = sysbench("oltp_point_select", "table_size = 10");
    workload.prepare(&test_system.context()).unwrap();
    test_system.trial(&*workload, 3, 10);
    let said =
        |what| test_system.integer(&format!("SELECT COUNT(*) FROM said WHERE what = '{what}'"));
    assert_eq!((said("before"), said("after"), said("client")), (1, 1, 3));
    test_system.drop_database("dyno_phases");
}

#[test]
fn wrong_options_suggest_the_nearest_spelling() {
    let cases = [
        ("sysbench/oltp_read_wirte", ""),
        ("oltp_read_write", ""),
        ("tpce", ""),
        ("sysbench/oltp_read_write", "tabels = 4"),
        ("sysbench/oltp_read_write", "reconnect = 10"),
        ("sysbench/oltp_read_write", "engine = \"a b\""),
        ("sysbench/oltp_read_write", "rand_type = \"zipf\"\ntable_size = 0"),
        ("sysbench/select_random_points", "tables = 2"),
        ("sysbench/bulk_insert", "table_size = 2\nstatement_bytes = 1"),
    ];
    let mut said = String::new();
    for (kind, options) in cases {
        let Err(problems) = try_workload(kind, options, Path::new("/")) else {
            panic!("{kind} {options}")
        };
        for problem in problems {
            said += &format!("{}\n    {}\n", problem.message, problem.help.unwrap_or_default());
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn titles_name_an_engine_that_is_not_the_default() {
    let title = |options| sysbench("oltp_delete", options).describe();
    insta::assert_snapshot!(title("engine = 'MyISAM'"), @"sysbench oltp_delete: deletes one row; 1 table of 10000 rows, ENGINE = myisam, special ids");
    let bulk = sysbench("bulk_insert", "engine = 'myisam'").describe();
    assert!(bulk.ends_with("tables, ENGINE = myisam"), "{bulk}");
    assert_eq!(title("mysql_storage_engine = 'InnoDB'"), title(""));
}

#[test]
fn the_catalogue_lists_every_option_with_its_default() {
    for info in crate::catalogue() {
        if !info.kind.starts_with("sysbench/") {
            continue;
        }
        let plain = try_workload(&info.kind, "", Path::new("/")).unwrap().describe();
        for option in info.options.iter().filter(|option| !option.default.is_empty()) {
            let text = format!("{} = \"{}\"", option.name, option.default);
            let described = try_workload(&info.kind, &text, Path::new("/"))
                .unwrap_or_else(|problems| panic!("{}: {text}: {problems:?}", info.kind))
                .describe();
            assert_eq!(described, plain, "{text}");
        }
    }
}
