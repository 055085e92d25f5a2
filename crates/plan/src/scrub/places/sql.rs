//! Passwords in SQL statements, such as those that a plan runs around its phases.

use std::ops::Range;

use super::quotes::{end_of_quoted, fence};
use super::{Extent, values_after};

/// `IDENTIFIED BY 'SECRET'`, `PASSWORD 'SECRET'` (also in parentheses, or behind `=` or `TO`) and
/// `SET PASSWORD FOR u = 'SECRET'`.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let behind = |mark: &'static str| lower.match_indices(mark).map(move |(at, _)| at + mark.len());
    let mut found: Vec<Range<usize>> = Vec::new();
    found.extend(behind("identified").filter_map(|from| identified(text, from)));
    found.extend(behind("password").filter_map(|from| password(text, from)));
    for from in behind("set password for") {
        let statement = text[from..].split([';', '\n']).next().unwrap_or_default();
        if let Some(equals) = statement.find('=') {
            found.extend(values_after(text, from + equals + 1, Extent::Text));
        }
    }
    found
}

/// The literal after the word PASSWORD. Between them may be a parenthesis, `=` or `TO`; without these, double quotes
/// are those of a text around the statement.
fn password(text: &str, from: usize) -> Option<Range<usize>> {
    let at = from + gap(&text[from..]);
    let is_link = |link: &&str| {
        text[at..].get(..link.len()).is_some_and(|word| word.eq_ignore_ascii_case(link))
    };
    if let Some(link) = ["(", "=", "to"].into_iter().find(is_link) {
        let behind = at + link.len();
        return literal(text, behind + gap(&text[behind..]));
    }
    let is_possessive = at == from && text[at..].starts_with("'s ");
    if is_possessive || fence(&text[at..]).contains('"') { None } else { literal(text, at) }
}

/// The length of the white space at the begin of a text, also as escapes of TOML and JSON.
fn gap(text: &str) -> usize {
    let mut rest = text.trim_start();
    while let Some(more) = ["\\n", "\\r", "\\t"].iter().find_map(|it| rest.strip_prefix(it)) {
        rest = more.trim_start();
    }
    text.len() - rest.len()
}

/// The first text in quotes after `IDENTIFIED` and more keywords; one after `WITH` or `VIA` names a plugin.
fn identified(text: &str, from: usize) -> Option<Range<usize>> {
    let mut from = from;
    loop {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ' ';
        let words = &text[from..][..text[from..].find(|c| !is_word(c))?];
        let value = quoted(text, from + words.len())?;
        let keyword = words.split_whitespace().next_back().unwrap_or_default();
        if !["with", "via"].iter().any(|plugin| keyword.eq_ignore_ascii_case(plugin)) {
            return Some(value);
        }
        let quote = fence(&text[from + words.len()..]).len();
        from = text.len().min(value.end + quote);
    }
}

/// The text of the literal that begins here: in quotes, which may have PostgreSQL's prefixes, or between dollars.
fn literal(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = &text[from..];
    if let Some(tag) = dollar_tag(rest) {
        let inside = from + tag.len();
        let length = text[inside..].find(tag).unwrap_or(text[inside..].len());
        return Some(inside..inside + length);
    }
    if rest.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("e'")) {
        let inside = from + 2;
        return Some(inside..inside + end_of_escaped(&text[inside..]));
    }
    let is_unicode = rest.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("u&'"));
    quoted(text, if is_unicode { from + 2 } else { from })
}

/// The end of a literal in which a quote is doubled, or follows a backslash: at its quote, or at the end of the line.
fn end_of_escaped(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, next) in text.char_indices() {
        match next {
            '\n' => return at,
            '\'' if !is_escaped && !text[at + 1..].starts_with('\'') => return at,
            '\'' => is_escaped = !is_escaped,
            _ => is_escaped = next == '\\',
        }
    }
    text.len()
}

/// `$$` or `$name$` at the begin of a text.
fn dollar_tag(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let length = name.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    name[length..].starts_with('$').then(|| &text[..length + 2])
}

/// The text in the quotes that begin here, in which a quote is doubled.
fn quoted(text: &str, from: usize) -> Option<Range<usize>> {
    let fence = fence(&text[from..]);
    let inside = from + fence.len();
    let mut end = inside + end_of_quoted(&text[inside..], fence);
    while fence == "'" && text[end..].starts_with("''") {
        end += 2 + end_of_quoted(&text[end + 2..], fence);
    }
    (!fence.is_empty()).then_some(inside..end)
}
