//! What a peer does on a connection, one act after the other, and then it closes.

use std::time::Duration;

/// One act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes again and again, until the other side has closed. Reads nothing.
    Repeat(Vec<u8>),
    /// Reads one message of the other side.
    Receive(Framing),
    /// Sends nothing, and reads until the other side has closed.
    Wait,
    /// Neither sends nor reads nor closes.
    Hold,
    /// Goes on within TLS, whose handshake the other side begins.
    Encrypt,
    /// Goes on outside of the TLS that was begun.
    Decrypt,
    /// Sends the end of its direction.
    HalfClose,
    /// Closes while bytes of the other side are unread, which gets a reset for it.
    Reset,
}

/// How the end of a message of the other side is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// It has this length.
    Bytes(usize),
    /// A packet of MySQL.
    MySqlPacket,
    /// A message of PostgreSQL, and the first one of a connection, which has no kind.
    PostgresMessage,
    PostgresStart,
    /// A record of TLS.
    TlsRecord,
    /// A frame of tRPC.
    TrpcFrame,
    /// A frame between two dynos.
    DynoFrame,
    /// A request of HTTP/1.1 without a body, which ends with an empty line.
    HttpRequest,
}

impl Framing {
    /// How many more bytes belong to the message that begins with these, as far as they tell; 0 when it is whole.
    pub fn missing(self, bytes: &[u8]) -> usize {
        let number = |at: usize, length: usize| {
            let field = bytes.get(at..at + length)?;
            Some(field.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
        };
        let low_first = |length: usize| {
            let field = bytes.get(..length)?;
            Some(field.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
        };
        let (head, length) = match self {
            // Byte by byte.
            Self::HttpRequest if !bytes.ends_with(b"\r\n\r\n") => (bytes.len() + 1, None),
            Self::HttpRequest => (0, Some(0)),
            Self::Bytes(length) => (0, Some(length)),
            Self::MySqlPacket => (4, low_first(3).map(|payload| payload + 4)),
            // A length counts itself, but not the kind before it.
            Self::PostgresMessage => (5, number(1, 4).map(|length| length + 1)),
            Self::PostgresStart => (4, number(0, 4)),
            Self::TlsRecord => (5, number(3, 2).map(|payload| payload + 5)),
            Self::TrpcFrame => (8, number(4, 4)),
            // Behind the length there are a kind and a line end.
            Self::DynoFrame => (4, low_first(4).map(|body| body + 6)),
        };
        length.unwrap_or(head).max(head).saturating_sub(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_where_its_length_says() {
        let missing = |framing: Framing, bytes: &[u8]| framing.missing(bytes);
        assert_eq!(missing(Framing::Bytes(3), b"ab"), 1);
        assert_eq!(missing(Framing::HttpRequest, b"GET / HTTP/1.1\r\n\r"), 1);
        assert_eq!(missing(Framing::HttpRequest, b"GET / HTTP/1.1\r\n\r\n"), 0);
        assert_eq!(missing(Framing::MySqlPacket, b""), 4);
        assert_eq!(missing(Framing::MySqlPacket, b"\x02\x01\0\0ab"), 256);
        assert_eq!(missing(Framing::PostgresMessage, b"Q\0\0\0\x06a"), 1);
        assert_eq!(missing(Framing::PostgresStart, b"\0\0\0\x08\0\0\0"), 1);
        assert_eq!(missing(Framing::DynoFrame, b"\x02\0\0\0\x02a"), 2);
        assert_eq!(missing(Framing::DynoFrame, b"\0\0\0\0\x01\n"), 0);
        assert_eq!(missing(Framing::TlsRecord, b"\x16\x03\x03\x01\x02abc"), 255);
        assert_eq!(missing(Framing::TrpcFrame, b"\x09\x30\0\0\0\0\0\x12\0\0\0\0\0\0\0\0a"), 1);
        assert_eq!(missing(Framing::TrpcFrame, b"\x09\x30\0\0\0\0\0\x12\0\0\0\0\0\0\0\0ab"), 0);
    }
}
