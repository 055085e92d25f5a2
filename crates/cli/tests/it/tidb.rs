//! Complete runs on a real TiDB: one that dyno starts, also with kills, and one that is kept up.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both, json, report};

/// The server that `cargo xtask test` has built.
pub(crate) fn binary() -> PathBuf {
    std::env::var("DYNO_TEST_TIDB")
        .expect("DYNO_TEST_TIDB is not set: run `cargo xtask test`, which builds a TiDB")
        .into()
}

/// The value of `--system` for the test's own TiDB.
fn system() -> String {
    format!("--system=tidb:{}", binary().display())
}

/// A load on a small table with a JSON report.
fn bench(sandbox: &Sandbox, workload: &str) -> Command {
    let mut command = sandbox.dyno(["bench", workload, "--warm-up=0s", "--format=json"]);
    command.arg(system());
    command
}

pub(crate) fn is_there(pid: i32) -> bool {
    // A zombie is dead, although its parent has not waited for it yet.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// The processes that were started by `parent` and are called `tidb-server`.
fn servers_of(parent: u32) -> Vec<i32> {
    let listed =
        Command::new("pgrep").args(["-P", &parent.to_string(), "tidb-server"]).output().unwrap();
    let pids = String::from_utf8(listed.stdout).unwrap();
    pids.lines().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn every_sysbench_workload_passes() {
    let sandbox = Sandbox::new();
    let server = format!("kind = \"tidb\"\nbinary = \"{}\"\n", binary().display());
    let mut plan = format!("between = \"reload\"\n[systems.tidb]\n{server}");
    let all = workload::catalogue().into_iter().map(|workload| workload.kind);
    // Another test covers INSERTs of thousands of rows.
    let is_wanted =
        |kind: &String| kind.starts_with("sysbench/") && !kind.ends_with("/bulk_insert");
    let workloads: Vec<String> = all.filter(is_wanted).collect();
    assert_eq!(workloads.len(), 10, "{workloads:?}");
    for workload in &workloads {
        plan += &format!("[workloads.\"{workload}\"]\ntable_size = 1000\n");
    }
    plan += "[load]\nclients = [4]\nevents = 60\nwarm_up = \"100ms\"\n";
    sandbox.file("all.toml", &plan);
    let report = json(&sandbox.succeed(["run", "all.toml", "--format=json"]));
    let identity = &report["systems"][0];
    assert_eq!((&identity["product"], &identity["storage"]), (&"TiDB".into(), &"unistore".into()));
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), workloads.len());
    for trial in trials {
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["transactions"], 60, "{trial}");
        assert_eq!(trial["failed_transactions"], 0, "{}", trial["errors"]);
        // A retried statement failed first, and the two sides may count failures differently.
        let check = &trial["cross_check"];
        if trial["retries"] == 0 {
            assert_eq!(check["by_dyno"], check["by_server"], "{check}");
        }
        assert!(check["statements_by_server"].as_u64().unwrap() > 0, "{check}");
    }
    // The top of every view shows the storage.
    let run = &sandbox.runs()[0];
    for view in ["report.md", "report.html"] {
        let text = fs::read_to_string(run.join(view)).unwrap();
        assert!(text.contains("unistore"), "{view}");
    }
    // The report lists data that no store reports as absent, without a chart.
    let page = crate::sandbox::whole_page(run);
    assert!(page.contains("gRPC durations by type as the stores see them are absent"));
    assert!(!page.contains("TiKV: "), "a panel of a store that is not there");
}

#[test]
fn rows_by_the_thousand_and_text_statements_pass_too() {
    let sandbox = Sandbox::new();
    for (workload, more) in [
        ("sysbench/bulk_insert", ["--events=3", "--clients=1"].as_slice()),
        (
            "sysbench/oltp_read_write",
            &["--events=40", "--clients=4", "--ps=off", "--table-size=500"],
        ),
    ] {
        let trial = &report(bench(&sandbox, workload).args(more))["trials"][0];
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["failed_transactions"], 0, "{trial}");
    }
}

