//! Properties of the server's codec that hold for any bytes.

use net::FixedSizes;

use super::codec::{Codec, Malformed};

fuzzing::targets! {
    echo_requests: requests;
}

/// Larger answers are not compared: a request of a few bytes can ask for gigabytes of zeros.
const COMPARED_BYTES: usize = 1024 * 1024;

/// Answers are the same however the bytes of the requests are split.
fn requests(bytes: &[u8]) {
    let sizes = Some(FixedSizes { request: 5, answer: 3 });
    let step = bytes.first().map_or(1, |first| usize::from(*first) % 23 + 1);
    let mut cut = Codec::new(sizes);
    let mut pieces = Vec::new();
    let outcome = bytes.chunks(step).try_for_each(|piece| answer(&mut cut, piece, &mut pieces));
    let mut whole = Vec::new();
    let at_once = match bytes {
        [] => Ok(()),
        bytes => answer(&mut Codec::new(sizes), bytes, &mut whole),
    };
    assert_eq!(outcome, at_once);
    assert!(pieces == whole);
}

fn answer(codec: &mut Codec, bytes: &[u8], all: &mut Vec<u8>) -> Result<(), Malformed> {
    let outcome = codec.answer(bytes, all);
    while let Some(piece) = codec.next_piece() {
        all.extend_from_slice(piece);
        if all.len() > COMPARED_BYTES {
            all.truncate(COMPARED_BYTES);
            while codec.next_piece().is_some() {}
        }
    }
    outcome
}
