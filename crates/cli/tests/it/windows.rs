//! Variants that are all up while the load alternates between them in windows: on simulated systems to the digit, and
//! on real MariaDB servers.

use std::collections::BTreeSet;
use std::fs;

use measure::Side;
use record::{TrialRecord, TrialStatus};
use serde_json::Value;

use crate::sandbox::{Sandbox, both, json};

/// 100 and 125 transactions a second; windows of 2 s after 200 ms of warm-up.
const SIMULATED: &str = "
    workload = \"simulated\"
    interleave = { windows = 3 }
    percentiles = [50]
    [systems.queue]
    kind = \"simulated\"
    [systems.queue.variants.slow]
    service_times = [\"10ms\"]
    [systems.queue.variants.fast]
    service_times = [\"8ms\"]
    [load]
    time = \"2s\"
";

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

#[test]
fn windows_of_simulated_variants_are_rounds_of_known_figures() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    assert_eq!((&report["status"], &report["trials_planned"]), (&"complete".into(), &8.into()));
    let trials = array(&report["trials"]);
    assert_eq!(trials.len(), 8, "four rounds of two variants");
    let mut order = vec![""; 24];
    for trial in trials {
        let is_fast = trial["system"] == "queue.fast";
        let other = if is_fast { "queue.slow" } else { "queue.fast" };
        let (each, rate, mean_ns) = if is_fast { (250, 125.0, 8e6) } else { (200, 100.0, 10e6) };
        assert_eq!((&trial["status"], &trial["validity"]), (&"complete".into(), &"valid".into()));
        assert_eq!((&trial["seconds"], &trial["beside"][0]), (&6.0.into(), &other.into()));
        assert_eq!(trial["transactions"], 3 * each);
        assert_eq!(trial["transactions_per_s"], rate);
        assert_eq!(trial["latency"]["count"], 3 * each);
        let mean = trial["latency"]["mean_ns"].as_f64().unwrap();
        assert!((mean / mean_ns - 1.0).abs() < 1e-3, "{mean}");
        assert_eq!(array(&trial["intervals"]).len(), 6);
        let windows = array(&trial["windows"]);
        for (at, window) in windows.iter().enumerate() {
            assert_eq!(
                (&window["window"], &window["transactions"]),
                (&(at + 1).into(), &each.into())
            );
            assert_eq!(window["repetition"], trial["repetition"]);
            let place = window["index"].as_u64().unwrap() as usize;
            order[place] = window["system"].as_str().unwrap();
        }
        assert_eq!(windows.len(), 3);
    }
    for turn in order.chunks(2) {
        assert_ne!(turn[0], turn[1], "each variant has a window in each turn: {order:?}");
    }
    let compared = &report["variants"][0]["compared"][0];
    assert_eq!((&compared["variant"], &compared["rounds"]), (&"fast".into(), &4.into()));
    assert_eq!(compared["verdict"], "faster");
    for key in ["ratio", "low_95", "high_95"] {
        let seen = compared["throughput"][key].as_f64().unwrap();
        assert!((seen - 1.25).abs() < 1e-9, "{key}: {seen}");
    }
}

#[test]
fn every_view_has_a_row_for_a_round_and_says_what_was_up() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let told = both(&sandbox.succeed(["run", "plan.toml", "--full"]));
    let rounds = told.lines().filter(|line| line.contains("] window ")).count();
    assert_eq!(rounds, 12, "a line for each round of windows: {told}");
    let run = sandbox.runs().pop().unwrap();
    let view = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let alternated = "the load alternated between them: 3 windows of each under each load";
    for text in [told.replace('\n', " "), view("report.md"), crate::sandbox::whole_page(&run)] {
        assert!(text.contains(alternated), "{text}");
    }
    let trials = view("report.csv").lines().filter(|line| line.contains(",TOTAL,")).count();
    assert_eq!(trials, 8, "{}", view("report.csv"));
    assert!(
        crate::sandbox::whole_page(&run)
            .contains("3 windows of closed loop, 2s after 200ms of warm-up")
    );
    assert!(crate::sandbox::whole_page(&run).contains("with queue.slow up beside it"));
    let listed = both(&sandbox.succeed(["list"]));
    assert!(listed.contains("8 of 8"), "{listed}");
    // A window alone, by its number in the record.
    let alone = json(&sandbox.succeed(["report", "results", "--trial=24", "--format=json"]));
    let trial = &alone["trials"][0];
    assert_eq!((&trial["index"], &trial["seconds"]), (&23.into(), &2.0.into()));
    assert!(trial["windows"].is_null());
}

