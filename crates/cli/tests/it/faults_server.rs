//! Servers that stop during a run, restart, hang, or refuse connections.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use measure::ErrorClass;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::{IntervalRecord, TrialRecord};
use serde_json::Value;

use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, both, json};

/// Longer than any test: the test ends the load when it has seen enough.
const UNTIL_INTERRUPTED: [&str; 2] = ["--time=10m", "--repetitions=1"];

/// A load on two small tables that ends as JSON; its clients pause, to leave room for other tests.
fn bench(sandbox: &Sandbox, workload: &str, url: &str) -> Command {
    let mut command = sandbox.dyno(["bench", workload, "--tables=2", "--table-size=200"]);
    command.args(["--warm-up=0s", "--interval=200ms", "--think-time=20ms", "--format=json"]);
    command.args(["--system", url]);
    command
}

fn transactions_after(trial: &Value, at_ns: u64) -> u64 {
    let intervals = trial["intervals"].as_array().unwrap().iter();
    let after = intervals.filter(|interval| interval["start_ns"].as_u64().unwrap() > at_ns);
    after.map(|interval| interval["transactions"].as_u64().unwrap()).sum()
}

/// Whether this many clients have reconnected, and transactions ended in an interval that began after the outage.
fn is_over(trial: &TrialRecord, clients: u64) -> bool {
    let back: u64 = trial.outages.iter().map(|outage| outage.reconnects).sum();
    let end_ns = trial.outages.last().and_then(|outage| outage.end_ns);
    let works_again = |end_ns| {
        let later = |it: &&IntervalRecord| it.start_ns > end_ns;
        trial.intervals.iter().filter(later).any(|it| it.tally.transactions > 0)
    };
    back >= clients && end_ns.is_some_and(works_again)
}

/// Whether this many clients have reconnected, after an outage or when the server had closed idle connections, and
/// transactions end.
fn are_back(trial: &TrialRecord, clients: u64) -> bool {
    let reconnects: u64 = trial.intervals.iter().map(|it| it.tally.reconnects).sum();
    let works = |it: &IntervalRecord| it.tally.reconnects == 0 && it.tally.transactions > 0;
    reconnects >= clients && trial.intervals.last().is_some_and(works)
}

fn errors_of(trial: &Value, class: &str) -> u64 {
    let errors = trial["errors"].as_array().unwrap().iter();
    let of_class = errors.filter(|error| error["class"] == class);
    let sum = |error: &Value| {
        ["retried", "ignored", "fatal"].map(|how| error[how].as_u64().unwrap()).iter().sum::<u64>()
    };
    of_class.map(sum).sum()
}

fn has_finding(trial: &Value, words: &str) -> bool {
    let mut findings = trial["findings"].as_array().unwrap().iter();
    findings.any(|finding| finding.as_str().unwrap().contains(words))
}

#[test]
fn a_server_restart_is_an_outage_and_the_trial_continues() {
    let mut own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_write", &own.url());
    let mut run = Background::start(&sandbox, command.arg("--clients=4").args(UNTIL_INTERRUPTED));
    run.wait_for("0000", "measure", 3);
    own.kill();
    // A client notices the outage at its next turn. If it noticed after others had reconnected, this would be another
    // outage.
    let is_noticed = |trial: &TrialRecord| trial.outages.first().is_some_and(|it| it.failures == 4);
    run.wait_for_record("every client has lost it", is_noticed);
    own.server.start_again().unwrap();
    run.wait_for_record("all are back at work", |trial| is_over(trial, 4));
    let trial = &run.interrupted_trial();
    assert_eq!(trial["reconnects"], 4);
    assert_eq!(trial["failed_transactions"], errors_of(trial, "connection"));
    assert!(errors_of(trial, "connection") >= 4, "{}", trial["errors"]);
    let [outage] = trial["outages"].as_array().unwrap().as_slice() else {
        panic!("one outage: {}", trial["outages"]);
    };
    assert_eq!((&outage["failures"], &outage["reconnects"]), (&4.into(), &4.into()));
    let end_ns = outage["end_ns"].as_u64().expect("the server came back");
    assert!(end_ns > outage["start_ns"].as_u64().unwrap());
    assert!(transactions_after(trial, end_ns) > 0, "{}", trial["intervals"]);
    assert!(has_finding(trial, "The system was away"), "{}", trial["findings"]);
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("class=\"shade outage\""), "the plots over time mark it");
    assert!(page.contains("outage from"), "a table lists it");
}

