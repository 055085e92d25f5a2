//! The tokens of an expression.

use super::diagnostic::Diagnostic;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Variable(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

/// Operators, brackets and commas; longer ones before those with which they begin.
const SIGNS: [&str; 21] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "<", ">", "=", "|", "#", "&", "~", "+", "-", "*", "/", "%",
    "(", ")", ",",
];

/// Splits an expression into its tokens.
///
/// # Errors
/// Characters that have no meaning in an expression, numbers out of range.
pub(crate) fn tokens(text: &str, line: usize) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            _ if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) => {
                (Token::Sign(sign), sign.len())
            }
            '0'..='9' | '.' => number(rest, line)?,
            '\'' => text_literal(rest, line)?,
            ':' if name_length(&rest[1..]) > 0 => {
                let length = 1 + name_length(&rest[1..]);
                (Token::Variable(rest[1..length].to_owned()), length)
            }
            _ if name_length(rest) > 0 => {
                let length = name_length(rest);
                (Token::Name(rest[..length].to_owned()), length)
            }
            other => {
                let help = "an expression has numbers, 'texts', :variables, functions, and operators such as + - * / %";
                return Err(Diagnostic::new(line, format!("unexpected `{other}`"), help));
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// The length of the name at the start of a text; 0 if there is none.
pub(crate) fn name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

fn number(text: &str, line: usize) -> Result<(Token, usize), Diagnostic> {
    let mut length = digits(text);
    let mut is_whole = true;
    if text[length..].starts_with('.') {
        is_whole = false;
        length += 1 + digits(&text[length + 1..]);
    }
    let exponent = &text[length..];
    if exponent.starts_with(['e', 'E']) {
        let signed = usize::from(exponent[1..].starts_with(['+', '-']));
        let count = digits(&exponent[1 + signed..]);
        if count > 0 {
            is_whole = false;
            length += 1 + signed + count;
        }
    }
    let written = &text[..length];
    let token = if is_whole {
        written.parse().ok().map(Token::Int)
    } else {
        written.parse().ok().map(Token::Float)
    };
    let token = token.ok_or_else(|| {
        let help = "whole numbers have 64 bits; numbers with a point are floating";
        Diagnostic::new(line, format!("`{written}` is not a number that fits"), help)
    })?;
    Ok((token, length))
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// A text in single quotes; a doubled quote inside stands for one quote.
fn text_literal(text: &str, line: usize) -> Result<(Token, usize), Diagnostic> {
    let mut literal = String::new();
    let mut at = 1;
    while let Some(end) = text[at..].find('\'') {
        literal.push_str(&text[at..at + end]);
        at += end + 1;
        if !text[at..].starts_with('\'') {
            return Ok((Token::Text(literal), at));
        }
        literal.push('\'');
        at += 1;
    }
    Err(Diagnostic::new(line, "a text does not end", "end it with '"))
}
