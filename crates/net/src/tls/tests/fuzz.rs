//! A property of the handshake that holds for any bytes from a server.

use super::super::machine::INCOMING_BYTES_MAX;
use super::*;

fuzzing::targets! {
    tls_handshake: handshake;
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
