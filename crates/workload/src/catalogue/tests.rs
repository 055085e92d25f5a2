//! What every workload of the catalogue has in common, on SQLite.

use driver::Datum;

use super::catalogue;
use crate::testing::{TestSystem, workload};
use crate::{LoadKey, parallel};

/// The workloads whose requests cannot be seen in a SQLite file: those that only read, and bulk_insert, which draws
/// nothing. SQL files and the templates of calls have tests of their own.
const WITHOUT_TRACE: [&str; 8] = [
    "FILE.sql",
    "rpc",
    "sysbench/oltp_point_select",
    "sysbench/oltp_read_only",
    "sysbench/select_random_points",
    "sysbench/select_random_ranges",
    "sysbench/bulk_insert",
    "tpch",
];

/// The requests of one client, as far as they show: how often each operation succeeded, how many found
/// nothing, and the rows that differ from those of the original, by their integers. Texts are left out: YCSB
/// writes other values in each run, and TPC-C the time.
fn requests(original: &TestSystem, (kind, options): (&str, &str), repetition: u32) -> String {
    let mut copy = original.copy();
    copy.load_key = LoadKey { repetition, clients: 1, rate: 0 };
    let trial = copy.trial(&*workload(kind, options), 1, 100);
    let mut seen = format!("{:?} {}\n", trial.counts(), trial.tally.failed_transactions);
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    for table in copy.rows(tables) {
        let name = parallel::as_text(table.first()).unwrap();
        for row in changed_rows(original, &copy, &name) {
            let integers = row.iter().filter(|cell| matches!(cell, Datum::Int(_)));
            seen += &format!("{name} {:?}\n", integers.collect::<Vec<_>>());
        }
    }
    seen
}

fn changed_rows(original: &TestSystem, copy: &TestSystem, table: &str) -> Vec<Vec<Datum>> {
    let attach = format!("ATTACH '{}' AS original", original.file().display());
    let [old, new] =
        ["original", "main"].map(|side| format!("SELECT rowid, * FROM {side}.{table}"));
    let written = format!("SELECT * FROM ({new} EXCEPT {old}) ORDER BY 1");
    let lost = format!("SELECT * FROM ({old} EXCEPT {new}) ORDER BY 1");
    parallel::on_session(&copy.context(), async move |session| {
        session.run(&attach).await?;
        let rows = session.rows(&written).await?;
        Ok([rows, session.rows(&lost).await?].concat())
    })
    .unwrap()
}

/// Options that choose how requests are drawn.
const OTHER_DRAWS: [(&str, &str); 2] =
    [("ycsb/a", "zipfian = 'ycsb'"), ("ycsb/f", "readallfields = false")];

#[test]
fn requests_differ_between_trials_and_repeat_with_the_seed() {
    let kinds: Vec<String> = catalogue().into_iter().map(|info| info.kind).collect();
    let kinds = kinds.iter().map(|kind| (kind.as_str(), "")).chain(OTHER_DRAWS);
    for drawn in kinds.filter(|(kind, _)| !WITHOUT_TRACE.contains(kind)) {
        let (kind, options) = drawn;
        let original = TestSystem::sqlite();
        workload(kind, options).prepare(&original.context()).unwrap();
        if kind == "ycsb/c" {
            // Shows which records are read.
            original.run("DELETE FROM usertable WHERE rowid % 2 = 0");
        }
        let first = requests(&original, drawn, 0);
        assert_ne!(first, requests(&original, drawn, 1), "{drawn:?}: two trials of one plan");
        assert_eq!(first, requests(&original, drawn, 0), "{drawn:?}: the same seed and trial");
    }
}
