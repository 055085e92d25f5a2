//! Compares the statements of every script, as the server logs them, with those of sysbench 1.0.20.

use driver::Datum;

use crate::testing::{TestSystem, workload};

/// The statements of one event of sysbench 1.0.20 with one table, from MariaDB's general log: numbers as N, texts as
/// T, white space as one space, with the number of repetitions.
const SYSBENCH: [(&str, &[(usize, &str)]); 10] = [
    ("oltp_point_select", &[(1, POINT)]),
    (
        "oltp_read_only",
        &[
            (1, "BEGIN"),
            (10, POINT),
            (1, SIMPLE),
            (1, SUM),
            (1, ORDER),
            (1, DISTINCT),
            (1, "COMMIT"),
        ],
    ),
    (
        "oltp_read_write",
        &[
            (1, "BEGIN"),
            (10, POINT),
            (1, SIMPLE),
            (1, SUM),
            (1, ORDER),
            (1, DISTINCT),
            (1, INDEX_UPDATE),
            (1, NON_INDEX_UPDATE),
            (1, DELETE),
            (1, INSERT),
            (1, "COMMIT"),
        ],
    ),
    (
        "oltp_write_only",
        &[
            (1, "BEGIN"),
            (1, INDEX_UPDATE),
            (1, NON_INDEX_UPDATE),
            (1, DELETE),
            (1, INSERT),
            (1, "COMMIT"),
        ],
    ),
    ("oltp_update_index", &[(1, INDEX_UPDATE)]),
    ("oltp_update_non_index", &[(1, NON_INDEX_UPDATE)]),
    ("oltp_insert", &[(1, INSERT)]),
    ("oltp_delete", &[(1, DELETE)]),
    (
        "select_random_points",
        &[(1, "SELECT id, k, c, pad FROM sbtestN WHERE k IN (N, N, N, N, N, N, N, N, N, N)")],
    ),
    (
        "select_random_ranges",
        &[(
            1,
            "SELECT count(k) FROM sbtestN WHERE k BETWEEN N AND N OR k BETWEEN N AND N OR \
             k BETWEEN N AND N OR k BETWEEN N AND N OR k BETWEEN N AND N OR k BETWEEN N AND N OR \
             k BETWEEN N AND N OR k BETWEEN N AND N OR k BETWEEN N AND N OR k BETWEEN N AND N",
        )],
    ),
];
const POINT: &str = "SELECT c FROM sbtestN WHERE id=N";
const SIMPLE: &str = "SELECT c FROM sbtestN WHERE id BETWEEN N AND N";
const SUM: &str = "SELECT SUM(k) FROM sbtestN WHERE id BETWEEN N AND N";
const ORDER: &str = "SELECT c FROM sbtestN WHERE id BETWEEN N AND N ORDER BY c";
const DISTINCT: &str = "SELECT DISTINCT c FROM sbtestN WHERE id BETWEEN N AND N ORDER BY c";
const INDEX_UPDATE: &str = "UPDATE sbtestN SET k=k+N WHERE id=N";
const NON_INDEX_UPDATE: &str = "UPDATE sbtestN SET c='T' WHERE id=N";
const DELETE: &str = "DELETE FROM sbtestN WHERE id=N";
const INSERT: &str = "INSERT INTO sbtestN (id, k, c, pad) VALUES (N, N, 'T', 'T')";

/// Replaces the values of a statement by placeholders.
fn shape(statement: &str) -> String {
    let mut shape = String::new();
    let mut is_in_text = false;
    for letter in statement.chars() {
        match letter {
            '\'' => {
                if !is_in_text {
                    shape.push_str("'T");
                }
                is_in_text = !is_in_text;
                if !is_in_text {
                    shape.push('\'');
                }
            }
            _ if is_in_text => {}
            '0'..='9' if shape.ends_with('N') => {}
            '0'..='9' => shape.push('N'),
            other => shape.push(other),
        }
    }
    shape.split_whitespace().collect::<Vec<_>>().join(" ").replace("-N", "N")
}

/// Groups consecutive statements of the same shape.
fn runs(log: &[Vec<Datum>]) -> Vec<(usize, String)> {
    let mut runs: Vec<(usize, String)> = Vec::new();
    for row in log {
        let Datum::Text(statement) = &row[0] else { panic!("{row:?}") };
        let statement = shape(statement);
        match runs.last_mut() {
            Some((count, last)) if *last == statement => *count += 1,
            _ => runs.push((1, statement)),
        }
    }
    runs
}

#[test]
fn statements_are_those_of_sysbench_in_the_same_order() {
    let root = TestSystem::mysql("dyno_log");
    // The server may know this host by name, and may have an anonymous user for it.
    for host in ["%", "localhost"] {
        root.run(&format!("DROP USER IF EXISTS dyno_log@'{host}'"));
        root.run(&format!("CREATE USER dyno_log@'{host}'"));
        root.run(&format!("GRANT ALL ON dyno_log.* TO dyno_log@'{host}'"));
    }
    root.run("SET GLOBAL log_output = 'TABLE'");
    let test_system = TestSystem::mysql_as("dyno_log", "dyno_log");
    for (script, expected) in SYSBENCH {
        let workload = workload(&format!("sysbench/{script}"), "table_size = 200");
        workload.prepare(&root.context()).unwrap();
        root.run("TRUNCATE mysql.general_log");
        root.run("SET GLOBAL general_log = ON");
        test_system.trial(&*workload, 1, 2);
        root.run("SET GLOBAL general_log = OFF");
        let log = root.rows(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
             WHERE user_host LIKE 'dyno_log%' AND command_type IN ('Query', 'Execute')",
        );
        workload.cleanup(&root.context()).unwrap();
        let twice: Vec<Vec<Datum>> = log[..log.len() / 2].to_vec();
        let seen = runs(&twice);
        let seen: Vec<(usize, &str)> = seen.iter().map(|(n, text)| (*n, text.as_str())).collect();
        assert_eq!(seen, expected, "{script}");
        assert_eq!(runs(&log[log.len() / 2..]), runs(&twice), "{script}");
    }
    root.run("SET GLOBAL log_output = 'FILE'");
    root.run("DROP USER dyno_log@'%', dyno_log@'localhost'");
    root.drop_database("dyno_log");
}
