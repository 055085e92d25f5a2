//! The codec of tRPC, version 1, for unary calls. Source: trpc.proto and the protocol's design document of the
//! trpc-group; the examples in the tests are captures of trpc-go.

use std::ops::ControlFlow;
use std::time::Duration;

use measure::{ErrorClass, Failure};

use super::Call;
use super::answer::{Answer, Malformed, Origin, ServiceError};

/// The first bytes of each frame.
const MAGIC: [u8; 2] = [0x09, 0x30];
/// The first bytes of an alert of TLS (RFC 8446, section 5.1): what a server with TLS says to a client without.
const TLS_ALERT: [u8; 2] = [0x15, 0x03];
/// The length of the part of a frame that is not protobuf.
const HEAD: usize = 16;
/// The longest frame that servers accept and send.
const FRAME_MAX: usize = 10 << 20;
/// The longest error text that is kept.
const TEXT_MAX: usize = 512;

pub(super) struct TrpcCodec {
    /// A request up to its body, without drawn metadata. Its lengths and its id change from call to call.
    template: Vec<u8>,
    /// The keys of drawn metadata.
    drawn_keys: Vec<String>,
    /// The start of an answer, up to the end of its header, as far as it has arrived.
    partial: Vec<u8>,
    /// The answer whose body is arriving, and how much of that is due.
    within: Option<(Answer, usize)>,
}

/// Checks that the header of such a call's requests can be written.
///
/// # Errors
/// When it is too long.
pub(super) fn check(call: &Call, timeout: Option<Duration>) -> Result<(), Failure> {
    let checked = TrpcCodec::new(call, timeout).check(&[]);
    checked.map_err(|message| Failure::new(ErrorClass::Protocol, "", message))
}

/// The place of the id in the header: after the tag of its field.
const ID_AT: usize = HEAD + 1;

impl TrpcCodec {
    /// A codec of requests that tell the server this time-out, if there is one.
    pub(super) fn new(call: &Call, timeout: Option<Duration>) -> Self {
        let mut template = vec![0; HEAD];
        template[..2].copy_from_slice(&MAGIC);
        template[14] = 1;
        // Field 3, the id, in the three bytes that all ids have.
        template.extend_from_slice(&[3 << 3, 0x80, 0x80, 0]);
        if let Some(timeout) = timeout {
            template.push(4 << 3);
            append_varint(&mut template, timeout.as_millis().try_into().unwrap_or(u32::MAX));
        }
        append_bytes(&mut template, 5, call.caller.as_bytes());
        if let Some(method) = &call.method {
            append_bytes(&mut template, 6, method.service.as_bytes());
            append_bytes(&mut template, 7, method.path().as_bytes());
        }
        for (key, value) in &call.metadata {
            append_entry(&mut template, key, value);
        }
        let content_type = call.content_type as u8;
        if content_type != 0 {
            template.extend_from_slice(&[10 << 3, content_type]);
        }
        let header = (template.len() - HEAD) as u16;
        template[8..10].copy_from_slice(&header.to_be_bytes());
        let drawn_keys = call.drawn_metadata.iter().map(|(key, _)| key.clone()).collect();
        Self { template, drawn_keys, partial: Vec::new(), within: None }
    }

    /// Checks that a header with these values of drawn metadata can be written.
    ///
    /// # Errors
    /// When it is too long.
    pub(super) fn check(&self, metadata: &[String]) -> Result<(), String> {
        let entries = self.drawn_keys.iter().zip(metadata);
        let drawn: usize = entries.map(|(key, value)| entry_length(key, value)).sum();
        let header = self.template.len() - HEAD + drawn;
        match header <= usize::from(u16::MAX) {
            true => Ok(()),
            false => Err(format!(
                "the header of a request has {header} bytes, of which tRPC allows {}: give less metadata",
                u16::MAX
            )),
        }
    }

