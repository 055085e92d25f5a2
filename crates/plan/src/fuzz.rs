//! Properties of the plan reader that hold for any bytes.

use std::path::PathBuf;

use fuzzing::SECRET;

use crate::{
    Color, CpuList, Plan, Source, parse_bytes, parse_count, parse_duration, scrub, show_duration,
};

fuzzing::targets! {
    plan_text: plan;
    plan_override: overridden;
    plan_units: units;
    plan_scrub: scrubbed;
    plan_cpus: cpus;
}

/// A plan that sets many keys.
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
generators = ["local", "local"]
on_generator_loss = "continue"
keep_copies = true
"#;

pub(crate) fn source(text: &str) -> Source {
    Source {
        name: "plans/x.toml".to_owned(),
        text: text.to_owned(),
        folder: PathBuf::from("plans"),
    }
}

/// A plan is read, or its problems can be shown.
fn plan(bytes: &[u8]) -> Option<()> {
    read(source(&String::from_utf8_lossy(bytes)))
}

#[test]
fn the_inputs_are_plans() {
    for input in fuzzing::read("plan_text") {
        let read = Plan::parse(source(&String::from_utf8_lossy(&input)));
        let problems = read.err().map(|problems| problems.render(Color::Never));
        assert_eq!(problems, None, "{}", fuzzing::line(&input));
    }
}

fn read(source: Source) -> Option<()> {
    match Plan::parse(source) {
        Ok(plan) => {
            let _ = (plan.trials().len(), plan.estimate(), format!("{plan:?}"));
            Some(())
        }
        Err(problems) => {
            assert!(!problems.problems.is_empty(), "an error without a problem");
            assert!(!problems.render(Color::Always).is_empty(), "a problem that cannot be shown");
            None
        }
    }
}

/// An override is applied, or its problems can be shown.
fn overridden(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match source(PLAN).with_overrides(&[text], |_| vec!["table_size"]) {
        Ok(source) => read(source),
        Err(problems) => {
            assert!(!problems.rendered.is_empty(), "a problem that cannot be shown");
            None
        }
    }
}

/// The displayed form of a duration is read as the same duration.
fn units(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_bytes(&text), parse_count(&text));
    let duration = parse_duration(&text)?;
    let shown = show_duration(duration);
    assert_eq!(parse_duration(&shown), Some(duration), "{shown:?} from {text:?}");
    Some(())
}

/// The displayed form of a list of CPUs is read as the same list, and is not longer.
fn cpus(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let list = CpuList::parse(&text).ok()?;
    let shown = list.to_string();
    assert_eq!(CpuList::parse(&shown), Ok(list), "{shown:?} from {text:?}");
    assert!(shown.len() <= text.len(), "{shown:?} from {text:?}");
    Some(())
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
        format!("ALTER ROLE x PASSWORD '{SECRET}' "),
    ] {
        let clean = scrub(&format!("{before} {secret}{after}"));
        assert!(!clean.contains(SECRET), "a password is left: {clean:?}");
    }
}
