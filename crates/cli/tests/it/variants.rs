//! Variants of a system on real MariaDB servers: they take turns, are restarted and compared.

use std::fs;

use crate::sandbox::{Sandbox, both, json};
use crate::server;

const LOAD: &str = "
    workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }
    repetitions = 3
    load = { clients = [1, 2], events = 40, warm_up = \"0s\", prewarm = \"300ms\" }
";

#[test]
fn variants_are_built_started_afresh_for_each_round_and_compared() {
    let sandbox = Sandbox::new();
    let plan = format!(
        "{LOAD}
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.small]
        build = \"echo made by hand; echo . >> built\"
        settings = {{ max_connections = 50 }}
        [systems.maria.variants.large]
        settings = {{ max_connections = 60 }}
        "
    );
    sandbox.file("plan.toml", &plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let group = &report["variants"][0];
    assert_eq!((&group["of"], &group["baseline"]), (&"maria".into(), &"small".into()));
    let compared = group["compared"].as_array().unwrap();
    assert_eq!(compared.len(), 2, "one for each number of clients: {group}");
    for found in compared {
        assert_eq!((&found["variant"], &found["rounds"]), (&"large".into(), &3.into()));
        let number = |key: &str| found["throughput"][key].as_f64().unwrap();
        assert!(number("low_95") <= number("ratio"), "{found}");
        assert!(number("ratio") <= number("high_95"), "{found}");
    }
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 12);
    for (at, trial) in trials.iter().enumerate() {
        assert_eq!(trial["status"], "complete");
        assert_eq!(trial["repetition"], at / 4 + 1, "rounds follow one another");
    }
    let run = &sandbox.runs()[0];
    let log = fs::read_to_string(run.join("build-maria.small.log")).unwrap();
    assert_eq!(log, "made by hand\n");
    let built = fs::read_to_string(sandbox.path().join("built")).unwrap();
    assert_eq!(built.lines().count(), 1, "built once, not for each round");
    for at in 0..12 {
        let trial = fs::read_to_string(run.join(format!("trials/{at:04}/trial.json"))).unwrap();
        let is_first = at % 2 == 0;
        assert_eq!(trial.contains("after 300ms of warm-up"), is_first, "trial {at} is prewarmed");
        assert_eq!(trial.contains("\"prepare\""), is_first, "trial {at} finds a fresh server");
    }
}

#[test]
fn tables_on_an_external_server_do_not_block_the_next_round() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_variants");
    let plan = format!(
        "{LOAD}
        [systems.there]
        url = \"{url}\"
        [systems.there.variants.plain]
        [systems.there.variants.settled]
        sql = {{ run_session = \"SET SESSION sort_buffer_size = 1048576\" }}
        "
    );
    sandbox.file("plan.toml", &plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let trials = report["trials"].as_array().unwrap();
    assert!(trials.iter().all(|trial| trial["status"] == "complete"), "{report}");
    assert_eq!(report["variants"][0]["compared"][0]["rounds"], 3);
}

#[test]
fn a_failed_variant_build_is_reported_and_other_variants_run() {
    let sandbox = Sandbox::new();
    let plan = format!(
        "{LOAD}
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.broken]
        build = \"echo no such compiler >&2; exit 7\"
        [systems.maria.variants.whole]
        "
    );
    sandbox.file("plan.toml", &plan);
    let output = sandbox.dyno(["run", "plan.toml", "--format=json"]).output().unwrap();
    assert!(!output.status.success());
    let report = json(&output);
    let statuses: Vec<_> = report["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| (trial["system"].as_str().unwrap(), trial["status"].as_str().unwrap()))
        .collect();
    assert!(statuses.contains(&("maria.broken", "failed")), "{statuses:?}");
    assert!(statuses.contains(&("maria.whole", "complete")), "{statuses:?}");
    assert!(both(&output).contains("no such compiler"), "{}", both(&output));
}

#[test]
fn with_noise_every_round_measures_the_baseline_twice_and_builds_it_once() {
    let sandbox = Sandbox::new();
    let plan = "noise = true
        workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }
        repetitions = 2
        load = { clients = 1, events = 40, warm_up = \"0s\" }
        [systems.maria]
        kind = \"mariadb\"
        [systems.maria.variants.small]
        build = \"echo . >> built\"
        [systems.maria.variants.large]
        settings = { max_connections = 60 }
        ";
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let trials = report["trials"].as_array().unwrap();
    let mut names: Vec<&str> = trials.iter().map(|it| it["system"].as_str().unwrap()).collect();
    names.sort_unstable();
    let [large, small, again] = ["maria.large", "maria.small", "maria.small.again"];
    assert_eq!(names, [large, large, small, small, again, again]);
    assert!(trials.iter().all(|trial| trial["status"] == "complete"), "{report}");
    let built = fs::read_to_string(sandbox.path().join("built")).unwrap();
    assert_eq!(built, ".\n", "the baseline that is measured again is the same program");
    let group = &report["variants"][0];
    assert_eq!(group["compared"].as_array().unwrap().len(), 1, "{group}");
    assert_eq!(group["compared"][0]["variant"], "large");
    assert_eq!(group["noise"]["variant"], "small.again");
    // The noise floor is the end of the interval that is farther from 1.
    let noise = &group["noise"]["compared"][0]["throughput"];
    let [low, high] = ["low_95", "high_95"].map(|end| noise[end].as_f64().unwrap());
    let floor = (1.0 / low).max(high) - 1.0;
    let told = group["compared"][0]["throughput"]["noise_floor"].as_f64().unwrap();
    assert!((told - floor).abs() <= 1e-9 * floor, "{group}");
}

#[test]
fn the_noise_floor_of_a_simulated_system_is_known() {
    let sandbox = Sandbox::new();
    // One client and services of 10 ms: 500 in 5 s. The variant takes half as long.
    let plan = "noise = true\nrepetitions = 6\n[systems.it]\nkind = \"simulated\"\n\
                [systems.it.variants.old]\nservice_times = [\"10ms\"]\n\
                [systems.it.variants.new]\nservice_times = [\"5ms\"]\n[workloads.simulated]\n\
                [load]\nclients = 1\ntime = \"5s\"\nwarm_up = \"0s\"\n";
    sandbox.file("plan.toml", plan);
    let dry = both(&sandbox.succeed(["run", "plan.toml", "--dry-run"]));
    assert!(dry.contains("it.old.again is it.old once more in each round"), "{dry}");
    assert!(dry.contains("18 trials"), "{dry}");
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let found = &report["variants"][0]["compared"][0];
    assert!((found["throughput"]["ratio"].as_f64().unwrap() - 2.0).abs() < 0.01, "{found}");
    assert!(found["throughput"]["noise_floor"].as_f64().unwrap() < 1e-9, "{found}");
    assert_eq!(found["within_noise_floor"], false);
    let run = sandbox.runs()[0].display().to_string();
    let sides = [format!("{run}:old"), format!("{run}:new")];
    let text = both(&sandbox.succeed(["compare", sides[0].as_str(), &sides[1]]));
    assert!(text.contains("noise floor"), "{text}");
    // The runs as a whole: the baseline that was measured again is no system to compare.
    let other = sandbox.path().join("other");
    fs::rename(&sandbox.runs()[0], &other).unwrap();
    sandbox.succeed(["run", "plan.toml", "--format=json"]);
    let again = sandbox.runs()[0].display().to_string();
    let whole = both(&sandbox.succeed(["compare", "other", again.as_str()]));
    assert!(!whole.contains("old.again") && whole.contains("it.new"), "{whole}");
}
