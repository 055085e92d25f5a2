//! Ctrl-C in each phase of a run with generators: it ends, keeps what was measured, and leaves neither tables nor
//! processes.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use record::Run;

use crate::generators::{SYSBENCH, TWO, generators_of, mysql, recorded, run, transactions};
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::secrets::children;
use crate::server;

/// A run with two generators on a database of its own.
fn on_database(sandbox: &Sandbox, database: &str, workload: &str, load: &str) -> Command {
    let load = format!("clients = 4\ninterval = \"100ms\"\n{TWO}\n{load}");
    let mut command = run(sandbox, &mysql(&server::database(database)), workload, &load);
    command.arg("--set=cleanup=true");
    command
}

/// Interrupts a run as Ctrl-C at a terminal does, which reaches all of its processes, and waits for its end.
fn interrupted(run: Background<'_>, sandbox: &Sandbox) {
    for generator in generators_of(run.pid()) {
        // It may be about to end.
        let _ = kill(generator, Signal::SIGINT);
    }
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    wait_until("no process is left", || children(sandbox).is_empty());
}

fn tables(database: &str) -> String {
    server::sql(&format!("SHOW TABLES IN {database}"))
}

#[test]
fn an_interrupt_while_a_generator_is_reached_ends_the_run() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_reach");
    let load = "clients = 4\ngenerators = [\"local\", \"command:sh -c 'exec sleep 600'\"]";
    let mut command = run(&sandbox, &mysql(&url), SYSBENCH, load);
    let run = Background::start(&sandbox, &mut command);
    let is_reached = || children(&sandbox).iter().any(|child| child.program == "sleep");
    wait_until("the generator is being reached", is_reached);
    interrupted(run, &sandbox);
    assert_eq!(tables("dyno_generators_reach"), "");
}

#[test]
fn an_interrupt_in_prepare_ends_the_generators_and_drops_the_tables() {
    let (sandbox, database) = (Sandbox::new(), "dyno_generators_prepare");
    let workload = "kind = \"sysbench/oltp_read_write\"\ntables = 2\ntable_size = 20000000";
    let run = Background::start(&sandbox, &mut on_database(&sandbox, database, workload, ""));
    let rows = format!("SELECT EXISTS (SELECT 1 FROM {database}.sbtest1)");
    let has_table = || tables(database).contains("sbtest1");
    wait_until("rows go in", || has_table() && server::sql(&rows).trim() == "1");
    assert_eq!(generators_of(run.pid()).len(), 2);
    interrupted(run, &sandbox);
    assert_eq!(tables(database), "");
}

#[test]
fn an_interrupt_in_the_warm_up_keeps_it_and_cleans_up() {
    let (sandbox, database) = (Sandbox::new(), "dyno_generators_warm_up");
    let load = "time = \"60s\"\nwarm_up = \"60s\"";
    let mut command = on_database(&sandbox, database, SYSBENCH, load);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "warm-up", 3);
    interrupted(run, &sandbox);
    assert_eq!(tables(database), "");
    let (trial, parts) = recorded(&sandbox);
    assert_eq!((trial.total.transactions, transactions(&parts)), (0, 0));
    assert!(trial.intervals.len() >= 3);
}

#[test]
fn an_interrupt_in_the_drain_does_not_wait_for_answers() {
    let (sandbox, database) = (Sandbox::new(), "dyno_generators_drain");
    let lock = server::hold(database, "");
    sandbox.file("held.sql", &format!("\\transaction ask\n{};\n", lock.question()));
    let workload = "kind = \"held.sql\"";
    let load = "time = \"1s\"\nwarm_up = \"0s\"";
    let mut command = on_database(&sandbox, database, workload, load);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for_record("the window is over", |trial| {
        trial.intervals.last().is_some_and(|interval| interval.end_ns == 1_000_000_000)
    });
    interrupted(run, &sandbox);
    let trial = Run::open(&sandbox.runs()[0]).unwrap().trials.remove(0);
    assert_eq!(trial.total.transactions, 0);
    assert_eq!(trial.end.unwrap().edges.unanswered.count(), 4, "each client had asked");
    lock.release();
}
