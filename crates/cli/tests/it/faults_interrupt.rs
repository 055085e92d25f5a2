//! Ctrl-C in each phase: measurements are kept, and unfinished tables are removed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use driver::Target;
use driver::sqlite::Config;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::driver_support;
use crate::faults_server::managed_mariadb;
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::server::{self, HeldLock};
use crate::tidb_cluster;

fn bench(sandbox: &Sandbox, url: &str) -> Command {
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--clients=2"]);
    command.args([
        "--time=60s",
        "--repetitions=1",
        "--interval=200ms",
        "--think-time=5ms",
        "--system",
        url,
    ]);
    command
}

pub(crate) fn tables(database: &str) -> String {
    server::sql(&format!("SHOW TABLES IN {database}"))
}

pub(crate) fn assert_interrupted(output: &Output) {
    assert_eq!(output.status.code(), Some(130), "{}", both(output));
}

/// Interrupts a run, which must end with the exit code of that.
pub(crate) fn interrupt(run: Background<'_>) -> Output {
    run.interrupt();
    let output = run.finish();
    assert_interrupted(&output);
    output
}

/// Whether dyno has told that it does not wait any longer for this and what follows.
pub(crate) fn assert_given_up(output: &Output, what: &str) {
    let text = both(output);
    assert!(text.contains(&format!("given up: {what}")), "{text}");
    assert!(text.contains("`dyno cleanup` removes what is left"), "{text}");
}

/// The report of a sandbox's only run.
pub(crate) fn report(sandbox: &Sandbox) -> Value {
    let text = fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Interrupts a command while it loads two large tables.
fn interrupt_while_loading(sandbox: &Sandbox, database: &str, command: &mut Command) {
    let run = Background::start(sandbox, command.args(["--tables=2", "--table-size=20M"]));
    let rows = format!("SELECT EXISTS (SELECT 1 FROM {database}.sbtest1)");
    let has_table = || tables(database).contains("sbtest1");
    wait_until("rows go in", || has_table() && server::sql(&rows).trim() == "1");
    interrupt(run);
    assert_eq!(tables(database), "");
}

#[test]
fn interrupt_in_prepare_drops_partial_tables() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_prepare");
    let url = server::database(database);
    interrupt_while_loading(&sandbox, database, &mut bench(&sandbox, &url));
    assert_eq!(report(&sandbox)["status"], "interrupted");
    let mut alone = sandbox.dyno(["prepare", "sysbench/oltp_read_write", "--system", &url]);
    interrupt_while_loading(&sandbox, database, &mut alone);
}

/// Interrupts a run when it has done some work in a phase; returns its trial.
fn interrupted_in(phase: &str, warm_up: &str, database: &str) -> Value {
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &server::database(database));
    command.args(["--table-size=200", "--warm-up", warm_up, "--cleanup"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", phase, 2);
    interrupt(run);
    assert_eq!(tables(database), "", "the cleanup is done");
    let trial = report(&sandbox)["trials"][0].clone();
    assert_eq!(trial["status"], "interrupted");
    trial
}

#[test]
fn interrupt_in_warm_up_reports_nothing_measured() {
    let trial = interrupted_in("warm-up", "60s", "dyno_interrupt_warm_up");
    assert_eq!(trial["transactions"], 0);
    let mut intervals = trial["intervals"].as_array().unwrap().iter();
    assert!(intervals.any(|interval| interval["transactions"] != 0), "{trial}");
}

#[test]
fn interrupt_while_measuring_keeps_measured_intervals() {
    let trial = interrupted_in("measure", "0s", "dyno_interrupt_measure");
    assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial}");
}

