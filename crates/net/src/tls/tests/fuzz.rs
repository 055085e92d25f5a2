//! A property of the handshake that holds for any bytes from a server.

use super::super::machine::INCOMING_BYTES_MAX;
use super::*;

fuzzing::targets! {
    tls_handshake: handshake, from beginnings;
}

/// A handshake whose server sends `bytes` has the same result however they are cut, in bounded memory. Bytes made
/// without a key never make a connection secure.
pub(super) fn handshake(bytes: &[u8]) {
    let Ok(client) = TlsClient::new(Trust::Anyone, None) else { return };
    let step = bytes.first().map_or(1, |first| usize::from(*first) % 61 + 1);
    let ends = [bytes.len().max(1), step].map(|step| {
        let Ok(mut machine) = Machine::new(&client, "db.example") else { return false };
        let mut end = Ok(Opened::Wanting);
        for piece in bytes.chunks(step) {
            end = machine.shake_hands(&mut piece.to_vec());
            let held = machine.capacity_bytes();
            assert!(held <= 2 * INCOMING_BYTES_MAX + bytes.len(), "{held} bytes are held");
            if end.is_err() {
                break;
            }
        }
        assert!(!machine.is_secure(), "a connection is secure without a key");
        end.is_ok()
    });
    assert_eq!(ends[0], ends[1], "a cut changes the end of a handshake");
}

/// A hello of TLS 1.2 followed by an incomplete certificate message, one of TLS 1.3, alerts, and bytes that are not
/// TLS.
fn beginnings() -> Vec<Vec<u8>> {
    let certificates = [&[11, 0, 16, 0, 0, 15, 252, 0, 15, 249][..], &[0x30; 200]].concat();
    let hello_of_1_2 = hello(&[0xc0, 0x30], &[0, 0x17, 0, 0]);
    let hello_of_1_3 = hello(&[0x13, 0x02], &[0, 0x2b, 0, 2, 3, 4, 0, 0x33, 0, 2, 0, 0x1d]);
    vec![
        [record(22, &hello_of_1_2), record(22, &certificates)].concat(),
        record(22, &[hello_of_1_2.clone(), certificates].concat()),
        [record(22, &hello_of_1_3), record(20, &[1]), record(23, &[7; 80])].concat(),
        record(21, &[2, 40]),
        record(21, &[1, 0]),
        // Longer than the limit of a record.
        [&[22, 3, 3, 0xff, 0xff][..], &[2; 64]].concat(),
        // An unencrypted error message of the server, in place of TLS.
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
