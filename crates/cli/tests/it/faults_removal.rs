//! Ctrl-C while tables are dropped that the server does not drop: dyno does not wait, and tells what is left.

use std::process::{Child, Stdio};

use nix::sys::signal::Signal;

use crate::faults_interrupt::{
    assert_given_up, assert_interrupted, interrupt, report, start_preparing,
    start_with_blocked_cleanup, tables, under_way,
};
use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::server;

#[test]
fn interrupt_in_cleanup_does_not_wait_for_a_lock() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_locked");
    let (run, reader) = start_with_blocked_cleanup(&sandbox, database);
    let output = interrupt(run);
    assert_given_up(&output, "`DROP TABLE held`");
    assert_eq!(tables(database).trim(), "held");
    assert_eq!(report(&sandbox)["trials"][0]["transactions"], 1);
    wait_until("the DROP has ended on the server too", || under_way(database, "DROP TABLE") == "0");
    reader.release();
}

#[test]
fn interrupt_of_dyno_cleanup_does_not_wait_for_a_lock_and_the_next_one_removes_the_rest() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_dyno_cleanup");
    let url = server::database(database);
    let data = |task| {
        let mut command = sandbox.dyno([task, "sysbench/oltp_point_select", "--system", &url]);
        command.args(["--tables=3", "--table-size=10"]);
        command
    };
    assert!(data("prepare").status().unwrap().success());
    let reading = format!("BEGIN; SELECT COUNT(*) FROM {database}.sbtest2;");
    let reader = server::hold(&format!("{database}_reader"), &reading);
    let run = Background::start(&sandbox, &mut data("cleanup"));
    wait_until("the DROP waits for the reader", || under_way(database, "DROP TABLE") == "1");
    let output = interrupt(run);
    assert_given_up(&output, "`DROP TABLE IF EXISTS sbtest2`, `DROP TABLE IF EXISTS sbtest3`; ");
    assert_eq!(tables(database).split_whitespace().collect::<Vec<_>>(), ["sbtest2", "sbtest3"]);
    reader.release();
    assert!(data("cleanup").status().unwrap().success());
    assert_eq!(tables(database), "");
}

/// The bounds of the plan are an hour: only that of the removal is left.
#[test]
fn interrupt_in_prepare_does_not_wait_for_a_server_that_stands_still() {
    let workloads = [
        ("sysbench/oltp_read_write", ["--table-size=20M", "--tables=2"], "sbtest1"),
        ("tpcc", ["--option=warehouses=50", "--cleanup"], "orders"),
    ];
    for (workload, options, table) in workloads {
        let (sandbox, own) = (Sandbox::new(), OwnServer::start(&[]));
        let mut command = sandbox.dyno(["bench", workload, "--system", &own.url()]);
        command.args(options).args(["--connect-timeout=1h", "--phase-timeout=1h"]);
        let run = Background::start(&sandbox, &mut command);
        let rows = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        wait_until("rows go in", || own.try_sql(&rows).is_some_and(|text| text.trim() == "1"));
        own.signal(Signal::SIGSTOP);
        run.interrupt();
        let output = run.finish();
        own.signal(Signal::SIGCONT);
        assert_interrupted(&output);
        assert_given_up(&output, "`DROP TABLE IF EXISTS ");
    }
}

/// How many statements begin so and have not ended on a server.
fn sessions(own: &OwnServer, beginning: &str) -> String {
    let query = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE";
    own.sql(&format!("{query} '{beginning}%'")).trim().to_owned()
}

/// A session that has run these statements and stays open.
fn sleep_after(own: &OwnServer, statements: &str) -> Child {
    let mut client = own.client(&format!("{statements}; DO SLEEP(600)"));
    let client = client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the statements have run", || sessions(own, "DO SLEEP") == "1");
    client
}

fn end_sleep(own: &OwnServer, mut client: Child) {
    let query = "SELECT id FROM information_schema.PROCESSLIST WHERE info LIKE 'DO SLEEP%'";
    own.sql(&format!("KILL {}", own.sql(query).trim()));
    client.wait().unwrap();
}