    #[inline]
    pub(super) fn encode(
        &mut self,
        id: u32,
        (body, metadata): (&[u8], &[String]),
        out: &mut Vec<u8>,
    ) {
        let template = &mut self.template;
        let total = (template.len() + body.len()) as u32;
        template[4..8].copy_from_slice(&total.to_be_bytes());
        template[10..14].copy_from_slice(&id.to_be_bytes());
        let varint = [id as u8 | 0x80, (id >> 7) as u8 | 0x80, (id >> 14) as u8];
        template[ID_AT..ID_AT + 3].copy_from_slice(&varint);
        let begin = out.len();
        out.extend_from_slice(template);
        if !metadata.is_empty() {
            self.append_drawn(metadata, (begin, body.len()), out);
        }
        out.extend_from_slice(body);
    }

    /// Appends drawn metadata to the header that begins there, and corrects its lengths.
    fn append_drawn(
        &self,
        metadata: &[String],
        (begin, body_bytes): (usize, usize),
        out: &mut Vec<u8>,
    ) {
        for (key, value) in self.drawn_keys.iter().zip(metadata) {
            append_entry(out, key, value);
        }
        let frame = &mut out[begin..];
        let (total, header) = (frame.len() + body_bytes, frame.len() - HEAD);
        frame[4..8].copy_from_slice(&(total as u32).to_be_bytes());
        frame[8..10].copy_from_slice(&(header as u16).to_be_bytes());
    }

    #[inline]
    pub(super) fn decode(
        &mut self,
        mut bytes: &[u8],
        answered: &mut impl FnMut(Answer) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        loop {
            if let Some((_, due)) = &mut self.within {
                let taken = bytes.len().min(*due);
                bytes = &bytes[taken..];
                *due -= taken;
                if *due > 0 {
                    return Ok(());
                }
            }
            if let Some((answer, _)) = self.within.take() {
                answered(answer)?;
            }
            if bytes.is_empty() {
                return Ok(());
            }
            let (answer, body) = match self.next(&mut bytes)? {
                ControlFlow::Continue(answer) => answer,
                ControlFlow::Break(()) => return Ok(()),
            };
            self.within = Some((answer, body));
        }
    }

    /// Reads the next answer up to its body, whose length it returns, or keeps the bytes until more have arrived.
    #[inline]
    fn next(&mut self, bytes: &mut &[u8]) -> Result<ControlFlow<(), (Answer, usize)>, Malformed> {
        if self.partial.is_empty() {
            if let Some((answer, length, body)) = read(bytes)? {
                *bytes = &bytes[length..];
                return Ok(ControlFlow::Continue((answer, body)));
            }
            self.partial.extend_from_slice(bytes);
            return Ok(ControlFlow::Break(()));
        }
        // Only the missing bytes are copied, so that the buffer stays as small as a header.
        loop {
            let missing = due(&self.partial) - self.partial.len();
            let (taken, rest) = bytes.split_at(bytes.len().min(missing));
            self.partial.extend_from_slice(taken);
            *bytes = rest;
            if let Some((answer, _, body)) = read(&self.partial)? {
                self.partial.clear();
                return Ok(ControlFlow::Continue((answer, body)));
            }
            if taken.len() < missing {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// The memory of the part of an answer that has arrived.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.partial.capacity()
    }

    pub(super) fn is_within_answer(&self) -> bool {
        self.within.is_some() || !self.partial.is_empty()
    }
}

/// The length of a frame up to its body, as far as that is known.
fn due(partial: &[u8]) -> usize {
    match partial.get(8..10) {
        Some(length) if partial.len() >= HEAD => {
            HEAD + usize::from(u16::from_be_bytes([length[0], length[1]]))
        }
        _ => HEAD,
    }
}

/// Reads an answer up to its body: the answer, the length so far, and the length of the body. `None` when not all of
/// the header has arrived.
#[inline]
fn read(bytes: &[u8]) -> Result<Option<(Answer, usize, usize)>, Malformed> {
    if bytes.len() < HEAD {
        let known = bytes.len().min(MAGIC.len());
        return if bytes[..known] == MAGIC[..known] { Ok(None) } else { Err(no_magic(bytes)) };
    }
    if bytes[..2] != MAGIC {
        return Err(no_magic(bytes));
    }
    if bytes[2] != 0 {
        return Err(Malformed(format!("a frame of type {} where unary answers are due", bytes[2])));
    }
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|place| bytes[at + place]));
    let (total, id) = (number(4) as usize, number(10));
    let length = due(bytes);
    if total > FRAME_MAX || total < length {
        return Err(Malformed(format!(
            "a frame of {total} bytes with a header of {length}; at most {FRAME_MAX} are allowed"
        )));
    }
    let Some(header) = bytes.get(HEAD..length) else { return Ok(None) };
    Ok(Some((Answer { id, result: result(header)? }, length, total - length)))
}

