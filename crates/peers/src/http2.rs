//! Frames of HTTP/2 (RFC 9113), as a server of gRPC sends them, and the phases of its first call.

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// Types of frames (RFC 9113, section 6).
pub mod kind {
    /// Bytes of a body.
    pub const DATA: u8 = 0;
    /// The begin of header fields.
    pub const HEADERS: u8 = 1;
    /// The end of one stream.
    pub const RST_STREAM: u8 = 3;
    /// Settings of the connection.
    pub const SETTINGS: u8 = 4;
    /// A push, which clients of gRPC refuse.
    pub const PUSH_PROMISE: u8 = 5;
    /// A sign of life.
    pub const PING: u8 = 6;
    /// The end of the connection.
    pub const GOAWAY: u8 = 7;
    /// More bytes that may be sent.
    pub const WINDOW_UPDATE: u8 = 8;
    /// More header fields.
    pub const CONTINUATION: u8 = 9;
}

/// The flag of the last frame of a stream.
pub const END_STREAM: u8 = 1;
/// The flag of the last frame of header fields.
pub const END_HEADERS: u8 = 4;

/// A frame (RFC 9113, section 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header field that is not put into the table (RFC 7541, section 6.2.2).
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// The field with the HTTP status.
pub fn status(code: &str) -> Vec<u8> {
    field(":status", code)
}

/// The server's first bytes: its settings, and that it knows those of the client.
pub fn preface() -> Vec<u8> {
    [frame(kind::SETTINGS, 0, 0, &[]), frame(kind::SETTINGS, 1, 0, &[])].concat()
}

/// The headers of an answer.
fn headers(stream: u32) -> Vec<u8> {
    frame(kind::HEADERS, END_HEADERS, stream, &status("200"))
}

/// The frame with a message of gRPC.
fn data(stream: u32, message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_be_bytes();
    frame(kind::DATA, 0, stream, &[&[0][..], &length, message].concat())
}

/// The trailers of a call that has succeeded.
fn trailers(stream: u32) -> Vec<u8> {
    frame(kind::HEADERS, END_HEADERS | END_STREAM, stream, &field("grpc-status", "0"))
}

/// The frames of an answer with one message.
pub fn answer(stream: u32, message: &[u8]) -> Vec<u8> {
    [headers(stream), data(stream, message), trailers(stream)].concat()
}

/// The stream of the first call.
const FIRST: u32 = 1;
/// The client's first bytes (RFC 9113, section 3.4).
const CLIENT_PREFACE_BYTES: usize = 24;
/// The first window of a stream and of a connection (RFC 9113, section 6.9.2).
const FIRST_WINDOW_BYTES: usize = 65_535;

/// The windows of a client and of its first stream are larger by so many bytes (RFC 9113, section 6.9).
fn windows(bytes: u32) -> Vec<u8> {
    [0, FIRST].map(|stream| frame(kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())).concat()
}

/// The phase of a first call whose request has more bytes than may be sent at first: the permission to send the rest.
pub fn at_window() -> Phase {
    Phase {
        name: "HTTP/2 window",
        before: vec![Act::Receive(Framing::Bytes(CLIENT_PREFACE_BYTES)), Act::Send(preface())],
        asked: Some(Framing::Bytes(FIRST_WINDOW_BYTES)),
        due: windows(1 << 20),
        length: Some(LengthField { at: 0, bytes: 3, form: LengthForm::HighFirst }),
        next: answer(FIRST, b"hello"),
        first_of_many: Vec::new(),
        repeated: windows(1),
    }
}

/// The phases of the first call: the settings of the server, and headers, body and trailers of the answer, which has this
/// message.
pub fn phases(message: &[u8]) -> [Phase; 4] {
    let phase = |name, sent: Vec<u8>, due: Vec<u8>, next, first_of_many, repeated| Phase {
        name,
        before: match sent.is_empty() {
            true => Vec::new(),
            false => vec![Act::Receive(Framing::Bytes(CLIENT_PREFACE_BYTES)), Act::Send(sent)],
        },
        asked: Some(Framing::Bytes(CLIENT_PREFACE_BYTES)),
        due,
        length: Some(LengthField { at: 0, bytes: 3, form: LengthForm::HighFirst }),
        next,
        first_of_many,
        repeated,
    };
    let interim = frame(kind::HEADERS, END_HEADERS, FIRST, &status("103"));
    let more = frame(kind::CONTINUATION, 0, FIRST, &field("x", &"y".repeat(100)));
    let begun = [preface(), headers(FIRST)].concat();
    let answered = [begun.clone(), data(FIRST, message)].concat();
    [
        phase(
            "HTTP/2 settings",
            Vec::new(),
            frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]),
            headers(FIRST),
            Vec::new(),
            frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]),
        ),
        phase(
            "HTTP/2 headers",
            preface(),
            headers(FIRST),
            data(FIRST, message),
            Vec::new(),
            interim,
        ),
        phase(
            "HTTP/2 data",
            begun,
            data(FIRST, message),
            trailers(FIRST),
            data(FIRST, message),
            frame(kind::DATA, 0, FIRST, message),
        ),
        phase(
            "HTTP/2 trailers",
            answered,
            trailers(FIRST),
            frame(kind::GOAWAY, 0, 0, &[0; 8]),
            frame(kind::HEADERS, END_STREAM, FIRST, &field("x", "y")),
            more,
        ),
    ]
}
