//! Peers that are not a database, or a faulty one, over real sockets: dyno reports the problem and exits.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::sandbox::{Sandbox, both};

/// The steps of a peer on each connection, in turn; then it closes.
#[derive(Clone)]
enum Act {
    Send(Vec<u8>),
    /// One byte a second.
    Drip(Vec<u8>),
    /// Reads a whole packet.
    Hear,
    /// Neither sends nor closes.
    Stall,
}

use Act::{Drip, Hear, Send, Stall};

/// Serves every connection in the same way until the test is over; returns the address.
fn peer(acts: Vec<Act>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, acts) = (stream.unwrap(), acts.clone());
            // The way in which the other side ends the connection does not matter here.
            thread::spawn(move || drop(serve(stream, acts)));
        }
    });
    // With these options, only the peer's own faults lead to a refusal.
    let options = "?get-server-public-key=1&enable-cleartext-plugin=1";
    format!("mysql://root:hors3@127.0.0.1:{port}/test{options}")
}

fn serve(mut stream: TcpStream, acts: Vec<Act>) -> std::io::Result<()> {
    for act in acts {
        match act {
            Send(bytes) => stream.write_all(&bytes)?,
            Drip(bytes) => {
                for byte in bytes {
                    stream.write_all(&[byte])?;
                    thread::sleep(Duration::from_secs(1));
                }
            }
            Hear => {
                read_packet(&mut stream)?;
            }
            // Until the other side has closed the connection.
            Stall => drop(stream.read_to_end(&mut Vec::new())?),
        }
    }
    Ok(())
}

/// The payload of a whole packet.
pub(crate) fn read_packet(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

pub(crate) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// The greeting of a server that asks for a native password.
pub(crate) fn greeting() -> Vec<u8> {
    let mut payload =
        b"\x0a8.0.11-hostile\0\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\x81\x15".to_vec();
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &payload)
}

/// The greeting of a server that offers TLS.
pub(crate) fn tls_greeting() -> Vec<u8> {
    let mut greeting = greeting();
    // The bit 0x800 of the capabilities, in the second byte of four.
    let capabilities = greeting.windows(2).position(|pair| pair == [0xff, 0xf7]).unwrap();
    greeting[capabilities + 1] |= 0x08;
    greeting
}

/// A server that offers TLS, and its steps after the client has requested it.
fn after_tls_request(acts: Vec<Act>) -> Vec<Act> {
    [vec![Send(tls_greeting()), Hear], acts].concat()
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// The header of a packet of 16 MiB minus one byte.
const SIXTEEN_MEBIBYTES: &[u8] = &[0xff, 0xff, 0xff, 0];

/// A successful login and the steps after it.
fn after_login(acts: Vec<Act>) -> Vec<Act> {
    let login = vec![Send(greeting()), Hear, Send(packet(2, OK)), Hear];
    [login, acts].concat()
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
        let text = both(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
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
        ("a web server", vec![Send(web), Stall], &[NO_LOGIN]),
        (
            "garbage in a packet",
            vec![Send(packet(0, &[0xa5; 100])), Stall],
            &["not that of a MySQL"],
        ),
        ("an empty packet", vec![Send(packet(0, &[])), Stall], &["a packet ends early"]),
        ("a secure shell", vec![Send(banner), Stall], &[NO_LOGIN]),
        (
            "garbage for an answer to the login",
            vec![Send(greeting()), Hear, Send(packet(2, &[0x77; 40])), Stall],
            &["an unknown answer to the login"],
        ),
        (
            "garbage for an answer to a question",
            after_login(vec![Send(packet(1, &[0xfd; 9])), Stall]),
            &["impossible number of columns", "packet ends early"],
        ),
    ]);
}

#[test]
fn silent_peers_time_out_during_login() {
    let half = greeting()[..30].to_vec();
    expect(vec![
        ("nothing at all", vec![Stall], &[NO_LOGIN]),
        ("half a packet", vec![Send(half), Stall], &[NO_LOGIN]),
        ("a byte a second", vec![Drip(greeting()), Stall], &[NO_LOGIN]),
        ("16 MiB announced", vec![Send(SIXTEEN_MEBIBYTES.to_vec()), Stall], &[NO_LOGIN]),
        ("no answer to the login", vec![Send(greeting()), Hear, Stall], &[NO_LOGIN]),
        (
            "16 MiB announced for an answer to the login",
            vec![Send(greeting()), Hear, Send(SIXTEEN_MEBIBYTES.to_vec()), Stall],
            &[NO_LOGIN],
        ),
    ]);
}

