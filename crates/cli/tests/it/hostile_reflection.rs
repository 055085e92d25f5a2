//! A gRPC server whose reflection tells types without end: dyno refuses them in bounded memory, and reads a large
//! schema.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::thread;

use peers::http2::{self, END_HEADERS, END_STREAM, field, frame, kind};

use crate::rpc_faults::watch;
use crate::sandbox::{Sandbox, both, json};

/// The client's first bytes, and the head of a frame (RFC 9113, sections 3.4 and 4.1).
const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;
/// The longest frame that a client takes unless it says otherwise (RFC 9113, section 6.5.2).
const FRAME_BYTES_MAX: usize = 16_384;
/// About what an answer may have.
const ANSWER_BYTES: usize = 4_000_000;
/// Numbers from 19,000 on are reserved (protobuf.dev, "Assigning Field Numbers").
const HONEST_FIELDS: usize = 18_999;
/// What dyno may take for descriptors, above what it takes anyway.
const MEMORY_KIB_MAX: u64 = 64 * 1024;

/// The varint of a number (protobuf.dev, "Encoding").
fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field of a message that has a length.
fn message(tag: usize, payload: &[u8]) -> Vec<u8> {
    [varint(tag << 3 | 2), varint(payload.len()), payload.to_vec()].concat()
}

/// An answer of reflection with one file.
fn of_file(file: &[u8]) -> Vec<u8> {
    message(4, &message(1, file))
}

/// So many bytes that are an empty field again and again.
fn empty(tag: usize) -> Vec<u8> {
    message(tag, b"").repeat(ANSWER_BYTES / 2)
}

/// A file with the service `t.S`, whose method `M` takes messages with so many fields.
fn honest(fields: usize) -> Vec<u8> {
    let number = |tag: usize, number: usize| [varint(tag << 3), varint(number)].concat();
    let field = |at: usize| {
        let name = format!("field_{at}");
        // An optional field of the type int32.
        message(
            2,
            &[message(1, name.as_bytes()), number(3, at), number(4, 1), number(5, 5)].concat(),
        )
    };
    let fields: Vec<u8> = (1..=fields).flat_map(field).collect();
    let input = [message(1, b"In"), fields].concat();
    let method = [message(1, b"M"), message(2, b".t.In"), message(3, b".t.In")].concat();
    let service = [message(1, b"S"), message(2, &method)].concat();
    let parts: [(usize, &[u8]); 5] =
        [(1, b"a.proto"), (2, b"t"), (4, &input), (6, &service), (12, b"proto3")];
    parts.into_iter().flat_map(|(tag, payload)| message(tag, payload)).collect()
}

/// Answers each call: of reflection with `types`, of any other method with an empty message.
fn serve(types: Vec<u8>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let types = Arc::new(types);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, types) = (stream.unwrap(), Arc::clone(&types));
            // The way in which dyno ends the connection does not matter here.
            thread::spawn(move || drop(answer_calls(stream, &types)));
        }
    });
    port
}

fn answer_calls(mut stream: TcpStream, types: &[u8]) -> io::Result<()> {
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    stream.write_all(&http2::preface())?;
    let mut body = Vec::new();
    loop {
        let mut head = [0; HEAD_BYTES];
        stream.read_exact(&mut head)?;
        let [a, b, c, of_kind, flags, number @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload)?;
        if of_kind == kind::DATA {
            body.extend(payload);
            if flags & END_STREAM != 0 {
                // The question for the types names the service, which the bodies of other calls do not.
                let asks_for_types = body.windows(3).any(|bytes| bytes == b"t.S");
                let answer = if asks_for_types { types } else { b"" };
                stream.write_all(&call_answer(u32::from_be_bytes(number), answer))?;
                body.clear();
            }
        }
    }
}

/// The frames of an answer, whose message has as many as it needs.
fn call_answer(stream: u32, answer: &[u8]) -> Vec<u8> {
    let headers = frame(kind::HEADERS, END_HEADERS, stream, &http2::status("200"));
    let prefixed = [&[0][..], &(answer.len() as u32).to_be_bytes(), answer].concat();
    let data = prefixed.chunks(FRAME_BYTES_MAX).map(|chunk| frame(kind::DATA, 0, stream, chunk));
    let end = field("grpc-status", "0");
    let trailers = frame(kind::HEADERS, END_HEADERS | END_STREAM, stream, &end);
    [headers].into_iter().chain(data).chain([trailers]).collect::<Vec<_>>().concat()
}

/// Ten calls of a service with these types, and the peak memory of dyno, KiB.
fn call(types: Vec<u8>) -> (Output, u64) {
    let (sandbox, port) = (Sandbox::new(), serve(types));
    let url = format!("grpc://127.0.0.1:{port}/t.S/M");
    let mut command = sandbox.dyno(["bench", "rpc", "--events=10", "--system", &url]);
    command.args(["--option=message={\"field_1\": 7}", "--warm-up=0s", "--clients=1"]);
    command.args(["--connect-timeout=100s", "--format=json"]);
    watch(&mut command)
}

#[test]
fn types_of_a_server_take_bounded_memory() {
    let (output, usual_kib) = call(of_file(&honest(1)));
    assert!(output.status.success(), "{}", both(&output));
    let part = |tag| of_file(&message(tag, &empty(2)));
    let name = "a".repeat(1 << 20);
    let of_long_names = [message(2, name.as_bytes()), message(4, &message(1, b"x")).repeat(1_000)];
    let hostile = [
        ("messages", of_file(&empty(4))),
        ("imports", of_file(&empty(3))),
        ("fields", part(4)),
        ("values", part(5)),
        ("methods", part(6)),
        ("files", message(4, &empty(1))),
        ("services", message(6, &empty(1))),
        ("a package of many parts", of_file(&message(2, "a.".repeat(ANSWER_BYTES / 2).as_bytes()))),
        ("long names", of_file(&of_long_names.concat())),
    ];
    for (what, types) in hostile {
        let (output, most_kib) = call(types);
        let told = both(&output);
        assert_eq!(output.status.code(), Some(2), "{what}: {told}");
        assert!(told.contains("its descriptors would take more than 48 MiB"), "{what}: {told}");
        assert!(told.contains("name the `.proto` file with `proto`"), "{what}: {told}");
        assert!(most_kib > 0, "{what}: it was never seen");
        let above = most_kib.saturating_sub(usual_kib);
        assert!(above < MEMORY_KIB_MAX, "{what}: {most_kib} KiB, usually {usual_kib}");
    }
}

#[test]
fn a_large_schema_is_read_in_bounded_memory() {
    let (_, usual_kib) = call(of_file(&honest(1)));
    let (output, most_kib) = call(of_file(&honest(HONEST_FIELDS)));
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(json(&output)["trials"][0]["transactions"], 10);
    let above = most_kib.saturating_sub(usual_kib);
    assert!(above < MEMORY_KIB_MAX, "{most_kib} KiB, usually {usual_kib}");
}
