//! Phases that end by what is measured, from the plan to the views: exact in virtual time, and on a real database.

use std::fs;

use serde_json::Value;

use crate::own_server::Background;
use crate::sandbox::{Sandbox, both, json, report};

const S: u64 = 1_000_000_000;

/// Six clients on two servers of 10 ms, a system with these lines and a load with those.
fn trial(system: &str, load: &str) -> Value {
    let sandbox = Sandbox::new();
    let plan = format!(
        "[systems.simulated]\nservers = 2\nservice_times = [\"10ms\"]\n{system}\n[workloads.simulated]\n\
         [load]\nclients = 6\n{load}\n"
    );
    sandbox.file("plan.toml", &plan);
    json(&sandbox.succeed(["run", "plan.toml", "--format", "json"]))["trials"][0].take()
}

/// Begin and end of the measured window, ns.
fn window(trial: &Value) -> (u64, u64) {
    let intervals = trial["intervals"].as_array().unwrap();
    let measured = || intervals.iter().filter(|it| it["phase"] == "measure");
    let at = |it: &Value, edge: &str| it[edge].as_u64().unwrap();
    (at(measured().next().unwrap(), "start_ns"), at(measured().next_back().unwrap(), "end_ns"))
}

/// The codes of a trial's findings.
fn codes(trial: &Value) -> Vec<&str> {
    let findings = trial["warnings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn a_warm_up_until_steady_does_not_end_before_a_step() {
    // Services take twice as long for 20 s; the interval from then on still has latencies from before. The step is in
    // the first half of what was seen after 40 s; the look is at 42 s.
    let warm = "noise = [{ kind = \"warm\", slow = 2, for = \"20s\" }]";
    let trial = trial(warm, "warm_up = \"steady\"\ntime = \"5s\"");
    assert_eq!(window(&trial), (42 * S, 47 * S));
    let warm_up = &trial["decided_ends"]["warm_up"];
    assert_eq!(
        (&warm_up["steady_from_ns"], &warm_up["seen_ns"]),
        (&(21 * S).into(), &(42 * S).into())
    );
    assert_eq!(
        (&warm_up["at_least_ns"], &warm_up["at_most_ns"]),
        (&(30 * S).into(), &(300 * S).into())
    );
    assert_eq!(
        (&trial["transactions"], &trial["transactions_per_s"]),
        (&1_000.into(), &200.0.into())
    );
    assert_eq!(codes(&trial), ["few-values"], "one of 1,000 values is above p99.9");
}

#[test]
fn a_warm_up_until_steady_does_not_end_while_a_system_gets_faster() {
    let warm = "distribution = \"lognormal\"\nvariation = 0.3\n\
                noise = [{ kind = \"warm\", slow = 3, for = \"1s\", falling_for = \"60s\" }]";
    let trial = trial(warm, "warm_up = \"steady\"\ntime = \"5s\"");
    let (start, _) = window(&trial);
    assert!((60 * S..200 * S).contains(&start), "{start}");
}

#[test]
fn noise_without_a_trend_ends_a_warm_up_at_half_of_its_limit() {
    // In 300 s it cannot be excluded that noise hides a drift of 5 %. After half of them it is enough that none was
    // seen; the looks are at 163 and 179 s.

    let noise = "distribution = \"exponential\"\n\
                 noise = [{ kind = \"autocorrelated\", deviation = 0.05, time = \"2s\" }]";
    for load in ["", "rate = 100\n"] {
        let load = format!("{load}warm_up = \"steady\"\ntime = \"5s\"");
        let trial = trial(noise, &load);
        let (start, end) = window(&trial);
        assert!((30 * S..=180 * S).contains(&start) && end == start + 5 * S, "{load}: {start}");
        let hidden = &trial["decided_ends"]["warm_up"]["hidden_drift_per_minute"];
        assert!(hidden.as_f64().unwrap() > 0.01, "{hidden}");
        assert!(!codes(&trial).contains(&"never-steady"));
    }
}

#[test]
fn a_swing_goes_on_to_the_limit_and_every_view_says_so() {
    let sandbox = Sandbox::new();
    let plan = "[systems.simulated]\nnoise = [{ kind = \"wave\", swing = 0.3, period = \"40s\" }]\n\
                [workloads.simulated]\n[load]\ntime = \"5s\"\n\
                warm_up = { until = \"steady\", at_most = \"2m\" }\n";
    sandbox.file("plan.toml", plan);
    let text = String::from_utf8(sandbox.succeed(["run", "plan.toml", "--full"]).stdout).unwrap();
    let run = sandbox.runs().pop().unwrap();
    let view = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let report: Value = serde_json::from_str(&view("report.json")).unwrap();
    let trial = &report["trials"][0];
    assert_eq!(window(trial), (120 * S, 125 * S));
    assert_eq!(trial["decided_ends"]["warm_up"]["steady_from_ns"], Value::Null);
    assert!(codes(trial).contains(&"never-steady"));
    for view in [text, view("report.md"), view("report.html")] {
        assert!(view.contains("The load was not steady when the measuring began"), "{view}");
    }
    assert!(view("report.csv").contains("never-steady"));
}

#[test]
fn a_precise_figure_ends_the_measuring() {
    // Without noise every figure is precise at the first look.
    let exact = trial("", "until = \"p99 within 5%\"\nwarm_up = \"1s\"");
    assert_eq!(window(&exact), (S, 11 * S));
    assert_eq!(exact["transactions"], 2_000);
    let precision = &exact["decided_ends"]["precision"];
    assert_eq!((&precision["half_width"], &precision["is_reached"]), (&0.0.into(), &true.into()));
    // With noise it takes longer, and ends at a look: 10, 12, 15, 18, 22, 27, 33 ... intervals.
    let noise = "distribution = \"exponential\"";
    let noisy = trial(noise, "until = \"mean within 4%\"\nwarm_up = \"5s\"");
    let (start, end) = window(&noisy);
    let precision = &noisy["decided_ends"]["precision"];
    assert_eq!((start, &precision["is_reached"]), (5 * S, &true.into()));
    assert!((11..300).contains(&((end - start) / S)), "{end}");
    let half_width = precision["half_width"].as_f64().unwrap();
    assert!(half_width > 0.0 && half_width <= 0.04, "{half_width}");
    // Six clients on two servers of 10 ms: 30 ms.
    let mean = noisy["latency"]["mean_ns"].as_f64().unwrap() / 1e6;
    assert!((mean / 30.0 - 1.0).abs() <= 0.04, "{mean}");
}

#[test]
fn measuring_ends_at_its_limit_without_the_precision() {
    let noise = "distribution = \"exponential\"";
    let missed = trial(noise, "until = \"p99.9 within 0.1%\"\ntime = \"20s\"\nwarm_up = \"1s\"");
    assert_eq!((window(&missed), &missed["status"]), ((S, 21 * S), &"complete".into()));
    assert_eq!(missed["decided_ends"]["precision"]["is_reached"], false);
    assert!(codes(&missed).contains(&"precision-missed"));
}

#[test]
fn a_plan_that_may_end_sooner_is_planned_at_most() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--dry-run"]);
    command.args(["--warm-up=steady", "--until=p99 within 5%", "--time=60", "--clients=1,2"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("2 trials, 12m of load at most"), "{text}");
    let refused = sandbox.fail(
        2,
        ["bench", "sysbench/oltp_point_select", "--until=p99 within 0%", "--warm-up=steadily"],
    );
    for told in ["--until", "above 0 and below 100", "--warm-up", "or \"steady\""] {
        assert!(refused.contains(told), "{told}: {refused}");
    }
}

#[test]
fn both_phases_of_a_real_database_end_by_themselves_without_overlap() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=1000"]);
    command.args([
        "--clients=2",
        "--interval=50ms",
        "--time=20s",
        "--repetitions=1",
        "--until=throughput within 50%",
    ]);
    command.args([
        "--set",
        "load.warm_up={ until = \"steady\", at_least = \"1s\", at_most = \"4s\" }",
    ]);
    let report = report(command.args(["--system=sqlite", "--format=json"]));
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete");
    let intervals = trial["intervals"].as_array().unwrap();
    let mut at = 0;
    for interval in intervals {
        assert_eq!(interval["start_ns"], at, "no gap");
        at = interval["end_ns"].as_u64().unwrap();
        assert_eq!((at % (S / 20), at > interval["start_ns"].as_u64().unwrap()), (0, true));
    }
    let (start, end) = window(trial);
    let warm_up = &trial["decided_ends"]["warm_up"];
    match warm_up["seen_ns"].as_u64() {
        Some(seen) => assert!(seen <= start && seen >= S, "{warm_up} {start}"),
        None => assert_eq!(start, 4 * S),
    }
    assert!(end - start >= S / 2, "ten intervals and more");
    assert!(trial["decided_ends"]["precision"]["half_width"].as_f64().is_some());
    // What was counted while both edges moved: every client's transactions are in the intervals.
    let measured = intervals.iter().filter(|it| it["phase"] == "measure");
    let sum: u64 = measured.map(|it| it["transactions"].as_u64().unwrap()).sum();
    assert_eq!(trial["transactions"], sum);
    let clients = trial["clients_fairness"]["mean"].as_f64().unwrap() * 2.0;
    assert!((clients - sum as f64).abs() < 0.5, "{clients} of {sum}");
    let law = trial["littles_law_clients"].as_f64().unwrap();
    assert!((law / 2.0 - 1.0).abs() < 0.05, "{law}");
}

