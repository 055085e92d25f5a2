//! Files are parsed as pgbench's users expect, and errors name their line.

use std::collections::BTreeMap;

use measure::OperationKind;
use proptest::prelude::*;

use super::mix::new_slots;
use super::script::{ParseContext, read};
use super::section::Script;
use super::source::split;
use super::statement::Verb;
use crate::expression::{Cell, Expression, Scope, Variables, parse};
use crate::random::Random;

fn script_with(text: &str, variables: &BTreeMap<String, Cell>) -> Result<Script, String> {
    let reading = ParseContext { file: "my.sql", stem: "my", variables };
    read(text, &reading, &mut new_slots())
        .map_err(|wrong| format!("{}: {} ({})", wrong.line, wrong.message, wrong.help))
}

fn script(text: &str) -> Result<Script, String> {
    script_with(text, &BTreeMap::new())
}

fn sql_of(script: &Script, transaction: usize) -> Vec<String> {
    let statements = &script.transactions[transaction].statements;
    statements.iter().map(|one| one.text.fill(|i| format!("<{i}>"))).collect()
}

#[test]
fn files_for_mysql_may_have_a_byte_order_mark_escaped_quotes_and_comments_after_a_hash() {
    let text = "\u{feff}# it's; a comment\nSELECT 'it\\'s ?;', :client_id; # the ; end\nSELECT 2 # ?\n, 3;\n";
    let script = script(text).unwrap();
    let sql = sql_of(&script, 0);
    let words: Vec<String> =
        sql.iter().map(|one| one.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words, ["SELECT 'it\\'s ?;', <0>", "SELECT 2 , 3"]);
    let standard = super::tests::script("SELECT 'C:\\'; SELECT 'D:\\';").unwrap();
    assert_eq!(sql_of(&standard, 0), ["SELECT 'C:\\'", "SELECT 'D:\\'"]);
}

#[test]
fn texts_and_operators_of_postgresql_are_read_whole() {
    let text = "SELECT E'it\\'s :a;', $$ :b; ' $$, $x$ $$; $x$, c ? 'k', c #>> '{a,b}', :client_id::int;\n\
                SELECT a$b$c, 'E', te'x\\';";
    let script = script(text).unwrap();
    let transaction = &script.transactions[0].statements;
    let pieces: Vec<Vec<&str>> = transaction.iter().map(|one| one.text.pieces()).collect();
    let first = "SELECT E'it\\'s :a;', $$ :b; ' $$, $x$ $$; $x$, c ? 'k', c #>> '{a,b}', ";
    assert_eq!(pieces, [vec![first, "::int"], vec!["SELECT a$b$c, 'E', te'x\\'"]]);
    assert!(transaction[0].text.has_question && !transaction[1].text.has_question);
    let endless = super::tests::script("SELECT $a$ $b$;").map(drop).unwrap_err();
    assert!(
        format!("{endless:?}").contains("a text that begins with $a$ does not end"),
        "{endless:?}"
    );
}

