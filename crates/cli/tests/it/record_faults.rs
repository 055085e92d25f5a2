//! Tests of the record when its disk fills up, its folder is removed or dyno is killed during a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use driver::{Datum, Target};
use nix::sys::signal::Signal;

use crate::driver_support;
use crate::own_server::Background;
use crate::sandbox::{Sandbox, both, json};
use crate::server;

/// A load that runs for a minute unless it is stopped.
const LOAD: [&str; 7] = [
    "bench",
    "sysbench/oltp_point_select",
    "--system=sqlite",
    "--table-size=100",
    "--time=60s",
    "--repetitions=1",
    "--interval=50ms",
];

/// Starts the load; returns once work has been done in the phase.
fn start<'d>(sandbox: &'d Sandbox, warm_up: &str, phase: &str) -> (Background<'d>, PathBuf) {
    let mut run = Background::start(sandbox, sandbox.dyno(LOAD).args(["--warm-up", warm_up]));
    run.wait_for("0000", phase, 1);
    (run, sandbox.runs().remove(0))
}

/// The message of a run, which must have failed.
pub(crate) fn failed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", both(output));
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_killed_run_reports_what_it_recorded() {
    let sandbox = Sandbox::new();
    let (dyno, run) = start(&sandbox, "100ms", "measure");
    dyno.signal(Signal::SIGKILL);
    dyno.finish();
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    assert!(listed.contains(" cut ") && listed.contains(" 0 of 1 "), "{listed}");
    let report = json(&sandbox.succeed(["report", "results", "--format=json"]));
    assert_eq!(report["status"], "cut");
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "cut");
    assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial}");
    assert!(trial["latency"]["count"].as_u64() == trial["transactions"].as_u64(), "{trial}");
    let text = String::from_utf8(sandbox.succeed(["report", "results", "--full"]).stdout).unwrap();
    assert!(text.contains("The trial was cut"), "{text}");
    assert!(crate::sandbox::whole_page(&run).contains("The trial was cut"));
}

/// The number of rows in the table `t` of a database file.
fn rows_of(file: &Path) -> u64 {
    let target = Target::sqlite(driver::sqlite::Config::new(file.to_owned()));
    let count = driver_support::run(|handle| async move {
        let mut session = target.connect(&handle, 0).await.unwrap();
        driver_support::cell(&mut session, "SELECT COUNT(*) FROM t").await
    });
    match count {
        Datum::Int(count) => count.try_into().unwrap(),
        other => panic!("a count is due, not {other:?}"),
    }
}

/// A client inserts a row in each transaction, so that the database counts on its own.
const ADD: &str = "\\prepare\nCREATE TABLE IF NOT EXISTS t (n INTEGER);\n\\transaction add\nINSERT INTO t VALUES (1);\n";

#[test]
fn a_run_that_stood_still_counts_every_row_and_is_not_valid() {
    let sandbox = Sandbox::new();
    sandbox.file("add.sql", ADD);
    let mut command = sandbox.dyno(["bench", "add.sql", "--clients=2", "--time=3s"]);
    command.args(["--warm-up=0s", "--interval=100ms", "--system=sqlite:data.db"]);
    let mut dyno = Background::start(&sandbox, &mut command);
    dyno.wait_for("0000", "measure", 1);
    dyno.signal(Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(800));
    dyno.signal(Signal::SIGCONT);
    let output = dyno.finish();
    assert!(output.status.success(), "{}", both(&output));
    let report = json(&sandbox.succeed(["report", "results", "--format=json"]));
    let trial = &report["trials"][0];
    assert_ne!(trial["validity"], "valid", "{}", both(&output));
    let after = trial["edges"]["succeeded_after"].as_u64().unwrap();
    let counted = trial["transactions"].as_u64().unwrap() + after;
    assert_eq!(counted, rows_of(&sandbox.path().join("data.db")));
}

