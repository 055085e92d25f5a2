//! Records of TLS (RFC 8446, section 5.1), without any encryption.

use crate::{Act, Framing, LengthField, Phase};

/// Content types of records.
pub mod kind {
    /// An alert.
    pub const ALERT: u8 = 21;
    /// Messages of the handshake.
    pub const HANDSHAKE: u8 = 22;
}

/// A record.
pub fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = (content.len() as u16).to_be_bytes();
    [&[kind, 3, 3, high, low], content].concat()
}

/// A ServerHello of TLS 1.2 without extensions (RFC 5246, section 7.4.1.3).
fn server_hello() -> Vec<u8> {
    let mut content = vec![2, 0, 0, 38, 3, 3];
    content.extend_from_slice(&[7; 32]);
    // No session id; ECDHE_RSA_WITH_AES_128_GCM_SHA256; no compression.
    content.extend_from_slice(&[0, 0xc0, 0x2f, 0]);
    record(kind::HANDSHAKE, &content)
}

/// The handshake on a connection on which all of this comes before.
pub fn handshake(before: Vec<Act>) -> Phase {
    // A certificate of 64 KiB minus a byte, the longest message that clients take, in records of one byte.
    let head = record(kind::HANDSHAKE, &[11, 0, 0xff, 0xff]);
    Phase {
        name: "TLS handshake",
        before,
        asked: Some(Framing::TlsRecord),
        due: server_hello(),
        length: Some(LengthField { at: 3, bytes: 2, is_low_first: false }),
        next: record(kind::HANDSHAKE, &[14, 0, 0, 0]),
        first_of_many: [server_hello(), head].concat(),
        repeated: record(kind::HANDSHAKE, &[0xff]),
    }
}
