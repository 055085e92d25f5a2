//! The protocols of one port, told apart by the first bytes of a connection. Bytes in, bytes out, no socket.

use net::FixedSizes;

use super::fixed::Fixed;
use super::trpc::{self, Frames};

/// The peer has sent something that no protocol of the server contains. The connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

#[derive(Debug)]
pub(super) struct Codec {
    /// The sizes for a connection that begins with neither protocol.
    sizes: Option<FixedSizes>,
    protocol: Protocol,
}

#[derive(Debug)]
enum Protocol {
    /// Not known yet; the bytes so far, fewer than the longest beginning has.
    Open(Vec<u8>),
    Trpc(Frames),
    Fixed(Fixed),
}

impl Codec {
    pub(super) fn new(sizes: Option<FixedSizes>) -> Self {
        Self { sizes, protocol: Protocol::Open(Vec::new()) }
    }

    /// Appends the answers to all requests that are whole with these bytes.
    ///
    /// # Errors
    /// When the bytes belong to no protocol; the answers to earlier requests are in `out`.
    pub(super) fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        match &mut self.protocol {
            Protocol::Trpc(frames) => frames.answer(bytes, out),
            Protocol::Fixed(fixed) => {
                fixed.receive(bytes.len());
                Ok(())
            }
            Protocol::Open(first) => {
                first.extend_from_slice(bytes);
                let first = std::mem::take(first);
                self.begin(&first, out)
            }
        }
    }

    /// Bytes of the next answers that are not in `out`; `None` when there are none left.
    pub(super) fn next_piece(&mut self) -> Option<&'static [u8]> {
        match &mut self.protocol {
            Protocol::Fixed(fixed) => fixed.next_piece(),
            Protocol::Open(_) | Protocol::Trpc(_) => None,
        }
    }

    /// Finds the protocol of a connection by all its bytes so far.
    #[cold]
    fn begin(&mut self, first: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        let (protocol, consumed) = match (Beginning::read(first), self.sizes) {
            (Beginning::Partial, _) => (Protocol::Open(first.to_vec()), first.len()),
            (Beginning::Frame, _) => (Protocol::Trpc(Frames::default()), 0),
            (Beginning::Sizes(told), _) => (Protocol::Fixed(Fixed::new(told)), FixedSizes::LENGTH),
            (Beginning::Other, Some(sizes)) => (Protocol::Fixed(Fixed::new(sizes)), 0),
            (Beginning::Other, None) => return Err(Malformed),
        };
        self.protocol = protocol;
        match &first[consumed..] {
            [] => Ok(()),
            rest => self.answer(rest, out),
        }
    }
}

/// The meaning of the first bytes of a connection.
enum Beginning {
    /// Too few to tell.
    Partial,
    Frame,
    /// The client tells the sizes of its requests and of their answers.
    Sizes(FixedSizes),
    Other,
}

impl Beginning {
    fn read(bytes: &[u8]) -> Self {
        let begins = |with: &[u8]| bytes.iter().zip(with).all(|(byte, other)| byte == other);
        if begins(&trpc::MAGIC) {
            return if bytes.len() < trpc::MAGIC.len() { Self::Partial } else { Self::Frame };
        }
        match bytes.first_chunk() {
            Some(told) => FixedSizes::decode(told).map_or(Self::Other, Self::Sizes),
            None if begins(&FixedSizes::MAGIC) => Self::Partial,
            None => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: FixedSizes = FixedSizes { request: 3, answer: 2 };

    /// Everything that the server sends when these bytes arrive in these pieces.
    fn answers(sizes: Option<FixedSizes>, pieces: &[&[u8]]) -> Result<Vec<u8>, Malformed> {
        let (mut codec, mut out) = (Codec::new(sizes), Vec::new());
        for piece in pieces {
            codec.answer(piece, &mut out)?;
            while let Some(piece) = codec.next_piece() {
                out.extend_from_slice(piece);
            }
        }
        Ok(out)
    }

    #[test]
    fn a_connection_may_tell_its_sizes() {
        let sizes = FixedSizes { request: 4, answer: 7 };
        let told = sizes.encode();
        let other = Some(SIZES);
        assert_eq!(answers(other, &[&told]), Ok(vec![]));
        assert_eq!(answers(other, &[&told, b"1234"]), Ok(vec![0; 7]));
        assert_eq!(answers(None, &[&told, b"12", b"341234", b"123"]), Ok(vec![0; 14]));
        let at_once = [&told[..], b"12341234123"].concat();
        assert_eq!(answers(None, &[&at_once]), Ok(vec![0; 14]));
        let single: Vec<&[u8]> = at_once.chunks(1).collect();
        assert_eq!(answers(None, &single), Ok(vec![0; 14]));
    }

    #[test]
    fn without_told_sizes_those_of_the_server_count() {
        assert_eq!(answers(Some(SIZES), &[b"GET / H"]), Ok(vec![0; 4]));
        assert_eq!(answers(None, &[b"GET / H"]), Err(Malformed));
        // What began like sizes or a frame, and is neither, is part of the first request.
        assert_eq!(answers(Some(SIZES), &[b"dyn", b"?"]), Ok(vec![0; 2]));
        assert_eq!(answers(Some(SIZES), &[b"\x09", b"?", b"?"]), Ok(vec![0; 2]));
        assert_eq!(answers(None, &[b"\x09", b"?"]), Err(Malformed));
    }

    #[test]
    fn a_frame_is_recognized_by_its_magic_in_any_pieces() {
        let request = trpc::tests::REQUEST;
        let whole = answers(Some(SIZES), &[&request]).unwrap();
        assert_eq!(whole, trpc::tests::RESPONSE);
        let single: Vec<&[u8]> = request.chunks(1).collect();
        assert_eq!(answers(None, &single).unwrap(), whole);
    }
}
