//! SQL text whose parameters the client fills in.

use std::io::Write as _;

use crate::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextTemplate {
    sql: String,
    /// The positions of the question marks.
    holes: Vec<usize>,
}

impl TextTemplate {
    /// Finds the placeholders: question marks outside of strings, quoted names and comments.
    pub(crate) fn new(sql: &str) -> Self {
        let bytes = sql.as_bytes();
        let mut holes = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b'?' {
                holes.push(at);
            }
            at = after_token(bytes, at);
        }
        Self { sql: sql.to_owned(), holes }
    }

    pub(crate) fn parameters(&self) -> usize {
        self.holes.len()
    }

    /// Appends the text with `values` in place of the placeholders, one for each.
    ///
    /// # Errors
    /// The index of a value that SQL has no literal for (not a number, infinite).
    pub(crate) fn fill(
        &self,
        out: &mut Vec<u8>,
        values: &[Value<'_>],
        escapes: Escapes,
    ) -> Result<(), usize> {
        let sql = self.sql.as_bytes();
        let mut from = 0;
        for (index, (&hole, value)) in self.holes.iter().zip(values).enumerate() {
            out.extend_from_slice(&sql[from..hole]);
            append_literal(out, *value, escapes).map_err(|NotFinite| index)?;
            from = hole + 1;
        }
        out.extend_from_slice(&sql[from..]);
        Ok(())
    }
}

/// Whether a backslash escapes in string literals of this session (SQL mode NO_BACKSLASH_ESCAPES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// It escapes, which is the default.
    Backslash,
    QuotesOnly,
}

/// SQL has no literal for a number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotFinite;

/// The position after the character, string, quoted name or comment that begins at `at`.
fn after_token(sql: &[u8], at: usize) -> usize {
    let rest = &sql[at..];
    let length = match rest[0] {
        quote @ (b'\'' | b'"' | b'`') => quoted_length(rest, quote),
        b'#' => line_length(rest),
        b'-' if rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace) => {
            line_length(rest)
        }
        b'/' if rest.starts_with(b"/*") => comment_length(rest),
        _ => 1,
    };
    at + length
}

fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        if rest[at] == b'\\' && quote != b'`' {
            at += 1;
        } else if rest[at] == quote {
            return at + 1;
        }
        at += 1;
    }
    rest.len()
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

fn comment_length(rest: &[u8]) -> usize {
    let end = rest.get(2..).and_then(|body| body.windows(2).position(|two| two == b"*/"));
    end.map_or(rest.len(), |length| length + 4)
}

pub(crate) fn append_literal(
    out: &mut Vec<u8>,
    value: Value<'_>,
    escapes: Escapes,
) -> Result<(), NotFinite> {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(number) => append_int(out, number),
        // With an exponent, the number is a floating-point literal; without one it would be a decimal.
        Value::Float(number) if number.is_finite() => {
            append_display(out, format_args!("{number:e}"));
        }
        Value::Float(_) => return Err(NotFinite),
        Value::Text(text) => append_string(out, text, escapes),
    }
    Ok(())
}

fn append_int(out: &mut Vec<u8>, number: i64) {
    append_display(out, format_args!("{number}"));
}

fn append_display(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
}

fn append_string(out: &mut Vec<u8>, text: &str, escapes: Escapes) {
    out.push(b'\'');
    for &byte in text.as_bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"''"),
            b'\\' if escapes == Escapes::Backslash => out.extend_from_slice(b"\\\\"),
            0 if escapes == Escapes::Backslash => out.extend_from_slice(b"\\0"),
            other => out.push(other),
        }
    }
    out.push(b'\'');
}

pub(crate) fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
