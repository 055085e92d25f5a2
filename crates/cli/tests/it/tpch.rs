//! TPC-H through the command line: answers, plans and loads on SQLite, MariaDB and TiDB, and go-tpc's tables.

use std::process::Command;

use record::Run;
use serde_json::Value;

use crate::sandbox::{Sandbox, both, json, report};
use crate::{server, tidb, tpcc};

/// The tables that go-tpc leaves empty at scale 0.
const LARGE: [&str; 6] = ["supplier", "customer", "part", "partsupp", "orders", "lineitem"];

fn ours(sandbox: &Sandbox, url: &str, arguments: &[&str]) -> Value {
    let mut command = sandbox.dyno(["bench", "tpch", "--format=json", "--quiet"]);
    report(command.args(["--system", url, "-o", "scale=0.01"]).args(arguments))
}

/// Runs go-tpc on the database of a URL, and returns what it prints.
fn their(sandbox: &Sandbox, verb: &str, url: &str, arguments: &[&str]) -> String {
    let login = server::login(url);
    let mut command = Command::new(tpcc::go_tpc());
    command.args(["tpch", verb, "-H", &login.host, "-P", &login.port, "-D", &login.database]);
    command.args(["-U", &login.user, "-p", &login.password, "-T", "1"]).args(arguments);
    let output = command.current_dir(sandbox.path()).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that a trial ran `streams` streams and that every answer was right.
fn all_right(trial: &Value, streams: u64) {
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!(trial["failed_transactions"], 0);
    let conditions = trial["own"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 22);
    for condition in conditions {
        assert_eq!(condition["verdict"], "holds", "{condition}");
    }
    for operation in trial["operations"].as_array().unwrap() {
        assert_eq!(operation["succeeded"], streams, "{operation}");
    }
}

#[test]
fn answers_on_sqlite_are_right_cold_and_warm() {
    let sandbox = Sandbox::new();
    let report = ours(&sandbox, "sqlite", &["--repetitions=2"]);
    all_right(&report["trials"][0], 1);
    all_right(&report["trials"][1], 1);
}

#[test]
fn answers_on_mariadb_are_right_after_load_data_local() {
    let sandbox = Sandbox::new();
    let options = ["-o", "load_data_local=true", "--clients=1,2"];
    let report = ours(&sandbox, "mariadb", &options);
    all_right(&report["trials"][0], 1);
    all_right(&report["trials"][1], 2);
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    }
}

#[test]
fn answers_on_postgres_are_right_and_plans_tell_times_and_buffers() {
    let sandbox = Sandbox::new();
    let report = ours(&sandbox, "postgres", &["-o", "plans=analyze", "--clients=1,2"]);
    all_right(&report["trials"][0], 1);
    all_right(&report["trials"][1], 2);
    let run = Run::open(&sandbox.runs()[0]).unwrap();
    let plans = &run.trials[0].plans;
    assert_eq!(plans.len(), 22);
    for plan in plans {
        let text = &plan.text;
        assert!(text.contains("actual time=") && text.contains("Buffers: shared hit="), "{text}");
    }
}

#[test]
fn refreshed_data_are_restored_on_mariadb() {
    let sandbox = Sandbox::new();
    // Queries of the tables that are refreshed; the answers of all are other tests' subject.
    let options =
        ["-o", "refresh=true", "-o", "queries=1,6,14", "--clients=1,3", "--repetitions=2"];
    let report = ours(&sandbox, "mariadb", &options);
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    }
}

#[test]
fn a_server_that_refuses_load_data_local_is_told_how_to_allow_it() {
    let sandbox = Sandbox::new();
    let system = ["--system-option", "settings.local_infile=OFF"];
    let mut command = sandbox.dyno(["bench", "tpch", "--quiet", "--system", "mariadb"]);
    command.args(["-o", "scale=0.01", "-o", "load_data_local=true"]).args(system);
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("SET GLOBAL local_infile = ON"), "{}", both(&output));
}

#[test]
fn tables_that_are_there_are_reused_by_go_tpc_too_and_a_query_that_times_out_is_ended() {
    let sandbox = Sandbox::new();
    let url = server::database("tpch_ours");
    let mut prepare = sandbox.dyno(["prepare", "tpch", "--system", &url, "-o", "scale=0.01"]);
    let prepared = prepare.output().unwrap();
    assert!(prepared.status.success(), "{}", both(&prepared));
    let columns =
        "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'tpch_ours'";
    assert_eq!(
        server::sql(columns).trim(),
        "61",
        "those of clause 1.4, and none of the load's own table"
    );
    let report = ours(&sandbox, &url, &["--existing=reuse"]);
    all_right(&report["trials"][0], 1);
    go_tpc_and_dyno_use_the_tables_of_each_other(&sandbox, &url);
    a_slow_query_is_ended(&sandbox, &url);
    server::sql("DROP DATABASE tpch_ours");
}

