//! Messages, integers and strings in the wire format.

use crate::received::Received;
pub(crate) use crate::received::{Malformed, MessageLimit};

const ENDS_EARLY: Malformed = Malformed("a message ends early");

/// The kind of a message and its length, which counts itself.
pub(crate) const HEAD_BYTES: usize = 5;
/// What a length counts in addition to the body.
const LENGTH_BYTES: usize = 4;

/// Reads a message's body from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk().ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(*head)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    /// A value behind its length; `None` is NULL.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match self.i32()? {
            -1 => Ok(None),
            length => self.bytes(usize::try_from(length).map_err(|_| ENDS_EARLY)?).map(Some),
        }
    }

    /// Bytes up to a zero, without it.
    pub(crate) fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.0.iter().position(|&byte| byte == 0).ok_or(ENDS_EARLY)?;
        let text = self.bytes(length)?;
        self.0 = &self.0[1..];
        Ok(text)
    }
}

/// The kind of a message and the length of its body; `head` has [`HEAD_BYTES`].
#[inline]
pub(crate) fn head(head: &[u8]) -> Result<(u8, usize), Malformed> {
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    // A length is signed.
    match length.checked_sub(LENGTH_BYTES) {
        Some(body) if length <= i32::MAX as usize => Ok((head[0], body)),
        _ => Err(Malformed("a message with an impossible length")),
    }
}

/// Begins a message in `out`; [`finish_message`] ends it, with the value that this returns.
#[inline]
pub(crate) fn start_message(out: &mut Vec<u8>, kind: u8) -> usize {
    out.push(kind);
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    start
}

/// Writes the length of the message that began at `start`.
#[inline]
pub(crate) fn finish_message(out: &mut [u8], start: usize) {
    let length = ((out.len() - start) as u32).to_be_bytes();
    out[start..start + LENGTH_BYTES].copy_from_slice(&length);
}

pub(crate) fn append_message(out: &mut Vec<u8>, kind: u8, body: &[u8]) {
    let start = start_message(out, kind);
    out.extend_from_slice(body);
    finish_message(out, start);
}

/// What a first message is that is too long for one.
const NO_SERVER: &str =
    "the first message is not that of a PostgreSQL server: it would have more than 1 MiB";

/// Assembles whole messages from received bytes; used off the load path.
#[derive(Debug, Default)]
pub(crate) struct MessageReader {
    received: Received,
    limit: MessageLimit,
}

impl MessageReader {
    /// Sets how long the messages that follow may be.
    pub(crate) fn set_limit(&mut self, limit: MessageLimit) {
        self.limit = limit;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.received.push(bytes);
    }

    /// Returns the kind and the body of the next whole message, `None` when more bytes are needed.
    pub(crate) fn next(&mut self) -> Result<Option<(u8, Vec<u8>)>, Malformed> {
        let unread = self.received.unread();
        let Some((first, behind)) = unread.split_at_checked(HEAD_BYTES) else { return Ok(None) };
        let (kind, length) = head(first)?;
        if length > self.limit.bytes() {
            return Err(self.limit.excess(NO_SERVER));
        }
        let Some(body) = behind.get(..length) else { return Ok(None) };
        let message = (kind, body.to_vec());
        self.received.pass(HEAD_BYTES + length);
        Ok(Some(message))
    }

    /// Takes the bytes behind the last message.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        self.received.take_rest()
    }

    #[cfg(test)]
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.received.capacity_bytes()
    }
}
