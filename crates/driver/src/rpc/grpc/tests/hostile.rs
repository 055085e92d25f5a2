//! Servers that break HTTP/2 or gRPC, as bytes.

use std::collections::BTreeMap;

use peers::http2::kind::{
    CONTINUATION, DATA, HEADERS, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use peers::http2::{END_HEADERS, END_STREAM, answer, field, frame, preface, status};

use super::super::super::answer::LinkFault;
use super::super::codec::{CallResult, GrpcCodec};
use super::settings;

/// A codec with calls 1, 2 and 3 on the streams 1, 3 and 5.
pub(in super::super) struct Client {
    pub(in super::super) codec: GrpcCodec,
    pub(in super::super) answers: BTreeMap<u32, CallResult>,
    pub(in super::super) out: Vec<u8>,
    pub(in super::super) fault: Option<LinkFault>,
}

impl Client {
    /// A client whose server may not have sent anything yet.
    pub(in super::super) fn before_preface() -> Self {
        let mut codec = GrpcCodec::new(&settings(&[])).unwrap();
        (1..4).for_each(|id| codec.encode(id, (b"hello", &[])));
        let mut client = Self { codec, answers: BTreeMap::new(), out: Vec::new(), fault: None };
        client.take_in(b"");
        client
    }

    /// A client that knows the settings of its server.
    pub(in super::super) fn new() -> Self {
        let mut client = Self::before_preface();
        client.take_in(&preface());
        client.out.clear();
        client
    }

    /// Passes bytes of the server on, unless the connection has ended.
    pub(in super::super) fn take_in(&mut self, bytes: &[u8]) {
        let Self { codec, answers, out, fault } = self;
        if fault.is_none() {
            let decoded = codec.decode(bytes, out, &mut |id, result| {
                assert!(answers.insert(id, result).is_none(), "two answers to {id}");
                Ok(())
            });
            *fault = decoded.err();
        }
    }

    fn shown(&self) -> String {
        let answers = self.answers.iter().map(|(id, result)| match result {
            Ok(message) => format!("{id}: {} bytes", message.len()),
            Err(error) => format!("{id}: {} {}", error.class, error.code),
        });
        let fault = self.fault.iter().map(|fault| match fault {
            LinkFault::Malformed(malformed) => format!("malformed: {malformed}"),
            LinkFault::Ended(why) => format!("ended: {why}"),
        });
        answers.chain(fault).collect::<Vec<_>>().join(", ")
    }
}

fn after(bytes: &[u8]) -> String {
    let mut client = Client::new();
    client.take_in(bytes);
    client.shown()
}

#[test]
fn what_a_server_must_not_send_ends_the_connection_or_one_call() {
    let head = frame(HEADERS, END_HEADERS, 1, &status("200"));
    let data = |payload: &[u8]| [&head[..], &frame(DATA, 0, 1, payload)].concat();
    let texts = [
        after(&answer(1, b"fine")),
        after(&frame(HEADERS, END_HEADERS, 99, &status("200"))),
        after(&frame(HEADERS, END_HEADERS, 2, &status("200"))),
        after(&frame(DATA, 0, 1, b"early")),
        after(&frame(RST_STREAM, 0, 99, &[0, 0, 0, 8])),
        after(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])),
        after(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 7])),
        after(&frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        after(&frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82])),
        after(&frame(HEADERS, END_HEADERS, 1, &[0xff; 8])),
        after(&frame(HEADERS, END_HEADERS, 1, &field("grpc-status", "0"))),
        after(&data(b"\x01\0\0\0\x02hi")),
        after(&data(b"\0\0\0\0\x02hi!")),
        after(&data(b"\0\xff\xff\xff\xffhi")),
        after(&[data(b"\0\0\0\0\x02h"), frame(HEADERS, 5, 1, &field("grpc-status", "0"))].concat()),
        after(&[&head[..], &frame(HEADERS, 5, 1, &field("grpc-status", "0"))].concat()),
        after(&[&head[..], &frame(DATA, END_STREAM, 1, b"")].concat()),
        after(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
        after(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    1: 4 bytes
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    1: framework CANCEL
    1: connection REFUSED_STREAM
    malformed: the server broke HTTP/2 (FLOW_CONTROL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (PROTOCOL_ERROR)
    malformed: the answer is compressed in another way than gzip; have the server send it plain or with gzip
    malformed: the answer has bytes behind its message
    1: framework RESOURCE_EXHAUSTED
    malformed: the answer ends within its message
    malformed: the answer has no message
    malformed: the answer (HTTP status 200 OK) has no grpc-status
    malformed: the server broke HTTP/2 (FRAME_SIZE_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    malformed: the server broke HTTP/2 (FRAME_SIZE_ERROR) before its first answer: it may not be one of gRPC, or want TLS (ssl_mode)
    ");
}

#[test]
fn headers_without_end_are_not_kept() {
    let mut client = Client::new();
    client.take_in(&frame(HEADERS, 0, 1, &status("200")));
    let mut sent = 0;
    while client.fault.is_none() && sent < 10_000_000 {
        let next = frame(CONTINUATION, 0, 1, &field("x", &"y".repeat(100)));
        client.take_in(&next);
        sent += next.len();
    }
    assert!(sent < 1_000_000, "{sent} bytes of headers were accepted");
}

#[test]
fn long_headers_fail_one_call_and_are_not_kept() {
    let mut client = Client::new();
    let fields: Vec<u8> = (0..1000).flat_map(|_| field("x", &"y".repeat(100))).collect();
    let mut pieces = fields.chunks(16_000);
    client.take_in(&frame(
        HEADERS,
        0,
        1,
        &[status("200"), pieces.next().unwrap().to_vec()].concat(),
    ));
    pieces.for_each(|piece| client.take_in(&frame(CONTINUATION, 0, 1, piece)));
    client.take_in(&frame(CONTINUATION, END_HEADERS, 1, &[]));
    assert!(client.fault.is_some(), "{}", client.shown());
}

#[test]
fn a_server_that_pings_but_does_not_read_is_given_up() {
    for flood in [frame(PING, 0, 0, &[7; 8]), frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100])] {
        let mut client = Client::new();
        let many = flood.repeat(3000);
        for _ in 0..1000 {
            client.take_in(&many);
        }
        assert!(client.fault.is_some());
        assert!(client.out.len() < 1 << 20, "{} bytes to send", client.out.len());
    }
}

#[test]
fn a_server_that_reads_as_slowly_as_it_pings_takes_bounded_memory() {
    // What is sent at once is 64 KiB; at first more, so that some always waits for room.
    const UNIT: usize = 64 * 1024;
    let mut client = Client::new();
    let pings = frame(PING, 0, 0, &[7; 8]).repeat(UNIT / 17);
    (0..8).for_each(|_| client.take_in(&pings));
    for _ in 0..200 {
        assert!(client.out.len() >= pings.len(), "{} bytes to send", client.out.len());
        client.out.drain(..pings.len());
        client.take_in(&pings);
    }
    assert_eq!(client.shown(), "");
    let kept_bytes = client.codec.kept_bytes();
    assert!(kept_bytes < 4 << 20, "{kept_bytes} bytes for 13 MB");
}

#[test]
fn a_server_that_pings_and_reads_is_answered() {
    let mut client = Client::new();
    for _ in 0..100 {
        client.take_in(&frame(PING, 0, 0, &[7; 8]).repeat(1000));
        let pongs = frame(PING, 1, 0, &[7; 8]).repeat(1000);
        assert!(client.out == pongs, "{} bytes, not {}", client.out.len(), pongs.len());
        client.out.clear();
    }
    client.take_in(&answer(1, b"fine"));
    assert_eq!(client.shown(), "1: 4 bytes");
}

#[test]
fn data_without_end_for_a_call_that_has_failed_is_dropped() {
    let mut client = Client::new();
    client.take_in(&frame(HEADERS, END_HEADERS, 1, &status("200")));
    client.take_in(&frame(DATA, 0, 1, b"\0\xff\xff\xff\xff"));
    assert_eq!(client.shown(), "1: framework RESOURCE_EXHAUSTED");
    // More than the windows hold: what is dropped counts as read.
    let data = frame(DATA, 0, 1, &[0; 16_000]);
    for _ in 0..4000 {
        client.take_in(&data);
        client.out.clear();
    }
    client.take_in(&answer(3, b"fine"));
    assert!(client.fault.is_some() || client.answers.contains_key(&2), "{}", client.shown());
}

#[test]
fn interim_answers_without_end_are_not_kept() {
    let mut client = Client::new();
    let interim = frame(HEADERS, END_HEADERS, 1, &status("103")).repeat(1000);
    (0..100).for_each(|_| client.take_in(&interim));
    client.take_in(&answer(1, b"fine"));
    assert_eq!(client.shown(), "1: 4 bytes");
}
