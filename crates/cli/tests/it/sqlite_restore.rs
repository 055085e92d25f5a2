//! `between = "restore"` on a database of the user's, which other programs use too.

use std::fs;
use std::path::Path;

use driver::sqlite::Config;
use driver::{Datum, Target};

use crate::driver_support;
use crate::own_server::Background;
use crate::record_faults::{failed, in_a_mount_namespace};
use crate::sandbox::{Sandbox, both, report};

/// Two trials on a file of the user's, with a restore between them.
fn plan(sandbox: &Sandbox, path: &str, workload: &str) {
    let text = format!(
        "between = \"restore\"\nrepetitions = 2\nsystem = {{ kind = \"sqlite\", path = \"{path}\" }}\n\
         workload = {{ kind = \"{workload}\", table_size = 5000 }}\n\
         [load]\nclients = 1\nwarm_up = \"100ms\"\ntime = \"2s\"\ninterval = \"100ms\"\n"
    );
    sandbox.file("plan.toml", &text);
}

/// The rows of a statement, as another program sees them.
fn rows(file: &Path, statements: &[&str]) -> Vec<Vec<Datum>> {
    let target = Target::sqlite(Config::new(file));
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    driver_support::run(async move |handle| {
        let mut session = target.connect(&handle, 0).await.unwrap();
        let mut rows = Vec::new();
        for statement in &statements {
            rows = session.rows(statement).await.unwrap();
        }
        session.close().await;
        rows
    })
}

fn text(text: &str) -> Vec<Datum> {
    vec![driver_support::text(text)]
}

const MINE: &str = "CREATE TABLE mine (note TEXT)";

#[test]
fn a_program_that_has_the_database_open_works_on_after_restores() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("data.db");
    rows(&file, &[MINE, "INSERT INTO mine VALUES ('before')"]);
    plan(&sandbox, "data.db", "sysbench/oltp_write_only");
    let mut command = sandbox.dyno(["run", "plan.toml", "--format=json"]);
    let target = Target::sqlite(Config::new(&file));
    let report = driver_support::run(async move |handle| {
        let mut session = target.connect(&handle, 0).await.unwrap();
        session.rows("SELECT * FROM mine").await.unwrap();
        let report = report(&mut command);
        session.run("INSERT INTO mine VALUES ('after')").await.unwrap();
        session.close().await;
        report
    });
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "complete", "{trial}");
        assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial}");
    }
    assert_eq!(report["trials"].as_array().map(Vec::len), Some(2), "{report}");
    assert_eq!(rows(&file, &["SELECT note FROM mine"]), [text("before"), text("after")]);
    assert_eq!(rows(&file, &["PRAGMA integrity_check"]), [text("ok")]);
}

#[test]
fn rows_of_another_program_end_the_run_instead_of_being_lost() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("data.db");
    rows(&file, &[MINE]);
    plan(&sandbox, "data.db", "sysbench/oltp_write_only");
    let mut run = Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml"]));
    run.wait_for("0000", "measure", 1);
    rows(&file, &["INSERT INTO mine VALUES ('precious')"]);
    let text_of_run = failed(&run.finish());
    let wanted = "another program has changed \"mine\" since the data were copied";
    assert!(text_of_run.contains(wanted), "{text_of_run}");
    assert!(text_of_run.contains("between = \"reload\""), "{text_of_run}");
    assert_eq!(rows(&file, &["SELECT note FROM mine"]), [text("precious")]);
}

#[test]
fn a_disk_that_is_full_in_a_restore_leaves_the_database() {
    let sandbox = Sandbox::new();
    // The load only reads, so that it needs no room.
    plan(&sandbox, "disk/data.db", "sysbench/oltp_point_select");
    let script = format!(
        "mkdir disk results && mount -t tmpfs -o size=32m tmpfs disk || exit 77
        (until [ -s results/*/trials/0000/intervals.jsonl ]; do sleep 0.05; done
        cat /dev/zero > disk/filler 2> /dev/null; ls disk > filled) &
        {} run plan.toml --out=results --existing=replace; code=$?
        wait; rm disk/filler; ls disk > left; cp disk/data.db* .
        exit $code",
        env!("CARGO_BIN_EXE_dyno"),
    );
    let Some(output) = in_a_mount_namespace(&sandbox, &script) else {
        // Mounts are not available: what a restore does with the user's file is still tested.
        return a_program_that_has_the_database_open_works_on_after_restores();
    };
    let message = failed(&output);
    assert!(message.contains("cannot restore the state after loading"), "{}", both(&output));
    assert!(message.contains("make room on the disk"), "{message}");
    assert_eq!(fs::read_to_string(sandbox.path().join("left")).unwrap(), "data.db\n");
    let file = sandbox.path().join("data.db");
    assert_eq!(rows(&file, &["PRAGMA integrity_check"]), [text("ok")]);
    assert_eq!(rows(&file, &["SELECT count(*) FROM sbtest1"]), [[Datum::Int(5_000)]]);
}
