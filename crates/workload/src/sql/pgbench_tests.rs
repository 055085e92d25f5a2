//! Scripts of pgbench, run by pgbench and by dyno on the same PostgreSQL.

use std::fmt::Write as _;
use std::path::Path;

use crate::Workload;
use crate::expression::{Cell, DEFAULT_SEED, Expression, Scope, Variables, parse};
use crate::parallel::as_text;
use crate::random::Random;
use crate::testing::{TestSystem, postgres_program, try_workload};

/// Expressions whose value does not depend on chance; `:default_seed` is 5.
const EXPRESSIONS: &[&str] = &[
    "1 + 2 * 3 - 7 / 2 - -7 % 3",
    "7 / 2.0 + 1e3",
    "~5 + 2",
    "1 + ~2 * 3",
    "6 & 3 | 8 # 1",
    "1 << 4 >> 1 + 1",
    "1 < 2 and 2 <= 2.0",
    "1 = 2 or not 3 <> 4",
    "1 != 2",
    "2 > 1 and 2 >= 3",
    "not null",
    "null and false",
    "null or true",
    "null or false",
    "false and null",
    "true and null",
    "true or null",
    "null = null",
    "null is null",
    "1 is not null",
    "5 isnull or 5 notnull",
    "(1 = 1) is true",
    "true is false",
    "1 + null",
    "case when 1 = 2 then 3 when 0 then 4 when 0.1 then 5.5 end",
    "case when null then 1 else false end",
    "case when 0 then 1 end",
    "int(3.9) + int(2.5) + int(-3.5)",
    "double(3) / 2",
    "abs(-5) + abs(-2.5)",
    "greatest(5, 4.0, 3)",
    "least(5, 4, 3)",
    "least(2, 2.5)",
    "mod(-7, 3) + mod(7.6, 5)",
    "7.6 % 5",
    "pi()",
    "exp(1.5) + ln(10) + sqrt(2)",
    "pow(2.0, 10) + power(9, 0.5)",
    "hash(1234)",
    "hash(1234, 5678)",
    "hash_murmur2(-1, 0)",
    "hash_fnv1a(10, 5432)",
    "hash_fnv1a(-42)",
    "hash_fnv1a(9.6, 1)",
    "permute(0, 4)",
    "permute(0, 10, 123456789)",
    "permute(11, 10, 123456789)",
    "permute(3, 1)",
    "permute(77, 1000000, -5)",
    "permute(9223372036854775806, 9223372036854775807, 1)",
    "permute(-5, 97)",
    "random(3, 3) + random_zipfian(4, 4, 1.5)",
    "abs(hash(7)) % 1000",
    ":client_id + :scale",
    "1 = 1 and 2 | 1 = 3",
    "- (2 + 3) * 4",
];

fn compute(text: &str) -> Result<Cell, String> {
    let constant = |number| Expression::Constant(Cell::Int(number));
    let scope = Scope::from([
        (DEFAULT_SEED.to_owned(), constant(5)),
        ("client_id".to_owned(), constant(0)),
        ("scale".to_owned(), constant(1)),
    ]);
    let expression = parse(text, &scope, 1).map_err(|wrong| wrong.message)?;
    Variables { slots: Vec::new(), random: Random::new(3) }.compute(&expression)
}

/// Whether a value is the one that pgbench has written, with 15 digits.
fn is_same(ours: &Cell, theirs: &str) -> bool {
    match (ours, theirs.parse::<f64>()) {
        (Cell::Float(ours), Ok(theirs)) => (ours - theirs).abs() <= ours.abs() * 1e-14,
        _ => ours.to_string().eq_ignore_ascii_case(theirs),
    }
}

