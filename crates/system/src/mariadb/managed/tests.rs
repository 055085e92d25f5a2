//! A managed MariaDB as a system under test.

use super::*;
use crate::daemon::ignore_progress;
use crate::testing::{all_problems, rows, started};

#[test]
fn data_and_target_are_unchanged_after_restore() {
    let scratch = tempfile::tempdir().unwrap();
    let mut running = started(read, "settings = { max_connections = 33 }", scratch.path()).unwrap();
    assert_eq!(running.identity().product, "MariaDB");
    assert_eq!(running.identity().storage, "InnoDB by default");
    assert_eq!(running.limits().connections.map(|it| it.max), Some(33));
    rows(&running, &["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"]);
    running.snapshot(&mut ignore_progress).unwrap();
    rows(&running, &["INSERT INTO t VALUES (2)"]);
    running.restore(&mut ignore_progress).unwrap();
    let found = rows(&running, &["SELECT COUNT(*), MAX(a) FROM t"]);
    assert_eq!(found, [[driver::Datum::Int(1), driver::Datum::Int(1)]]);
    assert_eq!(running.exited(), None);
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn the_unix_socket_can_be_used_instead_of_tcp() {
    let scratch = tempfile::tempdir().unwrap();
    let running = started(read, "connect = \"socket\"", scratch.path()).unwrap();
    let found = rows(
        &running,
        &["SELECT SUBSTRING_INDEX(HOST, ':', 1) FROM information_schema.PROCESSLIST \
           WHERE ID = CONNECTION_ID()"],
    );
    assert_eq!(found, [[driver::Datum::Text("localhost".to_owned())]]);
}

#[test]
fn login_works_with_skip_name_resolve() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = "settings = { skip_name_resolve = 1 }";
    let running = started(read, settings, scratch.path()).unwrap();
    let found = rows(&running, &["SELECT CURRENT_USER()"]);
    assert_eq!(found, [[driver::Datum::Text("root@127.0.0.1".to_owned())]]);
}

#[test]
fn a_wrong_set_of_cpus_is_refused_before_the_start() {
    let options = Options::parse("cpus = \"3-1\"").unwrap();
    let problems = read(&options, Path::new("/")).err().unwrap();
    assert_eq!(problems[0].message, "`3-1` counts backwards");
}

#[test]
fn a_port_argument_is_refused() {
    let wrong = [
        "arguments = [\"--port=3307\", \"--skip-log-bin\"]",
        "arguments = [\"-P\", \"3307\"]",
        "settings = { socket = \"/tmp/s\", datadir = \"/tmp\" }",
        "arguments = [\"--user=root\"]",
    ];
    insta::assert_snapshot!(all_problems(read, &wrong), @r"
    `--port` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `-P` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `socket` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `datadir` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `--user` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    ");
    let right = Options::parse("settings = { port_open_timeout = 3, report_port = 5 }").unwrap();
    assert!(read(&right, Path::new("/")).is_ok());
}
