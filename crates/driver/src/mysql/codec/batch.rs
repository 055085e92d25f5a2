//! Many rows in one request: as the parameters of an INSERT of many rows, or as an array of rows for an INSERT of one
//! row, which MariaDB executes for each of them.

use super::command;
use super::execute::{append_value, type_of};
use super::wire::{finish_packet, start_packet};
use crate::Value;

/// Rows whose values, one after the other, are the parameters of an INSERT of that many rows.
#[derive(Debug, Default)]
pub(crate) struct ManyRows {
    parameters: usize,
    null_bits: Vec<u8>,
    types: Vec<u8>,
    values: Vec<u8>,
}

impl ManyRows {
    pub(crate) fn push(&mut self, row: &[Value<'_>]) {
        for value in row {
            let place = self.parameters % 8;
            if place == 0 {
                self.null_bits.push(0);
            }
            if let (Value::Null, Some(bits)) = (value, self.null_bits.last_mut()) {
                *bits |= 1 << place;
            }
            self.types.extend_from_slice(&[type_of(value), 0]);
            append_value(&mut self.values, *value);
            self.parameters += 1;
        }
    }

    /// The approximate length of the request.
    pub(crate) fn size_bytes(&self) -> usize {
        self.types.len() + self.values.len()
    }

    /// Writes the request over `out` and clears the rows.
    pub(crate) fn encode(&mut self, out: &mut Vec<u8>, statement: u32) {
        out.clear();
        let start = start_packet(out);
        out.push(command::EXECUTE);
        out.extend_from_slice(&statement.to_le_bytes());
        // No cursor; one execution; the types are included.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        out.extend_from_slice(&self.null_bits);
        out.push(1);
        out.extend_from_slice(&self.types);
        out.extend_from_slice(&self.values);
        finish_packet(out, start, 0);
        self.parameters = 0;
        self.null_bits.clear();
        self.types.clear();
        self.values.clear();
    }
}

/// Rows for COM_STMT_BULK_EXECUTE (MariaDB's knowledge base, "COM_STMT_BULK_EXECUTE").
#[derive(Debug, Default)]
pub(crate) struct RowArray {
    /// The type of each column; a column with only NULLs so far has the type of NULL.
    types: Vec<u8>,
    values: Vec<u8>,
}

/// The request has the columns' types before its rows.
const TYPES_FOLLOW: u16 = 128;
/// The byte before a value, or in place of one.
const IS_VALUE: u8 = 0;
const IS_NULL: u8 = 1;

impl RowArray {
    /// Whether a row can be added to the batch: its values have the same types.
    pub(crate) fn fits(&self, row: &[Value<'_>]) -> bool {
        let null = type_of(&Value::Null);
        self.types.iter().zip(row).all(|(known, value)| {
            matches!(value, Value::Null) || *known == null || *known == type_of(value)
        })
    }

    pub(crate) fn push(&mut self, row: &[Value<'_>]) {
        self.types.resize(row.len(), type_of(&Value::Null));
        for (known, value) in self.types.iter_mut().zip(row) {
            if matches!(value, Value::Null) {
                self.values.push(IS_NULL);
            } else {
                *known = type_of(value);
                self.values.push(IS_VALUE);
                append_value(&mut self.values, *value);
            }
        }
    }

    /// The approximate length of the request.
    pub(crate) fn size_bytes(&self) -> usize {
        self.values.len()
    }

    /// Writes the request over `out` and clears the rows.
    pub(crate) fn encode(&mut self, out: &mut Vec<u8>, statement: u32) {
        out.clear();
        let start = start_packet(out);
        out.push(command::BULK_EXECUTE);
        out.extend_from_slice(&statement.to_le_bytes());
        out.extend_from_slice(&TYPES_FOLLOW.to_le_bytes());
        out.extend(self.types.iter().flat_map(|column| [*column, 0]));
        out.extend_from_slice(&self.values);
        finish_packet(out, start, 0);
        self.types.clear();
        self.values.clear();
    }
}
