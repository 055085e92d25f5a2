//! TPC-H on SQLite: rows, answers, streams, refresh functions, and loads that are continued.

use std::collections::BTreeMap;

use driver::{Datum, Value};
use measure::{Condition, ConditionResult, ConditionSubject, Failure};
use plan::Existing;

use super::answers::Answers;
use super::compare::difference;
use super::load::{Step, steps, steps_of_all};
use super::parameters::{QUERIES, validation};
use super::queries;
use super::rows::{Chunk, Sink};
use super::schema::Table;
use super::settings::Settings;
use super::style::Style;
use crate::testing::{TestSystem, message, try_workload, workload};
use crate::{LoadKey, Workload};

const SCALE: &str = "scale = 0.01";

fn settings(options: &str) -> Settings {
    Settings::read(&mut plan::Options::parse(options).unwrap().reader())
}

fn loaded(options: &str) -> (TestSystem, Box<dyn Workload>) {
    let (system, workload) = (TestSystem::sqlite(), workload("tpch", options));
    workload.prepare(&system.context()).unwrap();
    workload.verify(&system.context()).unwrap();
    (system, workload)
}

/// Runs a trial of all steps; returns the successes by operation and the broken conditions.
fn run(
    mut system: TestSystem,
    workload: &dyn Workload,
    options: &str,
    clients: usize,
) -> (TestSystem, BTreeMap<String, u64>, Vec<String>) {
    system.load_key = LoadKey { clients, ..LoadKey::default() };
    let trial = system.trial(workload, clients, steps_of_all(&settings(options), clients));
    let counts = trial.counts().into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    let conditions = workload.check(&system.context()).unwrap();
    let broken = conditions.iter().filter(|it| it.verdict != ConditionResult::Holds);
    let broken = broken.map(|it| format!("{}: {}", it.name, it.broken().unwrap())).collect();
    (system, counts, broken)
}

#[test]
fn two_streams_answer_every_query_rightly() {
    let (system, workload) = loaded(SCALE);
    let (_, counts, broken) = run(system, &*workload, SCALE, 2);
    assert_eq!(broken, [""; 0]);
    assert_eq!(counts.len(), QUERIES);
    assert!(counts.values().all(|count| *count == 2), "{counts:?}");
}

#[test]
fn a_wrong_row_is_found_and_shown() {
    let (system, workload) = loaded(SCALE);
    system.run("UPDATE region SET r_name = 'ASIEN' WHERE r_name = 'ASIA'");
    let (_, _, broken) = run(system, &*workload, SCALE, 1);
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].starts_with("Q5: 0 rows instead of 5; row 1: nothing, not "), "{broken:?}");
}

#[test]
fn answers_are_checked_before_the_first_refresh() {
    let options = "scale = 0.01\nrefresh = true";
    let (system, workload) = loaded(options);
    system.run("UPDATE orders SET o_orderpriority = '9-NEVER'");
    let told = message(workload.verify(&system.context()));
    assert!(told.contains("the answer to Q4 is wrong: 1 rows instead of 5"), "{told}");
}

