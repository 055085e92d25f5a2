//! The messages in a body: a flag for compression, four bytes of length, and the message.

use std::io::{Read as _, Write as _};

use bytes::{BufMut as _, Bytes, BytesMut};
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::super::Compression;

const PREFIX_BYTES: usize = 5;

/// A request with its prefix.
pub(super) fn with_prefix(message: &[u8], compression: Compression) -> Bytes {
    match compression {
        Compression::None => prefixed(0, message),
        Compression::Gzip => prefixed(1, &gzip(message)),
    }
}

fn prefixed(flag: u8, message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(flag);
    framed.put_u32(message.len() as u32);
    framed.extend_from_slice(message);
    framed.freeze()
}

/// Compressed as grpc-go does by default.
fn gzip(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Memory takes everything.
    let _ = encoder.write_all(message);
    encoder.finish().unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyFault {
    #[error(
        "the answer is compressed in another way than gzip; have the server send it plain or with gzip"
    )]
    Compressed,
    #[error("the answer is not in the form of gzip")]
    NotGzip,
    #[error(
        "the answer has {bytes} bytes, more than the {bytes_max} that are accepted: raise `answer_limit`"
    )]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("the answer has bytes behind its message")]
    Excess,
    #[error("the answer ends within its message")]
    Cut,
    #[error("the answer has no message")]
    Missing,
}

/// Reads the one message of an answer, of which it keeps nothing unless it is told to.
#[derive(Debug)]
pub(super) struct MessageReader {
    bytes_max: usize,
    prefix: [u8; PREFIX_BYTES],
    prefix_bytes: usize,
    /// The bytes of the message that have not arrived.
    missing: usize,
    /// The message so far, if it is kept.
    kept: Option<Vec<u8>>,
    /// Whether compressed messages are in gzip.
    is_gzip: bool,
}

impl MessageReader {
    /// A reader of a message of at most `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize, keeps: bool) -> Self {
        Self {
            bytes_max,
            prefix: [0; PREFIX_BYTES],
            prefix_bytes: 0,
            missing: 0,
            kept: keeps.then(Vec::new),
            is_gzip: false,
        }
    }

    /// The headers of the answer have named its compression.
    pub(super) fn set_gzip(&mut self, is_gzip: bool) {
        self.is_gzip = is_gzip;
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), BodyFault> {
        if self.prefix_bytes < PREFIX_BYTES {
            let length = bytes.len().min(PREFIX_BYTES - self.prefix_bytes);
            let (prefix, rest) = bytes.split_at(length);
            self.prefix[self.prefix_bytes..][..length].copy_from_slice(prefix);
            self.prefix_bytes += length;
            bytes = rest;
            if self.prefix_bytes < PREFIX_BYTES {
                return Ok(());
            }
            self.begin_message()?;
        }
        self.missing = self.missing.checked_sub(bytes.len()).ok_or(BodyFault::Excess)?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn begin_message(&mut self) -> Result<(), BodyFault> {
        let [compression, length @ ..] = self.prefix;
        if compression > u8::from(self.is_gzip) {
            return Err(BodyFault::Compressed);
        }
        self.missing = u32::from_be_bytes(length) as usize;
        match self.missing > self.bytes_max {
            true => Err(BodyFault::TooLong { bytes: self.missing, bytes_max: self.bytes_max }),
            false => Ok(()),
        }
    }

    pub(super) fn finish(&self) -> Result<(), BodyFault> {
        match (self.prefix_bytes, self.missing) {
            (0, _) => Err(BodyFault::Missing),
            (PREFIX_BYTES, 0) => Ok(()),
            _ => Err(BodyFault::Cut),
        }
    }

    /// The message, unpacked; empty if it was not kept.
    pub(super) fn take_message(&mut self) -> Result<Vec<u8>, BodyFault> {
        match self.kept.take() {
            Some(packed) if self.prefix[0] != 0 => unpacked(&packed, self.bytes_max),
            kept => Ok(kept.unwrap_or_default()),
        }
    }
}

fn unpacked(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, BodyFault> {
    let mut message = Vec::new();
    // A few bytes can stand for very many.
    let mut limited = GzDecoder::new(packed).take(bytes_max as u64 + 1);
    let bytes = limited.read_to_end(&mut message).map_err(|_| BodyFault::NotGzip)?;
    match bytes > bytes_max {
        true => Err(BodyFault::TooLong { bytes, bytes_max }),
        false => Ok(message),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn framed(message: &[u8]) -> Bytes {
        with_prefix(message, Compression::None)
    }

    fn read(bytes: &[u8], step: usize) -> Result<Vec<u8>, BodyFault> {
        let mut reader = MessageReader::new(6, true);
        bytes.chunks(step).try_for_each(|piece| reader.push(piece))?;
        reader.finish()?;
        reader.take_message()
    }

    #[test]
    fn a_message_is_the_same_however_it_is_cut() {
        for message in [&b""[..], b"h", b"hello!"] {
            let framed = framed(message);
            for step in 1..=framed.len() {
                assert_eq!(read(&framed, step), Ok(message.to_vec()), "{step}");
            }
        }
    }

    #[test]
    fn a_message_in_gzip_is_unpacked_within_its_bound() {
        let read = |framed: &[u8], bytes_max: usize| {
            let mut reader = MessageReader::new(bytes_max, true);
            reader.set_gzip(true);
            reader.push(framed)?;
            reader.finish()?;
            reader.take_message()
        };
        let text = b"hello ".repeat(100);
        let packed = with_prefix(&text, Compression::Gzip);
        assert!(packed[0] == 1 && packed.len() < 100, "{packed:?}");
        assert_eq!(read(&packed, 600), Ok(text.clone()));
        assert_eq!(read(&packed, 599), Err(BodyFault::TooLong { bytes: 600, bytes_max: 599 }));
        assert_eq!(read(b"\x01\0\0\0\x02hi", 600), Err(BodyFault::NotGzip));
        assert_eq!(read(&framed(b"hi"), 600), Ok(b"hi".to_vec()), "a plain one may come too");
    }

    #[test]
    fn faults_of_a_body_are_told_apart() {
        let too_long = |bytes| Err(BodyFault::TooLong { bytes, bytes_max: 6 });
        for (body, expected) in [
            (&b""[..], Err(BodyFault::Missing)),
            (b"\0\0\0\0", Err(BodyFault::Cut)),
            (b"\0\0\0\0\x02h", Err(BodyFault::Cut)),
            (b"\x01\0\0\0\x02hi", Err(BodyFault::Compressed)),
            (b"\0\0\0\0\x02hi!", Err(BodyFault::Excess)),
            (b"\0\0\0\0\x07", too_long(7)),
            (b"\0\xff\xff\xff\xffhi", too_long(u32::MAX as usize)),
        ] {
            assert_eq!(read(body, 3), expected, "{body:?}");
        }
    }
}
