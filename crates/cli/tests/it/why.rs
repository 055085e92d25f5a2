//! What holds a system back, found by experiment on real servers.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::faults_interrupt::{self, interrupt};
use crate::network::Network;
use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::{Sandbox, report};

/// The experiment of the only trial of a report.
fn why(report: &Value) -> &Value {
    &report["trials"][0]["why"]
}

fn named<'v>(list: &'v Value, key: &str, name: &str) -> Option<&'v Value> {
    list.as_array()?.iter().find(|it| it[key] == name)
}

/// Runs an experiment until the betas of these places are 1: with one client each second that is put anywhere on its path
/// costs one second. Where other programs want the same cores, a sleep replaces a wait for one, so a run that they had
/// disturbed is repeated, twice at most; a dose that is told wrongly is wrong in each of them.
fn with_betas_of_one(places: &[&str], mut run: impl FnMut() -> Value) -> Value {
    let mut faults = Vec::new();
    for _ in 0..3 {
        let report = run();
        match off_one(why(&report), places) {
            None => return report,
            Some(fault) => faults.push(fault),
        }
    }
    panic!("{faults:#?}")
}

/// The first place whose beta is not 1. An interval of 95 % misses the truth in one of twenty tests: what is beyond half and
/// twice it is no chance.
fn off_one(why: &Value, places: &[&str]) -> Option<Value> {
    let place_of = |name: &str| {
        named(&why["places"], "place", name).unwrap_or_else(|| panic!("{name}: {why:#}"))
    };
    places.iter().map(|name| (*name, place_of(name))).find_map(|(name, place)| {
        let bound = |key: &str| place["beta"][key].as_f64().unwrap();
        // Where other programs want the core, work costs more than itself.
        let is_work = matches!(name, "client_cpu" | "server_cpu");
        let is_near = bound("high_95") > 0.55 && (is_work || bound("low_95") < 1.8);
        (!is_near).then(|| place.clone())
    })
}

#[test]
fn slow_downs_of_a_database_cost_its_only_client_what_they_are() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        "why = { at_most = \"40s\", profile = true }\n[systems.mariadb]\nhold_flushes = \"1ms\"\n\
         settings = { innodb_flush_log_at_trx_commit = 1 }\n\
         [workloads.write]\nkind = \"sysbench/oltp_update_index\"\ntables = 1\ntable_size = 1000\n\
         [load]\nclients = 1\nwarm_up = \"500ms\"\ntime = \"1s\"\n",
    );
    let report = with_betas_of_one(&["outside", "client_cpu", "flush"], || {
        report(&mut sandbox.dyno(["run", "plan.toml", "--quiet", "--format", "json"]))
    });
    let why = why(&report);
    let used = |lever: &str| named(&why["levers"], "lever", lever).is_some();
    for lever in ["null", "before", "client_cpu", "flush"] {
        assert!(used(lever), "{lever}: {why:#}");
    }
    let unused = named(&why["not_used"], "lever", "clients").unwrap();
    assert_eq!(unused["reason"], "there is one client");
    // Each update is a transaction of its own, so there is no inside.
    assert!(named(&why["places"], "place", "inside").is_none(), "{why:#}");
    let conclusions = report["conclusions"].as_array().unwrap();
    let limit = conclusions.iter().find(|it| it["code"] == "limit").unwrap();
    assert_eq!(limit["values"]["verdict"], why["verdict"]);
    // The server has no profiles of its own, so it is looked at from outside.
    let profile = &why["profiles"][0];
    assert_eq!(
        (&profile["server"], &profile["of"]),
        (&"the server".into(), &"cpu".into()),
        "{report:#}"
    );
    assert!(!profile["hottest"].as_array().unwrap().is_empty(), "{why:#}");
    // The trial's own figures are those of its second alone.
    assert!(report["trials"][0]["seconds"].as_f64().unwrap() < 2.0);
    let text = sandbox.succeed(["report", sandbox.runs()[0].to_str().unwrap(), "--full"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("What holds mariadb write"), "{text}");
}