#[test]
fn an_interrupt_ends_a_warm_up_that_would_end_by_itself() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=100"]);
    let mut run = Background::start(&sandbox, command.args(["--warm-up=steady"]));
    run.wait_for("0000", "warm-up", 2);
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    let run = sandbox.runs().pop().unwrap();
    let report: Value =
        serde_json::from_str(&fs::read_to_string(run.join("report.json")).unwrap()).unwrap();
    let trial = &report["trials"][0];
    assert_eq!((&trial["status"], &trial["transactions"]), (&"interrupted".into(), &0.into()));
    assert!(!codes(trial).contains(&"never-steady"), "the user ended it");
}

#[test]
fn an_outage_in_the_warm_up_is_not_the_steady_load() {
    // Nothing is served from 10 s to 15 s. Latencies are then those of four intervals together, so that all have some: 16
    // such parts after 16 s are there at 80 s, and the look after that is at 86 s.
    let stall = "stalls = [{ at = \"10s\", for = \"5s\" }]";
    let trial = trial(stall, "warm_up = \"steady\"\ntime = \"5s\"");
    let warm_up = &trial["decided_ends"]["warm_up"];
    let (from, seen) = (16 * S, 86 * S);
    assert_eq!((&warm_up["steady_from_ns"], &warm_up["seen_ns"]), (&from.into(), &seen.into()));
    assert_eq!(window(&trial), (seen, seen + 5 * S));
    assert_eq!(trial["transactions"], 1_000);
    let outage = &trial["outages"][0];
    let ends = [&outage["start_ns"], &outage["end_ns"]].map(|it| it.as_u64().unwrap());
    assert_eq!(ends, [10 * S, 15 * S + S / 100], "to the end of the first service");
}

