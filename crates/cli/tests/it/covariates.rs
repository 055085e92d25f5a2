//! What is measured beside windows explains their noise and is taken out of ratios.

use serde_json::Value;

use crate::sandbox::{Sandbox, json};

/// One client; the variant's services take 1 / 1.03 of the time. The machine takes up to a fifth longer and shorter, along a
/// wave that is long beside a window.
const WAVE: &str = r#"
workload = "simulated"
interleave = "windows"
[systems.it]
kind = "simulated"
noise = [{ kind = "wave", swing = 0.2, period = "37s" }]
[systems.it.variants.old]
service_times = ["103us"]
[systems.it.variants.new]
service_times = ["100us"]
[load]
warm_up = "100ms"
time = "1s"
"#;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_speed_of_a_simulated_machine_explains_its_windows() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", WAVE);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let compared = &report["variants"][0]["compared"][0];
    let control = &compared["throughput"]["control"];
    // What is measured before a window is half a second ahead of its middle, and the warm-up: 0.6 s of 37 s. The square of
    // the cosine of that angle is 0.990, and taking out what the variants might have left costs a little.
    assert!(number(&control["explained"]) > 0.96, "{control}");
    let [arithmetic, round_trip] = [0, 1].map(|at| &control["covariates"][at]);
    assert!((number(&arithmetic["coefficient"]) + 1.0).abs() < 0.03, "{control}");
    assert_eq!((&arithmetic["role"], &round_trip["role"]), (&"used".into(), &"redundant".into()));
    assert_eq!(control["covariates"].as_array().unwrap().len(), 2, "{control}");
    let of = |found: &Value| ["low_95", "ratio", "high_95"].map(|key| number(&found[key]));
    let [low, ratio, high] = of(&control["adjusted"]);
    assert!((ratio / 1.03 - 1.0).abs() < 0.001, "{control}");
    let measured = of(&control["measured"]);
    assert!(high - low < (measured[2] - measured[0]) / 3.0, "{control}");
    assert_eq!(of(&compared["throughput"]), [low, ratio, high], "the adjusted ratio counts");
    assert_eq!(compared["verdict"], "faster");
    let text = String::from_utf8(sandbox.succeed(["report", "results"]).stdout).unwrap();
    assert!(text.contains("Ratios with and without covariates"), "{text}");
    assert!(text.contains("80 samples"), "4 rounds x 10 windows x 2: {text}");
}

#[test]
fn without_control_nothing_is_measured_beside_windows() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("control = false\n{WAVE}"));
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let throughput = &report["variants"][0]["compared"][0]["throughput"];
    assert_eq!(throughput["control"], Value::Null);
    let trial = sandbox.runs()[0].join("trials/0000/trial.json");
    assert!(!std::fs::read_to_string(trial).unwrap().contains("\"speed\""));
}

#[test]
fn the_machine_is_measured_before_each_window_of_real_servers() {
    let sandbox = Sandbox::new();
    let plan = "interleave = { windows = 6 }\nrepetitions = 4\n\
        workload = { kind = \"sysbench/oltp_point_select\", table_size = 200 }\n\
        load = { clients = 2, time = \"200ms\", interval = \"100ms\", prewarm = \"200ms\" }\n\
        [systems.maria]\nkind = \"mariadb\"\n\
        [systems.maria.variants.one]\n[systems.maria.variants.other]\n";
    sandbox.file("plan.toml", plan);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let usable = report["environment"]["usable_threads"].as_u64().unwrap();
    for at in 0..2 * 4 * 6 {
        let file = sandbox.runs()[0].join(format!("trials/{at:04}/trial.json"));
        let trial: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let sample = &trial["speed"]["before"];
        assert_eq!(sample["cpus"].as_u64(), Some(usable), "{sample}");
        assert!(number(&sample["arithmetic_ns"]) > 1_000.0, "{sample}");
        assert!(number(&sample["round_trip_ns"]) > 100.0, "{sample}");
        // Each CPU measures for a twentieth of the window, all at the same time.
        assert!(
            number(&sample["length_ns"]) >= 10e6 && number(&sample["cost_ns"]) > 0.0,
            "{sample}"
        );
    }
    let control = &report["variants"][0]["compared"][0]["throughput"]["control"];
    let covariates = control["covariates"].as_array().unwrap();
    let names: Vec<&str> = covariates.iter().map(|it| it["covariate"].as_str().unwrap()).collect();
    assert_eq!(names, ["arithmetic", "round_trip", "own_cpu"]);
    let during: Vec<bool> = covariates.iter().map(|it| it["during_load"] == true).collect();
    assert_eq!(during, [false, false, true]);
    assert!(covariates.iter().all(|it| number(&it["effect"]["ratio"]) > 0.0), "{control}");
    assert!(number(&control["explained_by_all"]) <= 1.0, "{control}");
    assert!(number(&control["explained"]) <= 1.0, "{control}");
    assert!(covariates[..2].iter().all(|it| it["role"] != "may-be-moved"), "{control}");
}
