//! Answers of HTTP/1.1 (RFC 9112), as a server sends them, and the phases of one.

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// What an answer of a length that is told begins with.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
/// The body of every answer: a page of metrics.
const BODY: &[u8] = b"a 1\n";

/// The phases of an answer: its head, its body of a told length, a body up to the end of the connection, and one in
/// chunks.
pub fn phases() -> [Phase; 4] {
    let length = |at| Some(LengthField { at, bytes: 1, form: LengthForm::Digits });
    let asked = Framing::HttpRequest;
    let header = |field: &[u8]| [b"HTTP/1.1 200 OK\r\n", field, b"\r\n"].concat();
    let chunk = [b"4\r\n", BODY, b"\r\n"].concat();
    let body = |name, head: Vec<u8>, due: &[u8]| Phase {
        name,
        before: vec![Act::Receive(asked), Act::Send(head)],
        asked: None,
        due: due.to_vec(),
        length: None,
        next: HEAD.to_vec(),
        first_of_many: Vec::new(),
        repeated: due.to_vec(),
    };
    let head = Phase {
        before: Vec::new(),
        asked: Some(asked),
        due: [HEAD, BODY].concat(),
        length: length(HEAD.len() - b"4\r\n\r\n".len()),
        next: BODY.to_vec(),
        first_of_many: b"HTTP/1.1 200 OK\r\n".to_vec(),
        repeated: b"X-More: yes\r\n".to_vec(),
        ..body("HTTP head", Vec::new(), b"")
    };
    let chunks = body("HTTP chunks", header(b"Transfer-Encoding: chunked\r\n"), &chunk);
    [
        head,
        body("HTTP body", HEAD.to_vec(), BODY),
        body("HTTP body to end", header(b""), BODY),
        Phase { length: length(0), repeated: long_chunk(), ..chunks },
    ]
}

/// A chunk that fills a read buffer: a reader that parses each by itself comes to its bound in seconds.
fn long_chunk() -> Vec<u8> {
    let text = BODY.repeat(1_024);
    [format!("{:x}\r\n", text.len()).as_bytes(), &text, b"\r\n"].concat()
}