#[test]
fn a_dry_run_lists_the_windows() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let planned = json(&sandbox.succeed(["run", "plan.toml", "--dry-run", "--format=json"]));
    let windows: Vec<_> = array(&planned["trials"])[..6].iter().map(|it| &it["window"]).collect();
    assert_eq!(windows, [1, 1, 2, 2, 3, 3]);
    // Each round: a second and twice 200 ms of warm-up and 6 s for each variant.
    assert_eq!(planned["load_s"], 4.0 * 2.0 * 7.4);
    let text = both(&sandbox.succeed(["run", "plan.toml", "--dry-run"]));
    assert!(text.contains("8 trials of 24 windows, "), "{text}");
}

/// The servers that a trial's windows were offered load on, by their process ids.
fn servers(trial: &TrialRecord) -> BTreeSet<u32> {
    let hosts = trial.windows.iter().flat_map(|window| &window.watched.hosts);
    let servers = hosts.flat_map(|host| &host.processes).filter(|it| it.side == Side::Server);
    servers.map(|process| process.pid).collect()
}

#[test]
fn both_servers_of_a_round_are_up_during_all_of_its_windows() {
    let sandbox = Sandbox::new();
    let plan = "
        workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }
        interleave = { windows = 3 }
        repetitions = 2
        load = { clients = 2, events = 200, warm_up = \"0s\", prewarm = \"200ms\" }
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.small]
        settings = { max_connections = 50 }
        [systems.maria.variants.large]
        settings = { max_connections = 60 }
    ";
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let run = report::open(&sandbox.runs()[0]).unwrap();
    assert_eq!(run.trials.len(), 4);
    let mut all = BTreeSet::new();
    for trial in &run.trials {
        assert_eq!((trial.windows.len(), trial.total.transactions), (3, 600));
        // The windows of both variants take turns, so a server that was not started again was up all the time.
        let pids = servers(trial);
        assert_eq!(pids.len(), 1, "one start for all windows of a round: {pids:?}");
        all.extend(pids);
        let other = if trial.header.system == "maria.small" { "large" } else { "small" };
        assert!(trial.windows.iter().all(|it| it.header.beside == [format!("maria.{other}")]));
        let loads = trial.windows.iter().map(|it| it.phases.len());
        let [first, second, third] = loads.collect::<Vec<_>>()[..] else { panic!("{trial:?}") };
        assert!(first > second, "the first window has the phases of the data");
        assert_eq!((second, third), (1, 1), "measured, and nothing else");
        let check = trial.end.as_ref().unwrap().cross_check.as_ref().unwrap();
        let record::CrossCheck::Counted(counted) = check else { panic!("{check:?}") };
        assert_eq!(counted.difference(), 0, "the server's counters are those of its own windows");
    }
    assert_eq!(all.len(), 4, "two servers in each of two rounds");
    let indices = |round: u32| {
        let of_round = run.trials.iter().filter(move |it| it.header.repetition == round);
        of_round.flat_map(|it| it.windows.iter().map(|window| window.header.index))
    };
    assert!(indices(0).max() < indices(1).min(), "rounds follow one another");
    assert_eq!(report["variants"][0]["compared"][0]["rounds"], 2);
}

#[test]
fn a_server_that_exits_is_not_started_again_in_its_round_and_the_other_goes_on() {
    let sandbox = Sandbox::new();
    let plan = "
        workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }
        interleave = { windows = 2 }
        repetitions = 2
        load = { clients = 1, events = 50, warm_up = \"0s\" }
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.mortal]
        sql = { before_run = \"SHUTDOWN\" }
        [systems.maria.variants.well]
    ";
    sandbox.file("plan.toml", plan);
    let output = sandbox.dyno(["run", "plan.toml"]).output().unwrap();
    assert!(!output.status.success());
    let run = report::open(&sandbox.runs()[0]).unwrap();
    assert_eq!(run.trials.len(), 4);
    for trial in &run.trials {
        let ends = trial.windows.iter().map(|it| &it.end.as_ref().unwrap().status);
        let ends: Vec<&TrialStatus> = ends.collect();
        if trial.header.system == "maria.well" {
            assert_eq!(ends, [&TrialStatus::Complete; 2]);
            continue;
        }
        let [TrialStatus::Crashed(_), TrialStatus::Crashed(later)] = ends[..] else {
            panic!("{ends:?}")
        };
        assert!(later.starts_with("earlier in this round: MariaDB ended by itself"), "{later}");
        assert_eq!(later.lines().count(), 1, "its log is told once: {later}");
    }
    let told = both(&output);
    let starts = told.lines().filter(|line| line.starts_with("maria.mortal: MariaDB 1")).count();
    assert_eq!(starts, 2, "once in each round: {told}");
}

