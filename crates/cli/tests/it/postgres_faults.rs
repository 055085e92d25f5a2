//! A PostgreSQL whose sessions, processes or disk are taken from it in the middle of a load.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use record::TrialRecord;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::own_server::{Background, wait_until};
use crate::postgres::is_something_left;
use crate::sandbox::{Sandbox, both, json};

/// Clients pause, to leave room for other tests.
fn bench(sandbox: &Sandbox, system: &str, more: &[&str]) -> Command {
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--tables=1"]);
    command.args(["--table-size=1000", "-o", "rand_type=uniform", "--think-time=10ms"]);
    command.args(["--warm-up=0s", "--interval=200ms", "--repetitions=1", "--format=json"]);
    command.args(["--system", system]).args(more).env("TMPDIR", sandbox.path());
    command
}

/// The processes that this one has started, with their titles.
fn children(pid: u32) -> Vec<(i32, String)> {
    let output = Command::new("pgrep").args(["-a", "-P", &pid.to_string()]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let child = |line: &str| {
        let (pid, title) = line.split_once(' ')?;
        Some((pid.parse().ok()?, title.to_owned()))
    };
    lines.lines().filter_map(child).collect()
}

/// The managed server of a dyno.
fn server_of(dyno: u32) -> i32 {
    let children = children(dyno);
    let server = children.iter().find(|(_, title)| title.contains("postgres -D"));
    server.unwrap_or_else(|| panic!("it has a server: {children:?}")).0
}

fn end(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

fn sessions_of(server: u32) -> Vec<i32> {
    let is_session = |(pid, title): (i32, String)| title.contains("127.0.0.1(").then_some(pid);
    children(server).into_iter().filter_map(is_session).collect()
}

/// The files and segments of shared memory that a server has.
fn shared_memory(sandbox: &Sandbox, server: i32) -> Vec<String> {
    let maps = fs::read_to_string(format!("/proc/{server}/maps")).unwrap();
    let mapped = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let mut all: Vec<String> =
        mapped.filter(|path| path.starts_with("/dev/shm/")).map(str::to_owned).collect();
    let found = Command::new("find").arg(sandbox.path()).args(["-name", "postmaster.pid"]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    let text = fs::read_to_string(PathBuf::from(found.trim())).unwrap();
    let segment = text.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
    all.push(segment.expect("the server has a segment").to_owned());
    all
}

fn is_there(memory: &str) -> bool {
    if memory.starts_with('/') {
        return fs::exists(memory).unwrap();
    }
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    segments.lines().any(|line| line.split_whitespace().nth(1) == Some(memory))
}

/// A load on a managed server in its measured time, with the server's process and the shared memory that it has.
fn measured<'s>(sandbox: &'s Sandbox, time: &str) -> (Background<'s>, i32, Vec<String>) {
    let mut command = bench(sandbox, "postgres", &["--clients=2", time]);
    let mut run = Background::start(sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    let server = server_of(run.pid());
    (run, server, shared_memory(sandbox, server))
}

fn assert_nothing_left(sandbox: &Sandbox, memory: Vec<String>, what: &str) {
    wait_until("nothing is left", || !is_something_left(sandbox));
    assert_eq!(sandbox.scratch_folders(), [""; 0].map(PathBuf::from), "{what}");
    let left: Vec<String> = memory.into_iter().filter(|it| is_there(it)).collect();
    assert_eq!(left, [""; 0], "{what}");
}

fn reconnects(trial: &TrialRecord) -> u64 {
    trial.intervals.iter().map(|it| it.tally.reconnects).sum()
}

#[test]
fn sessions_that_are_ended_and_a_backend_that_is_killed_are_told_and_the_load_goes_on() {
    let scratch = TempDir::new().unwrap();
    let settings = vec!["restart_after_crash=on".to_owned()];
    let server = start(Settings { settings, ..Settings::default() }, scratch.path()).unwrap();
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &server.url(), &["--clients=4", "--time=10m"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 3);
    // pg_terminate_backend sends this signal. The watch is among the sessions, and comes back too.
    sessions_of(server.pid()).into_iter().for_each(|pid| end(pid, Signal::SIGTERM));
    run.wait_for_record("all sessions are back", |trial| reconnects(trial) >= 4);
    // A process that is killed may have left the shared memory half changed: the server ends all sessions and recovers.
    end(sessions_of(server.pid())[0], Signal::SIGKILL);
    run.wait_for_record("all sessions are back again", |trial| reconnects(trial) >= 8);
    let is_back = |trial: &TrialRecord| {
        let last = trial.intervals.last();
        last.is_some_and(|it| it.tally.transactions > 0 && it.tally.reconnects == 0)
    };
    run.wait_for_record("it goes on", is_back);
    let trial = run.interrupted_trial();
    let errors = trial["errors"].to_string();
    assert!(errors.contains("57P01") || errors.contains("57P02"), "{errors}");
    assert!(!errors.contains("25P02"), "{errors}");
    assert!(!trial["outages"].as_array().unwrap().is_empty(), "{trial:#}");
    let findings = trial["findings"].to_string();
    assert!(!findings.contains("Clients left early"), "{findings}");
}

#[test]
fn a_managed_server_that_is_killed_ends_its_trial_and_leaves_nothing() {
    for what in ["postmaster", "session"] {
        let sandbox = Sandbox::new();
        let (run, server, memory) = measured(&sandbox, "--time=60s");
        match what {
            "postmaster" => end(server, Signal::SIGKILL),
            _ => end(sessions_of(server.cast_unsigned())[0], Signal::SIGKILL),
        }
        let output = run.finish();
        assert_eq!(output.status.code(), Some(1), "{what}: {}", both(&output));
        let trial = json(&output)["trials"][0].clone();
        assert_eq!(trial["status"], "crashed", "{what}: {}", both(&output));
        assert!(trial["transactions"].as_u64().unwrap() > 0, "{what}: {trial:#}");
        assert!(!trial["errors"].to_string().contains("25P02"), "{what}: {trial:#}");
        assert_nothing_left(&sandbox, memory, what);
    }
}

#[test]
fn a_managed_server_that_somebody_else_shuts_down_ends_with_its_sessions() {
    let sandbox = Sandbox::new();
    let (run, server, memory) = measured(&sandbox, "--time=2s");
    // The smart shutdown waits for the sessions of the load, and takes no new ones.
    end(server, Signal::SIGTERM);
    let output = run.finish();
    let trial = json(&output)["trials"][0].clone();
    assert!(trial["seconds"].as_f64().unwrap() > 1.9, "{}", both(&output));
    assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial:#}");
    assert_nothing_left(&sandbox, memory, "smart shutdown");
}

#[test]
fn a_disk_that_is_full_ends_the_trial_with_the_servers_words() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "fill.sql",
        "\\prepare\nCREATE TABLE filled (note TEXT);\n\\cleanup\nDROP TABLE filled;\n\\transaction fill\n\
         INSERT INTO filled SELECT repeat(md5(n::text), 100) FROM generate_series(1, 1000) AS n;\n",
    );
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=150m,mode=1777 tmpfs disk || exit 77; export TMPDIR=$PWD/disk
         {dyno} bench fill.sql --system=postgres --clients=2 --time=60s --warm-up=0s --interval=200ms \
         --repetitions=1 --format=json; code=$?; ls -A disk >left; exit $code"
    );
    let mut apart = Command::new("unshare");
    match geteuid().is_root() {
        true => apart.arg("--mount"),
        false => apart.args(["--user", "--map-current-user", "--keep-caps", "--mount"]),
    };
    let output = apart.args(["sh", "-c", &script]).current_dir(sandbox.path()).output().unwrap();
    assert_ne!(output.status.code(), Some(77), "no file system: {}", both(&output));
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let said = both(&output);
    assert!(said.contains("53100") || said.contains("No space left on device"), "{said}");
    assert_eq!(fs::read_to_string(sandbox.path().join("left")).unwrap(), "");
    assert!(!is_something_left(&sandbox));
}