#[test]
fn refresh_functions_change_their_orders_alone_and_are_undone() {
    let options = "scale = 0.01\nrefresh = true\ncheck = false";
    let (system, workload) = loaded(options);
    let sums = "SELECT COUNT(*), SUM(l_orderkey), SUM(l_partkey * l_linenumber), \
                CAST(ROUND(100 * SUM(l_extendedprice)) AS INTEGER) FROM lineitem";
    let before = system.rows(sums);
    system.run(
        "CREATE TABLE log (what TEXT, id INTEGER); \
         CREATE TRIGGER added AFTER INSERT ON orders BEGIN INSERT INTO log VALUES ('+', NEW.o_orderkey); END; \
         CREATE TRIGGER gone AFTER DELETE ON orders BEGIN INSERT INTO log VALUES ('-', OLD.o_orderkey); END",
    );
    let (system, counts, _) = run(system, &*workload, options, 1);
    assert_eq!((counts["RF1"], counts["RF2"], counts["Q1"]), (1, 1, 1));
    assert_eq!(system.rows(sums), before, "restored");
    assert_eq!(system.integer("SELECT COUNT(*) FROM orders"), 15_000);
    // A thousandth of the table: 15 orders inserted and 15 deleted, and the same again to restore them.
    let count =
        |sql: &str| system.integer(&format!("SELECT COUNT(DISTINCT id) FROM log WHERE {sql}"));
    assert_eq!((count("what = '+'"), count("what = '-'")), (30, 30));
    assert_eq!(count("id % 32 < 8"), 15, "the keys of the table, of which 15 were deleted");
    assert_eq!(count("id % 32 BETWEEN 8 AND 15"), 15, "the keys of RF1");
    let deleted = system.integer("SELECT MAX(id) FROM log WHERE id % 32 < 8");
    let sixteenth = system.integer("SELECT o_orderkey FROM orders ORDER BY 1 LIMIT 1 OFFSET 14");
    assert_eq!(deleted, sixteenth, "the first set is the first fifteen orders");
    workload.verify(&system.context()).unwrap();
}

#[test]
fn the_refresh_stream_runs_a_pair_of_functions_for_each_stream_of_queries() {
    let with = settings("refresh = true");
    let sets: Vec<Step> = steps(&with, 4, 3);
    let wanted = (2..5).flat_map(|set| [Step::Insert(set), Step::Delete(set)]);
    assert_eq!(sets, wanted.collect::<Vec<_>>());
    assert_eq!(steps(&with, 4, 0)[0], Step::Query(21), "stream 1");
    assert_eq!(steps_of_all(&with, 4), 3 * 22 + 6);
    let power = steps(&with, 1, 0);
    assert_eq!(
        (power[0], power[1], power[23]),
        (Step::Insert(1), Step::Query(14), Step::Delete(1))
    );
    let plain = settings("order = \"ascending\"");
    assert_eq!(steps(&plain, 3, 2)[0], Step::Query(1));
    assert_eq!(steps_of_all(&plain, 3), 66);
}

#[test]
fn random_parameters_differ_by_stream_and_every_query_runs() {
    let options = "scale = 0.01\nparameters = \"random\"";
    let (system, workload) = loaded(options);
    let (_, counts, broken) = run(system, &*workload, options, 2);
    assert_eq!((counts.values().sum::<u64>(), broken.len()), (44, 0));
}

#[test]
fn a_load_that_was_interrupted_continues_where_it_stopped() {
    let (system, workload) = loaded("scale = 0.1");
    let step = "CREATE TABLE dyno_tpch_load (step VARCHAR(100) NOT NULL, PRIMARY KEY (step))";
    // The state after an interruption: one part of a table is missing, and so are an index and two steps.
    system.run(step);
    let lines = Table::LineItem.chunks(0.1, 50_000).count();
    let steps = |chunk: Chunk| format!("('{} {}/{}')", chunk.table.name(), chunk.part, chunk.parts);
    let all = Table::ALL.iter().flat_map(|table| table.chunks(0.1, 50_000));
    let mut done: Vec<String> =
        all.filter(|it| it.table != Table::LineItem || it.part != 2).map(steps).collect();
    let indexes = Table::ALL.iter().flat_map(|table| table.create_indexes());
    done.extend(indexes.filter(|it| !it.contains("idx_o_custkey")).map(|it| format!("('{it}')")));
    system.run(&format!("INSERT INTO dyno_tpch_load VALUES ('scale 0.1'), {}", done.join(", ")));
    system.run("DROP INDEX idx_o_custkey");
    let before = system.integer("SELECT COUNT(*) FROM lineitem");
    let rows = 150_000 / lines as i64;
    system.run(&format!(
        "DELETE FROM lineitem WHERE l_orderkey IN \
         (SELECT o_orderkey FROM orders ORDER BY o_orderkey LIMIT {rows} OFFSET {rows})"
    ));
    assert!(system.integer("SELECT COUNT(*) FROM lineitem") < before - 40_000);
    // Another scale cannot continue it.
    let other = crate::testing::workload("tpch", SCALE);
    let told = message(other.prepare(&system.context()));
    assert!(told.contains("already exist"), "{told}");
    workload.prepare(&system.context()).unwrap();
    let notes = system.progress.take_notes();
    assert!(notes[0].starts_with("continuing a load that was interrupted: "), "{notes:?}");
    assert_eq!(system.integer("SELECT COUNT(*) FROM lineitem"), before);
    let left =
        "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('dyno_tpch_load', 'idx_o_custkey')";
    assert_eq!(system.integer(left), 1, "the index alone");
}

