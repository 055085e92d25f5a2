//! Packets, integers and strings in the wire format.

use super::PACKET_BYTES_MAX;
use crate::received::Received;
pub(crate) use crate::received::{Malformed, MessageLimit};

const ENDS_EARLY: Malformed = Malformed("a packet ends early");

/// Reads a packet's payload from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(head)
    }

    /// A little-endian integer of `N` bytes, at most 8.
    #[inline]
    fn int<const N: usize>(&mut self) -> Result<u64, Malformed> {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(self.bytes(N)?);
        Ok(u64::from_le_bytes(wide))
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.int::<1>()? as u8)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(self.int::<2>()? as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(self.int::<4>()? as u32)
    }

    /// A length-encoded integer; `None` for the byte that means NULL in a text row.
    #[inline]
    pub(crate) fn length_or_null(&mut self) -> Result<Option<u64>, Malformed> {
        Ok(Some(match self.u8()? {
            small @ 0..=0xfa => u64::from(small),
            0xfb => return Ok(None),
            0xfc => self.int::<2>()?,
            0xfd => self.int::<3>()?,
            0xfe => self.int::<8>()?,
            0xff => return Err(Malformed("0xff where a length should be")),
        }))
    }

    #[inline]
    pub(crate) fn length(&mut self) -> Result<u64, Malformed> {
        self.length_or_null()?.ok_or(Malformed("NULL where a length should be"))
    }

    /// Bytes after a length-encoded length; `None` is NULL.
    pub(crate) fn bytes_or_null(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        let Some(length) = self.length_or_null()? else { return Ok(None) };
        self.bytes(usize::try_from(length).map_err(|_| ENDS_EARLY)?).map(Some)
    }

    /// Bytes up to a zero, without it; up to the end when there is none.
    pub(crate) fn until_zero(&mut self) -> &'a [u8] {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        let (head, rest) = self.0.split_at(length);
        self.0 = rest.get(1..).unwrap_or_default();
        head
    }
}

/// The length in a packet's header.
#[inline]
pub(crate) fn payload_length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

/// Begins a packet in `out`; [`finish_packet`] ends it, with the value that this returns.
#[inline]
pub(crate) fn start_packet(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Writes the header of the packet that began at `start`; splits it into several when it is longer than one packet
/// can be. Returns the next sequence number.
#[inline]
pub(crate) fn finish_packet(out: &mut Vec<u8>, start: usize, sequence: u8) -> u8 {
    let length = out.len() - start - 4;
    if length < PACKET_BYTES_MAX {
        out[start..start + 4].copy_from_slice(&header(length, sequence));
        return sequence.wrapping_add(1);
    }
    let payload = out.split_off(start + 4);
    out.truncate(start);
    append_packet(out, &payload, sequence)
}

/// Appends `payload` as one packet or several; returns the next sequence number.
pub(crate) fn append_packet(out: &mut Vec<u8>, payload: &[u8], mut sequence: u8) -> u8 {
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(PACKET_BYTES_MAX));
        out.extend_from_slice(&header(now.len(), sequence));
        out.extend_from_slice(now);
        sequence = sequence.wrapping_add(1);
        rest = later;
        // After a packet of the full length another one must follow, even an empty one.
        if now.len() < PACKET_BYTES_MAX {
            return sequence;
        }
    }
}

#[inline]
fn header(length: usize, sequence: u8) -> [u8; 4] {
    [length as u8, (length >> 8) as u8, (length >> 16) as u8, sequence]
}

/// What a first message is that is too long for one.
const NO_GREETING: &str =
    "the greeting is not that of a MySQL server, protocol 10: it would have more than 1 MiB";

/// Assembles whole messages from received bytes; used off the load path.
#[derive(Debug, Default)]
pub(crate) struct PacketReader {
    received: Received,
    limit: MessageLimit,
}

impl PacketReader {
    /// Sets how long the messages that follow may be.
    pub(crate) fn set_limit(&mut self, limit: MessageLimit) {
        self.limit = limit;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.received.push(bytes);
    }

    /// Returns the next whole message and its last sequence number, `None` when more bytes are needed.
    pub(crate) fn next(&mut self) -> Result<Option<(Vec<u8>, u8)>, Malformed> {
        let Some((end, sequence)) = self.message_end()? else { return Ok(None) };
        let mut message = Vec::with_capacity(end);
        let mut rest = &self.received.unread()[..end];
        while let Some((header, behind)) = rest.split_at_checked(4) {
            let (payload, next) = behind.split_at(payload_length(header));
            message.extend_from_slice(payload);
            rest = next;
        }
        self.received.pass(end);
        Ok(Some((message, sequence)))
    }

    /// The length of the next message with its headers, and its last sequence number; `None` when not all of it has
    /// come. Only headers are looked at, so that a message costs no more when it comes in many pieces.
    fn message_end(&self) -> Result<Option<(usize, u8)>, Malformed> {
        let unread = self.received.unread();
        let (mut at, mut message_bytes) = (0, 0);
        loop {
            let Some(header) = unread.get(at..at + 4) else { return Ok(None) };
            let (length, sequence) = (payload_length(header), header[3]);
            message_bytes += length;
            if message_bytes > self.limit.bytes() {
                return Err(self.limit.excess(NO_GREETING));
            }
            at += 4 + length;
            if at > unread.len() {
                return Ok(None);
            }
            if length < PACKET_BYTES_MAX {
                return Ok(Some((at, sequence)));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.received.capacity_bytes()
    }
}