#[test]
fn slow_downs_of_a_service_cost_its_only_client_what_they_are() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        "why = { at_most = \"15s\", profile = true }\n[systems.trpc-echo]\nspin = 200000\n\
         [workloads.rpc]\nhex = \"0a0568656c6c6f\"\nconnections = 1\n\
         [load]\nclients = 1\nwarm_up = \"500ms\"\ntime = \"1s\"\n",
    );
    let report = with_betas_of_one(&["outside", "client_cpu"], || {
        report(&mut sandbox.dyno(["run", "plan.toml", "--quiet", "--format", "json"]))
    });
    let why = why(&report);
    assert_eq!(
        named(&why["not_used"], "lever", "inside").unwrap()["reason"],
        "a call is one request"
    );
    // Each call spins for 0.2 ms: the server's own profile names the function.
    let profile = &why["profiles"][0];
    assert!(profile["server"].as_str().unwrap().starts_with("trpc-echo"), "{why:#}");
    let hottest = profile["hottest"][0]["function"].as_str().unwrap();
    assert!(hottest.starts_with("echo.") || hottest.contains("/echo."), "{profile:#}");
}

/// A command whose dyno sees no process but its own, as if the server were on another host.
fn far_away<const N: usize>(sandbox: &Sandbox, arguments: [&str; N]) -> Command {
    let dyno = sandbox.dyno(arguments);
    let mut apart = Command::new("unshare");
    apart.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    apart.arg(dyno.get_program()).args(dyno.get_args());
    apart.current_dir(sandbox.path()).env("HOME", sandbox.path());
    apart
}

#[test]
fn statements_slow_a_server_down_that_nothing_else_reaches() {
    let (sandbox, server) = (Sandbox::new(), OwnServer::start(&[]));
    let run = || {
        report(&mut far_away(
            &sandbox,
            [
                "bench",
                "oltp_point_select",
                "--tables=1",
                "--table-size=1000",
                "--clients=1",
                "--warm-up=500ms",
                "--time=1s",
                "--why=25s",
                "--quiet",
                "--format=json",
                "--system",
                &server.url(),
            ],
        ))
    };
    let report = with_betas_of_one(&["outside", "server_cpu", "asleep"], run);
    let why = why(&report);
    let server_cpu = named(&why["places"], "place", "server_cpu").unwrap();
    assert!(server_cpu["share"].is_null(), "nobody told its CPU time: {server_cpu:#}");
}

#[test]
fn a_server_is_as_before_when_dyno_is_killed_in_the_experiment() {
    let (sandbox, server) = (Sandbox::new(), OwnServer::start(&[]));
    let status = format!("/proc/{}/status", server.server.pid());
    let cores = || {
        let text = fs::read_to_string(&status).unwrap();
        text.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap().to_owned()
    };
    let sessions = || server.sql("SELECT COUNT(*) FROM information_schema.processlist");
    let before = (cores(), sessions());
    let said = sandbox.path().join("stderr");
    let run = Background::start(
        &sandbox,
        &mut sandbox.dyno([
            "bench",
            "oltp_point_select",
            "--tables=1",
            "--table-size=1000",
            "--clients=4",
            "--warm-up=0s",
            "--time=1s",
            "--why=60s",
            "--system",
            &server.url(),
        ]),
    );
    wait_until("the experiment tells how far it is", || {
        fs::read_to_string(&said).unwrap().contains("looking for what holds it back")
    });
    run.signal(Signal::SIGKILL);
    wait_until("its sessions end", || sessions() == before.1);
    assert_eq!(cores(), before.0);
}

/// With each flush held for 2 ms, a commit that does not wait for one is many times as fast: no slope tells that.
const TOGGLE: &str = "system = { kind = \"mariadb\", hold_flushes = \"2ms\", \
    settings = { innodb_flush_log_at_trx_commit = 1 } }\n\
    workload = { kind = \"sysbench/oltp_update_index\", tables = 1, table_size = 1000 }\n\
    [load]\nclients = 2\nwarm_up = \"500ms\"\ntime = \"1s\"\n\
    [[why.toggle]]\nname = \"commits that do not wait\"\n\
    on = \"SET GLOBAL innodb_flush_log_at_trx_commit = 2\"\n\
    off = \"SET GLOBAL innodb_flush_log_at_trx_commit = 1\"\n[why]\nat_most = ";

#[test]
fn a_toggle_tells_the_whole_gain_of_a_cost_that_is_taken_away() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("{TOGGLE}\"40s\"\n"));
    let report = report(&mut sandbox.dyno(["run", "plan.toml", "--quiet", "--format", "json"]));
    let why = why(&report);
    let toggle = named(&why["levers"], "lever", "toggle").unwrap_or_else(|| panic!("{why:#}"));
    assert_eq!(toggle["responds"], true, "{toggle:#}");
    assert!(toggle["change"]["high_95"].as_f64().unwrap() < -0.3, "{toggle:#}");
    let text = why["text"].as_str().unwrap();
    assert!(text.contains("With \"commits that do not wait\" the rate changes by"), "{text}");
    let kernel = &why["evidence"];
    assert!(kernel["ran_ns"].as_u64().unwrap() > 0, "{why:#}");
}

