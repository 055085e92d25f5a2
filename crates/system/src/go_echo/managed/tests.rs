//! Plans are read into servers, and real servers start, tell what they are, and stop.

use std::io::{Read, Write};
use std::net::TcpStream;

use measure::{QueryCounts, ServerCount};

use super::*;
use crate::Access;
use crate::daemon::ignore_progress;
use crate::testing::{all_problems, started};

/// A call of `SayHello` with the text "hello" and the request id 16500, and its answer, as trpc-go's own client and
/// server sent them: 122 and 27 bytes.
const CALL: &[u8] = b"\x09\x30\0\0\0\0\0\x7a\0\x63\0\0\x40\x74\x01\0\x18\xf4\x80\x01\
    \x2a\x17trpc.client.eab.service\x32\x1ctrpc.test.helloworld.Greeter\
    \x3a\x26/trpc.test.helloworld.Greeter/SayHello\x0a\x05hello";
const ANSWER: &[u8] =
    b"\x09\x30\0\0\0\0\0\x1b\0\x04\0\0\x40\x74\x01\0\x18\xf4\x80\x01\x0a\x05hello";

/// Options with the program that `cargo xtask test` has built.
fn built(variable: &str, options: &str) -> String {
    let Ok(program) = std::env::var(variable) else {
        panic!("{variable} is not set: run `cargo xtask test`, which builds the echo servers")
    };
    format!("binary = \"{program}\"\n{options}")
}

fn trpc(options: &str) -> String {
    built("DYNO_TEST_TRPC_ECHO", options)
}

fn setting<'a>(identity: &'a Identity, name: &str) -> &'a str {
    let found = identity.settings.iter().find(|(other, _)| other == name);
    found.map_or("", |(_, value)| value)
}

#[test]
fn wrong_options_are_refused_with_the_right_ones() {
    let wrong = [
        "mode = \"both\"",
        "pollers = 0",
        "timeout = \"1500us\"",
        "delay = 5",
        "spin = 2000000000",
        "binary = \"echo\"\ngoamd64 = \"v3\"",
        "workers = 3",
        "cpus = \"x\"",
    ];
    insta::assert_snapshot!(all_problems(read_trpc, &wrong), @r#"
    `mode` is "both", not one of the choices | allowed: async, sync
    `pollers` is 0, out of range | allowed: 1 to 1024
    `timeout` is not a whole number of milliseconds | write a time such as "500ms"; "0s" is no limit
    `delay` is 5, not a length of time | add its unit, such as "5s" or "5ms"
    `spin` is 2000000000, out of range | allowed: 0 to 1000000000
    `binary` names a server, so nothing is built | take out `binary` or `goamd64`
    unknown key `workers` | did you mean `pollers`? allowed: binary, cpus, delay, env, goamd64, mode, pollers, spin, timeout
    `x` is not the number of a CPU | write a set such as "0", "0-3" or "0,2-3"
    "#);
    let wrong = ["mode = \"sync\"", "workers = 70000"];
    insta::assert_snapshot!(all_problems(read_grpc, &wrong), @"
    unknown key `mode` | allowed: binary, cpus, delay, env, goamd64, spin, timeout, workers
    `workers` is 70000, out of range | allowed: 0 to 65536
    ");
}

#[test]
fn a_trpc_echo_tells_its_versions_and_its_settings() {
    let scratch = tempfile::tempdir().unwrap();
    let options = trpc(
        "mode = \"sync\"\npollers = 4\ntimeout = \"500ms\"\nspin = 7\nenv = { GOMAXPROCS = 3 }\ncpus = \"0\"",
    );
    let running = started(read_trpc, &options, scratch.path()).unwrap();
    let identity = running.identity();
    assert_eq!(identity.title(), "trpc-go v1.0.4");
    let names = ["tnet", "mode", "pollers", "timeout", "delay", "spin", "go", "GOMAXPROCS", "cpus"];
    let settings = names.map(|name| format!("{name} {}", setting(identity, name)));
    insta::assert_snapshot!(settings.join("\n"), @"
    tnet v1.1.0
    mode sync
    pollers 4
    timeout 500ms
    delay 0s
    spin 7
    go go1.25.12
    GOMAXPROCS 3
    cpus 0
    ");
    let Access::Service(service) = running.access() else { panic!("no service") };
    let address = running.addresses()[0];
    let url = format!("trpc://{address}/trpc.test.helloworld.Greeter/SayHello");
    assert_eq!(service.to_string(), url);
    assert_eq!(running.processes()[0].role, "trpc-echo");
    running.stop(&mut ignore_progress).unwrap();
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_trpc_echo_answers_as_trpc_go_does_and_counts_each_request() {
    let scratch = tempfile::tempdir().unwrap();
    let mut running = started(read_trpc, &trpc(""), scratch.path()).unwrap();
    let pages = running.statement_pages().unwrap();
    let before = pages.read().unwrap();
    let mut stream = TcpStream::connect(running.addresses()[0]).unwrap();
    stream.write_all(&CALL.repeat(3)).unwrap();
    let mut answers = vec![0; 3 * ANSWER.len()];
    stream.read_exact(&mut answers).unwrap();
    assert_eq!(answers, ANSWER.repeat(3));
    let counts = pages.read().unwrap().since(&before).unwrap();
    assert_eq!(counts.count, ServerCount::Statements(QueryCounts { read: 0, write: 0, other: 3 }));
    let counted = ["rpc_requests_total", "rpc_responses_total"];
    assert_eq!(counts.counters, counted.map(|name| (name.to_owned(), 3)));
    running.snapshot(&mut ignore_progress).unwrap();
    running.restore(&mut ignore_progress).unwrap();
    assert_eq!(pages.read().unwrap().since(&before), None, "it was started again");
    assert_eq!(running.exited(), None);
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn a_program_that_is_not_an_echo_server_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let error = |binary: &str| {
        let started = started(read_trpc, &format!("binary = \"{binary}\""), scratch.path());
        started.unwrap_err().to_string()
    };
    assert_eq!(error("/no/echo"), "`binary`: /no/echo is not a program that can be run");
    let exited = error("/bin/false");
    assert!(exited.starts_with("trpc-echo did not start (exit status: 1)"), "{exited}");
}

#[test]
fn a_grpc_echo_tells_its_versions_and_its_settings() {
    let scratch = tempfile::tempdir().unwrap();
    let options = built("DYNO_TEST_GRPC_ECHO", "workers = 2\ndelay = \"3ms\"");
    let running = started(read_grpc, &options, scratch.path()).unwrap();
    let identity = running.identity();
    assert_eq!(identity.title(), "grpc-go v1.82.1");
    let names = ["workers", "timeout", "delay", "spin", "go"];
    let settings = names.map(|name| format!("{name} {}", setting(identity, name)));
    assert_eq!(settings.join(", "), "workers 2, timeout none, delay 3ms, spin 0, go go1.25.12");
    assert!(running.statement_pages().unwrap().read().is_ok());
    running.stop(&mut ignore_progress).unwrap();
}
