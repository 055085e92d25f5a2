//! SQL files on real databases.

use std::fs;
use std::path::Path;

use driver::Datum;
use plan::Existing;
use tempfile::TempDir;

use crate::Workload;
use crate::testing::{TestSystem, message, try_workload};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn of_files(kind: &str, options: &str, files: &[(&str, &str)]) -> Box<dyn Workload> {
    try_workload(kind, options, folder(files).path())
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Transfers between accounts; the total never changes.
const BANK: &str = "
\\set accounts 20
\\prepare
CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL, note VARCHAR(20));
INSERT INTO accounts (id, balance) VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0);
CREATE TABLE history (client INTEGER, amount DOUBLE PRECISION);
\\verify
SELECT COUNT(*) = 7 FROM accounts;
SELECT SUM(balance) = 0 FROM accounts;
\\cleanup
DROP TABLE IF EXISTS accounts;
DROP TABLE IF EXISTS history;
\\transaction transfer 3
\\set from random(1, 7)
\\set to 1 + (:from + random(0, 5)) % 7
\\set amount random_zipfian(1, 100, 0.8)
\\set note template('##-@@')
BEGIN;
UPDATE accounts SET balance = balance - :amount, note = :note WHERE id = :from;
UPDATE accounts SET balance = balance + :amount, note = :note WHERE id = :to;
INSERT INTO history VALUES (:client_id, :amount / 2.0);
COMMIT;
\\transaction look
\\set id random_gaussian(1, 7, 2.5)
SELECT balance FROM accounts WHERE id = :id;
";

fn money_stays(test_system: &TestSystem) {
    let bank = of_files("bank.sql", "", &[("bank.sql", BANK)]);
    assert_eq!(bank.describe(), "bank.sql: transactions transfer, look");
    bank.prepare(&test_system.context()).unwrap();
    bank.verify(&test_system.context()).unwrap();
    let trial = test_system.trial(&*bank, 4, 400);
    bank.verify(&test_system.context()).unwrap();
    let names = [
        "transfer",
        "transfer.begin",
        "transfer.update_accounts",
        "transfer.update_accounts_2",
        "transfer.insert_history",
        "transfer.commit",
        "look",
    ];
    assert_eq!(trial.names, names);
    let counts = trial.counts();
    let (transfers, looks) = (counts[0].1, counts[6].1);
    assert_eq!(transfers + looks, 400);
    assert!((250..=350).contains(&transfers), "three of four: {transfers}");
    assert_eq!(counts[5].1, transfers, "each ends with a commit that succeeds");
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM history"), transfers as i64);
    let clients = "SELECT COUNT(*) FROM history WHERE client NOT BETWEEN 0 AND 3";
    assert_eq!(test_system.integer(clients), 0);
    let notes = test_system.rows("SELECT note FROM accounts WHERE note IS NOT NULL");
    for note in notes {
        let Datum::Text(note) = &note[0] else { panic!("{note:?}") };
        assert_eq!((note.len(), note.as_bytes()[2]), (5, b'-'));
    }

    let refused = of_files("bank.sql", "", &[("bank.sql", BANK)]);
    let refused = message(refused.prepare(&test_system.context()));
    assert!(refused.starts_with("bank.sql:4: "), "{refused}");
    assert!(refused.contains("`--existing reuse`"), "{refused}");
    bank.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM history"), 0, "made afresh");
    bank.cleanup(&test_system.context()).unwrap();
    assert!(bank.verify(&test_system.context()).is_err());
}

#[test]
fn transactions_of_a_file_keep_their_invariants() {
    money_stays(&TestSystem::sqlite());
    let test_system = TestSystem::mysql("dyno_bank");
    money_stays(&test_system);
    test_system.drop_database("dyno_bank");
}