#[test]
fn a_server_restart_during_loading_loses_no_rows() {
    let mut own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--tables=2"]);
    command.args(["--table-size=250000", "--clients=1", "--events=10", "--warm-up=0s"]);
    let run = Background::start(&sandbox, command.args(["--format=json", "--system", &own.url()]));
    let inserted = "SELECT variable_value FROM information_schema.global_status \
                    WHERE variable_name = 'Handler_write'";
    let begun = || own.sql(inserted).trim().parse::<u64>().unwrap() > 1_000;
    wait_until("rows are on their way", begun);
    own.kill();
    own.server.start_again().unwrap();
    let output = run.finish();
    // The run would fail if verify found a wrong number of rows.
    assert!(output.status.success(), "{}", both(&output));
    let trial = fs::read_to_string(sandbox.runs()[0].join("trials/0000/trial.json")).unwrap();
    let trial: Value = serde_json::from_str(&trial).unwrap();
    let prepare = &trial["phases"][0];
    assert_eq!(prepare["phase"], "prepare");
    assert!(prepare["loaded_again"].as_u64().unwrap() >= 1, "{prepare}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("connections were lost while loading"), "{told}");
    assert_eq!(own.sql("SELECT COUNT(*) FROM sbtest1").trim(), "250000");
}

#[test]
fn an_open_outage_is_recorded_before_dyno_is_killed() {
    let own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only", &own.url());
    let mut run =
        Background::start(&sandbox, command.args(["--clients=2", "--time=60s", "--repetitions=1"]));
    run.wait_for("0000", "measure", 1);
    own.kill();
    let trial = sandbox.runs()[0].join("trials/0000/trial.json");
    let is_kept = || fs::read_to_string(&trial).unwrap().contains("\"outages\"");
    wait_until("the outage is on disk", is_kept);
    run.signal(Signal::SIGKILL);
    run.finish();
    let report = json(&sandbox.succeed(["report", "results", "--format=json"]));
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "cut");
    assert_eq!(trial["outages"][0]["end_ns"], Value::Null, "{}", trial["outages"]);
    assert!(trial["outages"][0]["failures"].as_u64().unwrap() >= 1, "{}", trial["outages"]);
    assert!(has_finding(trial, "The system was away"), "{}", trial["findings"]);
}

#[test]
fn an_outage_between_trials_is_waited_out() {
    let mut own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only", &own.url());
    let mut run = Background::start(&sandbox, command.args(["--clients=2,3", "--time=4s"]));
    run.wait_for("0000", "measure", 1);
    own.kill();
    wait_until("it is waited for", || run.stderr_text().contains("waiting for the server"));
    own.server.start_again().unwrap();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trials = json(&output)["trials"].clone();
    // The server was away until the first one ended.
    assert_eq!(
        (&trials[0]["status"], &trials[1]["status"]),
        (&"failed".into(), &"complete".into())
    );
    assert!(trials[0]["reason"].as_str().unwrap().starts_with("no transaction succeeded for"));
    for trial in trials.as_array().unwrap() {
        assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial}");
    }
}