#[test]
fn settings_environment_and_arguments_reach_the_server_and_the_record() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        &format!(
            "between = \"restore\"\n[systems.tidb]\nbinary = \"{}\"\nenv = {{ GOMAXPROCS = 1 }}\n\
             settings = {{ tidb_txn_mode = \"optimistic\", tidb_mem_quota_query = 2147483648 }}\n\
             arguments = [\"-L\", \"warn\"]\n[workloads.\"sysbench/oltp_read_write\"]\n\
             table_size = 200\n[load]\nclients = [1, 2]\nevents = 20\nwarm_up = \"0s\"\n",
            binary().display()
        ),
    );
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let settings = &report["systems"][0]["settings"];
    assert_eq!(settings["tidb_txn_mode"], "optimistic", "{settings}");
    assert_eq!(settings["tidb_mem_quota_query"], "2147483648", "{settings}");
    assert_eq!(settings["GOMAXPROCS"], "1", "{settings}");
    assert_eq!(settings["arguments"], "-L warn", "{settings}");
    assert_eq!(settings["innodb_buffer_pool_size"], Value::Null, "TiDB has no InnoDB");
    // The second trial started with the data as it was after loading.
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "complete", "{trial}");
    }
}

/// Sends a signal to the managed server during a run, and returns the trial and the report for people.
fn with_server_signalled(signal: Signal) -> (Value, Value, String) {
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only");
    command.args(["--table-size=200", "--interval=200ms", "--think-time=5ms"]);
    let mut run = Background::start(
        &sandbox,
        command.args(["--clients=2,3", "--time=60s", "--repetitions=1"]),
    );
    run.wait_for("0000", "measure", 1);
    let [pid] = servers_of(run.pid())[..] else { panic!("the managed server is a child") };
    kill(Pid::from_raw(pid), signal).unwrap();
    run.wait_for("0001", "measure", 2);
    run.interrupt();
    let output = run.finish();
    let report = json(&output);
    let (first, second) = (report["trials"][0].clone(), report["trials"][1].clone());
    assert_eq!(first["status"], "crashed", "{}", both(&output));
    assert!(first["seconds"].as_f64().unwrap() < 60.0, "at once");
    assert!(first["transactions"].as_u64().unwrap() > 0, "what was measured is kept");
    let told = fs::read_to_string(sandbox.runs()[0].join("report.md")).unwrap();
    (first, second, told)
}

#[test]
fn a_server_that_is_killed_ends_its_trial_at_once_and_not_the_next() {
    let (first, second, told) = with_server_signalled(Signal::SIGKILL);
    let reason = first["reason"].as_str().unwrap();
    assert!(reason.contains("TiDB ended by itself (signal: 9 (SIGKILL))"), "{reason}");
    assert_eq!(second["status"], "interrupted");
    assert!(second["transactions"].as_u64().unwrap() > 0, "on a fresh server");
    let crash = told.find("The server crashed").expect("the report says so");
    assert!(told.find("Statistics").is_none_or(|statistics| crash < statistics), "{told}");
}

#[test]
fn a_panic_message_of_the_server_is_recorded() {
    // The Go runtime treats this signal like an internal fault: it prints the reason and the stack of each goroutine.
    let (first, _, _) = with_server_signalled(Signal::SIGSEGV);
    let reason = first["reason"].as_str().unwrap();
    assert!(reason.contains("(exit status: 2)"), "{reason}");
    assert!(reason.contains("SIGSEGV: segmentation violation"), "{reason}");
    assert!(reason.contains("goroutine "), "{reason}");
}

#[test]
fn killing_dyno_leaves_no_process_or_folder() {
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, "sysbench/oltp_read_only");
    command.env("TMPDIR", sandbox.path());
    let mut run = Background::start(
        &sandbox,
        command.args(["--table-size=200", "--time=60s", "--repetitions=1"]),
    );
    run.wait_for("0000", "measure", 1);
    let servers = servers_of(run.pid());
    assert_eq!(servers.len(), 1);
    assert_eq!(sandbox.scratch_folders().len(), 1);
    run.signal(Signal::SIGKILL);
    run.finish();
    wait_until("the server is gone", || !is_there(servers[0]));
    wait_until("its data are gone", || sandbox.scratch_folders().is_empty());
}

/// A program in the sandbox that writes its pid to the file `started` when it runs.
fn stand_in(sandbox: &Sandbox, name: &str, then: &str) -> PathBuf {
    let started = sandbox.path().join("started");
    let started = started.display();
    let script = format!(
        "#!/bin/sh\n{then}\necho $$ > {started}.new\nmv {started}.new {started}\nexec sleep 600\n"
    );
    sandbox.program(name, &script)
}

/// Interrupts dyno once that program runs, and checks for leftovers.
fn interrupted_at_the_start(sandbox: &Sandbox, command: &mut Command) {
    let run = Background::start(sandbox, command.env("TMPDIR", sandbox.path()));
    let started = sandbox.path().join("started");
    wait_until("the program runs", || started.exists());
    let pid = fs::read_to_string(&started).unwrap().trim().parse().unwrap();
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    wait_until("the program is gone", || !is_there(pid));
    assert_eq!(sandbox.scratch_folders().len(), 0);
    fs::remove_file(started).unwrap();
}