/// A network of 20 Mbit in a second, and answers of 10 kB: four milliseconds for each, whatever the server does.
#[test]
fn a_narrow_network_is_not_called_the_server() {
    let set_up = "ip link set lo up mtu 1500 && \
                  tc qdisc add dev lo root tbf rate 20mbit burst 32kbit latency 200ms";
    let (sandbox, network) = (Sandbox::new(), Network::new(set_up));
    sandbox.file("narrow.sql", "\\transaction read\nSELECT REPEAT('0123456789', 1000);\n");
    sandbox.file(
        "plan.toml",
        "why = { at_most = \"25s\" }\nsystem = \"mariadb\"\nworkload = { kind = \"narrow.sql\" }\n\
         [load]\nclients = 2\nwarm_up = \"500ms\"\ntime = \"1s\"\n",
    );
    let dyno = sandbox.dyno(["run", "plan.toml", "--quiet", "--format", "json"]);
    let report = report(&mut network.inside(&dyno));
    let why = why(&report);
    for name in ["server_cpu", "client_cpu"] {
        let place = named(&why["places"], "place", name).unwrap_or_else(|| panic!("{why:#}"));
        assert!(place["share"]["low_95"].as_f64().unwrap() < 0.3, "{why:#}");
    }
    // A delay of a client hides in the queue of the others.
    let outside = named(&why["places"], "place", "outside").unwrap();
    assert!(outside["beta"]["low_95"].as_f64().unwrap() < 0.25, "{why:#}");
    let verdict = why["verdict"].as_str().unwrap();
    let is_open = verdict.starts_with("not-") || verdict.starts_with("refused-");
    assert!(is_open || ["untouched", "several"].contains(&verdict), "{why:#}");
}

/// A sleep that grows for as long as the toggle is on: a system that remembers for longer than a window.
const GROWS: &str = "\\prepare\nCREATE TABLE knob (id INTEGER NOT NULL PRIMARY KEY, is_on INTEGER NOT NULL, \
    since DATETIME(6) NOT NULL);\nINSERT INTO knob VALUES (1, 0, NOW(6));\n\
    \\cleanup\nDROP TABLE IF EXISTS knob;\n\\transaction look\n\
    SELECT SLEEP(0.001 + is_on * LEAST(0.005, TIMESTAMPDIFF(MICROSECOND, since, NOW(6)) / 40000000)) FROM knob;\n";

#[test]
fn an_effect_that_grows_within_a_window_is_noticed_and_longer_windows_are_advised() {
    let sandbox = Sandbox::new();
    sandbox.file("grows.sql", GROWS);
    sandbox.file(
        "plan.toml",
        "system = \"mariadb\"\nworkload = { kind = \"grows.sql\" }\n\
         [load]\nclients = 2\nwarm_up = \"500ms\"\ntime = \"1s\"\n[why]\nat_most = \"30s\"\n\
         [[why.toggle]]\nname = \"the knob\"\n\
         on = \"UPDATE knob SET is_on = 1, since = NOW(6)\"\noff = \"UPDATE knob SET is_on = 0\"\n",
    );
    let report = report(&mut sandbox.dyno(["run", "plan.toml", "--quiet", "--format", "json"]));
    let why = why(&report);
    let toggle = named(&why["lasting"], "slow_down", "the toggle");
    let growth = &toggle.unwrap_or_else(|| panic!("{why:#}"))["growth"];
    assert!(growth["low_95"].as_f64().unwrap() > 0.1, "{growth:#}");
    let text = why["text"].as_str().unwrap();
    assert!(text.contains("the effect of the toggle grows by"), "{text}");
    assert!(text.contains("`window = \"5s\"` does that"), "{text}");
}

#[test]
fn an_interrupt_in_the_experiment_keeps_the_trial_and_what_was_seen() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("{TOGGLE}\"60s\"\n"));
    let said = sandbox.path().join("stderr");
    let run = Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml"]));
    wait_until("the experiment tells how far it is", || {
        fs::read_to_string(&said).unwrap().contains("looking for what holds it back")
    });
    interrupt(run);
    let report = faults_interrupt::report(&sandbox);
    let trial = &report["trials"][0];
    assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial:#}");
    let text = trial["why"]["text"].as_str().unwrap();
    assert!(text.contains("the experiment was cut short: it was interrupted"), "{text}");
}