#[test]
fn expressions_have_the_values_and_types_of_pgbench() {
    let system = TestSystem::postgres("dyno_expressions");
    system.run("CREATE TABLE seen (number INTEGER, value TEXT)");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.sql");
    let mut script = String::new();
    for (number, text) in EXPRESSIONS.iter().enumerate() {
        // pgbench replaces variables within quotes too.
        let _ = writeln!(
            script,
            "\\set v{number} {text}\nINSERT INTO seen VALUES ({number}, ':v{number}');"
        );
    }
    std::fs::write(&file, script).unwrap();
    let file = file.display().to_string();
    let arguments = ["-n", "-t", "1", "-M", "simple", "-D", "default_seed=5", "-f", &file];
    postgres_program("pgbench", "dyno_expressions", &arguments);
    let theirs = system.rows("SELECT value FROM seen ORDER BY number");
    assert_eq!(theirs.len(), EXPRESSIONS.len());
    let theirs = theirs.iter().map(|row| as_text(row.first()).unwrap());
    let differ = EXPRESSIONS.iter().zip(theirs).filter_map(|(text, theirs)| {
        let ours = compute(text);
        let is_same = ours.as_ref().is_ok_and(|ours| is_same(ours, &theirs));
        (!is_same).then(|| format!("{text}: {ours:?}, not {theirs}"))
    });
    assert_eq!(differ.collect::<Vec<_>>(), [""; 0]);
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_expressions");
}

fn own(folder: &Path, name: &str, text: &str) -> Box<dyn Workload> {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    try_workload(file.to_str().unwrap(), "", Path::new("/")).unwrap_or_else(|it| panic!("{it:?}"))
}

/// A script that reads before it writes, in branches.
const BRANCHES: &str = "\
\\set id random(1, 20)
\\set how 0
BEGIN;
SELECT id AS id, stock, note, stock + 0.5 AS half, id IS NOT NULL AS is_there
  FROM goods WHERE id = :id FOR UPDATE \\gset g_
\\sleep 100 us
\\if :g_stock >= 5 and :g_is_there
  \\set how 1
  UPDATE goods SET stock = stock - 5 WHERE id = :g_id;
  SELECT stock AS left_over, :g_stock - 5 AS wanted FROM goods WHERE id = :id
  \\gset
  \\if :left_over <> :wanted
  INSERT INTO wrong VALUES ('stock', :id);
  \\endif
\\elif :g_stock > 0 or :g_half < 0.4
  \\set how 2
  UPDATE goods SET stock = 0 WHERE id = :g_id;
\\else
  \\set how case when :g_note is null then 3 else 4 end
\\endif
SELECT 7 AS how WHERE false \\aset
INSERT INTO seen VALUES (:id, :how, :g_stock, :g_note, :g_half);
END;
";

#[test]
fn a_script_with_branches_and_results_runs_unchanged_in_both() {
    let system = TestSystem::postgres("dyno_branches");
    system.run("CREATE TABLE goods (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL, note TEXT)");
    system.run("INSERT INTO goods SELECT n, n, CASE WHEN n % 2 = 0 THEN '007' END FROM generate_series(1, 20) AS n");
    system
        .run("CREATE TABLE seen (id INTEGER, how INTEGER, stock INTEGER, note TEXT, half NUMERIC)");
    system.run("CREATE TABLE wrong (what TEXT, id INTEGER)");
    let folder = tempfile::tempdir().unwrap();
    let script = own(folder.path(), "branches.sql", BRANCHES);
    let trial = system.trial(&*script, 4, 400);
    let count = |name: &str| trial.counts().iter().find(|it| it.0 == name).unwrap().1;
    assert_eq!((count("branches"), count("insert_seen"), count("insert_wrong")), (400, 400, 0));
    assert_eq!(trial.tally.failed_transactions, 0);
    // Each article is sold in fives, then its rest, then there is none.
    let how = "SELECT COUNT(*) FROM seen WHERE how <> CASE WHEN stock >= 5 THEN 1 WHEN stock > 0 THEN 2 \
               WHEN note IS NULL THEN 3 ELSE 4 END OR half <> stock + 0.5 OR note <> '007'";
    assert_eq!(system.integer(how), 0);
    let sold = "SELECT COUNT(*) FROM seen WHERE how = 1";
    let fives = "SELECT SUM(id / 5) FROM goods";
    assert_eq!(system.integer(sold), system.integer(fives), "everything was sold");
    assert!(count("update_goods") as i64 == system.integer(sold));
    assert_eq!(system.integer("SELECT SUM(stock) FROM goods"), 0);

    // pgbench takes the same file, but not a NULL in a number.
    system.run("UPDATE goods SET stock = id, note = '007'");
    let file = folder.path().join("branches.sql").display().to_string();
    let told = postgres_program("pgbench", "dyno_branches", &["-n", "-t", "100", "-f", &file]);
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("number of transactions actually processed: 100/100"), "{told}");
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_branches");
}

