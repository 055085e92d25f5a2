//! The plan reader as functions over bytes: run briefly by the tests and for long by
//! `cargo xtask fuzz`. They panic when a property does not hold.

mod input;

pub use input::Inputs;

use std::path::PathBuf;

use crate::{Color, Plan, Source, parse_bytes, parse_count, parse_duration, scrub, show_duration};

/// Something that takes bytes from outside.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name, such as `plan`.
    pub name: &'static str,
    /// Takes one input.
    pub run: fn(&[u8]),
    /// Real inputs, to begin from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// So many inputs each target takes in a test.
const BRIEFLY: usize = 400;

/// Runs each target on its real inputs and for a moment on changed ones and on garbage, the same each
/// time.
///
/// # Panics
/// When a property does not hold.
pub fn run_briefly(targets: &[FuzzTarget]) {
    for target in targets {
        let seeds = (target.seeds)();
        seeds.iter().for_each(|seed| (target.run)(seed));
        let mut inputs = Inputs::new(seeds, 1);
        let mut input = Vec::new();
        for _ in 0..BRIEFLY {
            inputs.next(&mut input);
            (target.run)(&input);
        }
    }
}

/// What this room reads from outside.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "plan", run: plan, seeds: plans },
    FuzzTarget { name: "plan override", run: overridden, seeds: overrides },
    FuzzTarget { name: "plan units", run: units, seeds: quantities },
    FuzzTarget { name: "plan scrub", run: scrubbed, seeds: secrets },
];

/// A password that no input holds by chance.
const SECRET: &str = "hors3-carr1age-Z9";

/// A plan that says everything.
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
"#;

const OPEN: &str = r#"
name = "é"
systems = { sqlite = {} }
workloads."sysbench/x" = { x = [1.5, -2, true, 1979-05-27T07:32:00Z] }
load = { clients = 8, rate = [{ time = "5s", rate = 100 }, { rate = "1k" }], arrivals = "poisson" }
"""
'''"#;

fn plans() -> Vec<Vec<u8>> {
    [PLAN, OPEN].map(|text| text.as_bytes().to_vec()).to_vec()
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

/// A plan of this text.
pub(crate) fn source(text: &str) -> Source {
    Source {
        name: "plans/x.toml".to_owned(),
        text: text.to_owned(),
        folder: PathBuf::from("plans"),
    }
}

/// A plan is read, or what is wrong with it can be shown.
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

/// An override is taken, or what is wrong with it can be shown.
fn overridden(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match source(PLAN).with_overrides(&[text]) {
        Ok(source) => read(source),
        Err(problems) => assert!(!problems.rendered.is_empty(), "a problem that cannot be shown"),
    }
}

/// What was read as a duration is read again as the same one from how it is shown.
fn units(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_bytes(&text), parse_count(&text));
    if let Some(duration) = parse_duration(&text) {
        let shown = show_duration(duration);
        assert_eq!(parse_duration(&shown), Some(duration), "{shown:?} from {text:?}");
    }
}

/// A password in a URL, a variable or an argument is gone wherever it stands, and scrubbing twice does no
/// more than once.
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

#[cfg(test)]
mod tests {
    #[test]
    fn plans_that_are_changed_and_garbage_break_nothing() {
        super::run_briefly(super::TARGETS);
    }
}