#[test]
fn sighup_ends_a_run_like_ctrl_c() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_hang_up");
    let mut command = bench(&sandbox, &server::database(database));
    command.args(["--table-size=200", "--warm-up=0s", "--cleanup"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    run.signal(Signal::SIGHUP);
    assert_interrupted(&run.finish());
    assert_eq!(tables(database), "", "the cleanup is done");
    assert!(report(&sandbox)["trials"][0]["transactions"].as_u64().unwrap() > 0);
}

#[test]
fn nohup_run_survives_sighup() {
    let sandbox = Sandbox::new();
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_dyno")).current_dir(sandbox.path()).env("HOME", sandbox.path());
    command.args(["bench", "sysbench/oltp_point_select", "--system=sqlite", "--table-size=10"]);
    command.args(["--time=2s", "--interval=100ms", "--warm-up=0s"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    run.signal(Signal::SIGHUP);
    let output = run.finish();
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(report(&sandbox)["status"], "complete");
}

/// A custom workload with a table `held`; its verification and its transaction run these queries.
fn one_table(sandbox: &Sandbox, url: &str, verify: &str, transaction: &str) -> Command {
    let text = format!(
        "\\prepare\nCREATE TABLE held (id INTEGER);\n\\verify\n{verify};\n\
         \\cleanup\nDROP TABLE held;\n\\transaction ask\n{transaction};\n"
    );
    sandbox.file("held.sql", &text);
    let mut command =
        sandbox.dyno(["bench", "held.sql", "--events=1", "--warm-up=0s", "--cleanup"]);
    command.args(["--system", url]);
    command
}

/// Starts a run whose cleanup waits until the returned lock is released.
pub(crate) fn start_with_blocked_cleanup<'s>(
    sandbox: &'s Sandbox,
    database: &str,
) -> (Background<'s>, HeldLock) {
    let url = server::database(database);
    let load = server::hold(database, "");
    let mut command = one_table(sandbox, &url, "SELECT 1", &load.question());
    let run = Background::start(sandbox, &mut command);
    wait_until("the load has begun", || load.is_asked());
    // A transaction that has read the table blocks a DROP of it.
    let reader = server::hold(
        &format!("{database}_reader"),
        &format!("BEGIN; SELECT COUNT(*) FROM {database}.held;"),
    );
    load.release();
    let dropping = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE 'DROP TABLE%' \
         AND db = '{database}'"
    );
    wait_until("the cleanup waits for the reader", || server::sql(&dropping).trim() == "1");
    (run, reader)
}

#[test]
fn interrupt_in_cleanup_lets_cleanup_finish() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_cleanup");
    let (run, reader) = start_with_blocked_cleanup(&sandbox, database);
    run.interrupt();
    reader.release();
    assert_interrupted(&run.finish());
    assert_eq!(tables(database), "");
    assert_eq!(report(&sandbox)["trials"][0]["transactions"], 1);
}

/// How many statements of a database begin so and have not ended on the server.
pub(crate) fn under_way(database: &str, beginning: &str) -> String {
    let query = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE '{beginning}%' \
         AND db = '{database}'"
    );
    server::sql(&query).trim().to_owned()
}

/// Starts a workload whose `\prepare` runs these statements, with a `\cleanup` for the table `held`.
pub(crate) fn start_preparing<'s>(
    sandbox: &'s Sandbox,
    url: &str,
    statements: &str,
) -> Background<'s> {
    let text = format!(
        "\\prepare\n{statements}\\cleanup\nDROP TABLE held;\n\\transaction ask\nSELECT 1;\n"
    );
    sandbox.file("held.sql", &text);
    Background::start(sandbox, &mut sandbox.dyno(["bench", "held.sql", "--system", url]))
}