/// With dyno's tables in the database `tpch_ours`, whose URL is given.
fn go_tpc_and_dyno_use_the_tables_of_each_other(sandbox: &Sandbox, ours_url: &str) {
    let theirs_url = server::database("tpch_theirs");
    // Below scale 1 go-tpc has only scale 0: all tables, but rows only where their number is fixed.
    their(sandbox, "prepare", &theirs_url, &["--sf=0"]);
    for (table, rows) in [("region", "5"), ("nation", "25")] {
        let equal =
            format!("SELECT COUNT(*) FROM tpch_ours.{table} NATURAL JOIN tpch_theirs.{table}");
        assert_eq!(server::sql(&equal).trim(), rows, "rows of {table} that both have");
    }
    for table in LARGE {
        server::sql(&format!("INSERT INTO tpch_theirs.{table} SELECT * FROM tpch_ours.{table}"));
    }
    let report = ours(sandbox, &theirs_url, &["--existing=reuse"]);
    all_right(&report["trials"][0], 1);
    let said = their(sandbox, "run", ours_url, &["--sf=1", "--count=22"]);
    assert!(!said.contains("failed"), "{said}");
    let summary = said.lines().filter(|line| line.starts_with("[Summary] Q"));
    assert_eq!(summary.count(), 22, "{said}");
    server::sql("DROP DATABASE tpch_theirs");
}

/// The place of an operation in the first trial of a report.
fn operation<'r>(report: &'r Value, name: &str) -> &'r Value {
    let operations = report["trials"][0]["operations"].as_array().unwrap();
    operations.iter().find(|it| it["name"] == name).unwrap()
}

/// Runs Q6, Q2 and Q14 on loaded tables of which Q2 takes ten minutes, and ends after ten seconds.
fn a_slow_query_is_ended(sandbox: &Sandbox, url: &str) {
    // Of these, Q2 alone reads regions.
    let view = "CREATE VIEW region AS SELECT * FROM region_rows WHERE SLEEP(600) = 0";
    sandbox.file(
        "slow.toml",
        &format!(
            "existing = \"reuse\"\n[systems.slow]\nkind = \"mysql\"\nurl = \"{url}\"\n\
             [workloads.tpch]\nscale = 0.01\nqueries = \"6,2,14\"\nplans = \"none\"\n\
             [sql]\nbefore_run = [\"RENAME TABLE region TO region_rows\", \"{view}\"]\n\
             [load]\nquery_timeout = \"10s\"\n"
        ),
    );
    let output = sandbox.dyno(["run", "slow.toml", "--format=json"]).output().unwrap();
    let running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%p_mfgr%' AND INFO NOT LIKE \
                   '%PROCESSLIST%'";
    assert_eq!(server::sql_on(url, running).trim(), "0", "{}", both(&output));
    let report = json(&output);
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete", "{trial}");
    let counts = |name: &str| {
        let operation = operation(&report, name);
        ["succeeded", "timed_out", "failed"].map(|count| operation[count].as_u64().unwrap())
    };
    assert_eq!(counts("Q2"), [0, 1, 0]);
    assert_eq!((counts("Q6"), counts("Q14")), ([1, 0, 0], [1, 0, 0]), "the stream goes on");
    assert_eq!(trial["errors"][0]["class"], "timeout", "{}", trial["errors"]);
    let turns: Vec<(&Value, &Value)> = trial["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| (&turn["operation"], &turn["is_failed"]))
        .collect();
    let wanted = [("Q6", false), ("Q2", true), ("Q14", false)];
    let wanted = wanted.map(|(name, is_failed)| (Value::from(name), Value::from(is_failed)));
    assert!(
        turns.iter().copied().eq(wanted.iter().map(|(name, failed)| (name, failed))),
        "{turns:?}"
    );
    assert_eq!(trial["own"]["scores"], Value::Array(Vec::new()));
    let page = crate::sandbox::whole_page(sandbox.runs().last().unwrap());
    assert!(page.contains("no score, because scale 0.01 is none of"), "the reason is there");
}

#[test]
fn answers_on_tidb_are_right_after_load_data_local_and_a_query_that_times_out_is_ended() {
    let sandbox = Sandbox::new();
    let url = tidb::up(&sandbox);
    let report = ours(&sandbox, &url, &["-o", "load_data_local=true"]);
    all_right(&report["trials"][0], 1);
    a_slow_query_is_ended(&sandbox, &url);
    sandbox.succeed(["down"]);
}

#[test]
fn systems_answer_random_parameters_alike_and_one_that_does_not_fails_its_trial() {
    let sandbox = Sandbox::new();
    let change = "UPDATE lineitem SET l_returnflag = 'X' WHERE l_orderkey = 1 AND l_linenumber = 1";
    sandbox.file(
        "three.toml",
        &format!(
            "[systems.lite]\nkind = \"sqlite\"\n[systems.maria]\nkind = \"mariadb\"\n\
             [systems.changed]\nkind = \"mariadb\"\nsql = {{ before_run = \"{change}\" }}\n\
             [workloads.tpch]\nscale = 0.01\nparameters = \"random\"\n"
        ),
    );
    let output = sandbox.dyno(["run", "three.toml", "--format=json"]).output().unwrap();
    assert!(!output.status.success(), "{}", both(&output));
    let report = json(&output);
    let [lite, maria, changed] = [0, 1, 2].map(|at| &report["trials"][at]);
    assert_eq!((&lite["status"], &lite["own"]), (&"complete".into(), &Value::Null), "the first");
    all_right(maria, 1);
    let about = &maria["own"]["conditions"][0];
    assert_eq!(
        (&about["about"], &about["meaning"]),
        (&"same-answer".into(), &"the answer of lite to the same parameters".into())
    );
    assert_eq!(changed["status"], "failed", "{changed}");
    let reason = changed["reason"].as_str().unwrap();
    let wanted = "answers that differ between systems: Q1: unlike lite: 5 rows instead of 4; row ";
    assert!(reason.starts_with(wanted), "{reason}");
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("Two systems answered a query differently"), "its finding");
    assert!(!page.contains("The data was not consistent"), "that is another finding");
}
