//! The codec against h2's server, both over buffers in memory, and against bytes that no server should send.

pub(super) mod hostile;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};

use super::super::Compression;
use super::super::answer::{LinkFault, Origin};
use super::codec::{CallResult, GrpcCodec, Settings};
use super::message::tests::framed;
use super::pipe::Pipe;
use super::request::{RequestHead, RequestParts};

const ANSWER_BYTES_MAX: usize = 4 << 20;

pub(super) fn settings(metadata: &[(String, String)]) -> Arc<Settings> {
    let head = RequestHead::new(RequestParts {
        is_encrypted: false,
        host_and_port: "db1:8000",
        path: "/echo.Echo/Say",
        timeout: Some(Duration::from_secs(2)),
        metadata,
        drawn: &[],
        compression: Compression::None,
    });
    let head = head.unwrap();
    let compression = Compression::None;
    let answer_bytes_max = ANSWER_BYTES_MAX;
    Arc::new(Settings { head, answer_bytes_max, compression, keeps_answers: true })
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// A request as the server saw it.
struct Seen {
    request: Request<RecvStream>,
    answer: SendResponse<Bytes>,
}

/// h2's server on the other end.
struct Server {
    pipe: Pipe,
    connection: Connection<Pipe, Bytes>,
    seen: Vec<Seen>,
    end: Option<Result<(), h2::Error>>,
}

/// The codec and the server, with the bytes between them.
struct Pair {
    codec: GrpcCodec,
    server: Server,
    answers: BTreeMap<u32, CallResult>,
    fault: Option<LinkFault>,
}

impl Pair {
    fn new(builder: &h2::server::Builder) -> Self {
        let mut codec = GrpcCodec::new(&settings(&[])).unwrap();
        let pipe = Pipe::default();
        // The server begins when it has the client's first bytes.
        let mut out = Vec::new();
        codec.flush(&mut out, &mut |_, _| Ok(())).unwrap();
        pipe.receive(&out);
        let connection = now(builder.handshake(pipe.clone())).unwrap().unwrap();
        let server = Server { pipe, connection, seen: Vec::new(), end: None };
        Self { codec, server, answers: BTreeMap::new(), fault: None }
    }

    fn plain() -> Self {
        Self::new(&h2::server::Builder::new())
    }

    fn call(&mut self, ids: std::ops::Range<u32>) {
        ids.for_each(|id| self.codec.encode(id, (format!("call {id}").as_bytes(), &[])));
        self.exchange();
    }

    /// Carries bytes to and fro until neither side has more.
    fn exchange(&mut self) {
        let mut to_client = Vec::new();
        while self.fault.is_none() {
            let Self { codec, answers, .. } = self;
            let mut to_server = Vec::new();
            let decoded = codec.decode(&to_client, &mut to_server, &mut |id, result| {
                assert!(answers.insert(id, result).is_none(), "two answers to {id}");
                Ok(())
            });
            self.fault = decoded.err();
            to_client = self.server.run(&to_server);
            if to_client.is_empty() && to_server.is_empty() {
                return;
            }
        }
    }

    fn answer(&mut self, pieces: &[&[u8]], status: &str) {
        let stream = self.begin_answer();
        send(stream, pieces, status);
        self.exchange();
    }

    fn begin_answer(&mut self) -> SendStream<Bytes> {
        let mut seen = self.server.seen.remove(0);
        let head = Response::builder().header("content-type", "application/grpc");
        seen.answer.send_response(head.body(()).unwrap(), false).unwrap()
    }

    fn text(&self, id: u32) -> String {
        match self.answers.get(&id) {
            None => "none".to_owned(),
            Some(Ok(message)) => String::from_utf8_lossy(message).into_owned(),
            Some(Err(error)) => format!("{} {}: {}", error.class, error.code, error.message),
        }
    }
}

fn send(mut stream: SendStream<Bytes>, pieces: &[&[u8]], status: &str) {
    pieces.iter().for_each(|piece| {
        stream.send_data(Bytes::copy_from_slice(piece), false).unwrap();
    });
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.parse().unwrap());
    stream.send_trailers(trailers).unwrap();
}