#[test]
fn silent_peers_time_out_after_login() {
    expect(vec![
        ("no answer to a question", after_login(vec![Stall]), &[NO_ANSWER]),
        (
            "half an answer",
            after_login(vec![Send(packet(1, &[2])[..3].to_vec()), Stall]),
            &[NO_ANSWER],
        ),
        (
            "16 MiB announced for an answer",
            after_login(vec![Send([&SIXTEEN_MEBIBYTES[..3], &[1, 2]].concat()), Stall]),
            &[NO_ANSWER],
        ),
        ("an answer byte by byte", after_login(vec![Drip(packet(1, &[0; 60]))]), &[NO_ANSWER]),
    ]);
}

#[test]
fn broken_tls_peers_get_distinct_errors() {
    let record = |kind: u8, content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[kind, 3, 3], &length[..], content].concat()
    };
    let not_tls: &[&str] = &["what the server sent is not TLS; if the server speaks TLS there"];
    let message = record(22, &[&[2, 0xff, 0xff, 0xff][..], &[3; 16_000]].concat());
    let full = packet(2, b"\xff\x10\x04Too many connections");
    let switch = packet(1, b"\xfemysql_clear_password\0");
    let Some(Send(greeting)) = after_tls_request(vec![]).into_iter().next() else { panic!() };
    expect(vec![
        ("garbage", after_tls_request(vec![Send(vec![0xa5; 300]), Stall]), not_tls),
        ("an error in the open", after_tls_request(vec![Send(full), Stall]), not_tls),
        ("silence", after_tls_request(vec![Stall]), &[NO_LOGIN]),
        (
            "half a record",
            after_tls_request(vec![Send(message[..900].to_vec()), Stall]),
            &[NO_LOGIN],
        ),
        (
            "a byte a second",
            after_tls_request(vec![Drip(record(22, &[2, 0, 0, 80])), Stall]),
            &[NO_LOGIN],
        ),
        ("a message of 16 MiB", after_tls_request(vec![Send(message.repeat(200)), Stall]), not_tls),
        (
            "a refusal",
            after_tls_request(vec![Send(record(21, &[2, 40])), Stall]),
            &["no version or cipher suite of TLS in common: alert handshake_failure"],
        ),
        (
            "its end",
            after_tls_request(vec![]),
            &[CLOSED, &["middle of the TLS handshake"]].concat(),
        ),
        (
            "words slipped in before TLS",
            vec![Send([greeting, switch].concat()), Stall],
            &["bytes behind the greeting, before TLS was begun"],
        ),
    ]);
}

#[test]
fn a_closed_connection_is_reported_at_every_stage() {
    let half = greeting()[..30].to_vec();
    let switch = packet(2, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0");
    expect(vec![
        ("before the greeting", vec![], CLOSED),
        ("within the greeting", vec![Send(half)], CLOSED),
        ("before the login", vec![Send(greeting())], CLOSED),
        ("after the login", vec![Send(greeting()), Hear], CLOSED),
        ("at a change of the method", vec![Send(greeting()), Hear, Send(switch), Hear], CLOSED),
        ("at the first question", after_login(vec![]), CLOSED),
        ("within the first answer", after_login(vec![Send(packet(1, &[2]))]), CLOSED),
    ]);
}

#[test]
fn unsupported_login_methods_are_refused_by_name() {
    let asking = |method: &str, rest: &[u8]| {
        let switch = packet(2, &[b"\xfe", method.as_bytes(), b"\0", rest].concat());
        vec![Send(greeting()), Hear, Send(switch), Stall]
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
        let asked = vec![Send(greeting()), Hear, Send(switch.clone()), Hear];
        let answered = vec![Send(packet(4, b"\x01\x04")), Hear, Send(packet(6, key)), Stall];
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
            vec![Send(greeting()), Hear, Send(wrong)],
            &["Access denied for  [31muser"],
        ),
        ("a sentence without end", vec![Send(endless)], &["zzz"]),
    ]);
}

#[test]
fn announced_packet_lengths_allocate_no_memory() {
    let sandbox = Sandbox::new();
    let mut acts = after_login(vec![Send([&SIXTEEN_MEBIBYTES[..3], &[1, 2]].concat()), Stall]);
    // A TLS record of a message of 16 MiB, repeated.
    let mut record = vec![22, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff];
    record.resize(5 + 0x4000, 3);
    let flood = after_tls_request(vec![Send(record.repeat(1_000)), Stall]);
    let announced = vec![Send(SIXTEEN_MEBIBYTES.to_vec()), Stall];
    for acts in [announced, std::mem::take(&mut acts), flood] {
        let mut child = start(&sandbox, &peer(acts), SHORT);
        let mut most_kib = 0;
        while child.try_wait().unwrap().is_none() {
            most_kib = most_kib.max(peak_kib(child.id()).unwrap_or(0));
            thread::sleep(Duration::from_millis(20));
        }
        assert!(most_kib > 0 && most_kib < 48 * 1024, "{most_kib} KiB");
    }
}

/// The peak memory of a process.
pub(crate) fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
