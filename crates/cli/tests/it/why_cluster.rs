//! Which server of a real cluster holds it back: each is slowed down alone.

use measure::ProfileOf;
use record::Run;
use serde_json::Value;

use crate::sandbox::{Sandbox, report};
use crate::tidb_cluster::{dyno_apart, plan, program};

/// Whole scans of a table that lies in one store, which sends one number for each.
const SCAN: &str = "\\prepare\nCREATE TABLE scanned (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL);\n\
    INSERT INTO scanned VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8);\n\
    INSERT INTO scanned SELECT id + 8, n FROM scanned;\nINSERT INTO scanned SELECT id + 16, n FROM scanned;\n\
    INSERT INTO scanned SELECT id + 32, n FROM scanned;\nINSERT INTO scanned SELECT id + 64, n FROM scanned;\n\
    INSERT INTO scanned SELECT id + 128, n FROM scanned;\nINSERT INTO scanned SELECT id + 256, n FROM scanned;\n\
    INSERT INTO scanned SELECT id + 512, n FROM scanned;\nINSERT INTO scanned SELECT id + 1024, n FROM scanned;\n\
    \\cleanup\nDROP TABLE IF EXISTS scanned;\n\
    \\transaction scan\nSELECT COUNT(*) FROM scanned WHERE n * 3 + id > 1000000;\n";

const LOAD: &str = "[workloads.scan]\nkind = \"scan.sql\"\n\
    [load]\nclients = 4\nwarm_up = \"500ms\"\ntime = \"3s\"\n";

fn cores(member: &Value) -> f64 {
    member["busy_cores"].as_f64().unwrap_or(0.0)
}

/// One store has all rows. A busy machine makes intervals wide, so the bounds are those of a work that responds or does not.
#[test]
fn each_server_of_a_cluster_is_slowed_down_alone_and_the_store_with_the_rows_responds() {
    let sandbox = Sandbox::new();
    sandbox.file("scan.sql", SCAN);
    let system = plan(&sandbox, &program("TIKV"), "");
    sandbox.file(
        "plan.toml",
        &format!("why = {{ at_most = \"50s\", profile = true }}\n{system}{LOAD}"),
    );
    let mut command = dyno_apart(&sandbox, ["run", "plan.toml", "--quiet", "--format", "json"]);
    let report = report(&mut command);
    let why = &report["trials"][0]["why"];
    let members = why["members"].as_array().unwrap_or_else(|| panic!("{why:#}"));
    assert_eq!(members.len(), 5, "{why:#}");
    for member in members {
        let (share, left_out) = (&member["share"], &member["left_out"]);
        assert!(share.is_object() != left_out.is_string(), "{member:#}");
    }
    let busiest = members.iter().max_by(|one, other| cores(one).total_cmp(&cores(other))).unwrap();
    assert!(busiest["name"].as_str().unwrap().starts_with("tikv-"), "{why:#}");
    assert!(busiest["share"]["high_95"].as_f64().unwrap() > 0.3, "{why:#}");
    // The other two have no row of the table.
    let idle = members.iter().filter(|it| {
        let is_store = it["name"].as_str().is_some_and(|name| name.starts_with("tikv-"));
        is_store && it["name"] != busiest["name"]
    });
    for store in idle {
        assert!(cores(store) < cores(busiest) / 4.0, "{why:#}");
    }
    pd_tells_what_each_store_reads_and_writes(&sandbox);
    profiles_name_the_functions_of_each_server(&sandbox, why);
}

/// Servers in Go serve profiles of themselves.
fn profiles_name_the_functions_of_each_server(sandbox: &Sandbox, why: &Value) {
    let run = Run::open(&sandbox.runs()[0]).unwrap();
    let experiment = run.trials[0].why.as_ref().unwrap();
    let cpu = |role: &str| {
        let is_of = |it: &&measure::Profile| it.of == ProfileOf::Cpu && it.server.starts_with(role);
        let found = experiment.profiles.iter().find(is_of);
        found.unwrap_or_else(|| panic!("{role}: {:?}", experiment.unprofiled))
    };
    let tidb = cpu("tidb");
    assert!(tidb.names.iter().any(|it| it.contains("clientConn).Run")), "{:?}", tidb.names);
    // Of a load of some seconds on two cores.
    let cores = tidb.total_ns() as f64 / tidb.span_ns as f64;
    assert!(cores > 0.01 && cores < 8.0, "{cores}");
    let told = why["profiles"].as_array().unwrap();
    assert!(told.iter().all(|it| !it["hottest"].as_array().unwrap().is_empty()), "{told:#?}");
    let page = std::fs::read_to_string(sandbox.runs()[0].join("report.html")).unwrap();
    assert!(page.contains("CPU profile of tidb"), "the page has no flame graph");
}

/// The series of which PD's count of the load is made. The stores of this cluster tell it none, so all are 0.
fn pd_tells_what_each_store_reads_and_writes(sandbox: &Sandbox) {
    let watched = Run::open(&sandbox.runs()[0]).unwrap().trials[0].watched.clone();
    let list = watched.kinds.iter().find_map(|kind| kind.members.clone()).unwrap();
    let series: Vec<_> = watched.servers.iter().flat_map(|server| &server.series).collect();
    for load in &list.counted {
        let is_of_it = |series: &&&measure::Series| {
            let has = |(label, value): &(String, String)| series.label(label) == Some(value);
            series.name == load.query.family && load.query.with.iter().all(has)
        };
        let of_it = series.iter().filter(is_of_it);
        let stores: Vec<&str> = of_it.filter_map(|it| it.label(&list.member)).collect();
        assert_eq!(stores.len(), 3, "{}: {stores:?}", load.what);
    }
}
