//! Loads that several generators share: `local` ones, and ones that a command reaches, on real servers. What they
//! count together is what the server counts; a generator that dies is seen, and none outlives the run.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::{GeneratorRecord, Run, TrialRecord, TrialStatus};
use serde_json::Value;

use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, both, json, report};
use crate::server;

pub(crate) const TWO: &str = r#"generators = ["local", "local"]"#;
/// A generator that is reached as one on another host is: through a shell, with a copy of the program.
const REACHED: &str = r#"generators = ["local", "command:env LC_ALL=C"]"#;
/// How soon a generator that is gone has to be seen.
const SEEN_WITHIN: Duration = Duration::from_secs(2);

/// A run of a plan with one system and one workload, each with its options.
pub(crate) fn run(sandbox: &Sandbox, system: &str, workload: &str, load: &str) -> Command {
    let plan = format!("[systems.s]\n{system}\n[workloads.w]\n{workload}\n[load]\n{load}\n");
    sandbox.file("plan.toml", &plan);
    let mut command = sandbox.dyno(["run", "plan.toml", "--format=json"]);
    sandbox.with_programs(&mut command);
    command
}

pub(crate) fn mysql(url: &str) -> String {
    format!("kind = \"mysql\"\nurl = \"{url}\"")
}

pub(crate) const SYSBENCH: &str =
    "kind = \"sysbench/oltp_read_write\"\ntables = 2\ntable_size = 500";

/// The only trial of the only run, and its generators.
pub(crate) fn recorded(sandbox: &Sandbox) -> (TrialRecord, Vec<GeneratorRecord>) {
    let mut run = Run::open(&sandbox.runs()[0]).unwrap();
    let trial = run.trials.remove(0);
    let generators = trial.end.as_ref().unwrap().generator_parts().to_vec();
    (trial, generators)
}

pub(crate) fn transactions(generators: &[GeneratorRecord]) -> u64 {
    generators.iter().map(|generator| generator.transactions).sum()
}

/// The generators whose parent is `pid`.
pub(crate) fn generators_of(pid: u32) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let of_pid = processes.filter_map(|process| {
        let number: i32 = process.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        // The name is in parentheses, and the parent is the second word after it.
        let (name, rest) = stat.rsplit_once(')')?;
        let parent: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        (name.ends_with("(dyno-generator") && parent == pid).then(|| Pid::from_raw(number))
    });
    of_pid.collect()
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn generators_count_what_the_server_counts() {
    for generators in [TWO, REACHED] {
        let (server, sandbox) = (OwnServer::start(&[]), Sandbox::new());
        let load =
            format!("clients = 8\nevents = 301\nwarm_up = \"500ms\"\nworkers = 2\n{generators}");
        let report = report(&mut run(&sandbox, &mysql(&server.url()), SYSBENCH, &load));
        let trial = &report["trials"][0];
        assert_eq!((&trial["status"], &trial["transactions"]), (&"complete".into(), &301.into()));
        let check = &trial["cross_check"];
        assert_eq!(check["difference"], 0, "{check}");
        let (record, parts) = recorded(&sandbox);
        assert_eq!(record.total.transactions, 301);
        // Both are on this machine, which is watched once, with its generators and not those of other tests.
        let [host] = &record.watched.hosts[..] else { panic!("{:?}", record.watched.hosts) };
        let names = host.processes.iter().map(|process| process.name.as_str());
        assert_eq!(names.filter(|name| *name == "dyno-generator").count(), 2, "{host:?}");
        // Each has told what its kernel counts of its connections.
        let connections = &record.watched.connections;
        assert_eq!(connections.absent, None);
        assert!(connections.readings.iter().any(|it| it.open == 8), "{connections:?}");
        let last = connections.readings.last().unwrap();
        assert!(last.counters.data_segments_sent > 301, "{last:?}");
        // Eight clients share 301 transactions: four have 150 and the others 151.
        let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
        assert_eq!(counts, [150, 151]);
        assert_eq!([parts[0].clients.clone(), parts[1].clients.clone()], [0..4, 4..8]);
        for part in &parts {
            let clock = part.clock.unwrap();
            for compared in [clock.start, clock.end.unwrap()] {
                // It is the same clock.
                assert!(compared.offset_ns.unsigned_abs() <= compared.uncertainty_ns, "{clock:?}");
            }
            let own = part.generator.as_ref().unwrap();
            assert!(!own.workers.is_empty() && own.oversleep.count() > 0, "{own:?}");
            assert!(part.usage.unwrap().cpu_ns() > 0 && part.lost.is_none());
        }
    }
}