#[test]
fn interrupt_of_dyno_cleanup_says_that_a_server_that_stands_still_may_go_on_with_a_drop() {
    let (sandbox, own) = (Sandbox::new(), OwnServer::start(&[]));
    let data = |task| {
        let mut command =
            sandbox.dyno([task, "sysbench/oltp_point_select", "--system", &own.url()]);
        command.args(["--tables=2", "--table-size=10", "--connect-timeout=1h"]);
        command
    };
    assert!(data("prepare").status().unwrap().success());
    let reader = sleep_after(&own, "BEGIN; SELECT COUNT(*) FROM sbtest1");
    let run = Background::start(&sandbox, &mut data("cleanup"));
    wait_until("the DROP waits for the reader", || sessions(&own, "DROP TABLE") == "1");
    own.signal(Signal::SIGSTOP);
    run.interrupt();
    let output = run.finish();
    own.signal(Signal::SIGCONT);
    assert_interrupted(&output);
    assert_given_up(&output, "`DROP TABLE IF EXISTS sbtest1`, `DROP TABLE IF EXISTS sbtest2`; ");
    assert!(both(&output).contains("the server may still do the first"), "{}", both(&output));
    end_sleep(&own, reader);
    assert!(data("cleanup").status().unwrap().success());
    assert_eq!(own.sql("SHOW TABLES"), "");
}

#[test]
fn interrupt_of_dyno_cleanup_before_its_first_drop_says_that_nothing_was_removed() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_untouched");
    let url = server::database(database);
    for workload in ["sysbench/oltp_point_select", "tpcc", "tpch", "ycsb/c"] {
        let lock = server::hold(database, "");
        let mut command = sandbox.dyno(["cleanup", workload, "--system", &url]);
        command.arg("--set").arg(format!("sql.prepare_session=\"{}\"", lock.question()));
        let run = Background::start(&sandbox, &mut command);
        wait_until("it looks for tables", || lock.is_asked());
        let output = interrupt(run);
        lock.release();
        let told = both(&output);
        assert!(told.contains("given up before anything was removed"), "{told}");
    }
}

#[test]
fn interrupt_tells_which_tables_of_an_unfinished_own_workload_stay() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_own_stays");
    let url = server::database(database);
    let lock = server::hold(database, "");
    let question = lock.question();
    let statements =
        format!("CREATE TABLE held (id INTEGER);\n{question};\nCREATE TABLE more (id INTEGER);\n");
    let run = start_preparing(&sandbox, &url, &statements);
    wait_until("the first table is there", || lock.is_asked());
    let output = interrupt(run);
    lock.release();
    let told = both(&output);
    assert!(told.contains("made until then stays: `dyno cleanup held.sql` drops it"), "{told}");
    sandbox.succeed(["cleanup", "held.sql", "--system", &url]);
    assert_eq!(tables(database), "");
}

#[test]
fn interrupt_before_tpch_makes_its_tables_promises_no_load_to_continue() {
    let (sandbox, own) = (Sandbox::new(), OwnServer::start(&[]));
    let reader = sleep_after(&own, "FLUSH TABLES WITH READ LOCK");
    let url = own.url();
    let mut command = sandbox.dyno(["prepare", "tpch", "-o", "scale=0.01", "--system", &url]);
    let run = Background::start(&sandbox, &mut command);
    wait_until("the first DROP waits", || sessions(&own, "DROP TABLE") == "1");
    let output = interrupt(run);
    let told = both(&output);
    assert!(told.contains("given up: `DROP TABLE IF EXISTS dyno_tpch_load`, "), "{told}");
    assert!(!told.contains("continues the load"), "{told}");
    end_sleep(&own, reader);
    sandbox.succeed(["prepare", "tpch", "-o", "scale=0.01", "--system", &url]);
}

/// Data of a system that dyno has started end with it, and no other command could remove them.
#[test]
fn interrupt_in_cleanup_tells_only_of_data_that_stay() {
    for (system, stays) in [("sqlite", false), ("sqlite:kept.db", true)] {
        let sandbox = Sandbox::new();
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                       SELECT COUNT(*) FROM n";
        let text = format!(
            "\\prepare\nCREATE TABLE held (id INTEGER);\n\\cleanup\n{endless};\n\
             \\transaction ask\nSELECT 1;\n"
        );
        sandbox.file("endless.sql", &text);
        let mut command = sandbox.dyno(["bench", "endless.sql", "--system", system]);
        command.args(["--events=1", "--warm-up=0s", "--cleanup"]);
        let mut run = Background::start(&sandbox, &mut command);
        run.wait_until_trial_ends("0000");
        let output = interrupt(run);
        let told = both(&output);
        assert_eq!(told.contains("given up: `WITH RECURSIVE"), stays, "{told}");
        assert_eq!(told.contains("dyno cleanup"), stays, "{told}");
    }
}
