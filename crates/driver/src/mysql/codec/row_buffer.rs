//! Rows of an answer on the load path, decoded from their packets: binary rows of prepared statements, and rows of
//! the text protocol.
//!
//! Source: MySQL Internals, "Binary Protocol Resultset Row" and "Column Definition".

use super::wire::{Cursor, Malformed};
use crate::Rows;

/// Longer answers are refused: on the load path, answers have few rows.
const ANSWER_BYTES_MAX: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowFormat {
    Binary,
    Text,
}

/// How one column's cells are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An integer of so many bytes, little-endian; in text, digits.
    Int {
        bytes: u8,
        is_signed: bool,
    },
    Float,
    Double,
    /// A length and then year, month, day, hour, minute, second, microsecond; zeros at the end are omitted.
    DateTime,
    /// A length and then sign, days, hours, minutes, seconds, microseconds.
    Time,
    /// A length and bytes: texts, and DECIMAL.
    Text,
}

/// Buffers the rows of one answer while they arrive.
#[derive(Debug)]
pub(crate) struct RowBuffer {
    format: RowFormat,
    kinds: Vec<Kind>,
    rows: Rows,
}

impl RowBuffer {
    pub(crate) fn new() -> Self {
        Self { format: RowFormat::Binary, kinds: Vec::new(), rows: Rows::default() }
    }

    #[inline]
    pub(crate) fn begin(&mut self, format: RowFormat) {
        self.format = format;
        self.kinds.clear();
        self.rows.begin(0);
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Starts a set of rows with so many columns; only the last set of an answer is kept.
    #[inline]
    pub(crate) fn columns(&mut self, count: u64) {
        self.kinds.clear();
        self.rows.begin(count as usize);
    }

    #[inline]
    pub(crate) fn column(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor(payload);
        for _catalog_schema_table_and_names in 0..6 {
            cursor.bytes_or_null()?;
        }
        let _rest_length = cursor.length()?;
        let _character_set = cursor.u16()?;
        let _width = cursor.u32()?;
        let kind = cursor.u8()?;
        let is_signed = cursor.u16()? & UNSIGNED == 0;
        self.kinds.push(match kind {
            1 => Kind::Int { bytes: 1, is_signed },
            2 | 13 => Kind::Int { bytes: 2, is_signed },
            3 | 9 => Kind::Int { bytes: 4, is_signed },
            8 => Kind::Int { bytes: 8, is_signed },
            4 => Kind::Float,
            5 => Kind::Double,
            7 | 10 | 12 => Kind::DateTime,
            11 => Kind::Time,
            _ => Kind::Text,
        });
        Ok(())
    }

    #[inline]
    pub(crate) fn row(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        if self.rows.size_bytes() + payload.len() > ANSWER_BYTES_MAX {
            return Err(Malformed("more than 64 MiB of rows where few were due"));
        }
        match self.format {
            RowFormat::Binary => self.binary_row(payload),
            RowFormat::Text => self.text_row(payload),
        }
    }

    #[inline]
    fn binary_row(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let Self { kinds, rows, .. } = self;
        let mut cursor = Cursor(payload);
        cursor.u8()?;
        // The first two bits of the map of NULLs are unused.
        let nulls = cursor.bytes((kinds.len() + 9) / 8)?;
        for (place, kind) in kinds.iter().enumerate() {
            let bit = place + 2;
            if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
                rows.push_null();
                continue;
            }
            match *kind {
                Kind::Int { bytes, is_signed } => {
                    rows.push_int(integer(cursor.bytes(usize::from(bytes))?, is_signed));
                }
                Kind::Float => rows.push_float(f64::from(f32::from_bits(cursor.u32()?))),
                Kind::Double => {
                    let bits = integer(cursor.bytes(8)?, false);
                    rows.push_float(f64::from_bits(bits.cast_unsigned()));
                }
                Kind::DateTime => {
                    let length = cursor.u8()?;
                    push_date_time(rows, cursor.bytes(usize::from(length))?);
                }
                Kind::Time => {
                    let length = cursor.u8()?;
                    push_time(rows, cursor.bytes(usize::from(length))?);
                }
                Kind::Text => rows.push_text(cursor.bytes_or_null()?.unwrap_or_default()),
            }
        }
        Ok(())
    }

    fn text_row(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let Self { kinds, rows, .. } = self;
        let mut cursor = Cursor(payload);
        for kind in kinds.iter() {
            let Some(cell) = cursor.bytes_or_null()? else {
                rows.push_null();
                continue;
            };
            let text = std::str::from_utf8(cell).unwrap_or_default();
            match kind {
                Kind::Int { .. } => match text.parse() {
                    Ok(number) => rows.push_int(number),
                    Err(_) => rows.push_text(cell),
                },
                Kind::Float | Kind::Double => match text.parse() {
                    Ok(number) => rows.push_float(number),
                    Err(_) => rows.push_text(cell),
                },
                Kind::DateTime | Kind::Time | Kind::Text => rows.push_text(cell),
            }
        }
        Ok(())
    }
}