#[test]
fn existing_tables_are_refused_reused_or_replaced() {
    let (system, workload) = loaded(SCALE);
    let again = crate::testing::workload("tpch", SCALE);
    assert!(message(again.prepare(&system.context())).contains("--existing reuse"));
    let system = system.with(Existing::Reuse);
    again.prepare(&system.context()).unwrap();
    let larger = crate::testing::workload("tpch", "scale = 0.02");
    let told = message(larger.prepare(&system.context()));
    assert!(told.contains("not") && told.contains("as at scale 0.02"), "{told}");
    again.cleanup(&system.context()).unwrap();
    assert_eq!(system.integer("SELECT COUNT(*) FROM region"), 5, "another process made them");
    workload.cleanup(&system.context()).unwrap();
    assert_eq!(
        system.integer(
            "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ),
        0
    );
}

/// Both have tables customer and orders.
#[test]
fn tables_of_tpcc_are_neither_used_nor_dropped() {
    let system = TestSystem::sqlite();
    let tpcc = crate::testing::workload("tpcc", "warehouses = 1");
    tpcc.prepare(&system.context()).unwrap();
    let tpch = crate::testing::workload("tpch", SCALE);
    let mut told = Vec::new();
    let mut system = system;
    for existing in [Existing::Match, Existing::Refuse, Existing::Reuse, Existing::Replace] {
        system = system.with(existing);
        told.push(message(tpch.prepare(&system.context())));
    }
    told.dedup();
    insta::assert_snapshot!(told.join("\n"), @"table customer is TPC-C's, not TPC-H's; use another database (`--create-database` creates it), or drop the table yourself");
    assert_eq!(system.integer("SELECT COUNT(*) FROM customer"), 30_000);
    tpcc.cleanup(&system.context()).unwrap();
    tpch.prepare(&system.context()).unwrap();
    let other = crate::testing::workload("tpcc", "warehouses = 1");
    insta::assert_snapshot!(message(other.prepare(&system.context())), @"table customer is TPC-H's, not TPC-C's; use another database (`--create-database` creates it), or drop the table yourself");
    assert_eq!(system.integer("SELECT COUNT(*) FROM orders WHERE o_orderkey > 0"), 15_000);
}

#[derive(Default)]
struct Lines(Vec<String>);

impl Sink for Lines {
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        let cells = row.iter().map(|value| match value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => (*text).to_owned(),
            other => panic!("{other:?}"),
        });
        self.0.push(cells.collect::<Vec<_>>().join("|"));
        Ok(())
    }
}

fn lines(chunks: impl Iterator<Item = Chunk>, scale: f64) -> Vec<String> {
    let mut out = Lines::default();
    for chunk in chunks {
        crate::parallel::at_once(chunk.make(scale, &mut out)).unwrap();
    }
    out.0
}

#[test]
fn the_parts_of_a_table_are_its_rows_at_every_scale() {
    for scale in [0.001, 0.003, 0.01] {
        for table in Table::ALL {
            let whole = lines(table.chunks(scale, u64::MAX), scale);
            let parts = lines(table.chunks(scale, 700), scale);
            assert_eq!(parts, whole, "{table:?} at {scale}");
            if table != Table::LineItem {
                assert_eq!(whole.len() as u64, table.rows(scale), "{table:?} at {scale}");
            }
        }
    }
}

