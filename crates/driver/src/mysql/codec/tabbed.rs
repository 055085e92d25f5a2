//! Rows in the default format of LOAD DATA: cells between tabs, rows between line feeds, escapes with backslashes.

use std::io::Write as _;

use super::NotFinite;
use crate::Value;

pub(crate) fn append_tabbed(out: &mut Vec<u8>, row: &[Value<'_>]) -> Result<(), NotFinite> {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.push(b'\t');
        }
        // Writing to memory cannot fail.
        let _ = match *value {
            Value::Null => out.write_all(b"\\N"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Float(number) if number.is_finite() => write!(out, "{number:e}"),
            Value::Float(_) => return Err(NotFinite),
            Value::Text(text) => {
                append_text(out, text);
                Ok(())
            }
        };
    }
    out.push(b'\n');
    Ok(())
}

fn append_text(out: &mut Vec<u8>, text: &str) {
    let is_special = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\\' | 0);
    if !text.as_bytes().iter().any(is_special) {
        return out.extend_from_slice(text.as_bytes());
    }
    for &byte in text.as_bytes() {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\t' | b'\n' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_so_that_every_row_is_one_line_of_as_many_cells() {
        let mut out = Vec::new();
        let row = [Value::Int(-5), Value::Null, Value::Text("a\tb\nc\\d\0"), Value::Float(0.5)];
        append_tabbed(&mut out, &row).unwrap();
        assert_eq!(out, b"-5\t\\N\ta\\\tb\\\nc\\\\d\\0\t5e-1\n");
        assert_eq!(append_tabbed(&mut out, &[Value::Float(f64::NAN)]), Err(NotFinite));
    }
}