#[test]
fn ctrl_c_ends_a_starting_server() {
    let sandbox = Sandbox::new();
    let argument = format!("tidb:{}", stand_in(&sandbox, "tidb-server", "").display());
    interrupted_at_the_start(&sandbox, &mut sandbox.dyno(["up", &argument]));
    interrupted_at_the_start(&sandbox, &mut sandbox.dyno(["up", &argument, "--detach"]));
    assert_eq!(String::from_utf8(sandbox.succeed(["down"]).stdout).unwrap(), "no system is up\n");
    let system = format!("--system={argument}");
    interrupted_at_the_start(
        &sandbox,
        &mut sandbox.dyno(["bench", "sysbench/oltp_insert", &system]),
    );
    let report = fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["status"], "interrupted");
}

#[test]
fn ctrl_c_ends_a_build() {
    let sandbox = Sandbox::new();
    let go = "test \"$1\" = env && { echo go1.25.12; exit; }";
    let folder = stand_in(&sandbox, "go", go).parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    for last in ["--build-only", "--detach"] {
        let mut up = sandbox.dyno(["up", "tidb", "--option=source=build", last]);
        up.env("PATH", &path).env("DYNO_CACHE", sandbox.path().join("cache"));
        interrupted_at_the_start(&sandbox, &mut up);
    }
}

#[test]
fn long_startup_stages_are_printed_without_a_terminal() {
    let sandbox = Sandbox::new();
    let script = format!("#!/bin/sh\nsleep 1.5\nexec {} \"$@\"\n", binary().display());
    let argument = format!("tidb:{}", sandbox.program("tidb-server", &script).display());
    let up = sandbox.succeed(["up", &argument, "--detach"]);
    sandbox.succeed(["down"]);
    let told = String::from_utf8(up.stderr).unwrap();
    assert!(told.contains("tidb: starting TiDB took "), "{told}");
}

/// The number after `process` in the output of `dyno up`.
pub(crate) fn process_in(text: &str) -> i32 {
    let words: Vec<&str> = text.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "process").expect("a process is named");
    words[place + 1].parse().unwrap()
}

/// The URL with its password, from the file that `dyno up` names.
pub(crate) fn login_in(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "login").expect("a login is named");
    fs::read_to_string(words[place + 1]).unwrap().trim().to_owned()
}

/// Starts a TiDB that runs until `dyno down` in the sandbox; returns its URL.
pub(crate) fn up(sandbox: &Sandbox) -> String {
    let server = format!("tidb:{}", binary().display());
    let up = sandbox.succeed(["up", &server, "--detach"]);
    login_in(&String::from_utf8(up.stdout).unwrap())
}

#[test]
fn a_detached_server_runs_until_dyno_down() {
    let sandbox = Sandbox::new();
    let argument = format!("tidb:{}", binary().display());
    let said = sandbox.succeed(["up", &argument, "--detach"]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.starts_with("TiDB v"), "{said}");
    assert!(said.contains("unistore\n  url      mysql://root:***@127.0.0.1:"), "{said}");
    assert!(said.contains("  metrics  http://127.0.0.1:"), "{said}");
    let server = process_in(&said);
    assert!(is_there(server));
    let listed = String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    assert!(said.starts_with(&listed), "{listed}");
    let system = format!("--system={}", login_in(&said));
    sandbox.succeed([
        "bench",
        "sysbench/oltp_point_select",
        &system,
        "--events=20",
        "--table-size=50",
    ]);
    assert!(is_there(server), "a run does not stop what it did not start");
    let other = String::from_utf8(sandbox.succeed(["down", "mariadb"]).stdout).unwrap();
    assert_eq!(other, "no system is up\n");
    let stopped = String::from_utf8(sandbox.succeed(["down", "tidb"]).stdout).unwrap();
    assert!(stopped.starts_with("stopped: TiDB v"), "{stopped}");
    assert!(!is_there(server));
    assert_eq!(String::from_utf8(sandbox.succeed(["down"]).stdout).unwrap(), "no system is up\n");
}

#[test]
fn ctrl_c_stops_a_server_in_the_foreground() {
    let sandbox = Sandbox::new();
    let argument = format!("tidb:{}", binary().display());
    let out = sandbox.path().join("out");
    let mut up = sandbox.dyno(["up", &argument]);
    let mut child = up.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
    let said = || fs::read_to_string(&out).unwrap();
    wait_until("it is up", || said().contains("Ctrl-C stops it"));
    let server = process_in(&said());
    assert!(is_there(server));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!is_there(server));
}

