//! Frames of tRPC, version 1 (trpc.proto of the trpc-group), and the phases of a call.

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// The bytes of a frame before its protobuf header.
const HEAD_BYTES: usize = 16;
/// The body of every answer here.
const BODY: &[u8] = b"\x0a\x05hello";

/// An answer to request `id`, with these fields of the header behind the id.
pub fn answer(id: u32, fields: &[u8], body: &[u8]) -> Vec<u8> {
    // Field 3 is the id, in the three bytes that dyno's ids have.
    let mut header = vec![0x18, id as u8 | 0x80, (id >> 7) as u8 | 0x80, (id >> 14) as u8 & 0x7f];
    header.extend_from_slice(fields);
    let total = (HEAD_BYTES + header.len() + body.len()) as u32;
    let length = (header.len() as u16).to_be_bytes();
    let head = [&[9, 0x30, 0, 0][..], &total.to_be_bytes(), &length, &id.to_be_bytes(), &[1, 0]];
    [&head.concat(), &header[..], body].concat()
}

/// The phases of a call with this id: the begin of its answer, and the rest of it.
pub fn phases(id: u32) -> [Phase; 2] {
    let whole = answer(id, b"", BODY);
    let (head, body) = whole.split_at(whole.len() - BODY.len());
    let asked = Framing::TrpcFrame;
    // To requests that were never sent.
    let unknown = answer(7, b"", BODY);
    let begin = Phase {
        name: "tRPC frame header",
        before: Vec::new(),
        asked: Some(asked),
        due: whole.clone(),
        length: Some(LengthField { at: 4, bytes: 4, form: LengthForm::HighFirst }),
        next: unknown.clone(),
        first_of_many: Vec::new(),
        repeated: unknown.clone(),
    };
    let rest = Phase {
        name: "tRPC body",
        before: vec![Act::Receive(asked), Act::Send(head.to_vec())],
        asked: None,
        due: body.to_vec(),
        length: None,
        next: unknown,
        first_of_many: body.to_vec(),
        repeated: whole,
    };
    [begin, rest]
}

/// The phase of a call of fixed sizes.
pub fn fixed(request: usize, answer: usize) -> Phase {
    Phase {
        name: "fixed sizes",
        before: Vec::new(),
        asked: Some(Framing::Bytes(request)),
        due: vec![1; answer],
        length: None,
        next: vec![2; answer],
        first_of_many: Vec::new(),
        repeated: vec![1; answer],
    }
}