impl Server {
    fn run(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pipe.receive(bytes);
        let mut context = Context::from_waker(Waker::noop());
        // A second time, because what the first one did may allow more.
        for _ in 0..2 {
            while self.end.is_none() {
                match self.connection.poll_accept(&mut context) {
                    Poll::Ready(Some(Ok((request, answer)))) => {
                        self.seen.push(Seen { request, answer });
                    }
                    Poll::Ready(Some(Err(error))) => self.end = Some(Err(error)),
                    Poll::Ready(None) => self.end = Some(Ok(())),
                    Poll::Pending => break,
                }
            }
        }
        let mut out = Vec::new();
        self.pipe.drain_into(&mut out);
        out
    }

    fn body(&mut self, index: usize) -> Vec<u8> {
        let mut body = Vec::new();
        let stream = self.seen[index].request.body_mut();
        while let Some(Some(piece)) = now(stream.data()) {
            body.extend_from_slice(&piece.unwrap());
        }
        assert!(stream.is_end_stream(), "the request has no end");
        body
    }
}

#[test]
fn a_request_has_the_form_of_grpc_and_its_answer_arrives() {
    let mut pair = Pair::plain();
    pair.call(7..8);
    let request = &pair.server.seen[0].request;
    assert_eq!(request.uri(), "http://db1:8000/echo.Echo/Say");
    assert_eq!(request.method(), "POST");
    for (key, value) in
        [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "2000000u")]
    {
        assert_eq!(request.headers()[key], value);
    }
    assert_eq!(pair.server.body(0), b"\0\0\0\0\x06call 7");
    assert_eq!(pair.text(7), "none");
    pair.answer(&[b"\0\0\0\0\x02h", b"i"], "0");
    assert_eq!(pair.text(7), "hi");
}

#[test]
fn answers_come_in_any_order() {
    let mut pair = Pair::plain();
    pair.call(1..14);
    assert_eq!(pair.server.seen.len(), 13);
    for index in (0..13).rev() {
        let body = pair.server.body(index);
        let seen = pair.server.seen.remove(index);
        pair.server.seen.insert(0, seen);
        pair.answer(&[&body], "0");
    }
    let expected: Vec<String> = (1..14).map(|id| format!("call {id}")).collect();
    assert_eq!((1..14).map(|id| pair.text(id)).collect::<Vec<_>>(), expected);
}

#[test]
fn no_more_requests_are_sent_than_the_server_serves_at_once() {
    let mut pair = Pair::new(h2::server::Builder::new().max_concurrent_streams(3));
    pair.call(1..8);
    for left in (0..7).rev() {
        assert_eq!(pair.server.seen.len(), 3.min(left + 1));
        pair.answer(&[&framed(b"x")], "0");
    }
    assert!((1..8).all(|id| pair.text(id) == "x"), "{:?}", pair.answers);
}

#[test]
fn an_error_in_headers_alone_is_read() {
    let mut pair = Pair::plain();
    pair.call(1..2);
    let head = Response::builder()
        .header("content-type", "application/grpc")
        .header("grpc-status", "12")
        .header("grpc-message", "unknown%20method");
    pair.server.seen[0].answer.send_response(head.body(()).unwrap(), true).unwrap();
    pair.exchange();
    assert_eq!(pair.text(1), "framework UNIMPLEMENTED: unknown method");
}

#[test]
fn an_error_after_a_message_is_the_result_of_the_call() {
    let mut pair = Pair::plain();
    pair.call(1..2);
    pair.answer(&[&framed(b"half of it")], "15");
    assert_eq!(pair.text(1), "framework DATA_LOSS: ");
}

#[test]
fn a_page_of_a_proxy_is_an_error_with_its_http_status() {
    let mut pair = Pair::plain();
    pair.call(1..2);
    let head = Response::builder().status(502).header("content-type", "text/html");
    let mut stream =
        pair.server.seen[0].answer.send_response(head.body(()).unwrap(), false).unwrap();
    stream.send_data(Bytes::from_static(b"<html>Bad Gateway"), true).unwrap();
    pair.exchange();
    assert_eq!(
        pair.text(1),
        "framework HTTP 502: the answer (HTTP status 502 Bad Gateway) has no grpc-status"
    );
    assert_eq!(pair.fault, None);
}