#[test]
fn interrupt_ends_a_statement_of_prepare_on_the_server_too() {
    let before = "CREATE TABLE held (id INTEGER);\n";
    let cases = [
        (before, "INSERT INTO held QUESTION"),
        ("", "CREATE TABLE held AS SELECT SUM(a.seq) FROM seq_1_to_1000000 a, seq_1_to_1000000 b"),
        (before, "SELECT SLEEP(600)"),
    ];
    for (index, (before, waiting)) in cases.into_iter().enumerate() {
        let (sandbox, database) = (Sandbox::new(), format!("dyno_interrupt_statement_{index}"));
        let url = server::database(&database);
        let lock = server::hold(&database, "");
        let waiting = waiting.replace("QUESTION", &lock.question());
        let run = start_preparing(&sandbox, &url, &format!("{before}{waiting};\n"));
        wait_until("it waits", || under_way(&database, &waiting[..12]) == "1");
        // The lock is not released, so without more the statement would last for ten minutes, and a DROP as long.
        interrupt(run);
        wait_until("the statement has ended", || under_way(&database, &waiting[..12]) == "0");
        assert_eq!(tables(&database), "", "{waiting}");
        assert_eq!(report(&sandbox)["status"], "interrupted");
        lock.release();
    }
}

#[test]
fn interrupt_ends_the_making_of_an_index_on_the_server_too() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_index");
    let url = server::database(database);
    let lock = server::hold(database, "");
    let statements = format!(
        "CREATE TABLE held (id INTEGER);\n{};\nALTER TABLE held ADD INDEX (id);\n",
        lock.question()
    );
    let run = start_preparing(&sandbox, &url, &statements);
    wait_until("the table is there", || lock.is_asked());
    // A transaction that has read the table blocks the end of the ALTER, and then a DROP of the table.
    let reader = server::hold(
        &format!("{database}_reader"),
        &format!("BEGIN; SELECT COUNT(*) FROM {database}.held;"),
    );
    lock.release();
    wait_until("it makes the index", || under_way(database, "ALTER TABLE") == "1");
    run.interrupt();
    wait_until("the ALTER has ended", || under_way(database, "ALTER TABLE") == "0");
    let output = run.finish();
    assert_interrupted(&output);
    assert_given_up(&output, "`DROP TABLE held`");
    wait_until("the DROP has ended on the server too", || under_way(database, "DROP TABLE") == "0");
    assert_eq!(report(&sandbox)["status"], "interrupted");
    reader.release();
    sandbox.succeed(["cleanup", "held.sql", "--system", &url]);
    assert_eq!(tables(database), "");
}

#[test]
fn interrupt_ends_a_statement_of_before_run_on_the_server_too() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_before_run");
    let url = server::database(database);
    let lock = server::hold(database, "");
    let plan = format!(
        "system = \"{url}\"\nworkload = {{ kind = \"sysbench/oltp_point_select\", table_size = 10 }}\n\
         [sql]\nbefore_run = [\"{}\"]\n",
        lock.question()
    );
    sandbox.file("plan.toml", &plan);
    let run =
        Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml", "--set=cleanup=true"]));
    wait_until("the statement waits", || lock.is_asked());
    interrupt(run);
    assert!(!lock.is_asked(), "the statement has ended on the server");
    assert_eq!(tables(database), "", "the cleanup is done");
    lock.release();
}

#[test]
fn interrupt_in_verify_still_runs_cleanup_and_does_not_wait_for_the_server() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_verify");
    let url = server::database(database);
    let lock = server::hold(database, "");
    let mut command = one_table(&sandbox, &url, &lock.question(), "SELECT 1");
    let run = Background::start(&sandbox, &mut command);
    wait_until("it verifies", || lock.is_asked());
    interrupt(run);
    assert!(!lock.is_asked(), "the statement has ended on the server");
    assert_eq!(tables(database), "", "the cleanup is done");
    assert_eq!(report(&sandbox)["status"], "interrupted");
    lock.release();
}

/// Holds the write lock of an SQLite database on another thread until the returned sender is dropped.
fn hold_sqlite(file: &Path) -> (Sender<()>, JoinHandle<()>) {
    let (release, released) = mpsc::channel();
    let (told, is_held) = mpsc::channel();
    let target = Target::sqlite(Config::new(file));
    let holder = thread::spawn(move || {
        driver_support::run(|handle| async move {
            let mut session = target.connect(&handle, 0).await.unwrap();
            session.run("BEGIN IMMEDIATE").await.unwrap();
            told.send(()).unwrap();
            released.recv().unwrap_err();
        });
    });
    is_held.recv().unwrap();
    (release, holder)
}

