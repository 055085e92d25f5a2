//! The server's side of tRPC: each unary request comes back as a response with the same body.
//!
//! Source: the protocol's definition `trpc.proto` of the tRPC group; all numbers are big-endian. A frame is 16 bytes of
//! frame head, a header in Protocol Buffers, the body and the attachment. The frame head: 2 bytes of magic, type of the
//! frame (0 unary), type of a stream's frame, 4 bytes of total length, 2 bytes of header length, 4 bytes of request id,
//! version, a reserved byte.

use super::codec::Malformed;

/// The first bytes of every frame.
pub(super) const MAGIC: [u8; 2] = [0x09, 0x30];
const HEAD_BYTES: usize = 16;
/// The longest frame, which is also the limit of the protocol's own servers.
const FRAME_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The largest buffer for frames that arrive in parts that is kept when it is empty, bytes.
const PARTIAL_BYTES_KEPT: usize = 64 * 1024;
/// The type of a frame with a whole request or response.
const UNARY: u8 = 0;
/// The version of the frame head, its second last byte.
const VERSION: u8 = 1;
/// The framework's code for a request that the server cannot decode (`TRPC_SERVER_DECODE_ERR`).
const DECODE_ERROR: u64 = 1;
/// `call_type` of a request that is not answered.
const ONE_WAY: u64 = 1;

#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The beginning of a frame that is not whole yet.
    partial: Vec<u8>,
}

impl Frames {
    /// Appends the answers to all frames that are whole with these bytes.
    ///
    /// # Errors
    /// When the bytes are no frame of a request; the answers to earlier requests are in `out`.
    pub(super) fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            rest = self.complete(rest)?;
            match frame_length(&self.partial)? {
                Some(length) if length == self.partial.len() => answer_frame(&self.partial, out),
                _ => return Ok(()),
            }
            self.partial.clear();
            self.partial.shrink_to(PARTIAL_BYTES_KEPT);
        }
        while let Some(length) = frame_length(rest)?.filter(|length| *length <= rest.len()) {
            let (frame, after) = rest.split_at(length);
            answer_frame(frame, out);
            rest = after;
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Moves bytes to the partial frame, at most as many as it lacks, and returns the others.
    fn complete<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let rest = self.take(bytes, HEAD_BYTES);
        match frame_length(&self.partial)? {
            Some(length) => Ok(self.take(rest, length)),
            None => Ok(rest),
        }
    }

    /// Moves bytes to the partial frame until it has `wanted`, and returns the others.
    fn take<'a>(&mut self, bytes: &'a [u8], wanted: usize) -> &'a [u8] {
        let missing = wanted.saturating_sub(self.partial.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        self.partial.extend_from_slice(taken);
        rest
    }
}

/// The length of the frame that begins here, once its head is there.
fn frame_length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some((head, _)) = bytes.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let length = usize::try_from(length).map_err(|_| Malformed)?;
    let is_request = head[..2] == MAGIC && head[2] == UNARY;
    match is_request && (HEAD_BYTES..=FRAME_BYTES_MAX).contains(&length) {
        true => Ok(Some(length)),
        false => Err(Malformed),
    }
}

/// What the answer needs of a request's header.
#[derive(Debug, Default, PartialEq, Eq)]
struct RequestHeader {
    call_type: u64,
    request_id: u64,
    content_type: u64,
    content_encoding: u64,
    attachment_bytes: u64,
}

/// Appends the answer to a whole frame; a one-way request has none.
fn answer_frame(frame: &[u8], out: &mut Vec<u8>) {
    let header_bytes = usize::from(u16::from_be_bytes([frame[8], frame[9]]));
    let begin = out.len();
    out.extend_from_slice(&frame[..HEAD_BYTES]);
    out[begin + 14] = VERSION;
    let parts = frame[HEAD_BYTES..].split_at_checked(header_bytes);
    let body = match parts.and_then(|(header, body)| Some((RequestHeader::read(header)?, body))) {
        Some((header, _)) if header.call_type == ONE_WAY => {
            out.truncate(begin);
            return;
        }
        Some((header, body)) => {
            header.append_response(out);
            body
        }
        None => {
            append_decode_error([frame[10], frame[11], frame[12], frame[13]], out);
            &[]
        }
    };
    let header_bytes = out.len() - begin - HEAD_BYTES;
    out.extend_from_slice(body);
    let length = out.len() - begin;
    // A response's header is shorter than 100 bytes, and the frame little longer than that of the request.
    out[begin + 4..begin + 8].copy_from_slice(&(length as u32).to_be_bytes());
    out[begin + 8..begin + 10].copy_from_slice(&(header_bytes as u16).to_be_bytes());
}