#[cold]
fn no_magic(bytes: &[u8]) -> Malformed {
    let first = &bytes[..bytes.len().min(2)];
    if first == TLS_ALERT {
        return Malformed(
            "the server answered with an alert of TLS: it wants TLS (ssl_mode)".to_owned(),
        );
    }
    let hint = match bytes {
        // The first frame of HTTP/2 is that of settings (RFC 9113, sections 3.4 and 6.5).
        [0, 0, _, 4, ..] => "the server speaks HTTP/2: it may be one of gRPC (grpc://)",
        [b'H', b'T', b'T', b'P', ..] => "the server speaks HTTP/1",
        _ => "is it tRPC?",
    };
    Malformed(format!("a frame that begins with {first:02x?}, not with {MAGIC:02x?}: {hint}"))
}

/// What an answer's header says: fields 4 (framework), 5 (function) and 6 (text) of `ResponseProtocol`.
#[inline]
fn result(header: &[u8]) -> Result<Result<(), Box<ServiceError>>, Malformed> {
    let (mut framework, mut function, mut text) = (0, 0, &[][..]);
    let mut fields = Fields { rest: header };
    while let Some((number, value)) = fields.next()? {
        match (number, value) {
            (4, Value::Number(code)) => framework = code as i32,
            (5, Value::Number(code)) => function = code as i32,
            (6, Value::Bytes(bytes)) => text = bytes,
            _ => {}
        }
    }
    if framework == 0 && function == 0 {
        return Ok(Ok(()));
    }
    let (class, code) = match framework {
        0 => (ErrorClass::Function, function),
        _ => (ErrorClass::Framework, framework),
    };
    let message = String::from_utf8_lossy(&text[..text.len().min(TEXT_MAX)]).into_owned();
    Ok(Err(Box::new(ServiceError {
        class,
        code: code.to_string(),
        message,
        origin: Origin::Service,
    })))
}

struct Fields<'a> {
    rest: &'a [u8],
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

impl<'a> Fields<'a> {
    #[inline]
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.skip(8)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.skip(4)?,
            _ => return Err(Malformed("a header that is not protobuf".to_owned())),
        };
        Ok(Some((tag >> 3, value)))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let Some((byte, rest)) = self.rest.split_first() else { break };
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed("a header that is not protobuf".to_owned()))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Malformed> {
        let split =
            usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = split.ok_or_else(|| Malformed("a header that is cut".to_owned()))?;
        self.rest = rest;
        Ok(taken)
    }

    fn skip(&mut self, length: u64) -> Result<Value<'a>, Malformed> {
        self.take(length).map(|_| Value::Other)
    }
}

