//! A place in a conversation where a peer begins to misbehave.

use crate::{Act, Framing};

/// A message that is due, and all that comes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it is called.
    pub name: &'static str,
    /// The honest conversation up to it.
    pub before: Vec<Act>,
    /// The message of the client that asks for the one that is due; none when the server begins.
    pub asked: Option<Framing>,
    /// The message that is due.
    pub due: Vec<u8>,
    /// Where the length of that message is; none when its size is fixed.
    pub length: Option<LengthField>,
    /// The message behind it.
    pub next: Vec<u8>,
    /// What comes before [`Phase::repeated`], once.
    pub first_of_many: Vec<u8>,
    /// What may come any number of times before the answer ends.
    pub repeated: Vec<u8>,
}

/// The place of a length within a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthField {
    /// The index of its first byte.
    pub at: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// How it is written.
    pub form: LengthForm,
}

/// How a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthForm {
    /// As a number whose highest byte comes first.
    HighFirst,
    /// As a number whose lowest byte comes first.
    LowFirst,
    /// In decimal digits.
    Digits,
}

impl Phase {
    /// The message with the greatest length that its field can hold; one of a fixed size with a byte more.
    pub(crate) fn with_greatest_length(&self) -> Vec<u8> {
        let mut message = self.due.clone();
        match self.length {
            Some(LengthField { at, bytes, form }) => {
                let greatest = if form == LengthForm::Digits { b'9' } else { 0xff };
                message[at..at + bytes].fill(greatest);
            }
            None => message.push(0),
        }
        message
    }

    /// The message with a length that is one byte too small; one of a fixed size without its last byte.
    pub(crate) fn with_short_length(&self) -> Vec<u8> {
        let mut message = self.due.clone();
        let Some(LengthField { at, bytes, form }) = self.length else {
            message.pop();
            return message;
        };
        let field = &mut message[at..at + bytes];
        let lowest = if form == LengthForm::LowFirst { 0 } else { bytes - 1 };
        // The messages of tests are so short that no other byte changes.
        field[lowest] = field[lowest].saturating_sub(1);
        message
    }
}