fn has_open(pid: u32, file: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|one| fs::read_link(one.path()).ok()).any(|target| target == file)
}

#[test]
fn interrupt_ends_a_wait_for_the_lock_of_an_sqlite_database() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().canonicalize().unwrap().join("data.db");
    let (release, holder) = hold_sqlite(&file);
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--system=sqlite"]);
    command.arg("--system-option").arg(format!("path={}", file.display()));
    command.args(["--system-option=busy_timeout=1h", "--table-size=10", "--phase-timeout=1h"]);
    let run = Background::start(&sandbox, &mut command);
    wait_until("it waits for the lock", || has_open(run.pid(), &file) && signals_heard(&run) > 0);
    interrupt(run);
    drop(release);
    holder.join().unwrap();
}

/// Whether a stopped process will get this signal once it continues. Source: proc_pid_status(5), `ShdPnd`.
fn is_pending(pid: i32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    mask >> (signal as i32 - 1) & 1 == 1
}

/// Interrupts a run while it waits for its MariaDB to shut down. A server that does not answer does not do that either.
pub(crate) fn interrupt_the_shutdown_of_a_server(run: Background<'_>, server: i32) {
    kill(Pid::from_raw(server), Signal::SIGSTOP).unwrap();
    wait_until("the server is asked to end", || is_pending(server, Signal::SIGTERM));
    interrupt(run);
    assert!(!Path::new("/proc").join(server.to_string()).exists(), "the server is gone");
}