#[test]
fn up_and_down_report_systems_they_cannot_handle() {
    let sandbox = Sandbox::new();
    let nothing = sandbox.fail(2, ["up", "sqlite"]);
    assert!(nothing.contains("`sqlite` has no server to start"), "{nothing}");
    let missing = sandbox.fail(2, ["up", "tidb:/opt/none/tidb-server"]);
    assert!(missing.contains("there is no program /opt/none/tidb-server"), "{missing}");
    let late = sandbox.fail(1, ["up", "tidb:/bin/false", "--detach"]);
    assert!(late.contains("TiDB did not start (exit status: 1)"), "{late}");
    let spelling = sandbox.fail(2, ["up", "tydb"]);
    assert!(spelling.contains("did you mean `tidb`?"), "{spelling}");
    let mut on_path = sandbox.dyno(["up", "tidb", "--option=source=path"]);
    let output = on_path.env("PATH", "/nowhere").output().unwrap();
    assert!(both(&output).contains("tidb-server is not on PATH"), "{}", both(&output));
}

/// A substitute for TiUP, which is not available everywhere: it starts a server as its child and supports the
/// documented arguments. It tests dyno's side, not the behaviour of the real TiUP.
fn stand_in_for_tiup(sandbox: &Sandbox) -> String {
    let script = format!(
        "#!/bin/sh\ntest \"$1 $2 $3 $4\" = 'playground --host 127.0.0.1 --db.port' || exit 9\n\
         {} -store unistore -path $PWD/data -host 127.0.0.1 -P $5 -socket $PWD/s -report-status=0 \
         -temp-dir $PWD &\nwait\n",
        binary().display()
    );
    let tiup = sandbox.program("tiup", &script);
    format!("{}:{}", tiup.parent().unwrap().display(), std::env::var("PATH").unwrap())
}

#[test]
fn processes_of_a_tiup_playground_end_with_dyno() {
    let sandbox = Sandbox::new();
    let path = stand_in_for_tiup(&sandbox);
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let out = sandbox.path().join("out");
        let mut up = sandbox.dyno(["up", "tidb", "--option=source=tiup"]);
        let mut up = up.env("PATH", &path).stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
        let said = || fs::read_to_string(&out).unwrap();
        wait_until("it is up", || said().contains("Ctrl-C stops it"));
        let servers = servers_of(process_in(&said()).unsigned_abs());
        assert_eq!(servers.len(), 1, "{}", said());
        kill(Pid::from_raw(up.id().cast_signed()), signal).unwrap();
        up.wait().unwrap();
        wait_until("the server is gone", || !is_there(servers[0]));
    }
}

#[test]
fn a_server_that_the_kernel_does_not_tie_to_dyno_ends_with_it() {
    let server = binary();
    let server = server.display();
    let sandbox = Sandbox::new();
    let child = sandbox.program("child", &format!("#!/bin/sh\n{server} \"$@\"\n"));
    // What the kernel does when it starts a program with file capabilities.
    let text = format!("#!/bin/sh\nexec setpriv --pdeathsig clear {server} \"$@\"\n");
    let capable = sandbox.program("capable", &text);
    for (number, (binary, signal)) in [&child, &capable]
        .into_iter()
        .flat_map(|binary| [(binary, Signal::SIGINT), (binary, Signal::SIGKILL)])
        .enumerate()
    {
        let out = sandbox.path().join(format!("out{number}"));
        let mut up = sandbox.dyno(["up", &format!("tidb:{}", binary.display())]);
        let mut up = up.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
        let said = || fs::read_to_string(&out).unwrap();
        wait_until("it is up", || said().contains("Ctrl-C stops it"));
        let program = process_in(&said());
        let server = servers_of(program.unsigned_abs()).first().copied().unwrap_or(program);
        assert_eq!(server != program, binary == &child, "{}", said());
        kill(Pid::from_raw(up.id().cast_signed()), signal).unwrap();
        up.wait().unwrap();
        wait_until("the server is gone", || !is_there(server));
    }
}

#[test]
fn a_detached_server_ends_when_its_dyno_process_is_killed() {
    let sandbox = Sandbox::new();
    let argument = format!("tidb:{}", binary().display());
    let mut command = sandbox.dyno(["up", &argument, "--detach"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let server = process_in(&String::from_utf8(output.stdout).unwrap());
    let keeper = fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
    let keeper = keeper.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    wait_until("the server is gone", || !is_there(server));
    wait_until("its keeper is gone", || !is_there(keeper));
    let told = String::from_utf8(sandbox.succeed(["down"]).stdout).unwrap();
    assert!(told.starts_with("had already ended: TiDB v"), "{told}");
}
