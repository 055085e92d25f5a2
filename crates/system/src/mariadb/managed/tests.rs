//! A managed MariaDB as a system under test.

use super::*;
use crate::testing::{rows, started};

#[test]
fn data_and_target_survive_a_restore() {
    let scratch = tempfile::tempdir().unwrap();
    let mut running = started(read, "settings = { max_connections = 33 }", scratch.path()).unwrap();
    assert_eq!(running.identity().product, "MariaDB");
    assert_eq!(running.identity().storage, "InnoDB");
    assert_eq!(running.limits().connections_max, Some(33));
    rows(&running, &["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"]);
    running.snapshot().unwrap();
    rows(&running, &["INSERT INTO t VALUES (2)"]);
    running.restore().unwrap();
    let found = rows(&running, &["SELECT COUNT(*), MAX(a) FROM t"]);
    assert_eq!(found, [[driver::Datum::Int(1), driver::Datum::Int(1)]]);
    assert_eq!(running.exited(), None);
    running.stop().unwrap();
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
fn a_wrong_set_of_cpus_is_refused_before_the_start() {
    let options = Options::parse("cpus = \"3-1\"").unwrap();
    let problems = read(&options, Path::new("/")).err().unwrap();
    assert_eq!(problems[0].message, "`3-1` counts backwards");
}