#[test]
fn results_are_kept_in_each_way_of_sending_statements() {
    for ps in ["named", "unnamed", "text"] {
        let database = format!("dyno_results_{ps}");
        let system = TestSystem::postgres_with(&database, &format!("?ps={ps}"));
        system.run("CREATE TABLE seen (a INTEGER, b TEXT, c BOOLEAN, d NUMERIC)");
        let folder = tempfile::tempdir().unwrap();
        let script = "SELECT 5 AS a, 'x''y' AS b, true AS c, 1.50 AS d \\gset\n\
                      \\set a :a + 1\n\\set c not :c\n\
                      INSERT INTO seen VALUES (:a, :b, :c, :d);\n";
        let script = own(folder.path(), "results.sql", script);
        system.trial(&*script, 2, 10);
        let right =
            "SELECT COUNT(*) FROM seen WHERE a = 6 AND b = 'x''y' AND NOT c AND d::text = '1.50'";
        assert_eq!(system.integer(right), 10, "{ps}");
        drop(system);
        TestSystem::postgres_server().drop_database(&database);
    }
}

#[test]
fn a_bound_on_tries_gives_up_transactions_that_conflict() {
    let system = TestSystem::postgres("dyno_tries");
    system.run("CREATE TABLE one (id INTEGER PRIMARY KEY, n INTEGER)");
    system.run("INSERT INTO one VALUES (1, 0)");
    let folder = tempfile::tempdir().unwrap();
    // Under this isolation level the second of two that read before either writes fails with 40001.
    let script = "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM one;\n\\sleep 2 ms\n\
                  UPDATE one SET n = n + 1 WHERE id = 1;\nCOMMIT;\n";
    let file = folder.path().join("tries.sql");
    std::fs::write(&file, script).unwrap();
    let kind = file.to_str().unwrap();
    for (options, gives_up) in [("", false), ("max_tries = 1", true), ("max_tries = 1000", false)] {
        let load = try_workload(kind, options, Path::new("/")).unwrap();
        system.run("UPDATE one SET n = 0");
        let trial = system.trial(&*load, 4, 60);
        let failed = trial.tally.failed_transactions;
        assert_eq!(failed > 0, gives_up, "{options}: {failed}");
        assert_eq!(system.integer("SELECT n FROM one"), 60 - failed as i64, "{options}");
        let keys: Vec<&str> = trial.tally.errors.keys().map(|key| key.code.as_str()).collect();
        assert_eq!(keys, ["40001"], "{options}");
        assert_eq!(trial.tally.retries() > 0, !gives_up, "{options}");
    }
    let both = try_workload(kind, "max_tries = 2\ntransient_errors = 'ignore'", Path::new("/"));
    let told = both.err().map(|all| all[0].message.clone()).unwrap();
    assert!(told.starts_with("`max_tries` has no effect"), "{told}");
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_tries");
}

#[test]
fn each_transaction_may_have_a_connection_of_its_own() {
    let system = TestSystem::postgres("dyno_reconnect");
    system.run("CREATE TABLE seen (client INTEGER, process INTEGER)");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("each.sql");
    std::fs::write(&file, "INSERT INTO seen VALUES (:client_id, pg_backend_pid());").unwrap();
    for (options, connections) in [("", 2), ("reconnect = true", 40)] {
        let load = try_workload(file.to_str().unwrap(), options, Path::new("/")).unwrap();
        system.run("TRUNCATE seen");
        let trial = system.trial(&*load, 2, 40);
        assert_eq!(trial.tally.failed_transactions, 0);
        // The opening of connections is a figure of its own: all but the first of each client are in the load.
        let each = [("each", 40), ("connect", 38)];
        assert_eq!(trial.counts(), each[..1 + usize::from(connections > 2)]);
        assert_eq!(trial.tally.queries.total(), 40);
        assert_eq!(system.integer("SELECT COUNT(DISTINCT process) FROM seen"), connections);
        assert_eq!(system.integer("SELECT COUNT(DISTINCT client) FROM seen"), 2);
    }
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_reconnect");
}

