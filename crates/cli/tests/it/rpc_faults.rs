//! Services that fail in every way, and services that come and go, while dyno calls them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::hostile::peak_kib;
use crate::hostile_service::{GOOD, Hostile, Reaction, Request};
use crate::own_server::Background;
use crate::sandbox::{Sandbox, both, json};

/// Polls before a test gives up: for slow machines.
const POLLS_MAX: usize = 6_000;
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// The peak memory of a dyno with few clients, KiB, with more than enough room.
const PEAK_KIB_MAX: u64 = 64 * 1024;

fn bench(sandbox: &Sandbox, url: &str) -> Command {
    let mut command = sandbox.dyno(["bench", "rpc", "--warm-up=0s", "--interval=200ms"]);
    command.args(["--format=json", "--system", url]);
    command
}

/// A load of four clients on two connections with a short time-out.
fn short_bench(sandbox: &Sandbox, url: &str, seconds: u32) -> Command {
    let mut command = bench(sandbox, url);
    command.args(["--clients=4", "-o", "connections=2", "--query-timeout=300ms"]);
    command.arg(format!("--time={seconds}s"));
    command
}

/// Waits for the end of a run, which must come; returns its output and its peak memory, KiB.
pub(crate) fn watch(command: &mut Command) -> (Output, u64) {
    // In files: a pipe that nobody empties would hold a run that says much.
    let [mut told, mut complained] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    command.stdout(told.try_clone().unwrap()).stderr(complained.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    let mut most_kib = 0;
    for _ in 0..POLLS_MAX {
        most_kib = most_kib.max(peak_kib(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            let [stdout, stderr] = [&mut told, &mut complained].map(written);
            return (Output { status, stdout, stderr }, most_kib);
        }
        thread::sleep(POLL_PERIOD);
    }
    child.kill().unwrap();
    let complaints = String::from_utf8_lossy(&written(&mut complained)).into_owned();
    panic!("{command:?} does not end:\n{complaints}");
}

fn written(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn errors_of(trial: &Value, class: &str) -> u64 {
    let errors = trial["errors"].as_array().unwrap().iter();
    errors.filter(|error| error["class"] == class).map(|error| count(&error["ignored"])).sum()
}

/// The calls of a trial that begins and ends with its window: those that ended in it, those that ended after it, and
/// those that never did.
fn calls(trial: &Value) -> u64 {
    let edges = &trial["edges"];
    let after = ["succeeded_after", "failed_after", "unanswered"].map(|name| count(&edges[name]));
    count(&trial["transactions"]) + count(&trial["failed_transactions"]) + after.iter().sum::<u64>()
}

struct Fault {
    name: &'static str,
    behaviour: Reaction,
    class: &'static str,
    /// Whether connections end by it, so that requests on the way may not arrive.
    breaks: bool,
}

fn every_tenth(request: &Request) -> bool {
    request.number.is_multiple_of(10)
}

fn check(fault: &Fault, url: &str, hostile: &Hostile, seconds: u32, more: &[&str]) {
    let name = fault.name;
    let sandbox = Sandbox::new();
    let (output, peak_kib) = watch(short_bench(&sandbox, url, seconds).args(more));
    let text = both(&output);
    assert!(!text.contains("panicked"), "{name}: {text}");
    assert!(peak_kib > 0 && peak_kib < PEAK_KIB_MAX, "{name}: {peak_kib} KiB");
    let trial = &json(&output)["trials"][0];
    assert!(count(&trial["transactions"]) > 0, "{name}: {trial}");
    assert!(errors_of(trial, fault.class) > 0, "{name}: {}", trial["errors"]);
    let (calls, seen) = (calls(trial), hostile.seen().iter().sum::<u64>());
    if fault.breaks {
        assert!(seen <= calls, "{name}: {seen} requests of {calls} calls");
        assert!(count(&trial["reconnects"]) > 0, "{name}: {trial}");
    } else {
        assert_eq!(seen, calls, "{name}");
        assert_eq!(trial["reconnects"], 0, "{name}");
        let failed = count(&trial["failed_transactions"]) + count(&trial["edges"]["failed_after"]);
        assert_eq!(errors_of(trial, fault.class), failed, "{name}: {}", trial["errors"]);
    }
}

#[test]
fn faults_of_answers_are_counted_by_class_and_the_load_goes_on() {
    let faults = [
        Fault {
            name: "no answer to some",
            class: "timeout",
            breaks: false,
            behaviour: |peer, request| match every_tenth(&request) {
                true => Ok(()),
                false => peer.answer(&request),
            },
        },
        Fault {
            name: "refusals",
            class: "framework",
            breaks: false,
            behaviour: |peer, request| match every_tenth(&request) {
                true => peer.refuse(&request),
                false => peer.answer(&request),
            },
        },
        Fault {
            name: "two answers",
            class: "protocol",
            breaks: true,
            behaviour: |peer, request| {
                peer.answer(&request)?;
                peer.answer(&request)
            },
        },
        Fault {
            name: "an unknown id",
            class: "protocol",
            breaks: true,
            behaviour: |peer, _| peer.answer_another(),
        },
    ];
    for fault in &faults {
        let hostile = Hostile::trpc(fault.behaviour);
        check(fault, &hostile.url(), &hostile, 2, &[]);
    }
}

#[test]
fn faults_of_the_connection_are_counted_by_class_and_the_load_goes_on() {
    let faults = [
        Fault {
            name: "a close in mid-frame",
            class: "connection",
            breaks: true,
            behaviour: |peer, request| peer.answer_in_part(&request),
        },
        Fault {
            name: "4 GiB announced",
            class: "protocol",
            breaks: true,
            behaviour: |peer, _| {
                peer.stream.write_all(b"\x09\x30\0\0\xff\xff\xff\xff\0\0\0\0\x40\x74\x01\0")
            },
        },
        Fault {
            name: "a flood",
            class: "protocol",
            breaks: true,
            behaviour: |peer, _| loop {
                peer.stream.write_all(&[0x09; 1 << 16])?;
            },
        },
        Fault {
            name: "a drip",
            class: "timeout",
            breaks: false,
            behaviour: |peer, request| match request.number == GOOD {
                true => peer.answer_byte_by_byte(&request),
                false => peer.answer(&request),
            },
        },
    ];
    for fault in &faults {
        let hostile = Hostile::trpc(fault.behaviour);
        check(fault, &hostile.url(), &hostile, 2, &[]);
    }
}

#[test]
fn a_service_that_stops_reading_costs_bounded_memory() {
    let fault = Fault {
        name: "no reads",
        class: "timeout",
        breaks: true,
        behaviour: |peer, _| peer.stop_reading(),
    };
    let hostile = Hostile::trpc(fault.behaviour);
    // So that the requests of a few timeouts are more than the kernel takes; the good ones take little time.
    check(&fault, &hostile.url(), &hostile, 8, &["-o", "size=1000000"]);
}

#[test]
fn faults_are_counted_in_an_open_loop() {
    let fault = Fault {
        name: "no answer to some in an open loop",
        class: "timeout",
        breaks: false,
        behaviour: |peer, request| match every_tenth(&request) {
            true => Ok(()),
            false => peer.answer(&request),
        },
    };
    let hostile = Hostile::trpc(fault.behaviour);
    check(&fault, &hostile.url(), &hostile, 2, &["--rate=400"]);
}

#[test]
fn faults_of_answers_of_fixed_sizes_are_counted() {
    let faults = [
        Fault {
            name: "too many bytes",
            class: "protocol",
            breaks: true,
            // More than the answers to all requests that may be on the way.
            behaviour: |peer, _| peer.stream.write_all(&[1; 20 * 3]),
        },
        Fault { name: "no answers", class: "timeout", breaks: false, behaviour: |_, _| Ok(()) },
        Fault {
            name: "a close in mid-answer",
            class: "connection",
            breaks: true,
            behaviour: |peer, _| {
                peer.stream.write_all(&[1; 7])?;
                peer.close()
            },
        },
    ];
    for fault in &faults {
        let hostile = Hostile::fixed(fault.behaviour);
        let options = ["-o", "size=10", "-o", "answer_size=20"];
        check(fault, &hostile.tcp_url(), &hostile, 2, &options);
    }
}

/// The reason why the only trial of a run has failed, and what was told on the way.
fn failed(command: &mut Command) -> (String, String) {
    let (output, _) = watch(command);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    assert_eq!(trial["status"], "failed", "{trial}");
    let told = String::from_utf8(output.stderr).unwrap();
    (trial["reason"].as_str().unwrap().to_owned(), told)
}

#[test]
fn a_service_that_refuses_everything_fails_the_trial() {
    let refusing = Hostile::serve_all(|peer, request| peer.refuse(&request));
    // No load is offered to it.
    let (output, _) = watch(&mut short_bench(&Sandbox::new(), &refusing.url(), 2));
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    let told = String::from_utf8(output.stderr).unwrap();
    let error = told.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(error.contains("the service answers each call with an error: "), "{told}");
    assert!(error.ends_with("no (the framework answered with 12)"), "{told}");
    assert_eq!(refusing.seen(), [0; 0]);
    let web = Hostile::serve_all(|peer, _| {
        peer.stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")?;
        peer.close()
    });
    let (reason, told) = failed(&mut short_bench(&Sandbox::new(), &web.url(), 2));
    assert!(reason.contains("most often with error protocol: "), "{reason}");
    assert!(reason.contains("not with [09, 30]: the server speaks HTTP/1"), "{reason}");
    assert!(told.contains("not with [09, 30]: the server speaks HTTP/1"), "{told}");
}

#[test]
fn a_service_that_is_down_at_the_start_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("trpc://{}/a.B/C", listener.local_addr().unwrap());
    drop(listener);
    let sandbox = Sandbox::new();
    let (output, _) = watch(short_bench(&sandbox, &url, 2).arg("--reconnect-limit=500ms"));
    let text = both(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let address = url.trim_start_matches("trpc://").trim_end_matches("/a.B/C");
    assert!(text.contains(&format!("cannot connect to {address}")), "{text}");
    assert!(text.contains("nothing listens there: start the server or correct it"), "{text}");
}

#[test]
fn without_reconnects_a_lost_connection_ends_the_trial() {
    for (limit, words) in [("off", "reconnect_limit is off"), ("1ms", "no connection within 1ms")] {
        let closing = Hostile::trpc(|peer, _| peer.close());
        let sandbox = Sandbox::new();
        let mut command = short_bench(&sandbox, &closing.url(), 2);
        let (reason, _) = failed(command.arg(format!("--reconnect-limit={limit}")));
        assert!(reason.contains(words), "{limit}: {reason}");
        assert!(reason.contains("closed the connection"), "{limit}: {reason}");
    }
}

/// The requests that the service of the next test has received.
static RECEIVED: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_service_that_comes_back_is_away_until_it_answers() {
    let hostile =
        Hostile::serve_all(|peer, request| match RECEIVED.fetch_add(1, Ordering::Relaxed) {
            300 => peer.close(),
            // Three time-outs of each client.
            301..307 => Ok(()),
            _ => peer.answer(&request),
        });
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &hostile.url());
    command.args(["--clients=2", "-o", "connections=1", "--time=3s", "--query-timeout=200ms"]);
    let (output, _) = watch(&mut command);
    assert!(output.status.success(), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    assert_eq!(trial["reconnects"], 2, "{trial}");
    let [outage] = trial["outages"].as_array().unwrap().as_slice() else {
        panic!("one outage: {}", trial["outages"]);
    };
    let length_ns = count(&outage["end_ns"]) - count(&outage["start_ns"]);
    assert!(length_ns >= 600_000_000, "{outage}");
}

#[test]
fn an_interrupted_trial_tells_of_calls_without_an_answer() {
    let silent = Hostile::trpc(|_, _| Ok(()));
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &silent.url());
    command.args(["--clients=3", "-o", "connections=1", "--time=10m", "--repetitions=1"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let all_wait = || silent.seen().iter().sum::<u64>() == GOOD + 3;
    for _ in 0..POLLS_MAX {
        if all_wait() {
            break;
        }
        thread::sleep(POLL_PERIOD);
    }
    assert!(all_wait(), "{:?}", silent.seen());
    let trial = run.interrupted_trial();
    assert_eq!(trial["transactions"], GOOD, "{trial}");
    assert_eq!(trial["edges"]["unanswered"], 3, "{}", trial["edges"]);
}

#[test]
fn workers_share_no_connection_and_lose_no_call() {
    let hostile = Hostile::serve_all(|peer, request| peer.answer(&request));
    let sandbox = Sandbox::new();
    let mut command = bench(&sandbox, &hostile.url());
    command.args(["--clients=13", "-o", "connections=5", "--workers=3", "--events=3000"]);
    let (output, _) = watch(&mut command);
    assert!(output.status.success(), "{}", both(&output));
    let trial = &json(&output)["trials"][0];
    assert_eq!((trial["transactions"].as_u64(), calls(trial)), (Some(3_000), 3_000));
    let seen = hostile.seen();
    assert_eq!((seen.len(), seen.iter().sum::<u64>()), (5, 3_000), "{seen:?}");
}

/// dyno's own echo server as a process.
struct Echo {
    child: Child,
    address: String,
}

impl Echo {
    /// On a port that was free a moment ago another test's connection may be: it goes soon.
    fn start(sandbox: &Sandbox, listen: &str) -> Self {
        for _ in 0..100 {
            let mut command = sandbox.dyno(["echo", "--listen", listen]);
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            if let Some(said) = line.strip_prefix("listening on ") {
                let address = said.split(';').next().unwrap().to_owned();
                return Self { child, address };
            }
            assert!(!child.wait().unwrap().success(), "{line}");
            thread::sleep(Duration::from_millis(100));
        }
        panic!("nothing can listen at {listen}");
    }

    fn url(&self) -> String {
        format!("trpc://{}/a.B/C", self.address)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_service_restart_is_an_outage_and_the_trial_continues() {
    let sandbox = Sandbox::new();
    let echo = Echo::start(&sandbox, "127.0.0.1:0");
    let (url, address) = (echo.url(), echo.address.clone());
    let mut command = bench(&sandbox, &url);
    command.args([
        "--clients=4",
        "-o",
        "connections=2",
        "--think-time=5ms",
        "--time=10m",
        "--repetitions=1",
    ]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    drop(echo);
    run.wait_for_record("every client has lost it", |trial| {
        trial.outages.iter().any(|outage| outage.failures == 4)
    });
    let _echo = Echo::start(&sandbox, &address);
    run.wait_for_record("all are back at work", |trial| {
        let end_ns = trial.outages.last().and_then(|outage| outage.end_ns);
        let back: u64 = trial.outages.iter().map(|outage| outage.reconnects).sum();
        let mut after = trial.intervals.iter().filter(|it| Some(it.start_ns) > end_ns);
        back >= 4 && end_ns.is_some() && after.any(|it| it.tally.transactions > 0)
    });
    let trial = &run.interrupted_trial();
    assert_eq!(count(&trial["failed_transactions"]), errors_of(trial, "connection"));
    // A busy machine may have stalls beside it, which lose no connection; what comes back while the service starts may be
    // lost once more.
    let outages = trial["outages"].as_array().unwrap();
    let sum = |key: &str| outages.iter().map(|outage| count(&outage[key])).sum::<u64>();
    assert!(sum("failures") >= 4, "{}", trial["outages"]);
    assert_eq!(count(&trial["reconnects"]), sum("reconnects"), "{}", trial["outages"]);
}

/// The peak memory of a run of so many clients with a connection each, KiB.
fn peak_of_connections(clients: usize) -> u64 {
    let sandbox = Sandbox::new();
    let echo = Echo::start(&sandbox, "127.0.0.1:0");
    let mut command = bench(&sandbox, &echo.url());
    command.arg(format!("--clients={clients}")).args(["--events=10000", "--connect-timeout=60s"]);
    let (output, peak_kib) = watch(&mut command);
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(json(&output)["trials"][0]["transactions"], 10_000);
    peak_kib
}

/// A test may not take as much of a machine as ten thousand connections do, so it has a fifth of them.
#[test]
fn ten_thousand_connections_take_less_than_100_mb() {
    let (few, many) = (peak_of_connections(2), peak_of_connections(2_002));
    let scaled = few + many.saturating_sub(few) * 5;
    assert!(scaled < 100_000_000 / 1024, "{few} KiB with 2, {many} KiB with 2,002");
}