/// TPC-B as in pgbench's manual.
const TPC_B: &str = r"
\set scale 10
\set aid random(1, 100000 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE accounts SET balance = balance + :delta WHERE aid = :aid;
SELECT balance FROM accounts WHERE aid = :aid; -- what it is now
UPDATE tellers SET balance = balance + :delta WHERE tid = :tid;
INSERT INTO history (tid, aid, delta) VALUES (:tid, :aid, :delta);
END;
";

#[test]
fn a_script_of_pgbench_reads_as_one_transaction() {
    let script = script(TPC_B).unwrap();
    assert_eq!(script.transactions.len(), 1);
    let transaction = &script.transactions[0];
    assert_eq!((transaction.name.as_str(), transaction.sets.len()), ("my", 3));
    let names: Vec<String> = transaction.statements.iter().map(|one| one.text.name()).collect();
    let expected =
        ["begin", "update_accounts", "select_accounts", "update_tellers", "insert_history", "end"];
    assert_eq!(names, expected);
    let verbs: Vec<Verb> = transaction.statements.iter().map(|one| one.verb).collect();
    let expected = [Verb::Begin, Verb::Write, Verb::Read, Verb::Write, Verb::Write, Verb::End];
    assert_eq!(verbs, expected);
    assert!(transaction.writes());
    let update = "UPDATE accounts SET balance = balance + <0> WHERE aid = <1>";
    assert_eq!(sql_of(&script, 0)[1], update);
    let [aid, _, delta] = [0, 1, 2].map(|i| transaction.sets[i].slot);
    assert_eq!(transaction.statements[1].parameters, [delta, aid]);
}

#[test]
fn sections_and_weights_are_separated() {
    let text = "\
\\set rows 100
\\prepare
CREATE TABLE t (id INTEGER, note TEXT); INSERT INTO t VALUES (:rows, 'a;b');
\\transaction look 3
\\set id random(1, :rows)
SELECT * FROM t WHERE id = :id;
\\transaction put
INSERT INTO t VALUES (:client_id, :note);
\\verify
SELECT COUNT(*) > 0 FROM t;
\\cleanup
DROP TABLE t;
";
    let note = BTreeMap::from([("note".to_owned(), Cell::Text("it's".to_owned()))]);
    let script = script_with(text, &note).unwrap();
    let weights: Vec<_> =
        script.transactions.iter().map(|one| (one.name.as_str(), one.weight)).collect();
    assert_eq!(weights, [("look", 3), ("put", 1)]);
    assert_eq!(script.prepare[1].sql, "INSERT INTO t VALUES (100, 'a;b')");
    assert_eq!(script.prepare[1].place, "my.sql:3");
    assert_eq!((script.verify.len(), script.cleanup.len()), (1, 1));
    assert_eq!(script.transactions[1].statements[0].parameters.len(), 2);
}

#[test]
fn values_of_the_plan_override_those_of_the_file() {
    let text = "\\set rows 100\n\\set id random(1, :rows)\nSELECT :id, :rows;";
    let more = BTreeMap::from([("rows".to_owned(), Cell::Int(7))]);
    let mut slots = new_slots();
    let reading = ParseContext { file: "my.sql", stem: "my", variables: &more };
    let script = read(text, &reading, &mut slots).unwrap();
    let rows = script.transactions[0].statements[0].parameters[1];
    assert_eq!(slots[rows], Cell::Int(7));
}

#[test]
fn colons_in_quotes_casts_and_comments_are_not_parameters() {
    let text = "SELECT ':a', \":b\", `:c`, x::int, '12:30', arr[1:2] /* :d */ -- :e\n FROM t;;";
    let script = script(text).unwrap();
    assert_eq!(script.transactions[0].statements.len(), 1);
    assert!(script.transactions[0].statements[0].parameters.is_empty());
    let expected = "SELECT ':a', \":b\", `:c`, x::int, '12:30', arr[1:2] /* :d */ \n FROM t";
    assert_eq!(sql_of(&script, 0), [expected]);
}

#[test]
fn errors_show_their_line_and_the_nearest_spelling() {
    let cases = [
        "\\sett id 1\nSELECT 1;",
        "SELECT 1;\n\\set id randum(1, 10)\nSELECT :id;",
        "\\set ident random(1, 10)\nSELECT\n :idnet;",
        "\\set id random(10, 1)\nSELECT :id;",
        "\\set id random(1, 2, 3)\nSELECT :id;",
        "\\set id 1 / 0\nSELECT :id;",
        "\\set id (1 + 2\nSELECT :id;",
        "\\set id random_zipfian(1, 10, -1)\nSELECT :id;",
        "\\set id 9223372036854775807 + 1\nSELECT 1;",
        "\\set id ^1\nSELECT 1;",
        "\\set id\nSELECT 1;",
        "\\set n 1\n\\set m n + 1\nSELECT 1;",
        "SELECT 'abc;\n",
        "SELECT 1\n\\set a 1\n",
        "SELECT 1;\n\\transaction two\nSELECT 2;",
        "\\transaction\nSELECT 1;",
        "\\transaction one 0\nSELECT 1;",
        "\\transaction one\n",
        "\\prepare now\nSELECT 1;",
        "\\prepare\n\\set a 1\n",
        "\\set a random(1, 2)\n\\prepare\nSELECT :a;",
        "\\sleep 10 min\nSELECT 1;",
        "\\sleep\nSELECT 1;",
        "\\sleep 1.5 s\nSELECT 1;",
        "\\gset\nSELECT 2;",
        "SELECT 1 AS a \\gset a-b\nSELECT 2;",
        "SELECT 1 AS a \\gset x_\nSELECT :a;",
        "SELECT 1\n\\if 1\n;\n\\endif\n",
        "\\if :x\nSELECT 1;\n\\endif\n",
        "\\if\nSELECT 1;\n\\endif\n",
        "\\if 1\nSELECT 1;\n\\else if 2\n\\endif\n",
        "\\if 1\nSELECT 1;\n",
        "\\elif 1\nSELECT 1;\n",
        "\\if 1\nSELECT 1;\n\\else\n\\elif 2\n\\endif\n",
        "SELECT 1 \\; SELECT 2;",
        "\\prepare\n\\sleep 1 s\n",
        "\\sleep 1 s\n\\transaction two\nSELECT 2;",
        "\\startpipeline\nSELECT 1;",
        "\\startpipeline now\nSELECT 1;\n\\endpipeline",
        "\\startpipeline\nSELECT 1;\n\\startpipeline",
        "SELECT 1;\n\\syncpipeline",
        "\\startpipeline\nSELECT 1 AS a \\gset\n\\endpipeline",
        "\\if 1\n\\startpipeline\nSELECT 1;\n\\endif\n\\endpipeline",
        "\\startpipeline\n\\if 1\nSELECT 1;\n\\endpipeline\n\\endif",
        "\\setshell a date\nSELECT 1;",
        "SELECT 1\\G",
        "\\set a case 1 end\nSELECT 1;",
        "\\set a case when 1 then 2\nSELECT 1;",
        "\\set a 1 is 2\nSELECT 1;",
        "\\set a true + 1\nSELECT 1;",
        "\\set a 1 < 2 < 3\nSELECT 1;",
        "\\set a 1 << 64\nSELECT 1;",
        "\\set a debug(1)\nSELECT 1;",
        "\\set a permute(1, 0, 2)\nSELECT 1;",
        "-- nothing\n",
        "/* no end",
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|text| script(text).err().unwrap_or_else(|| panic!("{text:?} is read")))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

fn compute(text: &str) -> Result<Cell, String> {
    let expression = parse(text, &Scope::new(), 1).map_err(|wrong| wrong.message)?;
    Variables { slots: Vec::new(), random: Random::new(3) }.compute(&expression)
}

#[test]
fn expressions_compute_as_in_pgbench() {
    let cases = [
        ("1 + 2 * 3", Cell::Int(7)),
        ("(1 + 2) * -3", Cell::Int(-9)),
        ("7 / 2", Cell::Int(3)),
        ("7 / 2.0", Cell::Float(3.5)),
        ("-7 % 3", Cell::Int(-1)),
        ("2 - 3 - 4", Cell::Int(-5)),
        ("1e3 + .5", Cell::Float(1000.5)),
        ("abs(-5) + greatest(1, 9, 3) - least(2, 4)", Cell::Int(12)),
        ("int(3.9) + double(1)", Cell::Float(5.0)),
        ("'it''s'", Cell::Text("it's".to_owned())),
        ("- - +2", Cell::Int(2)),
        ("random(4, 4)", Cell::Int(4)),
        ("1 = 1 and not 2 < 1", Cell::Bool(true)),
        ("case when 0 then 1 when 2 > 1 then 3 end", Cell::Int(3)),
    ];
    for (text, expected) in cases {
        assert_eq!(compute(text), Ok(expected), "{text}");
    }
}

#[test]
fn constant_ranges_are_precomputed() {
    let scope = Scope::from([("n".to_owned(), Expression::Constant(Cell::Int(50)))]);
    let expression = parse("random_zipfian(1, :n * 2, 0.8)", &scope, 1).unwrap();
    assert!(matches!(expression, Expression::Draw(_)));
}

#[test]
fn templates_draw_digits_and_letters() {
    let Ok(Cell::Text(text)) = compute("template('##-@@x')") else { panic!("no text") };
    let shape: String = text
        .chars()
        .map(|c| match c {
            '0'..='9' => '#',
            'a'..='z' if c != 'x' => '@',
            other => other,
        })
        .collect();
    assert!(shape.starts_with("##-") && shape.ends_with('x'), "{text}");
}

#[test]
fn backslashes_of_sql_itself_are_kept() {
    let script = script("SELECT \\N, '\\gset', E'a\\if';").unwrap();
    assert_eq!(
        script.transactions[0].statements[0].text.marked(),
        "SELECT \\N, '\\gset', E'a\\if'"
    );
}

#[test]
fn statements_are_classified_by_their_verb() {
    let cases = [
        ("select 1", OperationKind::Read),
        ("WITH a AS (SELECT 1) SELECT * FROM a", OperationKind::Read),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", OperationKind::Write),
        ("REPLACE INTO t VALUES (1)", OperationKind::Write),
        ("BEGIN IMMEDIATE", OperationKind::Other),
        ("CALL p()", OperationKind::Other),
        ("ROLLBACK TO a", OperationKind::Other),
    ];
    for (sql, kind) in cases {
        let script = script(sql).unwrap();
        assert_eq!(script.transactions[0].statements[0].verb.kind(), kind, "{sql}");
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*|[\\\\a-z :;'\"\n()+*/%0-9.,-]*") {
        let _ = split(&text);
        let _ = script(&text);
        let _ = compute(&text);
    }
}
