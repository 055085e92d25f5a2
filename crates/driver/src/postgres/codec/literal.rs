//! Values as literals, for statements that are sent as text.

use std::io::Write as _;

use crate::Value;

/// The index of a value that no literal expresses: a text with a zero byte, or a number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoLiteral(pub(crate) usize);

/// Appends a statement in pieces with the values between them. Backslashes have no meaning in texts, because a session
/// has `standard_conforming_strings = on`.
pub(crate) fn append_filled(
    out: &mut Vec<u8>,
    pieces: &[Box<str>],
    values: &[Value<'_>],
) -> Result<(), NoLiteral> {
    for (place, piece) in pieces.iter().enumerate() {
        if let Some(before) = place.checked_sub(1) {
            let value = values.get(before).copied().unwrap_or(Value::Null);
            append_literal(out, value).ok_or(NoLiteral(before))?;
        }
        out.extend_from_slice(piece.as_bytes());
    }
    Ok(())
}

fn append_literal(out: &mut Vec<u8>, value: Value<'_>) -> Option<()> {
    // Without parentheses, a minus before a negative number would begin a comment. Writing to memory cannot fail.
    let _ = match value {
        Value::Null => write!(out, "NULL"),
        Value::Int(number @ ..0) => write!(out, "({number})"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) if !number.is_finite() => return None,
        Value::Float(number @ ..0.0) => write!(out, "({number:e})"),
        Value::Float(number) => write!(out, "{number:e}"),
        Value::Text(text) if text.contains('\0') => return None,
        Value::Text(text) => write!(out, "'{}'", text.replace('\'', "''")),
    };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_that_end_where_they_should() {
        let pieces = ["a -", " b ", " ", " c=", ""].map(Box::from);
        let values = [Value::Int(-5), Value::Text("it's \\"), Value::Null, Value::Float(-0.5)];
        let mut out = Vec::new();
        append_filled(&mut out, &pieces, &values).unwrap();
        assert_eq!(out, b"a -(-5) b 'it''s \\' NULL c=(-5e-1)");
        let bad = [Value::Int(1), Value::Text("\0"), Value::Null, Value::Null];
        assert_eq!(append_filled(&mut out, &pieces, &bad), Err(NoLiteral(1)));
    }
}