/// Two groups of statements, each in one write.
const PIPELINE: &str = "\
\\set id random(1, 20)
\\startpipeline
BEGIN;
UPDATE goods SET stock = stock + 1 WHERE id = :id;
\\set n :id + 1
SELECT stock FROM goods WHERE id = :id;
INSERT INTO seen VALUES (:id, :n);
COMMIT;
\\syncpipeline
\\if :id > 10
INSERT INTO seen VALUES (:id, 0);
\\endif
\\endpipeline
\\sleep 1 ms
SELECT 1;
";

#[test]
fn a_pipeline_runs_unchanged_in_both_and_each_of_its_statements_has_a_latency() {
    for ps in ["named", "unnamed"] {
        let database = format!("dyno_pipeline_{ps}");
        let system = TestSystem::postgres_with(&database, &format!("?ps={ps}"));
        system.run("CREATE TABLE goods (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL)");
        system.run("INSERT INTO goods SELECT n, 0 FROM generate_series(1, 20) AS n");
        system.run("CREATE TABLE seen (id INTEGER, n INTEGER)");
        let folder = tempfile::tempdir().unwrap();
        let script = own(folder.path(), "pipe.sql", PIPELINE);
        let trial = system.trial(&*script, 4, 200);
        assert_eq!(trial.tally.failed_transactions, 0, "{:?}", trial.tally.errors);
        let count = |name: &str| trial.counts().iter().find(|it| it.0 == name).unwrap().1;
        for name in
            ["pipe", "begin", "update_goods", "select_goods", "insert_seen", "commit", "sleep"]
        {
            assert_eq!(count(name), 200, "{name}");
        }
        let second = count("insert_seen_2");
        assert!((1..200).contains(&second), "{second}");
        // A pause is no statement.
        assert_eq!(trial.tally.queries.total(), 6 * 200 + second);
        let sleep = trial.names.iter().position(|it| it == "sleep").unwrap();
        let shortest = trial.tally.operations[sleep].succeeded.percentiles_ns([0.0])[0];
        assert!(shortest >= 990_000, "{shortest}");
        assert_eq!(system.integer("SELECT SUM(stock) FROM goods"), 200);
        assert_eq!(system.integer("SELECT COUNT(*) FROM seen WHERE n = id + 1"), 200);
        assert_eq!(system.integer("SELECT COUNT(*) FROM seen WHERE n = 0"), second as i64);
        let file = folder.path().join("pipe.sql");
        // pgbench knows \syncpipeline from version 17 on.
        let older = PIPELINE.replace("\\syncpipeline", "\\endpipeline\n\\startpipeline");
        std::fs::write(&file, older).unwrap();
        let file = file.display().to_string();
        let told = postgres_program(
            "pgbench",
            &database,
            &["-n", "-M", "prepared", "-t", "50", "-f", &file],
        );
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains("number of transactions actually processed: 50/50"), "{told}");
        drop(system);
        TestSystem::postgres_server().drop_database(&database);
    }
}

#[test]
fn an_error_in_a_pipeline_leaves_out_the_rest_of_its_group_and_is_tried_again() {
    let system = TestSystem::postgres("dyno_pipeline_error");
    system.run("CREATE TABLE one (id INTEGER PRIMARY KEY, n INTEGER)");
    system.run("INSERT INTO one VALUES (1, 0)");
    let folder = tempfile::tempdir().unwrap();
    let script = "\\startpipeline\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM one;\nSELECT pg_sleep(0.002);\n\
                  UPDATE one SET n = n + 1 WHERE id = 1;\nCOMMIT;\n\\syncpipeline\nSELECT 1;\n\\endpipeline\n";
    let script = own(folder.path(), "conflict.sql", script);
    let trial = system.trial(&*script, 4, 60);
    assert_eq!(trial.tally.failed_transactions, 0);
    assert_eq!(system.integer("SELECT n FROM one"), 60);
    let keys: Vec<&str> = trial.tally.errors.keys().map(|key| key.code.as_str()).collect();
    assert_eq!(keys, ["40001"]);
    assert!(trial.tally.retries() > 0);
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_pipeline_error");
}