/// The bit in a column's flags that marks it as unsigned.
const UNSIGNED: u16 = 0x20;

#[inline]
fn integer(bytes: &[u8], is_signed: bool) -> i64 {
    let is_negative = is_signed && bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = if is_negative { [0xff; 8] } else { [0; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

fn at(bytes: &[u8], place: usize) -> u32 {
    bytes.get(place).copied().map_or(0, u32::from)
}

fn micros(bytes: &[u8], place: usize) -> u32 {
    (0..4).map(|i| at(bytes, place + i) << (8 * i)).sum()
}

/// Writes a date and time in the server's own text format.
fn push_date_time(rows: &mut Rows, bytes: &[u8]) {
    let year = at(bytes, 0) | at(bytes, 1) << 8;
    let mut text = format!("{year:04}-{:02}-{:02}", at(bytes, 2), at(bytes, 3));
    if bytes.len() > 4 {
        text += &format!(" {:02}:{:02}:{:02}", at(bytes, 4), at(bytes, 5), at(bytes, 6));
    }
    if bytes.len() > 7 {
        text += &format!(".{:06}", micros(bytes, 7));
    }
    rows.push_text(text.as_bytes());
}

fn push_time(rows: &mut Rows, bytes: &[u8]) {
    let sign = if at(bytes, 0) == 1 { "-" } else { "" };
    let days: u64 = (0..4).map(|i| u64::from(at(bytes, 1 + i)) << (8 * i)).sum();
    let hours = days * 24 + u64::from(at(bytes, 5));
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", at(bytes, 6), at(bytes, 7));
    if bytes.len() > 8 {
        text += &format!(".{:06}", micros(bytes, 8));
    }
    rows.push_text(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column's definition with empty names.
    fn definition(kind: u8, flags: u16) -> Vec<u8> {
        let mut payload = vec![0; 6];
        payload.extend([12, 33, 0, 0, 0, 0, 0, kind]);
        payload.extend(flags.to_le_bytes());
        payload.extend([0, 0, 0]);
        payload
    }

    fn row_buffer(format: RowFormat, kinds: &[(u8, u16)]) -> RowBuffer {
        let mut row_buffer = RowBuffer::new();
        row_buffer.begin(format);
        row_buffer.columns(kinds.len() as u64);
        for (kind, flags) in kinds {
            row_buffer.column(&definition(*kind, *flags)).unwrap();
        }
        row_buffer
    }

    #[test]
    fn a_binary_row_is_decoded() {
        let kinds = [(3, 0), (8, 0x20), (246, 0), (12, 0), (1, 0), (5, 0), (253, 0)];
        let mut row_buffer = row_buffer(RowFormat::Binary, &kinds);
        let mut row = vec![0, 0, 0];
        // The seventh column is NULL: bit 8.
        row[2] = 1;
        row.extend((-5_i32).to_le_bytes());
        row.extend(9_u64.to_le_bytes());
        row.extend(b"\x0512.50");
        row.extend([7, 0xea, 0x07, 11, 22, 1, 2, 3]);
        row.push(0xff);
        row.extend(0.25_f64.to_le_bytes());
        row_buffer.row(&row).unwrap();
        let rows = row_buffer.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows.int(0, 0), rows.int(0, 1)), (Some(-5), Some(9)));
        assert_eq!(rows.float(0, 2), Some(12.5));
        assert_eq!(rows.text(0, 3), Some("2026-11-22 01:02:03"));
        assert_eq!((rows.int(0, 4), rows.float(0, 5)), (Some(-1), Some(0.25)));
        assert!(rows.is_null(0, 6));
    }

    #[test]
    fn a_text_row_decodes_to_the_same_values() {
        let mut row_buffer = row_buffer(RowFormat::Text, &[(3, 0), (246, 0), (253, 0)]);
        row_buffer.row(b"\x02-5\x0512.50\xfb").unwrap();
        let rows = row_buffer.rows();
        assert_eq!((rows.int(0, 0), rows.float(0, 1)), (Some(-5), Some(12.5)));
        assert!(rows.is_null(0, 2));
    }

    #[test]
    fn more_rows_than_are_due_are_refused() {
        let mut row_buffer = row_buffer(RowFormat::Text, &[(253, 0)]);
        // A text of 15 MiB, with its length before it.
        let mut row = vec![0xfd, 0, 0, 0xf0];
        row.resize(4 + (15 << 20), b'x');
        for _ in 0..4 {
            row_buffer.row(&row).unwrap();
        }
        assert!(row_buffer.row(&row).is_err(), "75 MiB");
        assert_eq!(row_buffer.rows().len(), 4);
    }

    #[test]
    fn a_row_that_ends_early_is_refused() {
        let mut row_buffer = row_buffer(RowFormat::Binary, &[(8, 0), (253, 0)]);
        for row in [&[][..], &[0], &[0, 0, 1, 2], b"\0\0\x01\0\0\0\0\0\0\0\x09x"] {
            assert!(row_buffer.row(row).is_err(), "{row:?}");
        }
    }
}