#[test]
fn existing_tables_are_reused_and_kept() {
    let test_system = TestSystem::sqlite();
    let bank = of_files("bank.sql", "", &[("bank.sql", BANK)]);
    bank.prepare(&test_system.context()).unwrap();
    let test_system = test_system.with(Existing::Reuse);
    let reusing = of_files("bank.sql", "", &[("bank.sql", BANK)]);
    reusing.prepare(&test_system.context()).unwrap();
    reusing.verify(&test_system.context()).unwrap();
    reusing.cleanup(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM accounts"), 7);
    test_system.run("DELETE FROM accounts WHERE id = 3");
    let wrong = message(reusing.verify(&test_system.context()));
    assert_eq!(wrong, "bank.sql:8: `SELECT COUNT(*) = 7 FROM accounts` answers Int(0), not true");
}

/// What is there after `\\prepare` has failed: tables of the file, and one of somebody else.
fn after_failure(prepare: &str, existing: Existing) -> (String, Vec<&'static str>) {
    let test_system = TestSystem::sqlite().with(existing);
    test_system.run("CREATE TABLE theirs (id INTEGER)");
    let text = format!(
        "\\prepare\n{prepare}\\cleanup\nDROP TABLE IF EXISTS ours;\nDROP TABLE IF EXISTS theirs;\n\
         \\transaction look\nSELECT 1;\n"
    );
    let workload = of_files("f.sql", "", &[("f.sql", &text)]);
    let told = message(workload.prepare(&test_system.context()));
    let is_there = |name: &&str| {
        let sql = format!("SELECT COUNT(*) FROM sqlite_master WHERE name = '{name}'");
        test_system.integer(&sql) == 1
    };
    (told, ["ours", "theirs"].into_iter().filter(is_there).collect())
}

#[test]
fn tables_of_a_failed_prepare_are_dropped_but_no_others() {
    let ours = "CREATE TABLE ours (id INTEGER);\n";
    let wrong = "INSERT INTO ours VALUES (nothing);\n";
    let index = "CREATE UNIQUE INDEX i ON ours (id);\n";
    let (told, left) = after_failure(&format!("{ours}{wrong}{index}"), Existing::Refuse);
    assert!(told.starts_with("f.sql:3: ") && !told.contains("dyno cleanup"), "{told}");
    assert_eq!(left, [""; 0], "all of its tables were made, so `\\cleanup` has run");
    let theirs = "CREATE TABLE theirs (id INTEGER);\n";
    let (told, left) = after_failure(&format!("{ours}{theirs}"), Existing::Refuse);
    assert!(told.contains("`dyno cleanup f.sql` drops it"), "{told}");
    assert_eq!(left, ["ours", "theirs"]);
    let (told, left) = after_failure(&format!("{theirs}{ours}"), Existing::Refuse);
    assert!(told.contains("use `--existing reuse`"), "{told}");
    assert_eq!(left, ["theirs"]);
    let (_, left) = after_failure(&format!("{ours}{wrong}{theirs}"), Existing::Replace);
    assert_eq!(left, [""; 0]);
}

#[test]
fn several_files_are_mixed_by_their_weights() {
    let test_system = TestSystem::sqlite();
    let files = [("one.sql", "SELECT 1;"), ("two.sql", "\\set n 5\nSELECT 2, :n;\nSELECT 3;")];
    let mix = of_files("one.sql@1, two.sql@9", "", &files);
    mix.prepare(&test_system.context()).unwrap();
    let trial = test_system.trial(&*mix, 1, 1000);
    assert_eq!(trial.names, ["one", "two", "two.select", "two.select_2"]);
    let ones = trial.counts()[0].1;
    assert!((60..=140).contains(&ones), "one of ten: {ones}");
    assert_eq!(trial.tally.queries.read, ones + 2 * (1000 - ones));
}

#[test]
fn a_failing_expression_ends_the_client_with_its_position() {
    let test_system = TestSystem::sqlite();
    let text = "\\set a random(0, 1)\n\\set b 1 / :a\nSELECT :b;";
    let workload = of_files("bad.sql", "", &[("bad.sql", text)]);
    let trial = test_system.offer(&*workload.load(&test_system.context()), 1, 100);
    let failure = trial.outcome.clients[0].failure.as_ref().unwrap();
    assert_eq!(failure.message, "bad.sql:2: division by 0");
}

#[test]
fn a_seed_repeats_the_values_of_a_file() {
    let drawn = |seed| {
        let mut test_system = TestSystem::sqlite();
        test_system.seed = seed;
        let text = "\\prepare\nCREATE TABLE t (a, b, c);\n\\transaction put\n\
                    \\set a random_exponential(1, 1000000, 3)\n\\set b :a * 1.5\n\
                    \\set c template('@@@@')\nINSERT INTO t VALUES (:a, :b, :c);";
        let workload = of_files("put.sql", "", &[("put.sql", text)]);
        workload.prepare(&test_system.context()).unwrap();
        test_system.trial(&*workload, 1, 20);
        test_system.rows("SELECT * FROM t")
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

#[test]
fn errors_of_plans_and_files_are_reported_before_the_load() {
    let files = [("a.sql", "SELECT :x;"), ("b.sql", "\\set x 1\nSELECT :x;")];
    let folder = folder(&files);
    let cases = [
        ("none.sql", ""),
        ("a.sql", ""),
        ("b.sql@0", ""),
        ("b.sql,b.sql", ""),
        ("b.sql", "isolaton = \"serializable\""),
    ];
    let test_system = folder.path().display().to_string();
    let mut said = String::new();
    for (kind, options) in cases {
        let Err(problems) = try_workload(kind, options, folder.path()) else { panic!("{kind}") };
        for problem in problems {
            said += &format!("{}\n    {}\n", problem.message, problem.help.unwrap_or_default());
        }
    }
    insta::assert_snapshot!(said.replace(&test_system, "FOLDER"));
    assert!(try_workload("a.sql", "variables = { x = 1 }", folder.path()).is_ok());
    assert!(try_workload("b.sql", "variables = { x = 'text' }", Path::new(&test_system)).is_ok());
}

#[test]
fn a_variable_that_no_file_uses_is_accepted_with_a_note() {
    let files = [("b.sql", "\\set x 1\nSELECT :x;")];
    let workload = of_files("b.sql", "variables = { x = 2, y = 1, z = 3 }", &files);
    assert_eq!(workload.describe(), "b.sql: transaction b; no file uses variables y, z");
    let test_system = TestSystem::sqlite();
    workload.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.progress.take_notes(), ["no file uses variables y, z"]);
    assert_eq!(test_system.progress.take_notes(), [""; 0]);
    let workload = of_files("b.sql", "variables = { x = 2 }", &files);
    assert_eq!(workload.describe(), "b.sql: transaction b");
}

/// A script that uses what its statements read.
const READS: &str = "
\\prepare
CREATE TABLE goods (id INTEGER NOT NULL PRIMARY KEY, stock INTEGER NOT NULL, note VARCHAR(9), half DOUBLE PRECISION);
INSERT INTO goods VALUES (1, 100, 'a''b', 0.5), (2, 100, NULL, 0.5);
CREATE TABLE seen (stock INTEGER, note VARCHAR(9), half DOUBLE PRECISION, kind INTEGER);
\\cleanup
DROP TABLE seen;
DROP TABLE goods;
\\transaction sell
\\set id random(1, 2)
BEGIN;
UPDATE goods SET stock = stock - 1 WHERE id = :id;
SELECT stock, note AS the_note, half FROM goods WHERE id = :id \\gset
\\if :stock < 90 and :half = 0.5
\\set kind case when :the_note is null then 1 else 2 end
INSERT INTO seen VALUES (:stock, :the_note, :half, :kind);
\\endif
COMMIT;
";

fn results_are_used(test_system: &TestSystem) {
    let reads = of_files("reads.sql", "", &[("reads.sql", READS)]);
    reads.prepare(&test_system.context()).unwrap();
    let trial = test_system.trial(&*reads, 3, 120);
    assert_eq!(trial.counts()[0], ("sell", 120));
    let sold = test_system.integer("SELECT 200 - SUM(stock) FROM goods");
    assert_eq!(sold, 120);
    assert_eq!(
        test_system.integer("SELECT COUNT(*) FROM seen"),
        120 - 2 * 10,
        "all but ten of each"
    );
    let wrong = "SELECT COUNT(*) FROM seen WHERE half <> 0.5 OR stock >= 90 \
                 OR kind <> CASE WHEN note IS NULL THEN 1 ELSE 2 END";
    assert_eq!(test_system.integer(wrong), 0);
    assert_eq!(test_system.integer("SELECT COUNT(DISTINCT kind) FROM seen"), 2);
    let lost = of_files("lost.sql", "", &[("lost.sql", "SELECT 1 AS a \\gset\nSELECT :b;")]);
    let load = lost.load(&test_system.context());
    let refused = test_system.try_offer(&*load, 1, 1).err().unwrap();
    let told = "lost.sql:2: variable `b` is not set before it is used; lost.sql:1 gives a";
    assert!(refused.contains(told), "{refused}");
}

#[test]
fn results_of_statements_become_variables() {
    results_are_used(&TestSystem::sqlite());
    let test_system = TestSystem::mysql("dyno_results");
    results_are_used(&test_system);
    test_system.drop_database("dyno_results");
}
