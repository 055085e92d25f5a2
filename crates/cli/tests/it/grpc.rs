//! Calls of a real server of grpc-go, which `cargo xtask test` has built: messages, errors, time-outs, TLS.

use std::io::{self, BufRead as _, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use crate::sandbox::{Sandbox, both, in_one_line, report};
use crate::tls::Authority;

/// The variable with the path of the program.
const PROGRAM: &str = "DYNO_TEST_GRPC_ECHO";

/// A server that runs as long as this value exists.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let program = std::env::var(PROGRAM).unwrap_or_else(|_| {
            panic!("{PROGRAM} is not set: run the tests by `cargo xtask test`, which builds it")
        });
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = told["address"].as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
        Self { child, port }
    }

    fn url(&self, host: &str, method: &str) -> String {
        format!("grpc://{host}:{}/helloworld.Greeter/{method}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bench(sandbox: &Sandbox, url: &str, options: &[&str]) -> Command {
    let mut command = sandbox.dyno(["bench", "rpc", "--system", url, "--clients=13"]);
    command.args(["--option=connections=2", "--warm-up=0", "--format=json"]).args(options);
    command
}

/// Standard error of a command that fails.
fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{command:?}: {}", both(&output));
    in_one_line(&String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_grpc_server_answers_messages_in_json_over_shared_connections() {
    let (sandbox, server) = (Sandbox::new(), Server::start(&[]));
    let message = "--option=message={\"msg\": \"hello\"}";
    let report = report(&mut bench(
        &sandbox,
        &server.url("127.0.0.1", "SayHello"),
        &[message, "--events=3000"],
    ));
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete", "{trial}");
    assert_eq!((&trial["transactions"], &trial["errors"]), (&3000.into(), &Value::Array(vec![])));
}

#[test]
fn answers_in_gzip_are_read_and_the_longest_answer_is_an_option() {
    let (sandbox, server) = (Sandbox::new(), Server::start(&[]));
    let message = format!("--option=message={{\"msg\": \"{}\"}}", "hello ".repeat(1_000));
    let url = server.url("127.0.0.1", "SayHello");
    for compression in ["--option=compression=none", "--option=compression=gzip"] {
        let options = [message.as_str(), "--events=300", compression];
        let trial = report(&mut bench(&sandbox, &url, &options))["trials"][0].clone();
        assert_eq!(trial["transactions"], 300, "{trial}");
        assert_eq!(trial["errors"], Value::Array(vec![]), "{trial}");
    }
    let options = [message.as_str(), "--events=30", "--option=answer_limit=1KiB"];
    let output = bench(&sandbox, &url, &options).output().unwrap();
    let told = both(&output);
    assert!(told.contains("more than the 1024 that are accepted: raise `answer_limit`"), "{told}");
    assert!(!told.contains("the framework answered with RESOURCE_EXHAUSTED"), "{told}");
}

#[test]
fn a_message_with_parts_is_another_one_in_each_call_of_a_grpc_server() {
    let (sandbox, server) = (Sandbox::new(), Server::start(&["--fail-on=1"]));
    let bench = |message: &str, clients: &str| {
        let message = format!("--option=message={message}");
        let mut command = bench(&sandbox, &server.url("127.0.0.1", "SayHello"), &[]);
        let output = command.args([&message, clients, "--events=900"]).output().unwrap();
        crate::sandbox::json(&output)["trials"][0].clone()
    };
    // The server refuses the message of client 1 alone, and dyno's round trips before the load are of client 0.
    let trial = bench("{\"msg\": \"${:client_id}\"}", "--clients=2");
    let count = |name: &str| trial[name].as_u64().unwrap();
    assert!(count("transactions") > 0 && count("failed_transactions") > 0, "{trial}");
    let errors = trial["errors"].as_array().unwrap();
    assert_eq!((errors.len(), &errors[0]["code"]), (1, &"UNKNOWN".into()), "{errors:?}");
    // One client sends both texts, of which the server refuses one; of the next two it refuses neither.
    let trial = bench("{\"msg\": \"${random(1, 2)}\"}", "--clients=1");
    let count = |name: &str| trial[name].as_u64().unwrap();
    assert!(count("transactions") > 0 && count("failed_transactions") > 0, "{trial}");
    let trial = bench("{\"msg\": \"${random(2, 3)}\"}", "--clients=2");
    assert_eq!((&trial["transactions"], &trial["errors"]), (&900.into(), &Value::Array(vec![])));
}

/// Counts the connections to a server on their way through it.
fn counted(port: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (own, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming() {
            counter.fetch_add(1, Ordering::Relaxed);
            let client = client.unwrap();
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
            {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    (own, count)
}

#[test]
fn a_server_is_asked_for_its_types_once_in_a_run() {
    const PROTO: &str = "syntax = \"proto3\";\npackage helloworld;\n\
        service Greeter { rpc SayHello(Hello) returns (Hello); }\nmessage Hello { string msg = 1; }\n";
    let (sandbox, server) = (Sandbox::new(), Server::start(&[]));
    sandbox.file("greeter.proto", PROTO);
    let connections = |workload: &str| {
        let (port, count) = counted(server.port);
        let plan = format!(
            "[systems.greeter]\nkind = \"grpc\"\nurl = \"grpc://127.0.0.1:{port}/helloworld.Greeter/SayHello\"\n\
             [workloads.calls]\nkind = \"rpc\"\nconnections = 2\n{workload}\n\
             [load]\nclients = [2, 4, 8]\nevents = 100\nwarm_up = 0\n"
        );
        sandbox.file("plan.toml", &plan);
        let report = report(&mut sandbox.dyno(["run", "plan.toml", "--format=json"]));
        assert_eq!(report["trials"].as_array().unwrap().len(), 3);
        count.load(Ordering::Relaxed)
    };
    let message = "message = '{\"msg\": \"hello\"}'";
    let without = connections(&format!("{message}\nproto = \"greeter.proto\""));
    assert_eq!(connections(message), without + 1);
    assert_eq!(connections("text = \"\""), without + 1);
}

#[test]
fn a_method_or_a_message_that_a_grpc_server_does_not_have_is_refused_before_the_load() {
    let (sandbox, server) = (Sandbox::new(), Server::start(&[]));
    let refusal = |method: &str, options: &[&str]| {
        refusal(&mut bench(&sandbox, &server.url("127.0.0.1", method), options))
    };
    let told = refusal("Chat", &[]);
    let expected = "helloworld.Greeter/Chat is a streaming method; dyno calls unary methods only";
    assert!(told.contains(expected), "{told}");
    let told = refusal("SayHallo", &["--option=message={\"msg\": \"hello\"}"]);
    assert!(told.contains("has no method `SayHallo`; did you mean `SayHello`?"), "{told}");
    let told = refusal("SayHello", &["--option=message={\"massage\": \"hello\"}"]);
    assert!(told.contains("unrecognized field name 'massage' at line 1 column 10"), "{told}");
}

#[test]
fn errors_of_a_grpc_server_and_time_outs_are_counted_apart() {
    let (sandbox, server) = (Sandbox::new(), Server::start(&["--fail-on=1", "--silent-on=quiet"]));
    let failing = "${random(1, 2)}";
    for (text, key) in [(failing, ("framework", "UNKNOWN")), ("quiet", ("timeout", ""))] {
        let message = format!("--option=message={{\"msg\": \"{text}\"}}");
        let options = [&message, "--time=1s", "--query-timeout=200ms"];
        let output =
            bench(&sandbox, &server.url("127.0.0.1", "SayHello"), &options).output().unwrap();
        let report = crate::sandbox::json(&output);
        let errors = report["trials"][0]["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!((&errors[0]["class"], &errors[0]["code"]), (&key.0.into(), &key.1.into()));
    }
}

#[test]
fn a_grpc_server_is_reached_over_tls_as_the_options_say() {
    let sandbox = Sandbox::new();
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let (server, server_key) = ours.issue("localhost", 2999);
    let (client, client_key) = ours.issue("client", 2999);
    let file = |name: &str, text: &str| sandbox.file(name, text).display().to_string();
    let (cert, key) = (file("server", &server), file("server-key", &server_key));
    let (ca, other_ca) = (file("ca", &ours.1), file("other-ca", &others.1));
    let (client, client_key) = (file("client", &client), file("client-key", &client_key));
    let option = |name: &str, value: &str| format!("--system-option={name}={value}");
    let server = Server::start(&["--tls-cert", &cert, "--tls-key", &key]);
    let call = |server: &Server, host: &str, options: &[String]| {
        let options: Vec<&str> =
            options.iter().map(String::as_str).chain(["--events=500"]).collect();
        bench(&sandbox, &server.url(host, "SayHello"), &options)
    };
    let [required, identity] = ["required", "verify_identity"].map(|mode| option("ssl_mode", mode));
    for options in [
        vec![required.clone()],
        vec![option("ssl_ca", &ca)],
        vec![identity.clone(), option("ssl_ca", &ca)],
    ] {
        let report = report(&mut call(&server, "localhost", &options));
        assert_eq!(report["trials"][0]["transactions"], 500, "{options:?}");
        let settings = &report["systems"][0]["settings"];
        assert!(settings["encryption"].as_str().unwrap().starts_with("TLS 1.3, "), "{settings}");
        assert!(settings["connection"].as_str().unwrap().starts_with("encrypted, "), "{settings}");
    }
    let told = refusal(&mut call(&server, "localhost", &[option("ssl_ca", &other_ca)]));
    assert!(told.contains("signed by no trusted authority"), "{told}");
    let told = refusal(&mut call(&server, "127.0.0.1", &[identity, option("ssl_ca", &ca)]));
    assert!(told.contains("not for `127.0.0.1` but for"), "{told}");
    let told = refusal(&mut call(&server, "localhost", &[option("ssl_mode", "preferred")]));
    assert!(told.contains("`ssl_mode` cannot be `preferred`"), "{told}");
    let strict = Server::start(&["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &ca]);
    let own = [option("ssl_cert", &client), option("ssl_key", &client_key)];
    let report = report(&mut call(&strict, "localhost", &[&[required], &own[..]].concat()));
    assert_eq!(report["trials"][0]["transactions"], 500);
}