impl RequestHeader {
    /// Reads the fields of a header; `None` when it is empty or not in Protocol Buffers.
    fn read(mut bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut header = Self::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let value = match tag & 7 {
                0 => varint(&mut bytes)?,
                1 => skip(&mut bytes, 8)?,
                2 => {
                    let length = varint(&mut bytes)?;
                    skip(&mut bytes, length)?
                }
                5 => skip(&mut bytes, 4)?,
                _ => return None,
            };
            match tag {
                request::CALL_TYPE => header.call_type = value,
                request::REQUEST_ID => header.request_id = value,
                request::CONTENT_TYPE => header.content_type = value,
                request::CONTENT_ENCODING => header.content_encoding = value,
                request::ATTACHMENT_SIZE => header.attachment_bytes = value,
                _ => {}
            }
        }
        Some(header)
    }

    /// Appends the header of the response. The id stands in it even when it is 0: no header is empty.
    fn append_response(&self, out: &mut Vec<u8>) {
        append_field(response::REQUEST_ID, self.request_id, out);
        for (tag, value) in [
            (response::CONTENT_TYPE, self.content_type),
            (response::CONTENT_ENCODING, self.content_encoding),
            (response::ATTACHMENT_SIZE, self.attachment_bytes),
        ] {
            if value != 0 {
                append_field(tag, value, out);
            }
        }
    }
}

/// Tags of varint fields of `RequestProtocol`.
mod request {
    pub(super) const CALL_TYPE: u64 = 2 << 3;
    pub(super) const REQUEST_ID: u64 = 3 << 3;
    pub(super) const CONTENT_TYPE: u64 = 10 << 3;
    pub(super) const CONTENT_ENCODING: u64 = 11 << 3;
    pub(super) const ATTACHMENT_SIZE: u64 = 12 << 3;
}

/// Tags of `ResponseProtocol`, whose fields have numbers of their own.
mod response {
    pub(super) const REQUEST_ID: u64 = 3 << 3;
    pub(super) const RET: u64 = 4 << 3;
    /// A string, unlike the others.
    pub(super) const ERROR_MESSAGE: u64 = 6 << 3 | 2;
    pub(super) const CONTENT_TYPE: u64 = 9 << 3;
    pub(super) const CONTENT_ENCODING: u64 = 10 << 3;
    pub(super) const ATTACHMENT_SIZE: u64 = 12 << 3;
}

/// Appends the header of the response to a request whose own header cannot be read.
#[cold]
fn append_decode_error(id: [u8; 4], out: &mut Vec<u8>) {
    const TEXT: &str = "the header of the request cannot be decoded";
    append_field(response::REQUEST_ID, u64::from(u32::from_be_bytes(id)), out);
    append_field(response::RET, DECODE_ERROR, out);
    append_field(response::ERROR_MESSAGE, TEXT.len() as u64, out);
    out.extend_from_slice(TEXT.as_bytes());
}

fn append_field(tag: u64, value: u64, out: &mut Vec<u8>) {
    for mut part in [tag, value] {
        while part >= 0x80 {
            out.push(part as u8 | 0x80);
            part >>= 7;
        }
        out.push(part as u8);
    }
}

/// Takes a variable-length number, of at most 64 bits.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn skip(bytes: &mut &[u8], length: u64) -> Option<u64> {
    *bytes = bytes.get(usize::try_from(length).ok()?..)?;
    Some(length)
}

#[cfg(test)]
pub(super) mod tests;