#[test]
fn records_that_generators_insert_are_all_there_once() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_inserts");
    let workload =
        "kind = \"ycsb/d\"\nrecordcount = 1000\ninsertproportion = 0.5\nreadproportion = 0.5";
    let load = format!("clients = 6\nevents = 3000\nwarm_up = \"0s\"\n{TWO}");
    let report = report(&mut run(&sandbox, &mysql(&url), workload, &load));
    let trial = &report["trials"][0];
    assert_eq!(trial["transactions"], 3000, "{trial}");
    assert_eq!(trial["errors"], serde_json::json!([]), "no key twice: {trial}");
    let operations = trial["operations"].as_array().unwrap();
    let inserts = operations.iter().find(|operation| operation["name"] == "insert").unwrap();
    let rows = server::sql("SELECT COUNT(*) FROM dyno_generators_inserts.usertable");
    let (rows, inserts) = (rows.trim().parse::<u64>().unwrap(), inserts["succeeded"].as_u64());
    // Those of turns that ended after the window are there too.
    let beyond = rows - 1_000 - inserts.unwrap();
    assert!(beyond <= 6, "{rows} rows after {inserts:?} inserts");
}

#[test]
fn ycsb_a_comes_from_both_generators_until_its_time_is_over() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_time");
    let workload = "kind = \"ycsb/a\"\nrecordcount = 1000";
    let load = format!("clients = 5\ntime = \"2s\"\ninterval = \"200ms\"\n{TWO}");
    report(&mut run(&sandbox, &mysql(&url), workload, &load));
    let (trial, parts) = recorded(&sandbox);
    assert_eq!(trial.total.transactions, transactions(&parts));
    assert!(parts.iter().all(|part| part.transactions > 0));
    // A second of warm-up, and then ten intervals that end at the same time for both.
    let measured = trial.intervals.iter().filter(|it| it.phase == measure::Phase::Measure);
    let edges: Vec<u64> = measured.map(|it| it.end_ns / 1_000_000).collect();
    assert_eq!(edges, (1..=10).map(|at| 1_000 + 200 * at).collect::<Vec<u64>>());
}

#[test]
fn constant_arrivals_are_shared_by_generators() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_rate");
    let workload = "kind = \"ycsb/c\"\nrecordcount = 1000";
    let load = format!(
        "clients = 8\ntime = \"2s\"\nwarm_up = \"500ms\"\nrate = 300\narrivals = \"constant\"\n{TWO}"
    );
    let report = report(&mut run(&sandbox, &mysql(&url), workload, &load));
    let trial = &report["trials"][0];
    // On a busy machine an arrival of each generator may be taken on the other side of an edge.
    let arrived = trial["open_loop"]["arrived_per_s"].as_f64().unwrap();
    assert!((arrived - 300.0).abs() <= 1.0, "{}", trial["open_loop"]);
    let (_, parts) = recorded(&sandbox);
    let delays: Vec<u64> = parts.iter().map(|part| part.start_delays.count()).collect();
    assert_eq!(delays, [300, 300], "every second arrival");
}

#[test]
fn calls_come_from_generators_over_their_own_connections() {
    let sandbox = Sandbox::new();
    let workload = "kind = \"rpc\"\ntext = \"hello\"\nconnections = 2";
    let load = format!("clients = 6\nevents = 3000\nwarm_up = \"0s\"\n{TWO}");
    let report = report(&mut run(&sandbox, "kind = \"echo\"", workload, &load));
    assert_eq!(report["trials"][0]["transactions"], 3000, "{report}");
    let (_, parts) = recorded(&sandbox);
    let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
    assert_eq!(counts, [1_500, 1_500]);
}

#[test]
fn measuring_that_ends_by_itself_ends_for_all_generators_together() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_until");
    let workload = "kind = \"ycsb/c\"\nrecordcount = 1000";
    // At an even rate the throughput is known as soon as there are enough intervals.
    let load = format!(
        "clients = 8\ntime = \"120s\"\nuntil = \"throughput within 50%\"\ninterval = \"100ms\"\nrate = 100\n\
         arrivals = \"constant\"\n{TWO}"
    );
    report(&mut run(&sandbox, &mysql(&url), workload, &load));
    let (trial, parts) = recorded(&sandbox);
    assert_eq!(trial.end.as_ref().unwrap().status, TrialStatus::Complete);
    assert_eq!(trial.total.transactions, transactions(&parts));
    let end = trial.intervals.last().unwrap().end_ns;
    assert!(end < 121_000_000_000 && end % 100_000_000 == 0, "{end} is no early edge");
}

