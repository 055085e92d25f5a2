//! Custom SQL through the command line.

use crate::sandbox::{Sandbox, json};
use crate::server;

/// The example of docs/sql-workloads.md.
const SHOP: &str = include_str!("../../../../docs/sql-workloads.md");

/// The first block of SQL of the page.
fn example() -> &'static str {
    let from = SHOP.find("```sql\n").unwrap() + "```sql\n".len();
    &SHOP[from..from + SHOP[from..].find("```").unwrap()]
}

#[test]
fn the_documented_example_runs_on_every_system() {
    let sandbox = Sandbox::new();
    sandbox.file("shop.sql", example());
    let url = server::database("workload_shop");
    for system in ["sqlite", url.as_str()] {
        let report = json(&sandbox.succeed([
            "bench",
            "shop.sql",
            "-D",
            // More than servers recurse by default (max_recursive_iterations and cte_max_recursion_depth, 1,000).
            "articles=100000",
            "--system",
            system,
            "--clients=3",
            "--events=400",
            "--warm-up=0s",
            "--format=json",
        ]));
        let trial = &report["trials"][0];
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["transactions"], 400);
        let names: Vec<&str> = trial["operations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|operation| operation["name"].as_str().unwrap())
            .collect();
        let expected =
            ["look", "buy", "buy.begin", "buy.update_articles", "buy.insert_sales", "buy.commit"];
        assert_eq!(names, expected);
    }
    server::sql("DROP DATABASE workload_shop");
}

#[test]
fn script_errors_show_file_and_line_before_the_start() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.sql", "\\set id random(1, 10)\nSELECT 1;\nSELECT :ident;\n");
    let said = sandbox.fail(2, ["bench", "bad.sql"]);
    assert!(said.contains("bad.sql:3: variable `ident` is not set before it is used"), "{said}");
    let said = sandbox.fail(2, ["bench", "none.sql"]);
    assert!(said.contains("none.sql: No such file"), "{said}");
}

/// pgbench's own script, without its fifth table.
const TPCB_LIKE: &str = "\
\\set aid random(1, 100 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE accounts SET balance = balance + :delta WHERE id = :aid;
SELECT balance FROM accounts WHERE id = :aid;
END;
";

#[test]
fn a_script_of_pgbench_runs_with_its_variables_defined() {
    let sandbox = Sandbox::new();
    sandbox.file("tpcb.sql", TPCB_LIKE);
    // A scale is 1 where nobody names it, as in pgbench; other variables have no value.
    sandbox.file("rows.sql", &TPCB_LIKE.replace(":scale", ":rows"));
    let said = sandbox.fail(2, ["bench", "rows.sql"]);
    assert!(said.contains("rows.sql:1: variable `rows`"), "{said}");
    assert!(said.contains("--define rows=VALUE"), "{said}");
    let url = server::database("workload_tpcb");
    server::sql("CREATE TABLE workload_tpcb.accounts (id INT PRIMARY KEY, balance INT NOT NULL)");
    server::sql("INSERT INTO workload_tpcb.accounts SELECT seq, 0 FROM test.seq_1_to_200");
    let output = sandbox.succeed([
        "bench",
        "tpcb.sql",
        "-D",
        "scale=2",
        "-D",
        "branches=9",
        "--system",
        &url,
        "--events=20",
        "--warm-up=0s",
        "--format=json",
    ]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("no file uses variable branches\n"), "{told}");
    let report = json(&output);
    let trial = &report["trials"][0];
    assert_eq!((&trial["status"], &trial["transactions"]), (&"complete".into(), &20.into()));
    let committed = server::sql("SELECT SUM(balance) <> 0 FROM workload_tpcb.accounts");
    assert_eq!(committed.trim(), "1", "what END committed is there");
    server::sql("DROP DATABASE workload_tpcb");
}

#[test]
fn a_refused_statement_is_reported_with_file_and_line() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.sql", "\\set id random(1, 10)\n\nSELECT :id;\nSELECT :id FROM nowhere;\n");
    let said = sandbox.fail(2, ["bench", "bad.sql", "--time=9s"]);
    assert_eq!(said.matches("nowhere").count(), 1, "{said}");
    assert!(said.contains("bad.sql:4: ") && said.contains("no such table: nowhere"), "{said}");
}
