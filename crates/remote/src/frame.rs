//! Frames: how messages follow each other on a connection. A codec without sockets.
//!
//! A frame is the length of its body (four bytes, the lowest first), its kind (one byte), the body, and a line end. The
//! line end is for connections that pass whole lines only, as those of `srun` do.

use zeroize::{Zeroize, Zeroizing};

use crate::problem::Problem;

/// The most bytes of a body.
pub(crate) const FRAME_BYTES_MAX: usize = 64 << 20;
const HEAD_BYTES: usize = 5;
const LINE_END: u8 = b'\n';
/// A buffer that is larger than this is given back when it is empty.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

const HEARTBEAT: u8 = 1;
const MESSAGE: u8 = 2;
const CLOCK_QUESTION: u8 = 3;
const CLOCK_ANSWER: u8 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Heartbeat,
    /// A message, which may have secrets.
    Message(Zeroizing<Vec<u8>>),
    /// Asks for the time of the other side's clock.
    ClockQuestion {
        number: u64,
    },
    ClockAnswer {
        number: u64,
        at_ns: u64,
    },
}

impl Frame {
    /// The bytes of a frame.
    ///
    /// # Errors
    /// When the body is too large.
    pub(crate) fn encode(&self) -> Result<Zeroizing<Vec<u8>>, Problem> {
        let numbers = |numbers: &[u64]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        match self {
            Self::Heartbeat => framed(HEARTBEAT, &[]),
            Self::Message(body) => framed(MESSAGE, body),
            Self::ClockQuestion { number } => framed(CLOCK_QUESTION, &number.to_le_bytes()),
            Self::ClockAnswer { number, at_ns } => {
                let body: Vec<u8> = numbers(&[*number, *at_ns]);
                framed(CLOCK_ANSWER, &body)
            }
        }
    }

    fn decode(kind: u8, body: &[u8]) -> Result<Self, Problem> {
        let number = |at: usize| {
            let bytes = body.get(at..at + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let wrong = || Problem::Garbage(format!("{} bytes in a frame of kind {kind}", body.len()));
        match (kind, body.len()) {
            (HEARTBEAT, 0) => Ok(Self::Heartbeat),
            (MESSAGE, _) => Ok(Self::Message(Zeroizing::new(body.to_vec()))),
            (CLOCK_QUESTION, 8) => Ok(Self::ClockQuestion { number: number(0).ok_or_else(wrong)? }),
            (CLOCK_ANSWER, 16) => Ok(Self::ClockAnswer {
                number: number(0).ok_or_else(wrong)?,
                at_ns: number(8).ok_or_else(wrong)?,
            }),
            (HEARTBEAT | CLOCK_QUESTION | CLOCK_ANSWER, _) => Err(wrong()),
            _ => Err(Problem::Garbage(format!("a frame of the unknown kind {kind}"))),
        }
    }
}

fn framed(kind: u8, body: &[u8]) -> Result<Zeroizing<Vec<u8>>, Problem> {
    if body.len() > FRAME_BYTES_MAX {
        return Err(Problem::TooLarge(body.len() as u64));
    }
    let length = u32::try_from(body.len()).map_err(|_| Problem::TooLarge(body.len() as u64))?;
    // In one allocation, so that no copy of a secret is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(body.len() + HEAD_BYTES + 1));
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(body);
    bytes.push(LINE_END);
    Ok(bytes)
}

/// Collects bytes and returns whole frames. Keeps only bytes that have come, whatever a length says.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    bytes: Zeroizing<Vec<u8>>,
    /// The bytes before this index have been returned.
    read: usize,
}

impl FrameReader {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let left = self.bytes.len() - self.read;
        if self.read > 0 && left + bytes.len() <= self.bytes.capacity() {
            self.bytes.copy_within(self.read.., 0);
            // Where these bytes were, no copy of a secret is left.
            self.bytes[left..].zeroize();
            self.bytes.truncate(left);
            self.read = 0;
        }
        if self.bytes.len() + bytes.len() > self.bytes.capacity() {
            let capacity = (left + bytes.len()).max(2 * left);
            let mut grown = Zeroizing::new(Vec::with_capacity(capacity));
            grown.extend_from_slice(&self.bytes[self.read..]);
            self.bytes = grown;
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame, when it has come whole.
    ///
    /// # Errors
    /// When the bytes are not a frame; all after them are of no use.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Problem> {
        let left = &self.bytes[self.read..];
        let Some((length, kind)) = left.split_at_checked(4).and_then(|(length, rest)| {
            Some((u32::from_le_bytes(length.try_into().ok()?), *rest.first()?))
        }) else {
            return Ok(None);
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(Problem::TooLarge(length as u64));
        }
        if !(HEARTBEAT..=CLOCK_ANSWER).contains(&kind) {
            return Err(Problem::Garbage(format!("a frame of the unknown kind {kind}")));
        }
        let whole = HEAD_BYTES + length + 1;
        let Some(frame) = left.get(..whole) else { return Ok(None) };
        if frame[whole - 1] != LINE_END {
            return Err(Problem::Garbage("a frame without its end".to_owned()));
        }
        let decoded = Frame::decode(kind, &frame[HEAD_BYTES..whole - 1])?;
        self.bytes[self.read..self.read + whole].zeroize();
        self.read += whole;
        if self.read == self.bytes.len() {
            self.clear();
        }
        Ok(Some(decoded))
    }

