//! Passwords in SQL statements, such as those that a plan runs around its phases.

use std::ops::Range;

use super::quotes::{end_of_quoted, fence};
use super::{Extent, values_after};

/// `IDENTIFIED BY 'SECRET'`, `PASSWORD('SECRET')` and `SET PASSWORD FOR u = 'SECRET'`.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let behind = |mark: &'static str| lower.match_indices(mark).map(move |(at, _)| at + mark.len());
    let mut found: Vec<Range<usize>> = Vec::new();
    found.extend(behind("identified").filter_map(|from| identified(text, from)));
    found.extend(behind("password(").filter_map(|from| quoted(text, from)));
    for from in behind("set password for") {
        let statement = text[from..].split([';', '\n']).next().unwrap_or_default();
        if let Some(equals) = statement.find('=') {
            found.extend(values_after(text, from + equals + 1, Extent::Text));
        }
    }
    found
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

fn quoted(text: &str, from: usize) -> Option<Range<usize>> {
    let fence = fence(&text[from..]);
    let inside = from + fence.len();
    (!fence.is_empty()).then(|| inside..inside + end_of_quoted(&text[inside..], fence))
}
