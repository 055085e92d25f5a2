//! How a client of the fixed-size protocol tells a server of dyno's the sizes of requests and answers.

/// The sizes of requests and answers on one connection, bytes. A client sends them once, before its first request:
/// [`FixedSizes::MAGIC`], then both sizes as 32 bits each, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedSizes {
    /// The length of a request, at least 1.
    pub request: u32,
    /// The length of an answer, at least 1.
    pub answer: u32,
}

impl FixedSizes {
    /// The first bytes of the announcement.
    pub const MAGIC: [u8; 8] = *b"dynosize";
    /// The length of the announcement, bytes.
    pub const LENGTH: usize = 16;

    pub fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&Self::MAGIC);
        bytes[8..12].copy_from_slice(&self.request.to_be_bytes());
        bytes[12..].copy_from_slice(&self.answer.to_be_bytes());
        bytes
    }

    /// Reads an announcement; `None` if the bytes are none, or a size is 0.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Option<Self> {
        let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|place| bytes[at + place]));
        let sizes = Self { request: number(8), answer: number(12) };
        (bytes[..8] == Self::MAGIC && sizes.request > 0 && sizes.answer > 0).then_some(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_were_told() {
        let sizes = FixedSizes { request: 122, answer: 0x0102_0304 };
        let bytes = sizes.encode();
        assert_eq!(bytes, *b"dynosize\0\0\0\x7a\x01\x02\x03\x04");
        assert_eq!(FixedSizes::decode(&bytes), Some(sizes));
        assert_eq!(FixedSizes::decode(b"dynosize\0\0\0\0\0\0\0\x01"), None);
        assert_eq!(FixedSizes::decode(b"otherpro\0\0\0\x01\0\0\0\x01"), None);
    }
}