#[test]
fn a_reset_of_one_stream_fails_one_call() {
    let mut pair = Pair::plain();
    pair.call(1..3);
    let mut stream = pair.begin_answer();
    stream.send_reset(Reason::ENHANCE_YOUR_CALM);
    pair.exchange();
    assert_eq!(
        pair.text(1),
        "framework ENHANCE_YOUR_CALM: the server reset the stream of the call"
    );
    pair.answer(&[&framed(b"x")], "0");
    assert_eq!(pair.text(2), "x");
}

#[test]
fn a_call_that_timed_out_resets_its_stream() {
    let mut pair = Pair::plain();
    pair.call(1..3);
    pair.codec.forget(1);
    pair.exchange();
    let mut context = Context::from_waker(Waker::noop());
    let mut seen = pair.server.seen.remove(0);
    let Poll::Ready(Ok(reason)) = seen.answer.poll_reset(&mut context) else { panic!("no reset") };
    assert_eq!(reason, Reason::CANCEL);
    pair.answer(&[&framed(b"x")], "0");
    assert_eq!((pair.text(1), pair.text(2)), ("none".to_owned(), "x".to_owned()));
    assert_eq!(pair.fault, None);
}

#[test]
fn a_call_that_was_not_sent_is_forgotten() {
    let mut pair = Pair::new(h2::server::Builder::new().max_concurrent_streams(1));
    pair.call(1..4);
    pair.codec.forget(2);
    pair.answer(&[&framed(b"a")], "0");
    assert_eq!(pair.server.body(0), b"\0\0\0\0\x06call 3");
}

#[test]
fn a_server_that_ends_the_connection_answers_what_it_has_begun() {
    let mut pair = Pair::plain();
    pair.call(1..3);
    pair.server.connection.graceful_shutdown();
    pair.exchange();
    assert_eq!(pair.fault, None);
    pair.call(3..4);
    pair.answer(&[&framed(b"a")], "0");
    pair.answer(&[&framed(b"b")], "0");
    assert_eq!([1, 2, 3].map(|id| pair.text(id)), ["a", "b", NOT_BEGUN]);
    assert!(pair.codec.is_ending());
    let fault = "the server ended the connection (GOAWAY)".to_owned();
    assert_eq!(pair.fault, Some(LinkFault::Ended(fault)));
}

#[test]
fn a_server_that_ends_an_idle_connection_is_noticed_at_once() {
    let mut pair = Pair::plain();
    pair.call(1..2);
    pair.answer(&[&framed(b"a")], "0");
    pair.server.connection.graceful_shutdown();
    pair.exchange();
    assert!(matches!(pair.fault, Some(LinkFault::Ended(_))), "{:?}", pair.fault);
}

/// GOAWAY: the last stream that the server has begun, and no error.
fn go_away(last_stream: u8) -> [u8; 17] {
    [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last_stream, 0, 0, 0, 0]
}

const NOT_BEGUN: &str =
    "connection GOAWAY: the server ends the connection and did not begin with this call";

#[test]
fn calls_that_the_server_left_out_can_be_sent_again_and_others_go_on() {
    // The streams of the calls are 1 and 3. The server ends the second connection at once: no stream is left.
    for (last_stream, texts, has_ended) in
        [(1, ["none", NOT_BEGUN], false), (0, [NOT_BEGUN, NOT_BEGUN], true)]
    {
        let mut pair = Pair::plain();
        pair.call(1..3);
        let Pair { codec, answers, .. } = &mut pair;
        let mut keep = |id, result| {
            answers.insert(id, result);
            Ok(())
        };
        let decoded = codec.decode(&go_away(last_stream), &mut Vec::new(), &mut keep);
        assert_eq!(decoded.is_err(), has_ended, "{decoded:?}");
        assert!(codec.is_ending());
        assert_eq!([1, 2].map(|id| pair.text(id)), texts);
        let origin = pair.answers[&2].as_ref().unwrap_err().origin;
        assert_eq!(origin, Origin::NotBegun);
    }
}

#[test]
fn a_refused_call_has_not_begun_and_the_connection_goes_on() {
    let mut pair = Pair::plain();
    pair.call(1..3);
    pair.server.seen.remove(0).answer.send_reset(Reason::REFUSED_STREAM);
    pair.exchange();
    let refused = pair.answers[&1].as_ref().unwrap_err();
    assert_eq!(
        (refused.class, refused.origin),
        (measure::ErrorClass::Connection, Origin::NotBegun)
    );
    assert!(!pair.codec.is_ending());
    pair.answer(&[&framed(b"x")], "0");
    assert_eq!(pair.text(2), "x");
}