#[test]
fn runs_killed_at_random_moments_keep_every_interval_that_was_on_disk() {
    let mut lost = Vec::new();
    for round in 0..24_u64 {
        let sandbox = Sandbox::new();
        sandbox.file("add.sql", ADD);
        // Each second one on a server, which is there after the kill.
        let database = (round % 2 == 1).then(|| format!("dyno_killed_{round}"));
        let system = match &database {
            Some(database) => server::database(database),
            None => "sqlite:data.db".to_owned(),
        };
        let mut command =
            sandbox.dyno(["bench", "add.sql", "--clients=2", "--time=60s", "--repetitions=1"]);
        command.args(["--warm-up=0s", "--interval=30ms", "--system", &system]);
        let mut dyno = Background::start(&sandbox, &mut command);
        dyno.wait_for("0000", "measure", 1);
        thread::sleep(Duration::from_millis(round * 7_919 % 230));
        let trial = sandbox.runs().remove(0).join("trials/0000");
        let before = fs::read_to_string(trial.join("intervals.jsonl")).unwrap();
        dyno.signal(Signal::SIGKILL);
        dyno.finish();
        let report = json(&sandbox.succeed(["report", "results", "--format=json"]));
        let read = &report["trials"][0];
        let intervals = read["intervals"].as_array().unwrap();
        assert!(intervals.len() >= before.matches('\n').count(), "{intervals:?}");
        let counted = read["transactions"].as_u64().unwrap();
        let sums = intervals.iter().map(|it| it["transactions"].as_u64().unwrap()).sum::<u64>();
        assert_eq!((read["latency"]["count"].as_u64(), sums), (Some(counted), counted));
        let rows = match &database {
            Some(database) => {
                let count = server::sql(&format!("SELECT COUNT(*) FROM {database}.t"));
                count.trim().parse().unwrap()
            }
            None => rows_of(&sandbox.path().join("data.db")),
        };
        assert!(counted <= rows, "{counted} counted, {rows} in the database");
        lost.push((rows - counted) as f64 * intervals.len() as f64 / counted as f64);
    }
    // In rows of a mean interval: those of the one in hand, which had 30 ms, and of the one that was being written.
    // Where other tests keep a worker thread from running, its intervals wait for it, so that only most must hold.
    lost.sort_by(f64::total_cmp);
    assert!(lost[lost.len() / 2] < 3.0, "intervals lost by each kill: {lost:.1?}");
}

#[test]
fn removing_the_record_folder_ends_the_run() {
    let sandbox = Sandbox::new();
    let (dyno, run) = start(&sandbox, "100ms", "measure");
    // At once: dyno may notice the removal, and record its failure, while files are being removed one by one.
    let away = sandbox.path().join("away");
    fs::rename(&run, &away).unwrap();
    fs::remove_dir_all(&away).unwrap();
    let text = failed(&dyno.finish());
    assert!(text.contains("was removed while the run was writing to it"), "{text}");
    assert!(text.contains(&run.file_name().unwrap().to_str().unwrap().to_owned()), "{text}");
    assert!(!run.exists(), "nothing is made again behind the back of who removed it");
}

