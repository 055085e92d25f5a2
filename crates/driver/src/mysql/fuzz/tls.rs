//! What a server may say first in TLS. The target itself is the state machine of `net`, which knows no
//! database; it is run here because only a server of this protocol is spoken to in TLS.

/// A hello of TLS 1.2 with a certificate message behind it that begins and does not end, one of TLS 1.3,
/// alerts, and what is no TLS.
pub(super) fn beginnings() -> Vec<Vec<u8>> {
    let certificates = [&[11, 0, 16, 0, 0, 15, 252, 0, 15, 249][..], &[0x30; 200]].concat();
    let hello_of_1_2 = hello(&[0xc0, 0x30], &[0, 0x17, 0, 0]);
    let hello_of_1_3 = hello(&[0x13, 0x02], &[0, 0x2b, 0, 2, 3, 4, 0, 0x33, 0, 2, 0, 0x1d]);
    vec![
        [record(22, &hello_of_1_2), record(22, &certificates)].concat(),
        record(22, &[hello_of_1_2.clone(), certificates].concat()),
        [record(22, &hello_of_1_3), record(20, &[1]), record(23, &[7; 80])].concat(),
        record(21, &[2, 40]),
        record(21, &[1, 0]),
        // Longer than a record may be.
        [&[22, 3, 3, 0xff, 0xff][..], &[2; 64]].concat(),
        // The server's word in the open, in place of TLS.
        b"\x17\0\0\x02\xff\x10\x04Too many connections".to_vec(),
    ]
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3, (content.len() >> 8) as u8, content.len() as u8], content].concat()
}

/// A server's hello without a session, RFC 8446, section 4.1.3.
fn hello(suite: &[u8; 2], extensions: &[u8]) -> Vec<u8> {
    let length = (2 + 32 + 1 + 2 + 1 + 2 + extensions.len()) as u8;
    let head = [&[2, 0, 0, length, 3, 3][..], &[0x5a; 32], &[0], suite, &[0]].concat();
    [&head[..], &[0, extensions.len() as u8], extensions].concat()
}
