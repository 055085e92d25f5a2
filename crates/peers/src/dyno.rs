//! Frames between two dynos, as one in another place sends them, and the phases of a connection.

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// The line after which each side sends frames.
const FRAMES: &[u8] = b"\ndyno-frames-1\n";
/// What the side that has started the connection sends for it.
const FRAMES_BYTES: usize = FRAMES.len() - 1;

/// Kinds of frames.
pub mod kind {
    /// A sign of life.
    pub const HEARTBEAT: u8 = 1;
    /// A message.
    pub const MESSAGE: u8 = 2;
    /// A question of the time.
    pub const CLOCK_QUESTION: u8 = 3;
    /// Its answer.
    pub const CLOCK_ANSWER: u8 = 4;
}

/// A frame.
pub fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..], &[kind], body, b"\n"].concat()
}

/// The answer to a question of the time with this number: the time is 0.
fn answer(number: u64) -> Vec<u8> {
    frame(kind::CLOCK_ANSWER, &[number.to_le_bytes(), [0; 8]].concat())
}

/// The phases up to the first comparison of clocks, with an honest first message, and the one of later messages.
pub fn phases(hello: &[u8]) -> [Phase; 4] {
    let later = vec![Act::Send(frame(kind::MESSAGE, hello))];
    let hello = frame(kind::MESSAGE, hello);
    let length = Some(LengthField { at: 0, bytes: 4, form: LengthForm::LowFirst });
    let begun = vec![Act::Send(FRAMES.to_vec()), Act::Receive(Framing::Bytes(FRAMES_BYTES))];
    let first_of_many = Vec::new();
    let frames = Phase {
        name: "begin of frames",
        before: Vec::new(),
        asked: None,
        due: FRAMES.to_vec(),
        length: None,
        next: hello.clone(),
        first_of_many: first_of_many.clone(),
        repeated: b"Welcome\n".to_vec(),
    };
    let first_message = Phase {
        name: "first message",
        before: begun.clone(),
        asked: None,
        due: hello.clone(),
        length,
        next: frame(kind::CLOCK_QUESTION, &[0; 8]),
        first_of_many: first_of_many.clone(),
        repeated: frame(kind::HEARTBEAT, &[]),
    };
    let message = Phase { before: [begun.clone(), later].concat(), ..in_use() };
    let clock = Phase {
        name: "answer of the clock",
        before: [begun, vec![Act::Send(hello)]].concat(),
        asked: Some(Framing::DynoFrame),
        due: answer(1),
        length,
        next: frame(kind::CLOCK_QUESTION, &[0; 8]),
        first_of_many,
        // To a question that was not asked.
        repeated: answer(0),
    };
    [frames, first_message, clock, message]
}

/// The phase of a connection on which messages go: the next one. It is one of a generator, of a load that is over: three
/// numbers and a text.
pub fn in_use() -> Phase {
    const TEXT: [u8; 100] = [b'x'; 100];
    let message = frame(kind::MESSAGE, &[&[1, 0, 1, TEXT.len() as u8][..], &TEXT].concat());
    Phase {
        name: "later message",
        before: Vec::new(),
        asked: None,
        due: message.clone(),
        length: Some(LengthField { at: 0, bytes: 4, form: LengthForm::LowFirst }),
        next: frame(kind::CLOCK_QUESTION, &[0; 8]),
        first_of_many: Vec::new(),
        repeated: message,
    }
}
