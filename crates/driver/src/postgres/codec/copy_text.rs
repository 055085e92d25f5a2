//! Rows in the text format of COPY: cells between tabs, rows between line feeds, escapes with backslashes.
//!
//! Source: PostgreSQL's documentation, "COPY", "Text Format".

use std::io::Write as _;

use crate::Value;

/// A cell that no text column can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row holds a text with a zero byte; PostgreSQL cannot store such")]
pub(crate) struct BadCell;

pub(crate) fn append_row(out: &mut Vec<u8>, row: &[Value<'_>]) -> Result<(), BadCell> {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.push(b'\t');
        }
        // Writing to memory cannot fail.
        let _ = match *value {
            Value::Null => out.write_all(b"\\N"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{number}"),
            Value::Text(text) => {
                append_text(out, text)?;
                Ok(())
            }
        };
    }
    out.push(b'\n');
    Ok(())
}

fn append_text(out: &mut Vec<u8>, text: &str) -> Result<(), BadCell> {
    let is_special = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b'\\' | 0);
    if !text.as_bytes().iter().any(is_special) {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    for &byte in text.as_bytes() {
        match byte {
            0 => return Err(BadCell),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            other => out.push(other),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_so_that_every_row_is_one_line_of_as_many_cells() {
        let mut out = Vec::new();
        let row = [Value::Int(-5), Value::Null, Value::Text("a\tb\nc\\d\r"), Value::Float(0.5)];
        append_row(&mut out, &row).unwrap();
        append_row(&mut out, &[Value::Text("\\."), Value::Text("\\N")]).unwrap();
        assert_eq!(out, b"-5\t\\N\ta\\tb\\nc\\\\d\\r\t0.5\n\\\\.\t\\\\N\n");
        assert_eq!(append_row(&mut out, &[Value::Text("a\0b")]), Err(BadCell));
    }
}
