//! Peers that are not a database, or a faulty one, over real sockets: dyno reports the problem and exits.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use peers::Act::{self, Send, Wait};
use peers::mysql::{
    SIXTEEN_MEBIBYTES, after_login, after_tls_request, greeting, packet, result_head, row,
};
use peers::tls::kind::{ALERT, HANDSHAKE};
use peers::{Behaviour, Framing, mysql, tls};

use crate::sandbox::{Sandbox, both, in_one_line};

const RECEIVE: Act = Act::Receive(Framing::MySqlPacket);

/// One byte a second.
fn drip(bytes: Vec<u8>) -> Act {
    Act::Drip(bytes, Duration::from_secs(1))
}

/// The URL of a peer that behaves in this way on every connection.
fn peer(acts: Vec<Act>) -> String {
    let address = peers::serve(acts).unwrap();
    // With these options, only the peer's own faults lead to a refusal.
    let options = "?get-server-public-key=1&enable-cleartext-plugin=1";
    format!("mysql://root:hors3@{address}/test{options}")
}

fn start(sandbox: &Sandbox, url: &str, connect_timeout: &str) -> Child {
    sandbox
        .dyno(["bench", "sysbench/oltp_point_select", "--events=1", "--system", url])
        .args(["--connect-timeout", connect_timeout])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Time limit for a peer that does not respond to the end.
const SHORT: &str = "4s";
/// Time limit for a peer that responds; long, for busy machines.
const LONG: &str = "100s";

/// Runs dyno against all peers at once, and checks that the messages contain these words.
fn expect(cases: Vec<(&str, Vec<Act>, &[&str])>) {
    let sandbox = Sandbox::new();
    let started: Vec<_> = cases
        .into_iter()
        .map(|(name, acts, words)| {
            let connect_timeout =
                if words.contains(&NO_LOGIN) || words.contains(&NO_ANSWER) { SHORT } else { LONG };
            (name, start(&sandbox, &peer(acts), connect_timeout), words)
        })
        .collect();
    for (name, child, words) in started {
        let output = child.wait_with_output().unwrap();
        let text = in_one_line(&both(&output));
        assert_eq!(output.status.code(), Some(2), "{name}: {text}");
        assert!(!text.contains("panicked") && !text.contains("hors3"), "{name}: {text}");
        assert!(text.contains("127.0.0.1:"), "{name} is not said where: {text}");
        assert!(words.iter().any(|word| text.contains(word)), "{name}: {words:?} in {text}");
    }
}

const CLOSED: &[&str] = &["closed the connection", "the connection broke"];
const NO_LOGIN: &str = "no login within 4s";
const NO_ANSWER: &str = "no answer within 4s";

#[test]
fn peers_without_the_mysql_protocol_are_reported() {
    let web = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
    let mut banner = b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n".to_vec();
    banner[3] = 0;
    expect(vec![
        ("a web server", vec![Send(web), Wait], &["not that of a MySQL"]),
        (
            "garbage in a packet",
            vec![Send(packet(0, &[0xa5; 100])), Wait],
            &["not that of a MySQL"],
        ),
        ("an empty packet", vec![Send(packet(0, &[])), Wait], &["a packet ends early"]),
        ("a secure shell", vec![Send(banner), Wait], &["not that of a MySQL"]),
        (
            "garbage for an answer to the login",
            vec![Send(greeting()), RECEIVE, Send(packet(2, &[0x77; 40])), Wait],
            &["an unknown answer to the login"],
        ),
        (
            "garbage for an answer to a question",
            after_login(vec![Send(packet(1, &[0xfd; 9])), Wait]),
            &["impossible number of columns", "packet ends early"],
        ),
    ]);
}

/// One case for each way to misbehave, before and after the login: every phase has its row in the table of the driver's
/// `hostile_phases`.
#[test]
fn silent_slow_endless_and_closing_peers_end_a_run_with_their_address() {
    let announced = || Send([SIXTEEN_MEBIBYTES, b"\x01"].concat());
    let half = greeting()[..30].to_vec();
    let endless = vec![Send(result_head()), Act::Repeat(row(200))];
    expect(vec![
        ("nothing at all", vec![Wait], &[NO_LOGIN]),
        ("a byte a second", vec![drip(greeting()), Wait], &[NO_LOGIN]),
        ("no answer to the login", vec![Send(greeting()), RECEIVE, Wait], &[NO_LOGIN]),
        ("no answer to a question", after_login(vec![Wait]), &[NO_ANSWER]),
        ("an answer byte by byte", after_login(vec![drip(packet(1, &[0; 60]))]), &[NO_ANSWER]),
        ("a long greeting", vec![announced(), Wait], &["it would have more than 1 MiB"]),
        (
            "a long answer",
            after_login(vec![announced(), Wait]),
            &["a message of more than 1 MiB where a short one was due"],
        ),
        ("rows without end", after_login(endless), &["more than 1 MiB of variables"]),
        ("its end before the greeting", vec![], CLOSED),
        ("its end within the greeting", vec![Send(half)], CLOSED),
        ("its end at the first question", after_login(vec![]), CLOSED),
    ]);
}

#[test]
fn broken_tls_peers_get_distinct_errors() {
    let not_tls: &[&str] = &["what the server sent is not TLS; if the server speaks TLS there"];
    let message = tls::record(HANDSHAKE, &[&[2, 0xff, 0xff, 0xff][..], &[3; 16_000]].concat());
    let full = packet(2, b"\xff\x10\x04Too many connections");
    let switch = packet(1, b"\xfemysql_clear_password\0");
    let Some(Send(greeting)) = after_tls_request(vec![]).into_iter().next() else { panic!() };
    expect(vec![
        ("garbage", after_tls_request(vec![Send(vec![0xa5; 300]), Wait]), not_tls),
        ("an error in the open", after_tls_request(vec![Send(full), Wait]), not_tls),
        ("silence", after_tls_request(vec![Wait]), &[NO_LOGIN]),
        (
            "half a record",
            after_tls_request(vec![Send(message[..900].to_vec()), Wait]),
            &[NO_LOGIN],
        ),
        (
            "a byte a second",
            after_tls_request(vec![drip(tls::record(HANDSHAKE, &[2, 0, 0, 80])), Wait]),
            &[NO_LOGIN],
        ),
        ("a message of 16 MiB", after_tls_request(vec![Send(message.repeat(200)), Wait]), not_tls),
        (
            "a refusal",
            after_tls_request(vec![Send(tls::record(ALERT, &[2, 40])), Wait]),
            &["no version or cipher suite of TLS in common: alert handshake_failure"],
        ),
        (
            "its end",
            after_tls_request(vec![]),
            &[CLOSED, &["middle of the TLS handshake"]].concat(),
        ),
        (
            "words slipped in before TLS",
            vec![Send([greeting, switch].concat()), Wait],
            &["bytes behind the greeting, before TLS was begun"],
        ),
    ]);
}

#[test]
fn unsupported_login_methods_are_refused_by_name() {
    let asking = |method: &str, rest: &[u8]| {
        let switch = packet(2, &[b"\xfe", method.as_bytes(), b"\0", rest].concat());
        vec![Send(greeting()), RECEIVE, Send(switch), Wait]
    };
    let nonce = b"abcdefghijklmnopqrst\0";
    expect(vec![
        (
            "TiDB's SM3",
            asking("tidb_sm3_password", nonce),
            &["tidb_sm3_password (TiDB's, of SM3 hashes), which dyno does not speak"],
        ),
        ("MariaDB's newest", asking("parsec", nonce), &["login method parsec"]),
        ("no name at all", asking("", nonce), &["asks for the login method without a name, which"]),
        ("a name for a terminal", asking("\x1b[31mred", nonce), &["method  [31mred, which"]),
        (
            "the password itself",
            asking("mysql_clear_password", b""),
            &["anyone on the way could read the password"],
        ),
        (
            "a challenge that is too short",
            asking("caching_sha2_password", b"abc"),
            &["a login challenge of the wrong length"],
        ),
    ]);
}

#[test]
fn the_password_is_not_sent_without_a_usable_key() {
    let switch = packet(2, b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0");
    let full = |key: &[u8]| {
        let asked = vec![Send(greeting()), RECEIVE, Send(switch.clone()), RECEIVE];
        let answered = vec![Send(packet(4, b"\x01\x04")), RECEIVE, Send(packet(6, key)), Wait];
        [asked, answered].concat()
    };
    let no_key: &[&str] = &["no RSA public key"];
    let junk = b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    expect(vec![
        ("an empty key", full(b"\x01"), no_key),
        ("half a key", full(b"\x01-----BEGIN PUBLIC KEY-----\nMIIBIjAN"), no_key),
        ("a key of junk", full(junk), no_key),
        ("a refusal", full(b"\xff\x15\x04#28000No"), &["when asked for its RSA key"]),
        ("a fast path too late", full(b"\x01\x03"), no_key),
    ]);
}

#[test]
fn refusals_show_the_peers_message_up_to_its_limit() {
    let full = packet(0, b"\xff\x10\x04Too many connections");
    let host = packet(0, b"\xff\x6a\x04Host 'x' is not allowed to connect to this server");
    let wrong = packet(2, b"\xff\x15\x04#28000Access denied for \x1b[31muser\x07");
    let endless = packet(0, &[b"\xff\x10\x04".as_slice(), &[b'z'; 60_000]].concat());
    expect(vec![
        ("a full server", vec![Send(full)], &["Too many connections"]),
        ("a host that may not", vec![Send(host)], &["not allowed to connect"]),
        (
            "a wrong password",
            vec![Send(greeting()), RECEIVE, Send(wrong)],
            &["Access denied for  [31muser"],
        ),
        ("a sentence without end", vec![Send(endless)], &["zzz"]),
    ]);
}

/// The peak memory of a dyno with nothing to do but this is below that, KiB.
const PEAK_KIB_MAX: u64 = 48 * 1024;

#[test]
fn floods_and_answers_without_end_take_bounded_memory() {
    let sandbox = Sandbox::new();
    let phases =
        [mysql::at_greeting(), mysql::at_tls(), mysql::at_authentication(), mysql::at_rows()];
    let hostile = |phase| [Behaviour::Flood, Behaviour::Endless].map(|it| it.acts(phase));
    let mut peers: Vec<Vec<Act>> = phases.iter().flat_map(hostile).collect();
    // A TLS record of a message of 16 MiB, repeated.
    let record = tls::record(HANDSHAKE, &[&[2, 0xff, 0xff, 0xff][..], &[3; 0x3ffc]].concat());
    peers.push(after_tls_request(vec![Act::Repeat(record)]));
    thread::scope(|scope| {
        for acts in peers {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let mut child = start(sandbox, &peer(acts), LONG);
                let mut most_kib = 0;
                let status = loop {
                    most_kib = most_kib.max(peak_kib(child.id()).unwrap_or(0));
                    match child.try_wait().unwrap() {
                        Some(status) => break status,
                        None => thread::sleep(Duration::from_millis(5)),
                    }
                };
                assert_eq!(status.code(), Some(2));
                assert!(most_kib > 0 && most_kib < PEAK_KIB_MAX, "{most_kib} KiB");
            });
        }
    });
}

/// The peak memory of a dyno that was started; `None` as long as its process still has the memory of these tests.
pub(crate) fn peak_kib(process: u32) -> Option<u64> {
    let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
    if program != std::path::Path::new(env!("CARGO_BIN_EXE_dyno")) {
        return None;
    }
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
