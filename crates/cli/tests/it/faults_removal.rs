//! Ctrl-C while tables are dropped that the server does not drop: dyno does not wait, and tells what is left.

use nix::sys::signal::Signal;

use crate::faults_interrupt::{
    assert_given_up, assert_interrupted, report, start_with_blocked_cleanup, tables, under_way,
};
use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::Sandbox;
use crate::server;

#[test]
fn interrupt_in_cleanup_does_not_wait_for_a_lock() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_locked");
    let (run, reader) = start_with_blocked_cleanup(&sandbox, database);
    run.interrupt();
    let output = run.finish();
    assert_interrupted(&output);
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
    run.interrupt();
    let output = run.finish();
    assert_interrupted(&output);
    assert_given_up(&output, "`DROP TABLE IF EXISTS sbtest2` and 1 statement after it");
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
        ("tpcc", ["--option=warehouses=50", "--cleanup"], "order_line"),
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
