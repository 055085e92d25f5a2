//! What calls send, read on their way through a unix socket to dyno's own server.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::sandbox::{Sandbox, both, json};

/// `dyno echo` behind a unix socket; what clients send is kept.
struct Echo {
    child: Child,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Echo {
    fn start(sandbox: &Sandbox, socket: &Path) -> Self {
        let mut child = sandbox.dyno(["echo"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").unwrap().split(';').next().unwrap();
        let (address, listener) = (address.to_owned(), UnixListener::bind(socket).unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sent);
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let mut server = TcpStream::connect(&address).unwrap();
                let (mut answers, mut back) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut answers, &mut back);
                    let _ = back.shutdown(Shutdown::Both);
                });
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(length @ 1..) = client.read(&mut buffer) {
                        kept.lock().unwrap().extend_from_slice(&buffer[..length]);
                        if server.write_all(&buffer[..length]).is_err() {
                            break;
                        }
                    }
                    let _ = server.shutdown(Shutdown::Both);
                });
            }
        });
        Self { child, sent }
    }

    /// The texts between two marks in what was sent.
    fn between(&self, begin: &str, end: &str) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        let text = String::from_utf8_lossy(&sent);
        let parts = text.split(begin).skip(1).filter_map(|part| part.split_once(end));
        parts.map(|(part, _)| part.to_owned()).collect()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_call_over_a_unix_socket_has_its_own_metadata_and_message() {
    let sandbox = Sandbox::new();
    let socket = sandbox.path().join("echo.sock");
    let echo = Echo::start(&sandbox, &socket);
    sandbox
        .file("messages.jsonl", "{\"n\": \"<one>\"}\n{\"n\": \"<two>\"}\n{\"n\": \"<three>\"}\n");
    let url = format!("trpc://unix:{}:/a.B/C", socket.display());
    let mut command = sandbox.dyno(["bench", "rpc", "--system", &url, "--clients=2"]);
    command.args(["-o", "content_type=json", "-o", "messages=messages.jsonl"]);
    command.args(["-o", "metadata=x-id: [${:client_id}/${:request}]", "-o", "metadata=x-own: 1"]);
    command.args(["-o", "metadata=x-trace: (${uuid()})"]);
    let output = command.args(["--events=300", "--warm-up=0", "--format=json"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let report = json(&output);
    let trial = &report["trials"][0];
    assert_eq!((&trial["transactions"], &trial["failed_transactions"]), (&300.into(), &0.into()));
    let settings = fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
    assert!(settings.contains("none (unix socket)"), "{settings}");
    // Those of the load, after the calls without load, which repeat one of its requests.
    let of = |begin, end| echo.between(begin, end);
    let ids: HashSet<String> = of("[", "]").into_iter().collect();
    let requests: Vec<usize> =
        ["0/", "1/"].map(|client| ids.iter().filter(|id| id.starts_with(client)).count()).to_vec();
    assert_eq!(requests.iter().sum::<usize>(), 300, "{ids:?}");
    for (client, count) in ["0/", "1/"].into_iter().zip(requests) {
        assert!((0..count).all(|number| ids.contains(&format!("{client}{number}"))), "{ids:?}");
    }
    let traces: HashSet<String> = of("(", ")").into_iter().collect();
    assert!(traces.len() >= 300, "{}", traces.len());
    let messages = of("<", ">");
    for message in ["one", "two", "three"] {
        let times = messages.iter().filter(|sent| *sent == message).count();
        assert!(times >= 98, "{message}: {times}");
    }
}

#[test]
fn a_message_of_a_file_that_is_none_of_its_type_is_told_with_its_line() {
    let sandbox = Sandbox::new();
    let proto =
        "syntax = \"proto3\";\nservice S { rpc M(A) returns (A); }\nmessage A { string a = 1; }\n";
    sandbox.file("a.proto", proto);
    sandbox.file("m.jsonl", "{\"a\": \"1\"}\n\n{\"b\": \"1\"}\n");
    let mut command =
        sandbox.dyno(["bench", "rpc", "--dry-run", "--system=grpc://127.0.0.1:1/S/M"]);
    let output = command.args(["-o", "proto=a.proto", "-o", "messages=m.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let told = both(&output);
    assert!(told.contains("m.jsonl:3: the message does not fit `A`"), "{told}");
    assert!(told.contains("--option messages"), "{told}");
}

#[test]
fn a_text_of_set_is_taken_as_it_is() {
    let sandbox = Sandbox::new();
    let plan =
        "system = \"echo\"\n[workloads.calls]\nkind = \"rpc\"\n[load]\nevents = 10\nwarm_up = 0\n";
    sandbox.file("plan.toml", plan);
    let args = ["run", "plan.toml", "--set", "workloads.calls.text={}"];
    let output = sandbox.dyno(args).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let kept = fs::read_to_string(sandbox.runs()[0].join("plan.toml")).unwrap();
    assert!(kept.contains("text = \"{}\"\n"), "{kept}");
}
