//! Servers of grpc-go and trpc-go that end connections in good order, idle or old ones, which `cargo xtask test` has built.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Sandbox, both, report};

const GRPC: (&str, &str, &str) = ("DYNO_TEST_GRPC_ECHO", "grpc", "helloworld.Greeter/SayHello");
const TRPC: (&str, &str, &str) =
    ("DYNO_TEST_TRPC_ECHO", "trpc", "trpc.test.helloworld.Greeter/SayHello");

/// A server that runs as long as this value exists.
struct Server {
    child: Child,
    url: String,
    /// It may write more later.
    _output: BufReader<ChildStdout>,
}

impl Server {
    fn start((program, scheme, method): (&str, &str, &str), arguments: &[&str]) -> Self {
        let program = std::env::var(program).unwrap_or_else(|_| {
            panic!("{program} is not set: run the tests by `cargo xtask test`, which builds it")
        });
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let url = format!("{scheme}://{}/{method}", told["address"].as_str().unwrap());
        Self { child, url, _output: output }
    }

    /// The trial of a load on this server.
    fn trial(&self, arguments: &[&str]) -> Value {
        let sandbox = Sandbox::new();
        let mut command = sandbox.dyno(["bench", "rpc", "--warm-up=0s", "--format=json"]);
        command.args(arguments).args(["--system", &self.url]);
        report(&mut command)["trials"][0].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns how many connections were made again.
fn nothing_failed(trial: &Value) -> u64 {
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!(trial["failed_transactions"], 0, "{trial}");
    assert_eq!(trial["outages"], serde_json::json!([]), "{trial}");
    assert_eq!(trial["reconnects"], trial["idle_reconnects"], "{trial}");
    let reconnects = trial["idle_reconnects"].as_u64().unwrap();
    let told = format!("({reconnects} reconnects)");
    let findings = trial["findings"].to_string();
    assert!(reconnects < 2 || findings.contains(&told), "{reconnects}: {findings}");
    reconnects
}

#[test]
fn connections_that_a_service_closes_while_idle_are_no_failures() {
    let grpc = Server::start(GRPC, &["--max-connection-idle=500ms"]);
    let trpc = Server::start(TRPC, &["--idle-timeout=1s"]);
    for server in [&grpc, &trpc] {
        let paused = ["--clients=1", "--think-time=2500ms", "--time=8s"];
        let open = ["--rate=5", "--clients=64", "-o", "connections=16", "--time=8s"];
        for (arguments, reconnects_min) in [(&paused[..], 2), (&open[..], 3)] {
            let trial = server.trial(arguments);
            let reconnects = nothing_failed(&trial);
            assert!(reconnects >= reconnects_min, "{reconnects}: {trial}");
        }
    }
}

#[test]
fn connections_that_a_service_ends_at_an_age_are_no_failures() {
    let server =
        Server::start(GRPC, &["--max-connection-age=500ms", "--max-connection-age-grace=60s"]);
    let trial = server.trial(&["--clients=16", "-o", "connections=4", "--time=4s"]);
    // Each of four connections lives for up to 550 ms.
    let reconnects = nothing_failed(&trial);
    assert!((20..=60).contains(&reconnects), "{reconnects}: {trial}");
}

#[test]
fn calls_in_flight_are_finished_on_a_connection_that_a_service_ends_while_others_go_on() {
    let server =
        Server::start(GRPC, &["--max-connection-age=300ms", "--delay=200ms", "--timeout=10s"]);
    let trial = server.trial(&["--rate=50", "--clients=64", "-o", "connections=4", "--time=3s"]);
    assert!(nothing_failed(&trial) >= 10, "{trial}");
    // No call waits until a connection is finished.
    let p99 = trial["latency_ns"]["p99"].as_u64().or_else(|| trial["latency"]["p99"].as_u64());
    assert!(p99.is_none_or(|p99| p99 < 390_000_000), "{trial}");
}

#[test]
fn a_seek_on_a_service_that_refuses_each_call_fails_with_its_answer_and_offers_no_load() {
    for (kind, method) in [(GRPC, "helloworld.Greeter/Nope"), (TRPC, "a.B/Nope")] {
        let server = Server::start(kind, &[]);
        let sandbox = Sandbox::new();
        let mut command = sandbox.dyno(["bench", "rpc", "--seek=p99 < 10ms", "--format=json"]);
        command.args(["-o", &format!("method={method}"), "--system", &server.url]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", both(&output));
        let told = String::from_utf8(output.stderr).unwrap();
        let error = told.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(error.contains("the service answers each call with an error: "), "{told}");
        assert!(error.contains("Nope"), "{told}");
        assert!(!sandbox.path().join("results").exists(), "no load was offered");
    }
}

#[test]
fn calls_that_a_service_cuts_off_are_failures() {
    let server = Server::start(
        GRPC,
        &["--max-connection-age=300ms", "--max-connection-age-grace=50ms", "--delay=10s"],
    );
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "rpc", "--warm-up=0s", "--format=json"]);
    command.args(["--clients=4", "--time=2s", "--query-timeout=5s", "--system", &server.url]);
    let output = command.output().unwrap();
    let trial = crate::sandbox::json(&output)["trials"][0].clone();
    assert!(trial["failed_transactions"].as_u64().unwrap() >= 4, "{trial}");
    assert_eq!(trial["transactions"], 0, "{trial}");
}
