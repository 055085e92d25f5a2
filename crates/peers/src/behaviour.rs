//! The ways in which a peer misbehaves.

use std::time::Duration;

use crate::{Act, Phase};

/// What a peer does in place of the message that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Reads, but sends nothing and does not close.
    Silent,
    /// Sends the message byte by byte, one in each [`DRIP_PAUSE`].
    Drip,
    /// Sends bytes without meaning, without end.
    Flood,
    /// Sends half of the message, and the end of its direction.
    HalfClose,
    /// Closes without having read what it was sent.
    Reset,
    /// Sends the message behind it first.
    Reorder,
    /// Sends the message with the greatest length that its field can hold.
    TooLong,
    /// Sends the message with a length that is one byte too small.
    TooShort,
    /// Sends what may come before the end of the answer, without end.
    Endless,
    /// Does not read what it was sent, and sends nothing.
    NeverReads,
}

/// Longer than the time limit of any wait in a test.
const DRIP_PAUSE: Duration = Duration::from_secs(1);
/// How much of a flood is sent at once.
const FLOOD_UNIT_BYTES: usize = 16 << 10;
/// No protocol begins anything with this byte.
const NO_MEANING: u8 = 0xa5;

impl Behaviour {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Silent,
        Self::Drip,
        Self::Flood,
        Self::HalfClose,
        Self::Reset,
        Self::Reorder,
        Self::TooLong,
        Self::TooShort,
        Self::Endless,
        Self::NeverReads,
    ];

    /// What a peer does on a connection that is honest up to this phase.
    pub fn acts(self, phase: &Phase) -> Vec<Act> {
        let mut acts = phase.before.clone();
        let asked = phase.asked.map(Act::Receive);
        match (self, phase.asked) {
            (Self::NeverReads, _) => return [acts, vec![Act::Hold]].concat(),
            (Self::Reset, Some(_)) => return [acts, vec![Act::Reset]].concat(),
            (Self::Reset, None) => return acts,
            _ => acts.extend(asked),
        }
        let due = &phase.due;
        acts.extend(match self {
            Self::Silent | Self::NeverReads | Self::Reset => vec![Act::Wait],
            Self::Drip => vec![Act::Drip(due.clone(), DRIP_PAUSE), Act::Wait],
            Self::Flood => vec![Act::Repeat(vec![NO_MEANING; FLOOD_UNIT_BYTES])],
            Self::HalfClose => {
                vec![Act::Send(due[..due.len() / 2].to_vec()), Act::HalfClose, Act::Wait]
            }
            Self::Reorder => vec![Act::Send([&phase.next[..], due].concat()), Act::Wait],
            Self::TooLong => vec![Act::Send(phase.with_greatest_length()), Act::Wait],
            Self::TooShort => vec![Act::Send(phase.with_short_length()), Act::Wait],
            Self::Endless => {
                let repeats = FLOOD_UNIT_BYTES.div_ceil(phase.repeated.len());
                vec![
                    Act::Send(phase.first_of_many.clone()),
                    Act::Repeat(phase.repeated.repeat(repeats)),
                ]
            }
        });
        acts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Framing, LengthField, LengthForm};

    fn phase() -> Phase {
        Phase {
            name: "answer",
            before: vec![Act::Send(b"hello".to_vec())],
            asked: Some(Framing::Bytes(3)),
            due: b"\x00\x04abcd".to_vec(),
            length: Some(LengthField { at: 0, bytes: 2, form: LengthForm::HighFirst }),
            next: b"end".to_vec(),
            first_of_many: b"first".to_vec(),
            repeated: vec![7; 10_000],
        }
    }

    /// The acts behind the honest ones.
    fn acts(behaviour: Behaviour) -> Vec<Act> {
        let mut acts = behaviour.acts(&phase());
        assert_eq!(acts.remove(0), Act::Send(b"hello".to_vec()), "{behaviour:?}");
        acts
    }

    fn asked_then(more: &[Act]) -> Vec<Act> {
        [&[Act::Receive(Framing::Bytes(3))], more].concat()
    }

    #[test]
    fn a_behaviour_takes_the_place_of_the_message_that_is_due() {
        let send = |bytes: &[u8]| Act::Send(bytes.to_vec());
        assert_eq!(acts(Behaviour::Silent), asked_then(&[Act::Wait]));
        assert_eq!(acts(Behaviour::NeverReads), [Act::Hold]);
        assert_eq!(acts(Behaviour::Reset), [Act::Reset]);
        let half = [send(b"\x00\x04a"), Act::HalfClose, Act::Wait];
        assert_eq!(acts(Behaviour::HalfClose), asked_then(&half));
        let swapped = [send(b"end\x00\x04abcd"), Act::Wait];
        assert_eq!(acts(Behaviour::Reorder), asked_then(&swapped));
        let long = [send(b"\xff\xffabcd"), Act::Wait];
        assert_eq!(acts(Behaviour::TooLong), asked_then(&long));
        let short = [send(b"\x00\x03abcd"), Act::Wait];
        assert_eq!(acts(Behaviour::TooShort), asked_then(&short));
        let endless = [send(b"first"), Act::Repeat(vec![7; 20_000])];
        assert_eq!(acts(Behaviour::Endless), asked_then(&endless));
    }

    #[test]
    fn a_message_of_a_fixed_size_is_longer_and_shorter_by_a_byte() {
        let fixed = Phase { length: None, asked: None, ..phase() };
        assert_eq!(fixed.with_greatest_length(), b"\x00\x04abcd\0");
        assert_eq!(fixed.with_short_length(), b"\x00\x04abc");
        assert_eq!(Behaviour::Reset.acts(&fixed), fixed.before, "it closes");
    }

    #[test]
    fn a_length_in_digits_stays_one() {
        let length = Some(LengthField { at: 1, bytes: 2, form: LengthForm::Digits });
        let page = Phase { length, due: b"<40>".to_vec(), ..phase() };
        assert_eq!(page.with_greatest_length(), b"<99>");
        let page = Phase { due: b"<42>".to_vec(), ..page };
        assert_eq!(page.with_short_length(), b"<41>");
    }
}