fn append_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    append_length(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

fn append_length(out: &mut Vec<u8>, field: u8, length: usize) {
    out.push(field << 3 | 2);
    append_varint(out, length as u32);
}

fn append_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a pair of `trans_info`, field 9.
fn append_entry(out: &mut Vec<u8>, key: &str, value: &str) {
    append_length(out, 9, field_length(key.len()) + field_length(value.len()));
    append_bytes(out, 1, key.as_bytes());
    append_bytes(out, 2, value.as_bytes());
}

fn entry_length(key: &str, value: &str) -> usize {
    field_length(field_length(key.len()) + field_length(value.len()))
}

/// The bytes of a field with a value of this length.
fn field_length(length: usize) -> usize {
    let digits = (usize::BITS - length.leading_zeros()).max(1).div_ceil(7) as usize;
    1 + digits + length
}

#[cfg(test)]
mod tests {
    use super::super::ContentType;
    use super::super::captures::{
        ANSWER, BAD_BODY, FAILED_METHOD, NO_HEADER, REQUEST, UNKNOWN_METHOD, bytes, call,
    };
    use super::*;

    fn decode(codec: &mut TrpcCodec, bytes: &[u8]) -> Result<Vec<Answer>, Malformed> {
        let mut answers = Vec::new();
        codec.decode(bytes, &mut |answer| {
            answers.push(answer);
            Ok(())
        })?;
        Ok(answers)
    }

    #[test]
    fn a_request_is_that_of_a_capture() {
        let mut out = Vec::new();
        TrpcCodec::new(&call(), None).encode(16_500, (b"\x0a\x05hello", &[]), &mut out);
        assert_eq!(out, bytes(REQUEST));
        assert_eq!(out.len(), 122);
    }

    #[test]
    fn metadata_and_the_content_type_are_in_the_header() {
        let metadata = vec![("k".to_owned(), "v".repeat(200))];
        let call = Call { metadata, content_type: ContentType::Json, ..call() };
        let mut out = Vec::new();
        TrpcCodec::new(&call, None).encode(16_500, (b"{}", &[]), &mut out);
        let entry = [b"\x4a\xce\x01\x0a\x01k\x12\xc8\x01", "v".repeat(200).as_bytes()].concat();
        let after = [&entry[..], b"\x50\x02{}"].concat();
        assert_eq!(out[115..], after);
        let total = u32::from_be_bytes(out[4..8].try_into().unwrap()) as usize;
        let header = usize::from(u16::from_be_bytes(out[8..10].try_into().unwrap()));
        assert_eq!((total, header), (out.len(), out.len() - 16 - 2));
    }

    #[test]
    fn a_time_out_is_in_the_header_in_milliseconds() {
        let request = |timeout| {
            let mut out = Vec::new();
            TrpcCodec::new(&call(), timeout).encode(16_500, (b"\x0a\x05hello", &[]), &mut out);
            out
        };
        let with = request(Some(Duration::from_millis(1_500)));
        assert_eq!(with.len(), 122 + 3);
        // Field 4 of RequestProtocol behind field 3, the id.
        assert_eq!(with[16..23], *b"\x18\xf4\x80\x01\x20\xdc\x0b");
        assert_eq!((with[7], with[9]), (125, 0x66));
        assert_eq!(with[23..], request(None)[20..]);
        assert_eq!(request(Some(Duration::MAX))[20..26], *b"\x20\xff\xff\xff\xff\x0f");
    }

    #[test]
    fn drawn_metadata_makes_the_request_that_fixed_metadata_makes() {
        for length in [0, 1, 100, 127, 128, 200, 20_000] {
            let value = "v".repeat(length);
            let metadata = vec![("k".to_owned(), value.clone())];
            let fixed = Call { metadata: metadata.clone(), ..call() };
            let drawn_metadata = vec![("k".to_owned(), "sample".to_owned())];
            let drawn = Call { drawn_metadata, ..call() };
            let (mut one, mut other) = (vec![7], vec![7]);
            TrpcCodec::new(&fixed, None).encode(16_500, (b"body", &[]), &mut one);
            let mut codec = TrpcCodec::new(&drawn, None);
            codec.check(std::slice::from_ref(&value)).unwrap();
            codec.encode(16_500, (b"body", &[value]), &mut other);
            assert_eq!(one, other, "{length}");
        }
        let drawn_metadata = vec![("k".to_owned(), String::new())];
        let codec = TrpcCodec::new(&Call { drawn_metadata, ..call() }, None);
        let told = codec.check(&["v".repeat(70_000)]).unwrap_err();
        assert!(told.starts_with("the header of a request has 70110 bytes"), "{told}");
    }

    #[test]
    fn a_header_that_is_too_long_is_refused() {
        let with = |length: usize| {
            let metadata = vec![("k".to_owned(), "v".repeat(length))];
            check(&Call { metadata, ..call() }, None)
        };
        assert!(with(65_000).is_ok());
        let message = with(70_000).unwrap_err().to_string();
        assert!(message.starts_with("the header of a request has 70110 bytes"), "{message}");
    }

    #[test]
    fn answers_are_found_however_their_bytes_arrive() {
        let one = bytes(ANSWER);
        let stream = one.repeat(3);
        let answer = Answer { id: 16_500, result: Ok(()) };
        for size in 1..=stream.len() {
            let mut codec = TrpcCodec::new(&call(), None);
            let answers: Vec<Answer> =
                stream.chunks(size).flat_map(|part| decode(&mut codec, part).unwrap()).collect();
            assert_eq!(answers, [answer.clone(), answer.clone(), answer.clone()], "{size}");
            assert!(!codec.is_within_answer());
        }
        let mut codec = TrpcCodec::new(&call(), None);
        assert_eq!(decode(&mut codec, &one[..26]).unwrap(), []);
        assert!(codec.is_within_answer());
    }

    /// Class, code and text of the error in an answer.
    fn error(frame: &[u8]) -> String {
        let answers = decode(&mut TrpcCodec::new(&call(), None), frame).unwrap();
        assert_eq!(answers[0].id, 16_500);
        let error = answers[0].result.clone().unwrap_err();
        format!("{} {}: {}", error.class, error.code, error.message)
    }

    #[test]
    fn errors_are_those_of_captures() {
        let captures = [UNKNOWN_METHOD, BAD_BODY, NO_HEADER, FAILED_METHOD];
        let texts = captures.map(|capture| error(&bytes(capture)));
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn codes_may_be_negative() {
        let header = b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let mut frame = b"\x09\x30\0\0\0\0\0\x1b\0\x0b\0\0\x40\x74\x01\0".to_vec();
        frame.extend_from_slice(header);
        assert_eq!(error(&frame), "function -1: ");
    }

    #[test]
    fn what_is_not_an_answer_is_a_protocol_error() {
        let wrong = |frame: &[u8]| decode(&mut TrpcCodec::new(&call(), None), frame).unwrap_err().0;
        let texts = [
            wrong(b"HTTP/1.1 400"),
            wrong(b"H"),
            wrong(b"\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\x40\0"),
            wrong(b"\x15\x03\x03\0\x02\x02\x46"),
            wrong(b"\x09\x30\x01\x02\0\0\0\x10\0\0\0\0\x40\x74\x01\0"),
            wrong(b"\x09\x30\0\0\xff\xff\xff\xff\0\0\0\0\x40\x74\x01\0"),
            wrong(b"\x09\x30\0\0\0\0\0\x0f\0\0\0\0\x40\x74\x01\0"),
            wrong(b"\x09\x30\0\0\0\0\0\x12\0\x02\0\0\x40\x74\x01\0\x0a\x7f"),
            wrong(b"\x09\x30\0\0\0\0\0\x11\0\x01\0\0\x40\x74\x01\0\x0b"),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        a frame that begins with [48, 54], not with [09, 30]: the server speaks HTTP/1
        a frame that begins with [48], not with [09, 30]: is it tRPC?
        a frame that begins with [00, 00], not with [09, 30]: the server speaks HTTP/2: it may be one of gRPC (grpc://)
        the server answered with an alert of TLS: it wants TLS (ssl_mode)
        a frame of type 1 where unary answers are due
        a frame of 4294967295 bytes with a header of 16; at most 10485760 are allowed
        a frame of 15 bytes with a header of 16; at most 10485760 are allowed
        a header that is cut
        a header that is not protobuf
        ");
    }
}