#[test]
fn rows_are_those_of_dbgen() {
    let first = |table: Table| lines(table.chunks(1.0, 50_000).take(1), 1.0).swap_remove(0);
    // The first rows of the files that dbgen writes at scale 1.
    assert_eq!(
        first(Table::LineItem),
        "1|155190|7706|1|17|21168.23|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|\
         egular courts above the"
    );
    assert!(
        first(Table::Orders).starts_with("1|36901|O|173665.47|1996-01-02|5-LOW|Clerk#000000951|0|")
    );
    assert!(
        first(Table::Customer)
            .starts_with("1|Customer#000000001|IVhzIApeRb ot,c,E|15|25-989-741-2988|711.56|")
    );
}

/// The cells of dbgen's answer at scale 1, which are padded and rounded.
fn dbgen_answer(query: usize) -> Vec<Vec<String>> {
    let known = tpchgen::q_and_a::QueryAndAnswer::new(query as i32, 1.0).unwrap();
    let rows = known.answer().lines().filter(|line| !line.trim().is_empty()).skip(1);
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.map(cells).collect()
}

#[test]
fn the_answers_at_scale_1_are_those_that_come_with_dbgen() {
    let ours = Answers::at(1.0).unwrap();
    for query in 1..=QUERIES {
        let mut rows = ours.of(query).clone();
        for cell in rows.iter_mut().flatten() {
            *cell = cell.trim().to_owned();
        }
        let mut known = dbgen_answer(query);
        // The file of dbgen's answers cuts the last digits off the keys of Q11.
        for row in rows.iter_mut().chain(&mut known).filter(|_| query == 11) {
            row[0].truncate(1);
        }
        assert_eq!(difference(query, &known, &rows), None, "Q{query}");
    }
}

#[test]
fn an_option_out_of_range_is_refused() {
    let problems = try_workload("tpch", "scale = 0", std::path::Path::new("/")).err().unwrap();
    assert!(problems[0].message.contains("scale"), "{problems:?}");
    assert!(Answers::at(0.5).is_none() && Answers::exist_at(0.1));
}

#[test]
fn the_fraction_of_query_11_depends_on_the_scale() {
    let text = |scale| queries::text(11, &validation(11), Style(&driver::sqlite::DIALECT), scale);
    assert!(text(1.0).contains("* 0.0001000000 "), "{}", text(1.0));
    assert!(text(0.01).contains("* 0.0100000000 "));
}

#[test]
fn numbers_of_sqlite_are_never_integers_where_the_specification_has_decimals() {
    let (system, _) = loaded(SCALE);
    let rows = system.rows("SELECT DISTINCT typeof(l_quantity), typeof(l_discount) FROM lineitem");
    assert_eq!(rows, [[Datum::Text("real".to_owned()), Datum::Text("real".to_owned())]]);
}

#[test]
fn answers_without_a_known_one_are_compared_between_systems() {
    let options = "scale = 0.01\nparameters = \"random\"";
    let (mut first, workload) = loaded(options);
    let mut second = first.copy();
    (first.name, second.name) = ("one", "two");
    for system in [&mut first, &mut second] {
        system.load_key = LoadKey { clients: 2, ..LoadKey::default() };
    }
    let check = |system: &TestSystem| {
        system.trial(&*workload, 2, 44);
        workload.check(&system.context()).unwrap()
    };
    assert_eq!(check(&first), [], "there is no other system yet");
    let alike = check(&second);
    assert_eq!(alike.len(), QUERIES);
    for condition in &alike {
        assert_eq!(condition.verdict, ConditionResult::Holds, "{condition:?}");
        assert_eq!(condition.about, ConditionSubject::SameAnswer);
        assert_eq!(condition.meaning, "the answer of one to the same parameters");
    }
    assert_eq!(check(&first), [], "its own answers were the first");
    // Q1 groups by this column, and counts every line that was shipped before the summer of 1998.
    second.run("UPDATE lineitem SET l_returnflag = 'X' WHERE l_orderkey = 1 AND l_linenumber = 1");
    let differing: Vec<Condition> =
        check(&second).into_iter().filter(|it| it.broken().is_some()).collect();
    let [only] = &differing[..] else { panic!("{differing:?}") };
    assert_eq!(only.name, "Q1");
    let told = only.broken().unwrap();
    assert!(told.starts_with("unlike one: 5 rows instead of 4; row "), "{told}");
}