#[test]
fn an_outage_at_the_end_of_the_shortest_warm_up_is_waited_out() {
    // From 28 s to 33 s; the first look is at 30 s.
    let stall = "stalls = [{ at = \"28s\", for = \"5s\" }]";
    let trial = trial(stall, "warm_up = \"steady\"\ntime = \"5s\"");
    let (start, _) = window(&trial);
    let from = trial["decided_ends"]["warm_up"]["steady_from_ns"].as_u64().unwrap();
    assert!(from >= 33 * S && start >= 2 * from, "{from} {start}");
    assert_eq!(trial["transactions"], 1_000);
}

#[test]
fn an_outage_while_measuring_until_precise_is_in_the_figures() {
    // 100 a second arrive; from 5 s to 7 s nothing is served, before the first look at 11 s. In 60 s 6,000 are due, and 60 of them are above p99:
    // all of these waited in the outage, a single one, so that no interval of p99 can be narrow. The arrival x s after
    // 5 s waits 2 - x s for the end of the outage, and x / 2 s for those before it. 60 of them come in 0.6 s.
    let stall = "stalls = [{ at = \"5s\", for = \"2s\" }]";
    let load = "rate = 100\narrivals = \"constant\"\nwarm_up = \"1s\"\ntime = \"60s\"\nuntil = \"p99 within 5%\"";
    let missed = trial(stall, load);
    assert_eq!(window(&missed), (S, 61 * S));
    assert_eq!(missed["transactions"], 6_000);
    assert!(codes(&missed).contains(&"precision-missed"), "{missed}");
    assert!(codes(&missed).contains(&"outages"), "{missed}");
    let p99 = missed["latency"]["percentiles"]["p99_ns"].as_u64().unwrap();
    assert!((p99 as f64 / 1.7e9 - 1.0).abs() < 0.02, "{p99}");
}