#[test]
fn generators_share_the_windows_of_each_variant() {
    let sandbox = Sandbox::new();
    let plan = "
        workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }
        interleave = { windows = 2 }
        repetitions = 1
        load = { clients = 4, workers = 1, events = 400, generators = [\"local\", \"local\"] }
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.small]
        [systems.maria.variants.large]
        settings = { max_connections = 60 }
    ";
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let trials = array(&report["trials"]);
    assert_eq!(trials.len(), 2);
    for trial in trials {
        assert_eq!((&trial["status"], &trial["transactions"]), (&"complete".into(), &800.into()));
        let each = array(&trial["generators"]).iter().map(|one| &one["transactions"]);
        let each: u64 = each.filter_map(Value::as_u64).sum();
        assert_eq!(each, 800, "those of both windows: {}", trial["generators"]);
    }
}

/// Services of the simulated variants take twice as long for some seconds after each start: the first five windows of a
/// round have half the throughput, but for those that a prewarm takes away.
#[test]
fn first_windows_of_a_system_that_gets_warm_are_a_finding_until_it_is_prewarmed() {
    let found = |prewarm: &str| {
        let sandbox = Sandbox::new();
        let plan = format!(
            "workload = \"simulated\"
            interleave = {{ windows = 20 }}
            [systems.queue]
            kind = \"simulated\"
            noise = [{{ kind = \"warm\", slow = 2.0, for = \"11s\" }}]
            [systems.queue.variants.slow]
            service_times = [\"10ms\"]
            [systems.queue.variants.fast]
            service_times = [\"8ms\"]
            [load]
            time = \"1s\"
            warm_up = \"100ms\"
            prewarm = \"{prewarm}\""
        );
        sandbox.file("plan.toml", &plan);
        let output = sandbox.succeed(["run", "plan.toml", "--full"]);
        let report = json(&sandbox.succeed(["report", "results", "--format=json"]));
        (both(&output).replace('\n', " "), report)
    };
    let (told, report) = found("0s");
    assert!(told.contains("The first windows after a start differ"), "{told}");
    let findings = array(&report["warnings"]);
    let of_code = findings.iter().filter(|finding| finding["code"] == "first-windows");
    let values: Vec<&Value> = of_code.map(|finding| &finding["values"]).collect();
    let [slow, fast] = values[..] else { panic!("{findings:?}") };
    assert_eq!(slow["place"], "queue.slow, simulated, 1 client: throughput");
    assert_eq!(fast["place"], "queue.fast, simulated, 1 client: throughput");
    assert_eq!((&slow["first"], &fast["first"]), (&4.into(), &4.into()));
    assert!((slow["change"].as_f64().unwrap() + 0.5).abs() < 0.01, "{slow}");
    let moved = |finding: &Value| finding["moved"].as_f64().unwrap();
    assert!(moved(slow) < -0.1 && moved(fast) < -0.1, "{slow} {fast}");
    let (told, report) = found("12s");
    assert!(!told.contains("The first windows"), "{told}");
    assert_eq!(report["warnings"].to_string().matches("first-windows").count(), 0);
    let ratio = &report["variants"][0]["compared"][0]["throughput"]["ratio"];
    assert!((ratio.as_f64().unwrap() - 1.25).abs() < 0.01, "{ratio}");
}

/// At the ends of some windows an arrival waits for a free client, and is never sent: percentiles are known within bounds.
#[test]
fn variants_under_a_rate_are_compared_within_what_waiting_arrivals_leave_open() {
    let sandbox = Sandbox::new();
    let plan = r#"
workload = "simulated"
interleave = "windows"
[systems.it]
kind = "simulated"
[systems.it.variants.old]
service_times = ["5ms"]
[systems.it.variants.new]
service_times = ["4ms"]
[load]
clients = 2
rate = 150
warm_up = "100ms"
time = "1s"
"#;
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let bounded = report["trials"].as_array().unwrap().iter().filter(|trial| {
        let latency = &trial["latency"];
        let is_p95 = |it: &Value| it.as_array().is_some_and(|all| all.contains(&"p95_ns".into()));
        is_p95(&latency["at_least"]) && latency["at_most"]["p95_ns"].is_number()
    });
    assert!(bounded.count() > 0, "{}", report["trials"]);
    let compared = &report["variants"][0]["compared"][0];
    assert_eq!(compared["verdict"], "faster", "{compared}");
    let notes = report["variants"][0]["notes"].to_string();
    assert!(notes.contains("p95 is known only within bounds"), "{notes}");
}