/// A run that is long enough to be disturbed, with so many intervals measured.
fn disturbed<'s>(sandbox: &'s Sandbox, database: &str, load: &str) -> (Background<'s>, Vec<Pid>) {
    let url = server::database(database);
    let load = format!("clients = 4\ninterval = \"100ms\"\nwarm_up = \"0s\"\n{TWO}\n{load}");
    let mut command = run(sandbox, &mysql(&url), SYSBENCH, &load);
    let mut run = Background::start(sandbox, &mut command);
    run.wait_for("0000", "measure", 3);
    let generators = generators_of(run.pid());
    assert_eq!(generators.len(), 2);
    (run, generators)
}

/// Kills a generator, and waits until the run has said so.
fn kill_one(run: &Background<'_>, generator: Pid) {
    let killed = Instant::now();
    kill(generator, Signal::SIGKILL).unwrap();
    wait_until("the loss is told", || run.stderr_text().contains(" is lost: "));
    assert!(killed.elapsed() < SEEN_WITHIN, "{:?}", killed.elapsed());
}

#[test]
fn a_killed_generator_ends_its_trial_and_is_named() {
    let sandbox = Sandbox::new();
    let (run, generators) = disturbed(&sandbox, "dyno_generators_killed", "time = \"60s\"");
    kill_one(&run, generators[1]);
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trial = json(&output)["trials"][0].clone();
    assert!(trial["status"].to_string().contains("failed"), "{trial}");
    let (record, parts) = recorded(&sandbox);
    let lost: Vec<&GeneratorRecord> = parts.iter().filter(|part| part.lost.is_some()).collect();
    let [lost] = lost[..] else { panic!("{parts:?}") };
    let TrialStatus::Failed(why) = record.end.unwrap().status else { panic!("it has failed") };
    assert!(why.starts_with(&format!("generator {} was lost: ", lost.name)), "{why}");
    assert!(!generators.iter().any(|generator| is_alive(*generator)));
}

#[test]
fn a_trial_goes_on_without_a_killed_generator_where_the_plan_says_so() {
    let sandbox = Sandbox::new();
    let load = "time = \"4s\"\non_generator_loss = \"continue\"";
    let (run, generators) = disturbed(&sandbox, "dyno_generators_continue", load);
    kill_one(&run, generators[0]);
    let output = run.finish();
    assert!(output.status.success(), "{}", both(&output));
    let (record, parts) = recorded(&sandbox);
    assert_eq!(record.end.as_ref().unwrap().status, TrialStatus::Complete);
    assert_eq!(parts.iter().filter(|part| part.lost.is_some()).count(), 1);
    assert_eq!(record.intervals.last().unwrap().end_ns, 4_000_000_000);
    assert_eq!(record.total.transactions, transactions(&parts));
}

#[test]
fn no_generator_outlives_a_killed_run() {
    let sandbox = Sandbox::new();
    let (run, generators) = disturbed(&sandbox, "dyno_generators_orphans", "time = \"60s\"");
    run.signal(Signal::SIGKILL);
    wait_until("the generators have ended", || !generators.iter().any(|it| is_alive(*it)));
    run.finish();
    let sessions = "SELECT COUNT(*) FROM information_schema.PROCESSLIST \
                    WHERE db = 'dyno_generators_orphans'";
    wait_until("their sessions have ended", || server::sql(sessions).trim() == "0");
}

#[test]
fn an_interrupt_ends_all_generators_and_keeps_what_they_measured() {
    let sandbox = Sandbox::new();
    let (run, generators) = disturbed(&sandbox, "dyno_generators_interrupt", "time = \"60s\"");
    // As Ctrl-C at a terminal, which reaches all processes of the run.
    generators.iter().for_each(|generator| kill(*generator, Signal::SIGINT).unwrap());
    let trial = run.interrupted_trial();
    assert!(trial["transactions"].as_u64() > Some(0), "{trial}");
    let (record, parts) = recorded(&sandbox);
    assert_eq!(record.total.transactions, transactions(&parts));
    assert!(parts.iter().all(|part| part.lost.is_none() && part.transactions > 0));
    assert!(!generators.iter().any(|generator| is_alive(*generator)));
}

#[test]
fn a_place_that_cannot_be_reached_ends_the_run_before_anything_is_made() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_nowhere");
    let load = "clients = 4\ngenerators = [\"local\", \"command:false\"]";
    let output = run(&sandbox, &mysql(&url), SYSBENCH, load).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("generator command:false does not start"), "{text}");
    assert_eq!(server::sql("SHOW TABLES IN dyno_generators_nowhere"), "");
}

#[test]
fn the_second_trial_has_the_same_processes() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_twice");
    let load = format!("clients = [2, 4]\nevents = 200\nwarm_up = \"0s\"\n{TWO}");
    let report = report(&mut run(&sandbox, &mysql(&url), SYSBENCH, &load));
    let counts: Vec<&Value> =
        report["trials"].as_array().unwrap().iter().map(|trial| &trial["transactions"]).collect();
    assert_eq!(counts, [200, 200]);
}