#[test]
fn a_load_that_cannot_be_asked_says_so_and_keeps_its_figures() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", crate::sandbox::SIMULATED);
    let output = sandbox.dyno(["why", "plan.toml", "--out", "results"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("what holds it back was not looked for: the system is simulated"),
        "{told}"
    );
    let open = sandbox.dyno([
        "bench",
        "oltp_point_select",
        "--tables",
        "1",
        "--table-size",
        "100",
        "--rate",
        "200",
        "--time",
        "1s",
        "--warm-up",
        "0s",
        "--why=20s",
    ]);
    let output = { open }.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the rate of an open loop is given"), "{told}");
}

/// A provoked limit: the plan in benchmarks/why, the verdicts that are right, those that are no answer but no
/// error either, and betas that are known.
struct Case {
    plan: &'static str,
    right: &'static [&'static str],
    /// Place, and its beta.
    known: &'static [(&'static str, f64)],
}

const CASES: [Case; 8] = [
    Case { plan: "server-cpu", right: &["server-cpu"], known: &[("server_cpu", 1.0)] },
    Case { plan: "one-at-a-time", right: &["one-at-a-time"], known: &[("server_cpu", 1.0)] },
    Case {
        plan: "flush-shared-4",
        right: &["flush-shared"],
        known: &[("flush", 1.0), ("outside", 0.0)],
    },
    Case {
        plan: "flush-alone",
        right: &["flush-latency", "latency"],
        known: &[("flush", 1.0), ("outside", 1.0)],
    },
    Case { plan: "asleep", right: &["latency"], known: &[("outside", 0.25)] },
    Case { plan: "serial-timer", right: &["untouched"], known: &[("outside", 0.0)] },
    Case { plan: "generator", right: &["generator"], known: &[("client_cpu", 1.0)] },
    // Of the three answers that leave the transaction open, the row is held behind the last two.
    Case { plan: "held", right: &["held"], known: &[("inside", 2.0 / 3.0), ("outside", 0.0)] },
];

/// The provoked cases, `DYNO_VERDICTS` times each (once by default): `cargo xtask verdicts`. Its table is in benchmarks/why.md.
#[test]
#[ignore = "two minutes for each case, on a machine that does nothing else"]
#[expect(clippy::disallowed_macros, reason = "the table is what it is run for")]
fn verdicts() {
    let rounds = std::env::var("DYNO_VERDICTS").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/why");
    let (mut named_right, mut wrong, mut covered, mut known) = (0, 0, 0, 0);
    println!("| case | verdict | as it should be | known betas |\n|---|---|---|---|");
    for round in 0..rounds {
        for case in &CASES {
            let sandbox = Sandbox::new();
            let plan = plans.join(case.plan).with_extension("toml");
            let arguments = ["run", plan.to_str().unwrap(), "--quiet", "--format", "json"];
            let report = report(&mut sandbox.dyno(arguments));
            let why = why(&report);
            let verdict = why["verdict"].as_str().unwrap_or("none");
            let is_right = case.right.contains(&verdict);
            let is_open = ["none", "several"].contains(&verdict)
                || verdict.starts_with("not-")
                || verdict.starts_with("refused-");
            named_right += usize::from(is_right);
            wrong += usize::from(!is_right && !is_open);
            let shown: Vec<String> = case
                .known
                .iter()
                .filter_map(|(place, truth)| {
                    let beta = &named(&why["places"], "place", place)?["beta"];
                    let [value, low, high] =
                        ["value", "low_95", "high_95"].map(|key| beta[key].as_f64().unwrap());
                    known += 1;
                    covered += usize::from(low <= *truth && *truth <= high);
                    Some(format!("{place} {value:.2} ({low:.2} to {high:.2}), {truth}"))
                })
                .collect();
            println!(
                "| {} {} | {verdict} | {is_right} | {} |",
                case.plan,
                round + 1,
                shown.join("; ")
            );
            if !is_right {
                eprintln!("{why:#}");
            }
        }
    }
    println!(
        "right {named_right} of {}, wrong {wrong}, known betas in their intervals {covered} of {known}",
        rounds * CASES.len()
    );
    assert_eq!(wrong, 0, "a verdict named a wrong place");
}
