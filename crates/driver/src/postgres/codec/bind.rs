//! Preparing and executing statements in the extended protocol.

use std::io::Write as _;

use super::wire::{Cursor, Malformed, finish_message, start_message};
use crate::Value;

/// In which form a parameter is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    Int2,
    Int4,
    Int8,
    /// Any other type, in its text form.
    Text,
}

impl ParameterKind {
    /// The form for a type of the server. The numbers are those of the catalogue pg_type, which do not change.
    fn of_type(number: i32) -> Self {
        match number {
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            _ => Self::Text,
        }
    }

    /// Reads a ParameterDescription.
    pub(crate) fn all(body: &[u8]) -> Result<Vec<Self>, Malformed> {
        let mut cursor = Cursor(body);
        let count = cursor.u16()?;
        (0..count).map(|_| cursor.i32().map(Self::of_type)).collect()
    }

    /// Whether this value is sent in binary: a whole number that the type can hold.
    #[inline]
    fn takes_binary(self, value: Value<'_>) -> bool {
        let Value::Int(number) = value else { return false };
        match self {
            Self::Int8 => true,
            Self::Int4 => i32::try_from(number).is_ok(),
            Self::Int2 => i16::try_from(number).is_ok(),
            Self::Text => false,
        }
    }
}

/// A statement that the server knows, or that is sent with each execution.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// A Parse that goes before each execution; empty for a statement with a name.
    pub(crate) parse: Vec<u8>,
    /// The names of the portal and of the statement, each ended by a zero.
    pub(crate) names: Vec<u8>,
    pub(crate) kinds: Vec<ParameterKind>,
}

/// Parse and, to learn the parameters' types, Describe. An empty name is that of the unnamed statement.
pub(crate) fn append_prepare(out: &mut Vec<u8>, name: &str, sql: &str) {
    append_parse(out, name, sql);
    let start = start_message(out, b'D');
    out.push(b'S');
    append_text(out, name);
    finish_message(out, start);
}

/// Parse, in which the server tells the parameters' types by their places.
pub(crate) fn append_parse(out: &mut Vec<u8>, name: &str, sql: &str) {
    let start = start_message(out, b'P');
    append_text(out, name);
    append_text(out, sql);
    out.extend_from_slice(&[0, 0]);
    finish_message(out, start);
}

pub(super) fn append_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Sync, after which the server tells that it is ready.
pub(crate) const SYNC: &[u8] = b"S\0\0\0\x04";
/// Execute of the unnamed portal for all rows.
const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";

/// Bind, Execute and Sync. All results come in text.
#[inline]
pub(crate) fn append_execute(out: &mut Vec<u8>, prepared: &Prepared, values: &[Value<'_>]) {
    append_bound(out, prepared, values);
    out.extend_from_slice(SYNC);
}

/// Bind and Execute.
#[inline]
pub(crate) fn append_bound(out: &mut Vec<u8>, prepared: &Prepared, values: &[Value<'_>]) {
    out.extend_from_slice(&prepared.parse);
    let start = start_message(out, b'B');
    out.extend_from_slice(&prepared.names);
    let pairs = || prepared.kinds.iter().zip(values);
    let count = (values.len() as u16).to_be_bytes();
    if pairs().any(|(kind, value)| kind.takes_binary(*value)) {
        out.extend_from_slice(&count);
        for (kind, value) in pairs() {
            out.extend_from_slice(&u16::from(kind.takes_binary(*value)).to_be_bytes());
        }
    } else {
        out.extend_from_slice(&[0, 0]);
    }
    out.extend_from_slice(&count);
    for (kind, value) in pairs() {
        append_value(out, *kind, *value);
    }
    out.extend_from_slice(&[0, 0]);
    finish_message(out, start);
    out.extend_from_slice(EXECUTE);
}

#[inline]
fn append_value(out: &mut Vec<u8>, kind: ParameterKind, value: Value<'_>) {
    match value {
        Value::Null => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        Value::Int(number) if kind.takes_binary(value) => {
            let bytes = number.to_be_bytes();
            let length = match kind {
                ParameterKind::Int2 => 2,
                ParameterKind::Int4 => 4,
                ParameterKind::Int8 | ParameterKind::Text => 8,
            };
            out.extend_from_slice(&(length as u32).to_be_bytes());
            out.extend_from_slice(&bytes[bytes.len() - length..]);
        }
        Value::Text(text) => {
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Int(number) => append_shown(out, number),
        Value::Float(number) => append_shown(out, number),
    }
}

fn append_shown(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    // Writing to memory cannot fail.
    let _ = write!(out, "{number}");
    let length = ((out.len() - start - 4) as u32).to_be_bytes();
    out[start..start + 4].copy_from_slice(&length);
}