#[test]
fn large_messages_pass_in_both_directions() {
    let mut pair = Pair::plain();
    let body = vec![7; 3 << 20];
    for id in 1..6 {
        pair.codec.encode(id, (&body, &[]));
        pair.exchange();
        // The server takes in what it has, which opens its window for more.
        let mut taken = Vec::new();
        while taken.len() < body.len() + 5 {
            let stream = pair.server.seen[0].request.body_mut();
            while let Some(Some(Ok(piece))) = now(stream.data()) {
                stream.flow_control().release_capacity(piece.len()).unwrap();
                taken.extend_from_slice(&piece);
            }
            pair.exchange();
        }
        pair.answer(&[&taken], "0");
        assert!(pair.answers[&id] == Ok(body.clone()), "call {id}");
    }
    assert_eq!(pair.fault, None);
}

#[test]
fn an_answer_that_is_too_long_fails_one_call_and_is_not_kept() {
    let mut pair = Pair::plain();
    pair.call(1..3);
    let mut stream = pair.begin_answer();
    stream.send_data(Bytes::from_static(b"\0\xff\xff\xff\xff"), false).unwrap();
    pair.exchange();
    assert_eq!(
        pair.text(1),
        "framework RESOURCE_EXHAUSTED: the answer has 4294967295 bytes, more than the 4194304 that \
         are accepted: raise `answer_limit`"
    );
    assert!(matches!(
        stream.poll_reset(&mut Context::from_waker(Waker::noop())),
        Poll::Ready(Ok(Reason::CANCEL))
    ));
    pair.answer(&[&framed(b"x")], "0");
    assert_eq!(pair.text(2), "x");
}

#[test]
fn many_small_answers_in_one_read_are_all_taken() {
    let mut pair = Pair::plain();
    pair.call(0..600);
    assert_eq!(pair.server.seen.len(), 600);
    for _ in 0..600 {
        let stream = pair.begin_answer();
        send(stream, &[&framed(b"x")], "0");
    }
    pair.exchange();
    assert_eq!(pair.fault, None);
    assert!((0..600).all(|id| pair.text(id) == "x"));
}

/// What grpc-go v1.82.1 sent for three calls of `SayHello` with "hello", one after the other; each has a ping that
/// measures the connection, and the third has all its headers from the table.
const FROM_GRPC_GO: [&[&str]; 3] = [
    &[
        "000006040000000000000500004000000000040100000000",
        "0000040800000000000000000c00000806000000000002041010090e0707",
        "00000e010400000001885f8b1d75d0620d263d4c4d656400000c00000000000100000000070a0568656c6c6f0000180105\
         0000000140889acac8b21234da8f013040899acac8b5254207317f00",
    ],
    &[
        "0000040800000000000000000c00000806000000000002041010090e070700000201040000000388c000000c0000000000\
       0300000000070a0568656c6c6f000002010500000003bfbe",
    ],
    &[
        "0000040800000000000000000c00000806000000000002041010090e070700000201040000000588c000000c0000000000\
       0500000000070a0568656c6c6f000002010500000005bfbe",
    ],
];

#[test]
fn answers_of_grpc_go_are_read() {
    let mut codec = GrpcCodec::new(&settings(&[])).unwrap();
    for (id, pieces) in (1..).zip(FROM_GRPC_GO) {
        codec.encode(id, (b"\x0a\x05hello", &[]));
        let (mut answers, mut out) = (Vec::new(), Vec::new());
        let mut keep = |id, result| {
            answers.push((id, result));
            Ok(())
        };
        codec.flush(&mut out, &mut keep).unwrap();
        for piece in pieces {
            let digits = |at: usize| u8::from_str_radix(&piece[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..piece.len()).step_by(2).map(digits).collect();
            codec.decode(&bytes, &mut out, &mut keep).unwrap();
        }
        assert_eq!(answers, [(id, Ok(b"\x0a\x05hello".to_vec()))]);
        // The answer to its ping has the same eight bytes.
        let pong = b"\0\0\x08\x06\x01\0\0\0\0\x02\x04\x10\x10\x09\x0e\x07\x07";
        assert!(out.windows(pong.len()).any(|place| place == pong), "no answer to the ping");
    }
}