#[test]
fn interrupt_does_not_wait_for_the_clean_shutdown_of_a_server() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--system=mariadb"]);
    command.args(["--table-size=100", "--warm-up=0s", "--time=2s", "--interval=200ms"]);
    command.args(["--query-timeout=200ms", "--connect-timeout=200ms", "--reconnect-limit=off"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let server = managed_mariadb(&run);
    interrupt_the_shutdown_of_a_server(run, server);
}

#[test]
fn interrupt_does_not_wait_for_the_clean_shutdown_of_a_member() {
    let sandbox = Sandbox::new();
    let plan = tidb_cluster::plan(&sandbox, &tidb_cluster::program("TIKV"), "");
    let load = "[workloads.reads]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
                [load]\ntime = \"2s\"\nwarm_up = \"0s\"\ninterval = \"200ms\"\n\
                query_timeout = \"200ms\"\nconnect_timeout = \"2s\"\nreconnect_limit = \"off\"\n";
    sandbox.file("plan.toml", &(plan + load));
    let mut command = tidb_cluster::dyno_apart(&sandbox, ["run", "plan.toml"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let members = tidb_cluster::servers_of(&sandbox);
    let tidb = members.iter().find(|(name, _)| name == "tidb-server").unwrap().1;
    interrupt_the_shutdown_of_a_server(run, tidb);
    assert_eq!(tidb_cluster::servers_of(&sandbox), []);
    assert!(report(&sandbox)["trials"][0]["transactions"].as_u64().unwrap() > 0);
}

#[test]
fn a_second_interrupt_of_dyno_up_does_not_wait_for_the_clean_shutdown() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["up", "mariadb"]);
    let out = sandbox.path().join("said");
    let run = Background::start_into(&sandbox, &mut command, fs::File::create(&out).unwrap());
    let is_up = || fs::read_to_string(&out).unwrap().contains("Ctrl-C stops it");
    wait_until("it is up", is_up);
    let server = managed_mariadb(&run);
    kill(Pid::from_raw(server), Signal::SIGSTOP).unwrap();
    run.interrupt();
    wait_until("the server is asked to end", || is_pending(server, Signal::SIGTERM));
    run.interrupt();
    assert!(run.finish().status.success());
    assert!(!Path::new("/proc").join(server.to_string()).exists(), "the server is gone");
}

/// Whether a process runs; one that has ended may wait for its parent to notice.
pub(crate) fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_killed_dyno_leaves_no_process_of_a_build() {
    let sandbox = Sandbox::new();
    let build = "sleep 600 & echo $$ $! > new; mv new pids; wait";
    let text = format!(
        "[systems.lite]\nkind = \"sqlite\"\nbuild = \"{build}\"\n\
         [workloads.reads]\nkind = \"sysbench/oltp_point_select\"\n"
    );
    sandbox.file("plan.toml", &text);
    let run = Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml"]));
    let pids = sandbox.path().join("pids");
    wait_until("the build runs", || pids.exists());
    let pids = fs::read_to_string(pids).unwrap();
    assert!(pids.split_whitespace().all(is_running), "{pids}");
    run.signal(Signal::SIGKILL);
    wait_until("the build has ended", || !pids.split_whitespace().any(is_running));
    run.finish();
}

/// How many intervals of the first trial are on disk.
fn intervals(sandbox: &Sandbox) -> usize {
    let run = sandbox.path().join("results").read_dir().ok().and_then(|mut runs| runs.next());
    let lines = run.and_then(|run| {
        fs::read_to_string(run.unwrap().path().join("trials/0000/intervals.jsonl")).ok()
    });
    lines.unwrap_or_default().matches('\n').count()
}

#[test]
fn sqlite_statements_without_end_hold_up_neither_intervals_nor_ctrl_c() {
    let sandbox = Sandbox::new();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    sandbox.file("endless.sql", &format!("\\transaction ask\n{endless};\n"));
    let mut command = sandbox.dyno(["bench", "endless.sql", "--system=sqlite", "--clients=2"]);
    command.args([
        "--time=1h",
        "--repetitions=1",
        "--warm-up=0s",
        "--interval=100ms",
        "--query-timeout=1h",
    ]);
    let run = Background::start(&sandbox, &mut command);
    wait_until("intervals are on disk", || intervals(&sandbox) >= 5);
    interrupt(run);
    let trial = &report(&sandbox)["trials"][0];
    assert_eq!(
        (trial["status"].as_str(), trial["transactions"].as_u64()),
        (Some("interrupted"), Some(0))
    );
}

/// The number of times that dyno's signal thread has gone to sleep; 0 before it listens.
fn signals_heard(run: &Background<'_>) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", run.pid())).unwrap();
    let statuses =
        tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok());
    let of_signals = |status: &String| status.starts_with("Name:\tsignals\n");
    let status = statuses.into_iter().find(of_signals).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:\t"));
    count.map_or(0, |count| count.parse().unwrap())
}

#[test]
fn second_interrupt_does_not_wait_for_the_server() {
    let (sandbox, database) = (Sandbox::new(), "dyno_interrupt_twice");
    let (run, reader) = start_with_blocked_cleanup(&sandbox, database);
    wait_until("dyno listens to signals", || signals_heard(&run) > 0);
    let before = signals_heard(&run);
    run.interrupt();
    // The kernel merges two signals that arrive at once.
    wait_until("the first one is heard", || signals_heard(&run) > before);
    interrupt(run);
    wait_until("the DROP has ended on the server too", || under_way(database, "DROP TABLE") == "0");
    reader.release();
}

#[test]
fn a_phase_over_its_time_limit_is_aborted() {
    let (sandbox, database) = (Sandbox::new(), "dyno_phase_timeout");
    let url = server::database(database);
    let lock = server::hold(database, "");
    let mut command = one_table(&sandbox, &url, &lock.question(), "SELECT 1");
    let output = command.arg("--phase-timeout=300ms").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let told = both(&output);
    assert!(told.contains("it took longer than 300ms, its phase_timeout"), "{told}");
    lock.release();
}