    #[cfg(test)]
    pub(crate) fn is_within_frame(&self) -> bool {
        self.read < self.bytes.len()
    }

    fn clear(&mut self) {
        self.bytes.zeroize();
        self.read = 0;
        if self.bytes.capacity() > BUFFER_BYTES_KEPT {
            self.bytes = Zeroizing::default();
        }
    }

    #[cfg(test)]
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let message = proptest::collection::vec(any::<u8>(), 0..300);
        let frame = prop_oneof![
            Just(Frame::Heartbeat),
            message.prop_map(|body| Frame::Message(Zeroizing::new(body))),
            any::<u64>().prop_map(|number| Frame::ClockQuestion { number }),
            (any::<u64>(), any::<u64>())
                .prop_map(|(number, at_ns)| Frame::ClockAnswer { number, at_ns }),
        ];
        proptest::collection::vec(frame, 0..20)
    }

    fn read_all(reader: &mut FrameReader) -> Vec<Frame> {
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written_however_they_are_cut(
            frames in frames(),
            step in 1..50_usize,
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(|it| it.encode().unwrap().to_vec()).collect();
            let (mut reader, mut read) = (FrameReader::default(), Vec::new());
            for cut in bytes.chunks(step) {
                reader.push(cut);
                read.extend(read_all(&mut reader));
            }
            prop_assert_eq!(read, frames);
            prop_assert!(!reader.is_within_frame());
        }
    }

    #[test]
    fn frames_that_were_read_are_not_left_in_the_buffer() {
        let frame = |text: &[u8]| Frame::Message(Zeroizing::new(text.to_vec()));
        let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|it| it == text);
        let [one, two] = [b"secret one", b"secret two"].map(|text| frame(text).encode().unwrap());
        let (mut reader, (begin, rest)) = (FrameReader::default(), two.split_at(14));
        reader.push(&[&one[..], begin].concat());
        assert_eq!(reader.next(), Ok(Some(frame(b"secret one"))));
        // The next frame has not come whole, so the buffer is not empty.
        assert!(!has(&reader.bytes, b"secret one") && has(&reader.bytes, b"secret tw"));
        reader.push(rest);
        assert_eq!(reader.next(), Ok(Some(frame(b"secret two"))));
        assert_eq!(**reader.bytes, [0; 0]);
    }

    #[test]
    fn a_huge_length_takes_no_memory() {
        let mut reader = FrameReader::default();
        reader.push(&u32::try_from(FRAME_BYTES_MAX).unwrap().to_le_bytes());
        reader.push(&[MESSAGE, 0, 0]);
        assert_eq!(reader.next(), Ok(None));
        assert!(reader.capacity_bytes() < 100);
        let mut reader = FrameReader::default();
        reader.push(&[0xff; 5]);
        assert_eq!(reader.next(), Err(Problem::TooLarge(u64::from(u32::MAX))));
    }

    #[test]
    fn wrong_frames_are_named() {
        for (bytes, expected) in [
            (&[0, 0, 0, 0, 9][..], "a frame of the unknown kind 9"),
            (&[0, 0, 0, 0, HEARTBEAT, b'x'], "a frame without its end"),
            (&[1, 0, 0, 0, HEARTBEAT, 7, b'\n'], "1 bytes in a frame of kind 1"),
            (&[1, 0, 0, 0, CLOCK_QUESTION, 7, b'\n'], "1 bytes in a frame of kind 3"),
            (&[0, 0, 0, 0, CLOCK_ANSWER, b'\n'], "0 bytes in a frame of kind 4"),
        ] {
            let mut reader = FrameReader::default();
            reader.push(bytes);
            assert_eq!(reader.next(), Err(Problem::Garbage(expected.to_owned())));
        }
    }

    #[test]
    fn a_message_may_be_as_large_as_the_bound_and_no_larger() {
        let largest = Frame::Message(Zeroizing::new(vec![7; FRAME_BYTES_MAX]));
        let mut reader = FrameReader::default();
        for cut in largest.encode().unwrap().chunks(1 << 20) {
            reader.push(cut);
        }
        assert_eq!(reader.next(), Ok(Some(largest)));
        assert!(reader.capacity_bytes() <= BUFFER_BYTES_KEPT, "the memory is given back");
        let larger = Frame::Message(Zeroizing::new(vec![7; FRAME_BYTES_MAX + 1]));
        assert_eq!(larger.encode(), Err(Problem::TooLarge(FRAME_BYTES_MAX as u64 + 1)));
    }
}
