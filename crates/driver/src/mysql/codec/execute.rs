//! The request that executes a prepared statement.

use std::ops::Range;

use super::command;
use super::wire::{Cursor, Malformed, finish_packet, start_packet};
use crate::Value;

/// The wire types of parameters, by [`kind_of`]: NULL, LONGLONG, DOUBLE, VAR_STRING.
const TYPES: [u8; 4] = [6, 8, 5, 253];
const KIND_NULL: u64 = 0;
/// Parameters whose kinds fit into one word of two bits each.
const KINDS_MAX: usize = 32;

/// The index of a value's type in [`TYPES`].
#[inline]
fn kind_of(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => KIND_NULL,
        Value::Int(_) => 1,
        Value::Float(_) => 2,
        Value::Text(_) => 3,
    }
}

#[inline]
pub(super) fn type_of(value: &Value<'_>) -> u8 {
    TYPES[kind_of(value) as usize]
}

/// The parameter types that the server knows for a statement: they are sent again only when they change. They take
/// one word, because those of many sessions must fit into the processor's caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundTypes {
    /// Two bits for each parameter; with too many parameters nothing is remembered.
    kinds: u64,
    parameters: u16,
    is_known: bool,
}

impl BoundTypes {
    /// A statement with `parameters` parameters whose types the server does not know yet.
    pub(crate) fn new(parameters: u16) -> Self {
        Self { kinds: 0, parameters, is_known: false }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.parameters)
    }

    /// The server may not have read the types: send them again.
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
    }

    /// Stores the types of `values`; a NULL fits any type, so it changes none.
    #[inline]
    fn learn(&mut self, values: &[Value<'_>]) {
        self.is_known &= values.len() <= KINDS_MAX;
        for (place, value) in values.iter().take(KINDS_MAX).enumerate() {
            let (kind, shift) = (kind_of(value), 2 * place);
            if kind != KIND_NULL && self.kinds >> shift & 3 != kind {
                self.kinds = self.kinds & !(3 << shift) | kind << shift;
                self.is_known = false;
            }
        }
    }

    fn type_at(&self, place: usize, value: &Value<'_>) -> u8 {
        let kind = if place < KINDS_MAX { self.kinds >> (2 * place) & 3 } else { kind_of(value) };
        TYPES[kind as usize]
    }
}

/// Writes the whole request over `out`. There must be as many values as `bound` has parameters.
#[inline]
pub(crate) fn encode_execute(
    out: &mut Vec<u8>,
    statement: u32,
    bound: &mut BoundTypes,
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
            let types = values.iter().enumerate();
            out.extend(types.flat_map(|(place, value)| [bound.type_at(place, value), 0]));
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

/// Appends a value in the wire format of parameters; nothing for NULL.
#[inline]
pub(super) fn append_value(out: &mut Vec<u8>, value: Value<'_>) {
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

/// The server's answer to PREPARE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) columns: u16,
    pub(crate) parameters: u16,
}

impl Prepared {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(payload);
        if cursor.u8()? != 0 {
            return Err(Malformed("an unknown answer to a prepare"));
        }
        Ok(Self { id: cursor.u32()?, columns: cursor.u16()?, parameters: cursor.u16()? })
    }

    /// The number of packets that follow: a definition for each parameter and each column, and an EOF packet after
    /// each group unless both sides agreed to omit it.
    pub(crate) fn packets_to_come(self, has_deprecated_eof: bool) -> u32 {
        let group = |count: u16| match count {
            0 => 0,
            some if has_deprecated_eof => u32::from(some),
            some => u32::from(some) + 1,
        };
        group(self.parameters) + group(self.columns)
    }

    /// Which of these packets are the definitions of columns.
    pub(crate) fn columns_to_come(self, has_deprecated_eof: bool) -> Range<u32> {
        let no_columns = Self { columns: 0, ..self };
        let first = no_columns.packets_to_come(has_deprecated_eof);
        first..first + u32::from(self.columns)
    }
}

/// The name in the definition of a column, which follows those of the catalogue, the database and twice the table.
pub(crate) fn column_name(payload: &[u8]) -> Result<String, Malformed> {
    let mut cursor = Cursor(payload);
    let mut name = None;
    for _ in 0..5 {
        name = cursor.bytes_or_null()?;
    }
    Ok(String::from_utf8_lossy(name.unwrap_or_default()).into_owned())
}
