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
