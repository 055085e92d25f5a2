//! The request that executes a prepared statement.

use super::command;
use super::wire::{Cursor, Malformed, finish_packet, start_packet};
use crate::Value;

const TYPE_DOUBLE: u8 = 5;
const TYPE_NULL: u8 = 6;
const TYPE_INTEGER: u8 = 8;
const TYPE_TEXT: u8 = 253;

/// Which parameter types the server knows for a statement: they are sent again only when they change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    types: Vec<u8>,
    is_known: bool,
}

impl Bound {
    /// Nothing is known to the server about `parameters` parameters.
    pub(crate) fn new(parameters: usize) -> Self {
        Self { types: vec![TYPE_NULL; parameters], is_known: false }
    }

    /// How many parameters there are.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// The server may not have taken the types in: send them again.
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
    }

    /// Notes the types of `values`; a NULL fits any type, so it changes none.
    #[inline]
    fn learn(&mut self, values: &[Value<'_>]) {
        for (known, value) in self.types.iter_mut().zip(values) {
            let wanted = match value {
                Value::Null => *known,
                Value::Int(_) => TYPE_INTEGER,
                Value::Float(_) => TYPE_DOUBLE,
                Value::Text(_) => TYPE_TEXT,
            };
            if *known != wanted {
                *known = wanted;
                self.is_known = false;
            }
        }
    }
}

/// Writes the whole request over `out`. There are as many values as `bound` has parameters.
#[inline]
pub(crate) fn encode_execute(
    out: &mut Vec<u8>,
    statement: u32,
    bound: &mut Bound,
    values: &[Value<'_>],
) {
    out.clear();
    let start = start_packet(out);
    let mut head = [command::EXECUTE, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    head[1..5].copy_from_slice(&statement.to_le_bytes());
    out.extend_from_slice(&head);
    if !values.is_empty() {
        bound.learn(values);
        append_null_bits(out, values);
        out.push(u8::from(!bound.is_known));
        if !bound.is_known {
            out.extend(bound.types.iter().flat_map(|&kind| [kind, 0]));
            bound.is_known = true;
        }
        for value in values {
            append_value(out, *value);
        }
    }
    finish_packet(out, start, 0);
}

#[inline]
fn append_null_bits(out: &mut Vec<u8>, values: &[Value<'_>]) {
    for eight in values.chunks(8) {
        let bits = eight
            .iter()
            .enumerate()
            .fold(0, |bits, (place, value)| bits | u8::from(matches!(value, Value::Null)) << place);
        out.push(bits);
    }
}

#[inline]
fn append_value(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Null => {}
        Value::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
        Value::Text(text) => {
            append_length(out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// A length-encoded integer.
pub(super) fn append_length(out: &mut Vec<u8>, length: usize) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// What the server answers to PREPARE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) columns: u16,
    pub(crate) parameters: u16,
}

impl Prepared {
    /// Reads the OK packet of PREPARE.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(payload);
        if cursor.u8()? != 0 {
            return Err(Malformed("an unknown answer to a prepare"));
        }
        Ok(Self { id: cursor.u32()?, columns: cursor.u16()?, parameters: cursor.u16()? })
    }

    /// How many packets follow: a definition for each parameter and each column, and an EOF packet
    /// after each group unless the two sides agreed to leave it out.
    pub(crate) fn packets_to_come(self, has_deprecated_eof: bool) -> u32 {
        let group = |count: u16| match count {
            0 => 0,
            some if has_deprecated_eof => u32::from(some),
            some => u32::from(some) + 1,
        };
        group(self.parameters) + group(self.columns)
    }
}
