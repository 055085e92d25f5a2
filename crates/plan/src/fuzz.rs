//! Properties of the plan reader that hold for any bytes.

use std::path::PathBuf;

use fuzzing::SECRET;

use crate::{Color, Plan, Source, parse_bytes, parse_count, parse_duration, scrub, show_duration};

fuzzing::targets! {
    plan_text: plan, from plans;
    plan_override: overridden, from overrides;
    plan_units: units, from quantities;
    plan_scrub: scrubbed, from secrets;
}

/// A plan that sets every key.
pub(crate) const PLAN: &str = r#"
name = "whole"
title = "Everything said"
seed = 7
repetitions = 3
between = "restore"
existing = "replace"
cleanup = true
percentiles = [99.9, 50]

[sql]
after_prepare = "ANALYZE TABLE sbtest1"
run_session = ["SET a = 1", "SET b = 2"]

[systems.lite]
kind = "sqlite"
cache-size = "64MiB"

[systems.far]
use = "mysql://root:pw@127.0.0.1:3306/test"
[systems.far.sql]
run_session = "SET c = 3"

[workloads.points]
kind = "sysbench/oltp_point_select"
tables = 4
table_size = "100k"

[load]
clients = [1, 8]
time = "5s"
warm_up = "1s"
interval = "500ms"
think_time = "10ms"
workers = 2
cpus = "0,2-3"
"#;

const SEEK: &str = r#"
system = "sqlite"
workload = "sysbench/oltp_point_select"
load = { clients = 64, arrivals = "constant" }
[seek]
bounds = ["p99.9 <= 1.5s", "mean < 250us, max < 1m", "errors < 0.1%"]
over = "rate"
from = 0.5
to = "2k"
probe_time = "3s"
confirm_time = "1m"
precision = 0.02
probes = 20
"#;

const OPEN: &str = r#"
name = "é"
systems = { sqlite = {} }
workloads."sysbench/x" = { x = [1.5, -2, true, 1979-05-27T07:32:00Z] }
load = { clients = 8, rate = [{ time = "5s", rate = 100 }, { rate = "1k" }], arrivals = "poisson" }
"""
'''"#;

const ENDING: &str = r#"
system = "sqlite"
workload = "sysbench/oltp_point_select"
[load]
rate = [100, "1k"]
warm_up = { until = "steady", at_least = "30s", at_most = "5m" }
prewarm = "1m"
until = "p99.9 within 2.5%"
"#;

fn plans() -> Vec<Vec<u8>> {
    [PLAN, OPEN, SEEK, ENDING].map(|text| text.as_bytes().to_vec()).to_vec()
}

fn secrets() -> Vec<Vec<u8>> {
    let texts = [
        "x = [\"--password\", 'p'] env = { A_TOKEN = \"p\\\"q\" } password = [1, \"\"\"p\"\"\"]",
        "{\"password\": \"p\", 'pwd':'p'} mysql://u:p@h/d?token=p&x=1 u:p@h",
        "CREATE USER u IDENTIFIED WITH 'x' BY 'p'; SET PASSWORD FOR u = PASSWORD('p')",
    ];
    plans().into_iter().chain(texts.map(|text| text.as_bytes().to_vec())).collect()
}

fn overrides() -> Vec<Vec<u8>> {
    let texts =
        ["load.time=5s", "load.clients=[1, 2]", "systems.far.use=mysql://u:p@h/d", "a.\"b\"=1"];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn quantities() -> Vec<Vec<u8>> {
    ["1m30s", "2.5h", "64MiB", "10k", "1e6", "1_000", "250us"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// A plan with this text.
pub(crate) fn source(text: &str) -> Source {
    Source {
        name: "plans/x.toml".to_owned(),
        text: text.to_owned(),
        folder: PathBuf::from("plans"),
    }
}

/// A plan is read, or its problems can be shown.
fn plan(bytes: &[u8]) {
    read(source(&String::from_utf8_lossy(bytes)));
}

fn read(source: Source) {
    match Plan::parse(source) {
        Ok(plan) => {
            let _ = (plan.trials().len(), plan.estimate(), format!("{plan:?}"));
        }
        Err(problems) => {
            assert!(!problems.problems.is_empty(), "an error without a problem");
            assert!(!problems.render(Color::Always).is_empty(), "a problem that cannot be shown");
        }
    }
}

/// An override is applied, or its problems can be shown.
fn overridden(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match source(PLAN).with_overrides(&[text]) {
        Ok(source) => read(source),
        Err(problems) => assert!(!problems.rendered.is_empty(), "a problem that cannot be shown"),
    }
}

/// The displayed form of a duration is read as the same duration.
fn units(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_bytes(&text), parse_count(&text));
    if let Some(duration) = parse_duration(&text) {
        let shown = show_duration(duration);
        assert_eq!(parse_duration(&shown), Some(duration), "{shown:?} from {text:?}");
    }
}

/// A password in a URL, a variable or an argument is removed everywhere, and scrubbing twice has the same result as
/// scrubbing once.
fn scrubbed(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let clean = scrub(&text);
    assert_eq!(scrub(&clean), clean, "scrubbing again changes the text");
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (before, after) = text.split_at(half);
    for secret in [
        format!("mysql://user:{SECRET}@host/"),
        format!("ROOT_PASSWORD={SECRET} "),
        format!("--auth-token {SECRET} "),
    ] {
        let clean = scrub(&format!("{before} {secret}{after}"));
        assert!(!clean.contains(SECRET), "a password is left: {clean:?}");
    }
}
