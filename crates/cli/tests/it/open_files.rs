//! More clients than the limit of open files allows.

use std::process::Command;

use crate::own_server::OwnServer;
use crate::sandbox::{Sandbox, both, json};

const CLIENTS: usize = 5_000;

/// `dyno` with limits that a shell sets first.
fn limited(sandbox: &Sandbox, limits: &str, url: &str) -> Command {
    let mut shell = Command::new("sh");
    let bench = format!(
        "{limits} && exec \"$0\" bench sysbench/oltp_point_select --table-size=50 --ps=off \
         --clients={CLIENTS} --events={CLIENTS} --warm-up=0s --connect-timeout=200s --format=json \
         --cleanup --system {url}"
    );
    shell.args(["-c", &bench, env!("CARGO_BIN_EXE_dyno")]);
    shell.current_dir(sandbox.path()).env("HOME", sandbox.path());
    shell
}

#[test]
fn open_file_soft_limit_is_raised_and_hard_limit_reported() {
    let own = OwnServer::start(&[
        "max_connections=5100",
        "open_files_limit=12000",
        "thread_handling=pool-of-threads",
        // The server's own login time-out; dyno's is also 200 s.
        "connect_timeout=200",
    ]);
    let sandbox = Sandbox::new();
    let output = limited(&sandbox, "ulimit -n 1024", &own.url()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let text = both(&output);
    assert!(text.contains("too few open files: 5064 needed, 1024 available"), "{text}");
    assert!(text.contains("ulimit -Hn 5064"), "{text}");
    let output = limited(&sandbox, "ulimit -S -n 1024", &own.url()).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(json(&output)["trials"][0]["transactions"], CLIENTS);
}
