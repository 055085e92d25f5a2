//! Tests of turning a command line into a plan.

use super::*;
use crate::Plan;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn part(kind: &str, options: &[(&str, &str)]) -> DraftPart {
    DraftPart { kind: kind.to_owned(), options: pairs(options), ..DraftPart::default() }
}

fn example() -> Draft {
    Draft {
        settings: pairs(&[("existing", "reuse"), ("percentiles", "50,99.9"), ("cleanup", "true")]),
        systems: vec![part("mysql://root:hush@127.0.0.1:3306/test", &[("ssl", "off")])],
        workloads: vec![part(
            "sysbench/oltp_read_write",
            &[
                ("tables", "4"),
                ("table-size", "100k"),
                ("ignore-errors", "1"),
                ("ignore-errors", "2"),
            ],
        )],
        load: pairs(&[("clients", "1,4,8,16"), ("time", "10s"), ("workers", "2")]),
        sql: pairs(&[("run-session", "SET a = 1"), ("run-session", "5"), ("before-run", "1, 2")]),
    }
}

#[test]
fn a_command_line_is_a_plan() {
    let source = compose(&example());
    insta::assert_snapshot!(source.text, @r#"
    existing = "reuse"
    percentiles = [50, 99.9]
    cleanup = true
    name = "oltp_read_write"

    [systems.mysql]
    url = "mysql://root:hush@127.0.0.1:3306/test"
    ssl = "off"

    [workloads.oltp_read_write]
    kind = "sysbench/oltp_read_write"
    tables = 4
    table_size = "100k"
    ignore_errors = [1, 2]

    [sql]
    run_session = ["SET a = 1", "5"]
    before_run = "1, 2"

    [load]
    clients = [1, 4, 8, 16]
    time = "10s"
    workers = 2
    "#);
    let plan = Plan::parse(source).unwrap();
    assert_eq!(plan.name, "oltp_read_write");
    assert_eq!(plan.systems[0].kind, "mysql");
    assert_eq!(plan.load.clients, [1, 4, 8, 16]);
    assert_eq!(plan.sql.run_session, ["SET a = 1", "5"]);
    assert_eq!(plan.sql.before_run, ["1, 2"]);
    assert_eq!(plan.percentiles, [50.0, 99.9]);
}

#[test]
fn parts_of_one_kind_are_numbered() {
    let draft = Draft {
        systems: vec![part("sqlite", &[])],
        workloads: vec![part("a/my orders.sql", &[]), part("b/my orders.sql", &[])],
        ..Draft::default()
    };
    let plan = Plan::parse(compose(&draft)).unwrap();
    let names: Vec<&str> = plan.workloads.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["my_orders", "my_orders_2"]);
    assert_eq!(plan.name, "my_orders+my_orders");
}

#[test]
fn errors_point_into_the_composed_plan() {
    let mut draft = example();
    draft.load.push(("colour".to_owned(), "red".to_owned()));
    insta::assert_snapshot!(Plan::parse(compose(&draft)).unwrap_err(), @r#"
    error: unknown key `colour`
      --> command line:24:1
       |
    24 | colour = "red"
       | ^^^^^^
       |
       = help: allowed: arrivals, backlog, clients, connect_timeout, cpus, events, generators, interval, keep_copies, on_generator_loss, phase_timeout, prewarm, query_timeout, rate, reconnect_limit, steps, think_time, time, until, warm_up, workers
    "#);
}

#[test]
fn passwords_are_never_shown() {
    let draft = example();
    assert!(!format!("{draft:?}").contains("hush"));
    assert!(!format!("{:?}", compose(&draft)).contains("hush"));
    assert!(compose(&draft).scrubbed().text.contains("mysql://root:***@127.0.0.1:3306/test"));
}

#[test]
fn an_empty_command_line_is_an_error_without_panic() {
    let problems = Plan::parse(compose(&Draft::default())).unwrap_err();
    assert_eq!(problems.problems.len(), 2);
}

#[test]
fn an_option_with_dots_is_a_path_through_tables() {
    let mut draft = example();
    draft.systems =
        vec![part("mariadb", &[("settings.max_connections", "500"), ("settings.a", "x")])];
    draft.workloads =
        vec![part("my.sql", &[("variables.scale", "10"), ("variables.name", "two words")])];
    let text = compose(&draft).text;
    let from = text.find("[systems.mariadb]").unwrap();
    let tables = &text[from..text.find("[sql]").unwrap()];
    insta::assert_snapshot!(tables, @r#"
    [systems.mariadb]
    kind = "mariadb"

    [systems.mariadb.settings]
    max_connections = 500
    a = "x"

    [workloads.my]
    kind = "my.sql"

    [workloads.my.variables]
    scale = 10
    name = "two words"
    "#);
}

#[test]
fn a_dotted_option_below_a_non_table_is_unknown() {
    let mut draft = example();
    draft.workloads[0].options = pairs(&[("tables", "4"), ("tables.x", "1")]);
    let text = compose(&draft).text;
    assert!(text.contains("\"tables.x\" = 1"), "{text}");
}

#[test]
fn a_workload_is_called_after_its_property_files_too() {
    let draft = |kind: &str, options: &[(&str, &str)]| Draft {
        systems: vec![part("sqlite", &[])],
        workloads: vec![part(kind, options)],
        ..Draft::default()
    };
    for (kind, options, name) in [
        ("ycsb/core", &[("properties", "workloads/workloada")][..], "core+workloada"),
        ("ycsb/core", &[("properties", "a.dat"), ("properties", "../b.dat")], "core+a+b"),
        ("ycsb/core", &[("properties", "a, my b")], "core+a+my_b"),
        ("ycsb/a", &[("properties", "big.properties")], "ycsb_a+big"),
        ("ycsb/core", &[("recordcount", "5")], "core"),
    ] {
        let plan = Plan::parse(compose(&draft(kind, options))).unwrap();
        assert_eq!((plan.name.as_str(), plan.workloads[0].name.as_str()), (name, name));
    }
}
