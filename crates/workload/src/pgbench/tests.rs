//! The workload without a PostgreSQL: its options, and SQLite.

use std::path::Path;

use measure::ConditionResult;
use plan::Existing;

use crate::testing::{TestSystem, message, try_workload, workload};

fn refusals(options: &str) -> Vec<String> {
    let problems = try_workload("pgbench", options, Path::new("/")).err().unwrap_or_default();
    problems.into_iter().map(|it| it.message).collect()
}

#[test]
fn scripts_are_named_as_in_pgbench_with_weights() {
    let told = |options: &str| workload("pgbench", options).describe();
    assert_eq!(told(""), "pgbench tpcb-like: scale 1");
    assert_eq!(
        told(
            "builtin = 'tpcb-like@3,se@0'\nscale = 7\npartitions = 2\nfillfactor = 90\nunlogged = true"
        ),
        "pgbench tpcb-like@3, select-only@0: scale 7, 2 partitions by range, fillfactor 90, unlogged"
    );
    assert_eq!(refusals("builtin = 's'"), ["there is no built-in script `s`"]);
    assert_eq!(
        refusals("builtin = 'tpcb@0'"),
        ["all weights of `builtin` are 0: no transaction would run"]
    );
    assert_eq!(refusals("builtin = 'tpcb,tpcb-like'"), ["a script occurs twice in `builtin`"]);
    let weight = ["the weight in `tpcb@x` is no whole number up to 1000000"];
    assert_eq!(refusals("builtin = 'tpcb@x'"), weight);
    let method = ["`partition_method` has no effect without `partitions`"];
    assert_eq!(refusals("partition_method = 'hash'"), method);
}

#[test]
fn options_that_a_system_does_not_have_are_refused_before_anything_is_made() {
    for option in ["fillfactor = 90", "unlogged = true", "partitions = 2", "foreign_keys = true"] {
        let system = TestSystem::sqlite();
        let told = message(workload("pgbench", option).prepare(&system.context()));
        let name = option.split(' ').next().unwrap();
        assert!(told.starts_with(&format!("{name}: this system has no ")), "{told}");
        assert_eq!(system.integer("SELECT COUNT(*) FROM sqlite_master"), 0);
    }
}

#[test]
fn balances_are_compared_from_load_to_load() {
    let system = TestSystem::sqlite();
    let pgbench = workload("pgbench", "builtin = 'tpcb-like@2,simple-update,select-only'");
    pgbench.prepare(&system.context()).unwrap();
    pgbench.verify(&system.context()).unwrap();
    for _ in 0..2 {
        let trial = system.trial(&*pgbench, 2, 60);
        let counts = trial.counts();
        let done = |name: &str| counts.iter().find(|it| it.0 == name).unwrap().1;
        assert_eq!(done("tpcb-like.update_pgbench_branches"), done("tpcb-like"));
        assert_eq!(done("tpcb-like") + done("simple-update") + done("select-only"), 60);
        let conditions = pgbench.check(&system.context()).unwrap();
        assert!(conditions.iter().all(|it| it.verdict == ConditionResult::Holds), "{conditions:?}");
    }
    system.run("UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 3");
    let conditions = pgbench.check(&system.context()).unwrap();
    let broken: Vec<_> = conditions.iter().filter_map(|it| it.broken()).collect();
    assert_eq!(broken, ["the sum of tbalance has changed by 1, that of bbalance by 0"]);
    let told = pgbench.examine(&system.context()).unwrap();
    assert!(matches!(told[0].verdict, ConditionResult::Unknown(_)), "{told:?}");
    let again = system.with(Existing::Match);
    let other = workload("pgbench", "scale = 2");
    let told = message(other.prepare(&again.context()));
    let expected = "table pgbench_branches has 1 rows, those of scale 1, not 2; say scale = 1";
    assert!(told.starts_with(expected), "{told}");
    workload("pgbench", "").prepare(&again.context()).unwrap();
}

#[test]
fn more_clients_than_branches_get_a_remark() {
    let remarks = |options: &str, clients| workload("pgbench", options).rules(clients).remarks;
    assert_eq!(remarks("scale = 4", 4), [""; 0]);
    assert_eq!(remarks("builtin = 'select-only'", 4), [""; 0]);
    let told = remarks("scale = 3", 4);
    assert!(told[0].starts_with("4 clients update the rows of 3 branches, "), "{told:?}");
}
