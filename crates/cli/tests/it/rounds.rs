//! Rounds of variants that end by themselves, from the plan to the views: exact in virtual time, and on real servers.

use serde_json::Value;

use crate::sandbox::{Sandbox, both, json};

/// Two variants of a simulated system, one client, 4 s for each trial.
fn plan(top: &str, system: &str, [old, new]: [&str; 2]) -> String {
    format!(
        "{top}\n[systems.it]\nkind = \"simulated\"\n{system}\n[systems.it.variants.old]\nservice_times = [\"{old}\"]\n\
         [systems.it.variants.new]\nservice_times = [\"{new}\"]\n[workloads.simulated]\n\
         [load]\nclients = 1\ntime = \"4s\"\nwarm_up = \"0s\"\n"
    )
}

fn run(sandbox: &Sandbox, plan: &str) -> Value {
    sandbox.file("plan.toml", plan);
    json(&sandbox.succeed(["run", "plan.toml", "--format=json"]))
}

/// 399 transactions of 10 ms and 499 of 8 ms end before 4 s are over, in every round: a ratio without a spread.
#[test]
fn rounds_that_do_not_vary_end_after_the_fewest() {
    for (rule, goal) in [("width = \"2%\"", "width"), ("decide = \"3%\"", "decide")] {
        let sandbox = Sandbox::new();
        let top = format!("rounds = {{ {rule} }}");
        let report = run(&sandbox, &plan(&top, "", ["10ms", "8ms"]));
        let trials = report["trials"].as_array().unwrap();
        assert_eq!((trials.len(), &report["trials_planned"]), (10, &10.into()), "{rule}");
        let group = &report["variants"][0];
        let rounds = &group["rounds"];
        assert_eq!((&rounds["goal"], &rounds["ended"]), (&goal.into(), &"reached".into()));
        assert_eq!((&rounds["rounds"], &rounds["at_most"]), (&5.into(), &40.into()));
        let of_variant = &rounds["variants"][0];
        assert_eq!((&of_variant["variant"], &of_variant["reached"]), (&"new".into(), &true.into()));
        assert!(of_variant["half_width"].as_f64().unwrap().abs() < 1e-9, "{rounds}");
        let compared = &group["compared"][0];
        assert_eq!((&compared["rounds"], &compared["verdict"]), (&5.into(), &"faster".into()));
        for key in ["ratio", "low_95", "high_95"] {
            let value = compared["throughput"][key].as_f64().unwrap();
            assert!((value - 499.0 / 399.0).abs() < 1e-9, "{key}: {compared}");
        }
        let least = if goal == "decide" { 0.03 } else { 0.01 };
        assert_eq!(group["least_difference"], least);
    }
}

/// Trials of a system with noise: the report finds the end of the run again.
#[test]
fn a_report_finds_the_end_of_the_rounds_again() {
    let sandbox = Sandbox::new();
    let noise = "distribution = \"lognormal\"\nvariation = 0.5";
    let report = run(&sandbox, &plan("rounds = { width = \"2%\" }", noise, ["10ms", "10ms"]));
    let rounds = &report["variants"][0]["rounds"];
    // Of 400 services with a variation of 0.5 the mean varies by 2.5 %, and the ratio of two by 3.5 %.
    let number = rounds["rounds"].as_u64().unwrap();
    assert!((6..40).contains(&number), "{rounds}");
    assert_eq!(report["trials"].as_array().unwrap().len() as u64, 2 * number);
    assert_eq!(rounds["ended"], "reached");
    let half_width = rounds["variants"][0]["half_width"].as_f64().unwrap();
    assert!(half_width > 0.0 && half_width <= 0.02, "{rounds}");
    let ratio = &report["variants"][0]["compared"][0]["throughput"];
    let of = |key: &str| ratio[key].as_f64().unwrap();
    assert!(((of("high_95") / of("ratio") - 1.0) / half_width - 1.0).abs() < 1e-9, "{ratio}");
    let text = rounds["text"].as_str().unwrap();
    assert!(
        text.contains(&format!("They ended after {number} rounds, because that was reached")),
        "{text}"
    );
    let again = String::from_utf8(sandbox.succeed(["report", "results", "--full"]).stdout).unwrap();
    assert!(again.contains(text), "{again}");
}

#[test]
fn rounds_end_at_the_most_and_tell_how_many_would_do() {
    let sandbox = Sandbox::new();
    let noise = "distribution = \"exponential\"";
    let top = "rounds = { decide = \"0.1%\", at_most = 6 }";
    sandbox.file("plan.toml", &plan(top, noise, ["10ms", "10ms"]));
    let dry = both(&sandbox.succeed(["run", "plan.toml", "--dry-run"]));
    assert!(dry.contains("at most 12 trials, 48s of load at most"), "{dry}");
    let output = sandbox.succeed(["run", "plan.toml", "--full"]);
    let told = both(&output);
    assert!(told.contains("round 1 of at most 6"), "{told}");
    assert!(told.contains("round 6 of at most 6, half width"), "{told}");
    assert!(
        told.contains(
            "They ended after 6 rounds, the most, and that was not reached: new (half width"
        ),
        "{told}"
    );
    assert!(told.contains("12 of 12 trials"), "{told}");
}

#[test]
fn rounds_of_real_servers_end_by_themselves() {
    let sandbox = Sandbox::new();
    let plan = "workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }\n\
                rounds = { width = \"100%\", at_least = 4, at_most = 5 }\n\
                load = { clients = 2, events = 400, warm_up = \"0s\" }\n[systems.maria]\nkind = \"mariadb\"\n\
                [systems.maria.variants.small]\nsettings = { max_connections = 50 }\n\
                [systems.maria.variants.large]\nsettings = { max_connections = 60 }\n";
    let report = run(&sandbox, plan);
    let rounds = &report["variants"][0]["rounds"];
    let number = rounds["rounds"].as_u64().unwrap();
    let trials = report["trials"].as_array().unwrap();
    assert!(trials.iter().all(|trial| trial["status"] == "complete"), "{report}");
    assert_eq!((trials.len() as u64, (4..=5).contains(&number)), (2 * number, true), "{rounds}");
    let is_narrow = rounds["variants"][0]["half_width"].as_f64().unwrap() <= 1.0;
    assert_eq!(rounds["ended"], if is_narrow { "reached" } else { "at-most" }, "{rounds}");
}
