//! Errors that concern one statement: clients go on after them.

use std::thread;
use std::time::Duration;

use crate::own_server::{Background, OwnServer};
use crate::sandbox::Sandbox;

#[test]
fn a_server_that_takes_no_writes_for_a_while_and_killed_statements_end_no_client() {
    let server = OwnServer::start(&[]);
    // One whom `read_only` concerns.
    server.sql(
        "CREATE USER writer@'%'; GRANT ALL ON *.* TO writer@'%'; \
                REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM writer@'%'; \
                CREATE TABLE counts (id INT PRIMARY KEY, n INT); \
                INSERT INTO counts VALUES (0, 0)",
    );
    let sandbox = Sandbox::new();
    // One holds the lock of the row, and the others wait for it.
    let script = "UPDATE counts SET n = n + 1 + SLEEP(0.01) WHERE id = 0;\n";
    let script = sandbox.file("count.sql", script);
    let mut command = sandbox.dyno(["bench", "--clients=4", "--time=5s", "--repetitions=1"]);
    command.args(["--warm-up=0s", "--interval=200ms", "--format=json", "--system"]);
    let mut run = Background::start(&sandbox, command.arg(server.url_of("writer")).arg(script));
    run.wait_for("0000", "measure", 1);
    server.sql("SET GLOBAL read_only = 1");
    thread::sleep(Duration::from_millis(300));
    server.sql("SET GLOBAL read_only = 0");
    thread::sleep(Duration::from_millis(300));
    server.sql("KILL QUERY USER writer");
    let trial = run.report()["trials"][0].clone();
    let errors = trial["errors"].as_array().unwrap();
    for code in ["1290", "1317"] {
        let found = errors.iter().find(|error| error["code"] == code);
        let error = found.unwrap_or_else(|| panic!("{code}: {trial}"));
        assert!(error["ignored"].as_u64().unwrap() > 0, "{error}");
        assert_eq!(error["fatal"], 0, "{error}");
    }
    assert_eq!(trial["status"], "complete", "{trial}");
    assert!(!trial["findings"].to_string().contains("left early"), "{trial}");
}