#[test]
fn pipelines_of_statements_that_are_sent_as_text_are_refused_with_what_to_do() {
    let system = TestSystem::postgres_with("dyno_pipeline_text", "?ps=text");
    let folder = tempfile::tempdir().unwrap();
    let script = own(folder.path(), "pipe.sql", "\\startpipeline\nSELECT 1;\n\\endpipeline\n");
    let load = script.load(&system.context());
    let told = system.try_offer(&*load, 1, 1).err().unwrap();
    assert!(told.contains("--ps named"), "{told}");
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_pipeline_text");
}

/// One of four keeps watch at least: each looks how many do before it goes. `repeats` counts the tries that have the values of
/// the try before; a sequence keeps its value when a transaction is rolled back.
const WRITE_SKEW: &str = "\
\\set amount random(1, 1000000000)
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT CASE WHEN pg_sequence_last_value(('last_' || :client_id)::regclass) = :amount THEN nextval('repeats') END,
  setval(('last_' || :client_id)::regclass, :amount);
SELECT COUNT(*) AS watching FROM watch WHERE is_on \\gset
INSERT INTO seen VALUES (:watching);
\\sleep 1 ms
UPDATE watch SET is_on = NOT is_on OR :watching < 2 WHERE id = :client_id;
COMMIT;
";

#[test]
fn write_skew_is_refused_and_tried_again_with_the_same_values() {
    let system = TestSystem::postgres("dyno_skew");
    system.run("CREATE TABLE watch (id INTEGER PRIMARY KEY, is_on BOOLEAN NOT NULL)");
    system.run("INSERT INTO watch SELECT n, true FROM generate_series(0, 3) AS n");
    system.run("CREATE TABLE seen (watching INTEGER)");
    system.run("CREATE SEQUENCE repeats");
    (0..4).for_each(|client| system.run(&format!("CREATE SEQUENCE last_{client}")));
    let folder = tempfile::tempdir().unwrap();
    let script = own(folder.path(), "skew.sql", WRITE_SKEW);
    let trial = system.trial(&*script, 4, 100);
    assert_eq!(trial.tally.failed_transactions, 0);
    let keys: Vec<&str> = trial.tally.errors.keys().map(|key| key.code.as_str()).collect();
    assert_eq!(keys, ["40001"]);
    let repeats = system.integer("SELECT pg_sequence_last_value('repeats'::regclass)");
    assert!(repeats > 0);
    // A COMMIT may be refused before the next try has begun, never the other way around.
    assert_eq!(repeats as u64, trial.tally.retries());
    assert_eq!(system.integer("SELECT COUNT(*) FROM seen"), 100);
    assert!(system.integer("SELECT MIN(watching) FROM seen") >= 1, "nobody kept watch");
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_skew");
}

#[test]
fn a_deadlock_has_one_victim_which_is_tried_again_after_the_server_has_looked_for_it() {
    let system = TestSystem::postgres("dyno_deadlock");
    system.run("CREATE TABLE two (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)");
    system.run("INSERT INTO two VALUES (0, 0), (1, 0)");
    let folder = tempfile::tempdir().unwrap();
    let script = "BEGIN;\nUPDATE two SET n = n + 1 WHERE id = :client_id;\n\\sleep 100 ms\n\
                  UPDATE two SET n = n + 1 WHERE id = 1 - :client_id;\nCOMMIT;\n";
    let script = own(folder.path(), "deadlock.sql", script);
    let trial = system.trial(&*script, 2, 2);
    let keys: Vec<&str> = trial.tally.errors.keys().map(|key| key.code.as_str()).collect();
    assert_eq!(keys, ["40P01"]);
    // Each deadlock has one victim. It may take its row again before the other has woken up: then there is another one.
    assert!((1..=5).contains(&trial.tally.retries()), "{:?}", trial.tally.errors);
    assert_eq!(trial.tally.failed_transactions, 0);
    assert_eq!(system.integer("SELECT SUM(n) FROM two"), 4);
    // That of `deadlock_timeout`, one second, is in the latency of both.
    let latencies = &trial.tally.operations[0].succeeded;
    assert!(latencies.percentiles_ns([0.0])[0] >= 1_000_000_000, "{latencies:?}");
    drop(system);
    TestSystem::postgres_server().drop_database("dyno_deadlock");
}