/// For machines where no file system of limited size can be mounted: a limit on the size of files leaves as little
/// room.
#[test]
fn a_limit_on_the_size_of_files_is_reported_as_a_full_disk() {
    let sandbox = Sandbox::new();
    // In blocks of 512 bytes. Without the signal's default action the write fails instead.
    let script = format!(
        "trap '' XFSZ; ulimit -f 256; exec {} {} --warm-up=100ms",
        env!("CARGO_BIN_EXE_dyno"),
        LOAD.join(" ").replace("--interval=50ms", "--interval=10ms")
    );
    let shell = Command::new("sh")
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .env("HOME", sandbox.path())
        .output();
    let text = failed(&shell.unwrap());
    assert!(text.contains("no space is left for"), "{text}");
    assert!(text.contains("--out"), "{text}");
    let output = sandbox.dyno(["report", "results", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a run that failed is no success");
    let report = json(&output);
    assert_eq!(report["status"], "failed");
    assert!(report["reason"].as_str().unwrap().contains("no space is left"), "{report}");
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_the_record() {
    let sandbox = Sandbox::new();
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let script = format!(
        "mkdir results && mount -t tmpfs -o size=256k tmpfs results || exit 77
        {dyno} {} --warm-up=100ms; code=$?
        find results -name '*.tmp' -o -name report.html
        mount -o remount,size=16m results
        {dyno} list
        {dyno} report results --format=json > report.json
        exit $code",
        LOAD.join(" ")
    );
    let Some(output) = in_a_mount_namespace(&sandbox, &script) else {
        // Mounts are not available: the test above provides the full disk.
        return a_limit_on_the_size_of_files_is_reported_as_a_full_disk();
    };
    let text = failed(&output);
    assert!(text.contains("no space is left for"), "{text}");
    assert!(text.contains("--out"), "{text}");
    let said = String::from_utf8(output.stdout).unwrap();
    let (summary, listed) = said.split_once("\nstarted ").expect("the list follows");
    assert!(summary.contains("failed") && summary.contains("no space is left"), "{summary}");
    assert!(summary.contains("oltp_point_select") && summary.contains("\nrecord  "), "{summary}");
    assert!(!summary.contains("report.html") && !summary.contains(".tmp"), "{summary}");
    assert!(listed.contains(" failed "), "there was room for the run's end: {listed}");
    let report = fs::read_to_string(sandbox.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert!(report["reason"].as_str().unwrap().contains("no space is left"), "{report}");
    let trial = &report["trials"][0];
    assert!(trial["transactions"].as_u64().unwrap() > 0, "{report}");
    assert!(trial["intervals"].as_array().unwrap().len() > 10, "{report}");
}

#[test]
fn an_unwritable_results_folder_is_reported_before_the_start() {
    let sandbox = Sandbox::new();
    sandbox.file("taken", "");
    let text = sandbox.fail(2, ["bench", "sysbench/oltp_point_select", "--out=taken/results"]);
    assert!(text.contains("cannot create taken/results"), "{text}");
    let text = sandbox.fail(2, ["bench", "sysbench/oltp_point_select", "--out=/proc/results"]);
    assert!(text.contains("cannot create /proc/results"), "{text}");
    assert!(text.contains("--out"), "what to do about it: {text}");
    let script = format!(
        "mkdir results && mount -t tmpfs -o ro tmpfs results || exit 77
        exec {} {}",
        env!("CARGO_BIN_EXE_dyno"),
        LOAD.join(" ")
    );
    let Some(output) = in_a_mount_namespace(&sandbox, &script) else {
        // Mounts are not available: the two paths above replace the third.
        return;
    };
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(text.contains("--out"), "what to do about it: {text}");
    assert!(!text.contains("prepare"), "nothing was started: {text}");
}

/// Runs a script that may mount; `None` where this is not permitted.
pub(crate) fn in_a_mount_namespace(sandbox: &Sandbox, script: &str) -> Option<Output> {
    // The second makes the user of the tests root of a separate namespace.
    ["--mount", "--map-root-user"].iter().find_map(|how| {
        let output = Command::new("unshare")
            .args([how, "--mount", "--", "sh", "-c", script])
            .current_dir(sandbox.path())
            .env("HOME", sandbox.path())
            .output()
            .ok()?;
        let _ = fs::remove_dir(sandbox.path().join("results"));
        let text = String::from_utf8_lossy(&output.stderr);
        let is_refused = output.status.code() == Some(77) || text.starts_with("unshare:");
        (!is_refused).then_some(output)
    })
}

#[test]
fn a_damaged_trial_hides_no_other_and_is_not_a_success() {
    let sandbox = Sandbox::new();
    let load = "--events=10";
    sandbox.succeed(["bench", "sysbench/oltp_point_select", load, "--repetitions=2"]);
    let trial = sandbox.runs()[0].join("trials/0000");
    fs::write(trial.join("latency.hlog"), "").unwrap();
    let output = sandbox.dyno(["report", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    assert_eq!(report["trials"][0]["status"], "damaged");
    assert_eq!(report["trials"][1]["status"], "complete");
    assert_eq!(report["trials"][1]["transactions"], 10);
    let output = sandbox.dyno(["report", "--full"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 of 2 trials, 1 damaged"), "{text}");
    assert!(text.contains("latency.hlog, line 1: a line with tag `"), "{text}");
    let output = sandbox.dyno(["report", "--trial=1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    sandbox.succeed(["report", "--trial=2"]);
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    assert!(listed.contains(" 1 of 2 "), "{listed}");
}

#[test]
fn a_report_is_printed_when_its_files_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.succeed(["bench", "sysbench/oltp_point_select", "--table-size=10", "--events=10"]);
    let html = sandbox.runs()[0].join("report.html");
    fs::remove_file(&html).unwrap();
    fs::create_dir(&html).unwrap();
    let output = sandbox.dyno(["report", "--format=json"]).output().unwrap();
    assert!(failed(&output).contains("report.html"), "{}", both(&output));
    assert_eq!(json(&output)["trials"][0]["transactions"], 10);
}

#[test]
fn a_damaged_plan_and_a_damaged_trial_json_are_told_by_every_command() {
    let sandbox = Sandbox::new();
    for out in ["one", "other"] {
        let args = ["bench", "sysbench/oltp_point_select", "--events=10", "--repetitions=2"];
        let output = sandbox.dyno(args).arg(format!("--out={out}")).output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
    }
    let run = |out: &str| {
        let entries = fs::read_dir(sandbox.path().join(out)).unwrap();
        entries.map(|entry| entry.unwrap().path()).find(|path| !path.is_symlink()).unwrap()
    };
    let (one, other) = (run("one"), run("other"));
    let plan = other.join("plan.toml");
    fs::remove_file(&plan).unwrap();
    nix::unistd::mkfifo(&plan, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let output = sandbox.dyno(["report", "other", "--format=json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let report = json(&output);
    // Others are of the machine that the test runs on.
    let warnings = report["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|found| found["code"] == "plan-damaged"), "{report}");
    assert_eq!(report["trials"][1]["status"], "complete");
    fs::write(other.join("trials/0001/trial.json"), "{").unwrap();
    let compared = sandbox.dyno(["compare"]).args([&one, &other]).output().unwrap();
    assert!(compared.status.success(), "{}", both(&compared));
    let text = String::from_utf8(compared.stdout).unwrap();
    assert!(text.contains("1 of 2 ended as planned, 1 damaged"), "{text}");
    assert!(text.contains("plan.toml is damaged: it is no regular file."), "{text}");
    assert!(text.contains(", trial 2: trial.json is damaged at line 1: "), "{text}");
    assert!(!text.contains("unknown"), "a damaged trial is no system of its own: {text}");
}
