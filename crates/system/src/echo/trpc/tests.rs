//! Frames as real clients and servers send them, cut frames, and frames that are wrong.

use super::*;

/// A request of a trpc-go client to a greeter, and the response of a trpc-go server to it, as captured.
pub(in crate::echo) const REQUEST: [u8; 122] = hex(
    "093000000000007a0063000040740100 18f480012a17747270632e636c69656e742e6561622e73657276696365321c747270632e74657374\
     2e68656c6c6f776f726c642e477265657465723a262f747270632e746573742e68656c6c6f776f726c642e477265657465722f536179\
     48656c6c6f 0a0568656c6c6f",
);
pub(in crate::echo) const RESPONSE: [u8; 27] =
    hex("093000000000001b0004000040740100 18f48001 0a0568656c6c6f");

/// Reads hexadecimal digits; spaces are skipped.
const fn hex<const BYTES: usize>(text: &str) -> [u8; BYTES] {
    const fn digit(character: u8) -> u8 {
        match character {
            b'a'..=b'f' => character - b'a' + 10,
            _ => character - b'0',
        }
    }
    let (text, mut bytes, mut place, mut at) = (text.as_bytes(), [0; BYTES], 0, 0);
    while at < text.len() {
        if text[at] == b' ' {
            at += 1;
            continue;
        }
        bytes[place] = digit(text[at]) << 4 | digit(text[at + 1]);
        place += 1;
        at += 2;
    }
    assert!(place == BYTES);
    bytes
}

pub(in crate::echo) fn frame(id: u32, header: &[u8], body: &[u8]) -> Vec<u8> {
    let length = (HEAD_BYTES + header.len() + body.len()) as u32;
    let mut frame = vec![0x09, 0x30, 0, 0];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&(header.len() as u16).to_be_bytes());
    frame.extend_from_slice(&id.to_be_bytes());
    frame.extend_from_slice(&[1, 0]);
    [&frame[..], header, body].concat()
}

fn answer(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    Frames::default().answer(bytes, &mut out).map(|()| out)
}

#[test]
fn the_answer_is_that_of_a_real_server_byte_for_byte() {
    assert_eq!(answer(&REQUEST), Ok(RESPONSE.to_vec()));
}

#[test]
fn all_whole_frames_of_a_read_are_answered_and_the_rest_is_kept() {
    let stream = REQUEST.repeat(5);
    for cut in 0..stream.len() {
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        frames.answer(&stream[..cut], &mut out).unwrap();
        assert_eq!(out, RESPONSE.repeat(cut / REQUEST.len()), "before the cut at {cut}");
        assert_eq!(frames.partial.len(), cut % REQUEST.len());
        frames.answer(&stream[cut..], &mut out).unwrap();
        assert_eq!(out, RESPONSE.repeat(5), "after the cut at {cut}");
        assert!(frames.partial.is_empty());
    }
}

#[test]
fn a_one_way_request_has_no_answer() {
    let one_way = frame(9, &[0x10, 1, 0x18, 9], b"body");
    let both = [&one_way[..], &REQUEST, &one_way].concat();
    assert_eq!(answer(&both), Ok(RESPONSE.to_vec()));
}

#[test]
fn content_type_encoding_and_attachment_come_back_with_the_body() {
    // A time-out, the caller, an entry of a map and fields of other wire types are skipped.
    let skipped = b"\x20\xe8\x07\x2a\x03abc\x4a\x04\x0a\x00\x12\x00\x7d1234\x81\x0112345678";
    // Content type 2 (JSON) is field 10 and encoding 1 (gzip) field 11; in a response they are fields 9 and 10.
    let fields = [&b"\x08\x00\x18\x05"[..], skipped, b"\x50\x02\x58\x01\x60\x03"].concat();
    let header = b"\x18\x05\x48\x02\x50\x01\x60\x03";
    assert_eq!(answer(&frame(5, &fields, b"{}att")), Ok(frame(5, header, b"{}att")));
}

#[test]
fn an_id_of_zero_is_in_the_header_so_that_it_is_not_empty() {
    assert_eq!(answer(&frame(0, &[0x08, 0], b"x")), Ok(frame(0, &[0x18, 0], b"x")));
}

#[test]
fn a_header_that_cannot_be_read_is_answered_with_the_frameworks_code() {
    let text = b"the header of the request cannot be decoded";
    let header = [&[0x18, 7, 0x20, 1, 0x32, text.len() as u8][..], text].concat();
    let answered = Ok(frame(7, &header, b""));
    // Empty; a number that is cut; one without an end; a string that is longer than the header; no wire type.
    let endless = [&[0x18][..], &[0xff; 10]].concat();
    for wrong in [&b""[..], b"\x18\x80", &endless, b"\x2a\x05abc", b"\x1b"] {
        assert_eq!(answer(&frame(7, wrong, b"")), answered, "{wrong:?}");
    }
    let mut longer_than_its_frame = frame(7, b"\x18\x07", b"");
    longer_than_its_frame[9] = 3;
    assert_eq!(answer(&longer_than_its_frame), answered);
}

#[test]
fn frames_of_no_request_close_the_connection_after_earlier_answers() {
    let with = |place: usize, bytes: &[u8]| {
        let mut wrong = REQUEST.to_vec();
        wrong[place..place + bytes.len()].copy_from_slice(bytes);
        wrong
    };
    let too_long = (FRAME_BYTES_MAX as u32 + 1).to_be_bytes();
    for wrong in [
        with(0, b"\x08"),
        with(1, b"\x31"),
        with(2, b"\x01"),
        with(4, &too_long),
        with(4, &[0, 0, 0, 15]),
    ] {
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        let stream = [&REQUEST[..], &wrong].concat();
        assert_eq!(frames.answer(&stream, &mut out), Err(Malformed));
        assert_eq!(out, RESPONSE);
        // Also when the wrong head arrives in parts.
        let mut frames = Frames::default();
        assert_eq!(frames.answer(&wrong[..10], &mut out), Ok(()));
        assert_eq!(frames.answer(&wrong[10..], &mut out), Err(Malformed));
    }
}

#[test]
fn the_longest_frame_is_answered_and_its_buffer_is_not_kept() {
    let header = b"\x18\x01";
    let body = vec![7; FRAME_BYTES_MAX - HEAD_BYTES - header.len()];
    let longest = frame(1, header, &body);
    let (mut frames, mut out) = (Frames::default(), Vec::new());
    for piece in longest.chunks(64 * 1024) {
        frames.answer(piece, &mut out).unwrap();
    }
    assert!(out == longest);
    assert!(frames.partial.capacity() <= PARTIAL_BYTES_KEPT);
}