#[test]
fn without_reconnects_a_lost_connection_ends_the_trial() {
    let own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only", &own.url());
    command.args(["--clients=3", "--time=60s", "--repetitions=1", "--reconnect-limit=off"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    own.sql(
        "SELECT id INTO @one FROM information_schema.PROCESSLIST WHERE id <> CONNECTION_ID() \
         AND command <> 'Daemon' LIMIT 1; EXECUTE IMMEDIATE CONCAT('KILL ', @one)",
    );
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "failed");
    assert!(trial["reason"].as_str().unwrap().contains("reconnect_limit is off"), "{trial}");
    assert!(trial["seconds"].as_f64().unwrap() < 60.0);
    assert!(trial["transactions"].as_u64().unwrap() > 0, "what was measured is kept");
}

#[test]
fn clients_stop_reconnecting_at_the_limit() {
    let own = OwnServer::start(&[]);
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_point_select", &own.url());
    command.args(["--clients=2", "--time=60s", "--repetitions=1", "--reconnect-limit=700ms"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    own.kill();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    let trial = &report["trials"][0];
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.contains("no connection within 700ms"), "{reason}");
    assert!(reason.contains("nothing listens there"), "{reason}");
    assert_eq!(trial["outages"][0]["end_ns"], Value::Null, "it never came back");
    assert!(trial["seconds"].as_f64().unwrap() < 60.0);
}

/// The process of the MariaDB that dyno has started.
pub(crate) fn managed_mariadb(run: &Background<'_>) -> i32 {
    let servers = Command::new("pgrep").args(["-P", &run.pid().to_string(), "mariadbd"]).output();
    let pids = String::from_utf8(servers.unwrap().stdout).unwrap();
    pids.lines().next().expect("the managed server is a child").parse().unwrap()
}

#[test]
fn a_managed_server_crash_ends_only_its_own_trial() {
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only", "mariadb");
    let mut run = Background::start(
        &sandbox,
        command.args(["--clients=2,3", "--time=20s", "--repetitions=1"]),
    );
    run.wait_for("0000", "measure", 1);
    kill(Pid::from_raw(managed_mariadb(&run)), Signal::SIGKILL).unwrap();
    run.wait_for("0001", "measure", 2);
    run.interrupt();
    let output = run.finish();
    let report = json(&output);
    let (first, second) = (&report["trials"][0], &report["trials"][1]);
    assert_eq!(first["status"], "crashed", "{}", both(&output));
    let reason = first["reason"].as_str().unwrap();
    assert!(reason.contains("signal: 9 (SIGKILL)"), "{reason}");
    assert!(!reason.contains("ready for connections"), "its log cannot know: {reason}");
    assert!(first["seconds"].as_f64().unwrap() < 20.0, "at once");
    assert!(first["transactions"].as_u64().unwrap() > 0, "what was measured is kept");
    let [exit] = &first["member_exits"].as_array().unwrap()[..] else { panic!("{first}") };
    let at = exit["at_ns"].as_u64().unwrap() as f64 / 1e9 - first["seconds"].as_f64().unwrap();
    assert!(at.abs() < 1.0, "{at} s after the load: {exit}");
    assert_eq!(
        (&exit["member"], &exit["status"]),
        (&"mariadb".into(), &"signal: 9 (SIGKILL)".into())
    );
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains(">mariadb exited</text>"));
    assert_eq!(second["status"], "interrupted");
    assert_eq!(second["member_exits"], serde_json::json!([]));
    assert!(second["transactions"].as_u64().unwrap() > 0, "on a fresh server");
    let told = fs::read_to_string(sandbox.runs()[0].join("report.md")).unwrap();
    let crash = told.find("The server crashed").expect("the report says so");
    assert!(told.find("Statistics").is_none_or(|statistics| crash < statistics), "{told}");
}

/// The trials of a plan for two numbers of clients on a managed MariaDB that this statement shuts down.
fn ended_by_sql(phase: &str) -> Value {
    let sandbox = Sandbox::new();
    let plan = format!(
        "workload = {{ kind = \"sysbench/oltp_read_only\", table_size = 100 }}\n\
         system = {{ kind = \"mariadb\" }}\nbetween = \"reload\"\n[sql]\n{phase} = \"SHUTDOWN\"\n\
         [load]\nclients = [2, 3]\ntime = \"1s\"\nwarm_up = \"0s\"\n"
    );
    sandbox.file("plan.toml", &plan);
    let output = sandbox.dyno(["run", "plan.toml", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    json(&output)["trials"].clone()
}

#[test]
fn a_crash_before_the_load_is_recorded_and_the_next_trial_gets_a_new_server() {
    for phase in ["after_prepare", "before_run"] {
        let trials = ended_by_sql(phase);
        assert_eq!(trials.as_array().unwrap().len(), 2, "{trials}");
        for trial in trials.as_array().unwrap() {
            assert_eq!(trial["status"], "crashed", "{phase}: {trial}");
            let reason = trial["reason"].as_str().unwrap();
            assert!(reason.contains("MariaDB ended by itself (exit status: 0)"), "{reason}");
            assert!(reason.contains("Shutdown complete"), "its log is told: {reason}");
        }
    }
}

#[test]
fn a_crash_during_the_data_check_is_recorded() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "tpcc", "--system=mariadb", "--format=json"]);
    command.args(["--clients=1,2", "--time=1s", "--warm-up=0s", "--interval=200ms"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let pid = managed_mariadb(&run);
    let trial = sandbox.runs()[0].join("trials/0000/trial.json");
    wait_until("the load is over", || {
        fs::read_to_string(&trial).unwrap().contains("\"status\": \"complete\"")
    });
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    run.wait_for("0001", "measure", 1);
    let report = json(&run.finish());
    let (first, second) = (&report["trials"][0], &report["trials"][1]);
    assert_eq!(first["status"], "crashed", "{first}");
    assert!(first["reason"].as_str().unwrap().contains("SIGKILL"), "{first}");
    assert!(first["transactions"].as_u64().unwrap() > 0, "what was measured is kept");
    assert_eq!(second["status"], "complete", "on a fresh server: {second}");
}

/// The number of connections to a port with unread bytes. Source: proc_net(5).
fn unread(port: u16) -> usize {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_port = rows.filter(|fields| fields[1].ends_with(&format!(":{port:04X}")));
    of_port.filter(|fields| !fields[4].ends_with(":00000000")).count()
}

/// The number of timed-out transactions in the intervals on disk.
fn timed_out(trial: &TrialRecord) -> u64 {
    let errors = trial.intervals.iter().flat_map(|it| &it.tally.errors);
    errors.filter(|(key, _)| key.class == ErrorClass::Timeout).map(|(_, it)| it.total()).sum()
}

/// A load on its own server, which is paused during the load.
struct Stopped {
    own: OwnServer,
    sandbox: Sandbox,
}

impl Stopped {
    fn start(&self, more: &[&str]) -> Background<'_> {
        let mut command = bench(&self.sandbox, "sysbench/oltp_point_select", &self.own.url());
        command.arg("--clients=4").args(UNTIL_INTERRUPTED).args(more);
        let mut run = Background::start(&self.sandbox, &mut command);
        run.wait_for("0000", "measure", 2);
        self.own.signal(Signal::SIGSTOP);
        run
    }

    fn new() -> Self {
        Self { own: OwnServer::start(&[]), sandbox: Sandbox::new() }
    }
}

#[test]
fn a_stalled_server_shows_in_latency_without_errors() {
    let stopped = Stopped::new();
    let mut run = stopped.start(&[]);
    wait_until("every client waits", || unread(stopped.own.server.port()) >= 4);
    thread::sleep(Duration::from_secs(2));
    let seen = run.first_trial().unwrap().intervals.len();
    stopped.own.signal(Signal::SIGCONT);
    // The first transaction of each client that ends now has waited.
    let works_again = |trial: &TrialRecord| {
        trial.intervals.iter().skip(seen).any(|interval| interval.tally.transactions > 0)
    };
    run.wait_for_record("it works again", works_again);
    let trial = run.interrupted_trial();
    assert_eq!((&trial["failed_transactions"], &trial["reconnects"]), (&0.into(), &0.into()));
    assert_eq!(trial["outages"].as_array().unwrap().len(), 1, "{}", trial["outages"]);
    assert_eq!(trial["outages"][0]["failures"], 0);
    assert!(trial["latency"]["max_ns"].as_u64().unwrap() >= 2_000_000_000, "{trial}");
}

#[test]
fn timed_out_transactions_count_at_the_time_out_or_above() {
    let stopped = Stopped::new();
    let mut run = stopped.start(&["--query-timeout=500ms"]);
    // At the limit: while the server is paused, not when it finally answers.
    run.wait_for_record("each client has given up", |trial| timed_out(trial) >= 4);
    stopped.own.signal(Signal::SIGCONT);
    run.wait_for_record("all are back at work", |trial| is_over(trial, 4));
    let trial = run.interrupted_trial();
    let operation = &trial["operations"][0];
    let timed_out = operation["timed_out"].as_u64().unwrap();
    assert!(timed_out >= 4, "{operation}");
    assert_eq!(trial["failed_transactions"], errors_of(&trial, "timeout"));
    let max_ns = trial["latency"]["max_ns"].as_u64().unwrap();
    assert!(max_ns >= 500_000_000, "{}", trial["latency"]);
    let count = trial["latency"]["count"].as_u64().unwrap();
    // In addition, at most one transaction per client was in flight at the end.
    let ended = trial["transactions"].as_u64().unwrap() + timed_out;
    assert!((ended..=ended + 4).contains(&count), "{count} of {ended}");
    assert!(trial["reconnects"].as_u64().unwrap() >= 4);
    let outage = &trial["outages"][0];
    assert!(outage["end_ns"].as_u64() > outage["start_ns"].as_u64(), "{outage}");
}

#[test]
fn clients_reconnect_when_connections_become_free() {
    let own = OwnServer::start(&[]);
    own.make_user("guest", "");
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_point_select", &own.url_of("guest"));
    let mut run = Background::start(&sandbox, command.arg("--clients=14").args(UNTIL_INTERRUPTED));
    run.wait_for("0000", "measure", 2);
    own.sql("SET GLOBAL max_connections = 10; KILL USER guest");
    let connections = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE user = 'guest'";
    wait_until("ten are back", || {
        own.try_sql(connections).is_some_and(|count| count.trim() == "10")
    });
    wait_until("the limit is raised", || own.try_sql("SET GLOBAL max_connections = 100").is_some());
    run.wait_for_record("all are back at work", |trial| are_back(trial, 14));
    let trial = &run.interrupted_trial();
    assert_eq!(trial["reconnects"], 14);
    assert_eq!(errors_of(trial, "login"), 0);
    assert!(!has_finding(trial, "Clients left early"), "{}", trial["findings"]);
}

/// Every kind of client prepares its statements again after a reconnect.
#[test]
fn every_kind_of_client_reconnects_after_a_killed_connection() {
    let own = OwnServer::start(&[]);
    own.make_user("guest", "");
    own.sql(
        "CREATE TABLE mine (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO mine VALUES (1, 0)",
    );
    let sql = "UPDATE mine SET n = n + :client_id WHERE id = 1;\nSELECT n FROM mine;\n";
    for (workload, ps) in [
        ("sysbench/oltp_read_write", "off"),
        ("sysbench/bulk_insert", "on"),
        ("sysbench/select_random_points", "on"),
        ("mine.sql", "on"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.file("mine.sql", sql);
        let mut command = sandbox.dyno(["bench", workload, "--warm-up=0s", "--cleanup"]);
        command.args(["--clients=3", "--interval=200ms", "--think-time=20ms", "--format=json"]);
        command.args(["--ps", ps, "--system", &own.url_of("guest")]).args(UNTIL_INTERRUPTED);
        if workload != "mine.sql" {
            command.arg("--tables=1");
        }
        let mut run = Background::start(&sandbox, &mut command);
        run.wait_for("0000", "measure", 2);
        own.sql("KILL USER guest");
        run.wait_for_record("all are back at work", |trial| are_back(trial, 3));
        let trial = &run.interrupted_trial();
        assert_eq!(trial["reconnects"], 3, "{workload}: {trial}");
        assert!(!has_finding(trial, "Clients left early"), "{workload}: {trial}");
    }
}

#[test]
fn a_password_changed_during_a_run_is_not_retried() {
    let own = OwnServer::start(&[]);
    own.make_user("guest", "first");
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_point_select", &own.url_of("guest"));
    command.args(["--clients=2", "--time=60s", "--repetitions=1"]).env("DYNO_PASSWORD", "first");
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    own.sql("ALTER USER guest@localhost IDENTIFIED BY 'second'; KILL USER guest");
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    let trial = &report["trials"][0];
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.contains("1045") && reason.contains("check user and password"), "{reason}");
    assert!(trial["seconds"].as_f64().unwrap() < 60.0);
}

#[test]
fn clients_of_a_server_that_is_gone_move_to_another_one() {
    let servers = [OwnServer::start(&[]), OwnServer::start(&[])];
    servers.iter().for_each(|server| server.make_user("guest", ""));
    let [gone, left] = &servers;
    let login = left.login();
    let url =
        format!("mysql://guest@127.0.0.1:{},127.0.0.1:{}/test", gone.login().port, login.port);
    let sandbox = Sandbox::new();
    sandbox.file("ask.sql", "\\transaction ask\nSELECT 1;\n");
    let mut command = sandbox.dyno(["bench", "ask.sql", "--clients=5", "--warm-up=0s"]);
    command.args(["--interval=200ms", "--think-time=20ms", "--format=json", "--system", &url]);
    let mut run = Background::start(&sandbox, command.args(UNTIL_INTERRUPTED));
    run.wait_for("0000", "measure", 2);
    let sessions = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE user = 'guest'";
    assert_eq!(left.sql(sessions).trim(), "2");
    gone.kill();
    // Clients 0, 2 and 4 were on the first server.
    run.wait_for_record("all are back at work", |trial| is_over(trial, 3));
    assert_eq!(left.sql(sessions).trim(), "5");
    let trial = &run.interrupted_trial();
    assert_eq!((&trial["reconnects"], &trial["moves"]), (&3.into(), &3.into()), "{trial}");
    assert!(!has_finding(trial, "Clients left early"), "{}", trial["findings"]);
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("of these to another server"), "a table tells of them");
}