#[test]
fn answers_are_not_compared_where_they_are_known_or_may_differ() {
    let compares = |options: &str, clients| settings(options).compares_systems(clients);
    assert!(compares("scale = 10", 3), "the validation parameters at a scale without answers");
    assert!(!compares("scale = 1", 3), "they are known");
    assert!(compares("parameters = \"random\"\nrefresh = true", 1), "RF1 is through");
    assert!(!compares("parameters = \"random\"\nrefresh = true", 3), "the refresh stream runs too");
    assert!(!compares("parameters = \"random\"\ncheck = false", 1));
}

#[test]
fn queries_that_are_asked_for_run_alone_and_in_that_order() {
    let options = "scale = 0.01\nqueries = [14, 2, 9]";
    assert_eq!(
        steps(&settings(options), 2, 1),
        [Step::Query(14), Step::Query(2), Step::Query(9)],
        "in every stream"
    );
    let (system, workload) = loaded(options);
    let (_, counts, broken) = run(system, &*workload, options, 1);
    let wanted = [("Q14", 1), ("Q2", 1), ("Q9", 1)];
    assert_eq!(counts, wanted.map(|(name, count)| (name.to_owned(), count)).into());
    assert_eq!(broken, [""; 0]);
    assert!(workload.describe().contains("Q14, Q2 and Q9 alone"), "{}", workload.describe());
    let power = settings("queries = 6\nrefresh = true");
    assert_eq!(steps(&power, 1, 0), [Step::Insert(1), Step::Query(6), Step::Delete(1)]);
}

#[test]
fn queries_that_do_not_exist_are_refused() {
    let told = |options: &str| {
        let problems = try_workload("tpch", options, std::path::Path::new("/")).err().unwrap();
        format!("{}: {}", problems[0].message, problems[0].help.clone().unwrap_or_default())
    };
    assert_eq!(told("queries = \"1,23\""), "`queries` is 23, out of range: allowed: 1 to 22");
    assert_eq!(told("queries = [1, 6, 1]"), "`queries` has 1 twice: give each once");
    assert_eq!(
        told("queries = \"Q1\""),
        "`queries` is \"Q1\", not a whole number: allowed: 1 to 22"
    );
    assert_eq!(
        told("queries = [1]\norder = \"ascending\""),
        "`order` does not go with `queries`, which run in their own order: leave one of them out"
    );
}

#[test]
fn a_load_that_was_stopped_before_its_first_step_leaves_nothing_to_continue() {
    let system = TestSystem::sqlite();
    system.stop.ask();
    let told = message(crate::testing::workload("tpch", SCALE).prepare(&system.context()));
    assert_eq!(told, "interrupted");
    assert_eq!(system.progress.take_notes(), [""; 0]);
    assert_eq!(system.integer("SELECT COUNT(*) FROM sqlite_master"), 0);
}

#[test]
fn a_query_that_the_server_compiles_has_a_remark_with_its_plan() {
    for (cost, is_compiled) in [("0", true), ("-1", false)] {
        let options = format!("?options=-c%20jit%3Don%20-c%20jit_above_cost%3D{cost}");
        let system = TestSystem::postgres_with("dyno_jit", &options);
        let workload = workload("tpch", "scale = 0.01\nqueries = [1, 6]");
        workload.prepare(&system.context()).unwrap();
        // Those of the load that is there.
        let _load = workload.load(&system.context());
        let plans = workload.query_plans(&system.context()).unwrap();
        assert_eq!(plans.len(), 2);
        for plan in plans {
            let told = plan.remark.unwrap_or_default();
            assert_eq!(told.contains("(JIT)"), is_compiled, "{told}: {}", plan.text);
        }
        drop(system);
        TestSystem::postgres_server().drop_database("dyno_jit");
    }
}
