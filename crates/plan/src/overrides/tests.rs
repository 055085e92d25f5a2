//! Overrides change the text; the changed text is checked.

use super::*;
use crate::{Limit, Plan};

const PLAN: &str = r#"# A plan.
system = "sqlite" # in process

[workloads.points]
kind = "sysbench/oltp_point_select"
table-size = 1000 # small

[load]
time = "10s" # long
"#;

fn source() -> Source {
    Source { name: "x.toml".to_owned(), text: PLAN.to_owned(), folder: PathBuf::from(".") }
}

fn no_texts(_: &str) -> Vec<&'static str> {
    Vec::new()
}

fn with(assignments: &[&str]) -> String {
    source().with_overrides(assignments, no_texts).unwrap().text
}

#[test]
fn values_are_replaced_where_they_stand() {
    let text = with(&["load.time=5s", "workloads.points.table_size=20", "seed=7"]);
    insta::assert_snapshot!(text, @r#"
    # A plan.
    system = "sqlite" # in process
    seed = 7

    [workloads.points]
    kind = "sysbench/oltp_point_select"
    table-size = 20 # small

    [load]
    time = "5s" # long
    "#);
}

#[test]
fn tables_are_made_as_needed() {
    let text = with(&["systems.far.url=mysql://h/d", "systems.far.sql.run_session=[\"A\", \"B\"]"]);
    insta::assert_snapshot!(text, @r#"
    # A plan.
    system = "sqlite" # in process

    [workloads.points]
    kind = "sysbench/oltp_point_select"
    table-size = 1000 # small

    [load]
    time = "10s" # long

    [systems.far]
    url = "mysql://h/d"

    [systems.far.sql]
    run_session = ["A", "B"]
    "#);
}

#[test]
fn the_plan_is_the_overridden_one() {
    let set = |assignments: &[&str]| source().with_overrides(assignments, no_texts).unwrap();
    let problems = Plan::parse(set(&["load.clients=1,2,0"])).unwrap_err();
    insta::assert_snapshot!(problems, @r#"
    error: `clients` is 0, out of range
      --> x.toml:10:18
       |
    10 | clients = [1, 2, 0]
       |                  ^
       |
       = help: allowed: 1 to 1000000
    "#);
    let plan = Plan::parse(set(&["load.time=\"1m\""])).unwrap();
    assert_eq!(plan.load.limit, Limit::time(std::time::Duration::from_secs(60)));
    assert!(plan.source.text.contains("\"1m\" # long"), "{}", plan.source.text);
}

#[test]
fn a_time_and_a_number_of_events_limit_a_trial_together() {
    let limit = |assignments: &[&str]| {
        Plan::parse(source().with_overrides(assignments, no_texts).unwrap()).unwrap().load.limit
    };
    let five = Limit::time(std::time::Duration::from_secs(5));
    assert_eq!(limit(&["load.time=5s"]), five);
    let both = Limit { events: Some(100), ..five };
    assert_eq!(limit(&["load.events=100", "load.time=5s"]), both);
}

#[test]
fn unknown_paths_get_the_nearest_spelling() {
    let source = source().with_overrides(&["lode.time=5s", "load.tme=5s"], no_texts).unwrap();
    insta::assert_snapshot!(Plan::parse(source).unwrap_err(), @r#"
    error: unknown key `tme`
      --> x.toml:10:1
       |
    10 | tme = "5s"
       | ^^^
       |
       = help: did you mean `time`? allowed: arrivals, backlog, clients, connect_timeout, cpus, events, generators, interval, keep_copies, on_generator_loss, phase_timeout, prewarm, query_timeout, rate, reconnect_limit, steps, think_time, time, until, warm_up, workers

    error: unknown key `lode`
      --> x.toml:12:2
       |
    12 | [lode]
       |  ^^^^
       |
       = help: did you mean `load`? allowed: between, ceiling, cleanup, existing, fail_if, interleave, least_difference, load, name, noise, percentiles, repetitions, rounds, seed, seek, sql, system, systems, title, watch, why, workload, workloads
    "#);
}

#[test]
fn assignments_that_cannot_be_done() {
    let refused =
        |assignment: &str| source().with_overrides(&[assignment], no_texts).unwrap_err().rendered;
    insta::assert_snapshot!(refused("load.time"), @r#"
    error: `load.time` has no `=`, so it sets nothing
     --> command line:1:1
      |
    1 | load.time
      | ^^^^^^^^^
      |
      = help: write path=value, such as load.time=5s
    "#);
    insta::assert_snapshot!(refused("load.time.unit=s"), @r#"
    error: `time` is a string, so nothing can be set in it
     --> command line:1:1
      |
    1 | load.time.unit=s
      | ^^^^^^^^^^^^^^
      |
      = help: set `time` itself, or make it a table
    "#);
    insta::assert_snapshot!(refused("=5"), @r#"
    error: `` is not a path to a value
     --> command line:1:1
      |
    1 | =5
      | ^
      |
      = help: write the keys with dots between them, such as load.time
    "#);
    insta::assert_snapshot!(refused("a b=5"), @r#"
    error: `a b` is not a path to a value
     --> command line:1:1
      |
    1 | a b=5
      | ^^^
      |
      = help: write the keys with dots between them, such as load.time
    "#);
}

#[test]
fn passwords_in_overrides_are_never_shown() {
    let refused = source().with_overrides(&["system.url=mysql://u:hush@h"], no_texts).unwrap_err();
    assert!(!refused.rendered.contains("hush"), "{refused}");
}

#[test]
fn values_are_toml_when_they_can_be() {
    for (text, toml) in [
        ("5", "5"),
        ("5s", "\"5s\""),
        ("0.5", "0.5"),
        ("true", "true"),
        ("[1, 2]", "[1, 2]"),
        ("1, 2,4", "[1, 2, 4]"),
        ("a,b", "\"a,b\""),
        ("\"5\"", "\"5\""),
        ("", "\"\""),
        ("2024-01-01", "\"2024-01-01\""),
        ("SET a = 'b'", "\"SET a = 'b'\""),
    ] {
        assert_eq!(read_value(text).to_string(), toml, "{text}");
    }
}

#[test]
fn values_of_texts_are_taken_as_they_are() {
    let texts = |kind: &str| if kind == "rpc" { vec!["message"] } else { Vec::new() };
    let of = |plan: &str, path: &str, value: &str| {
        let source = Source { text: plan.to_owned(), ..source() };
        source.with_overrides(&[format!("{path}={value}")], texts).unwrap().text
    };
    for value in ["{}", "true", "[1]", "1,2", "0x10", "\"a\" ", "a=b"] {
        let text = toml_edit::Value::from(value).to_string();
        let set = |plan: &str, path: &str| of(plan, path, value);
        let named = "[workloads.x]\nkind = \"rpc\"\nmessage = ";
        assert_eq!(set(&format!("{named}1\n"), "workloads.x.message"), format!("{named}{text}\n"));
        let short = "[workload]\nkind = \"rpc\"\n";
        assert_eq!(set(short, "workload.message"), format!("{short}message = {text}\n"));
        let by_name = "[workloads.rpc]\n";
        let changed = set(by_name, "workloads.rpc.message");
        assert_eq!(changed, format!("{by_name}message = {text}\n"));
    }
    let other = of("[workloads.x]\nkind = \"tpcc\"\n", "workloads.x.message", "true");
    assert!(other.ends_with("message = true\n"), "{other}");
    let other = of("[workloads.x]\nkind = \"rpc\"\n", "workloads.x.size", " 7");
    assert!(other.ends_with("size = 7\n"), "{other}");
}
