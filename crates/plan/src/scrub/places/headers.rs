//! Finds secrets in headers of requests, as `metadata` gives them and as messages and logs show them.

use std::ops::Range;

use super::super::names::{names_secret, names_secret_header};
use super::{Extent, values_after};

/// The option whose texts are headers.
const METADATA: &str = "metadata";
/// Schemes of credentials, which stand before them.
const SCHEMES: [&str; 6] = ["basic", "bearer", "digest", "negotiate", "token", "apikey"];

/// Whether a word is the name of a scheme, whose credentials follow.
pub(super) fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// The secret in a text of `metadata`, `name=value` or `name: value`; `None` if the name is not that of a secret.
pub(crate) fn metadata_secret(header: &str) -> Option<Range<usize>> {
    // A name ends at a space too: the mark may have been forgotten.
    let mark = header.find(['=', ':', ' '])?;
    let behind = &header[mark + 1..];
    let start = mark + 1 + behind.len() - behind.trim_start().len();
    let is_secret = names_secret_header(&header[..mark]) && start < header.len();
    is_secret.then_some(start..header.len())
}

/// `metadata=NAME: SECRET`, `metadata = ["NAME=SECRET"]`, and `"metadata": [..]` in JSON.
pub(super) fn in_metadata(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, word) in text.match_indices(METADATA) {
        let end = at + word.len();
        let gap = text[end..].find(|c: char| !" \t\"'\\".contains(c)).unwrap_or(0);
        let Some(mark) = text[end + gap..].chars().next().filter(|c| "=:".contains(*c)) else {
            continue;
        };
        let from = end + gap + mark.len_utf8();
        for value in values_after(text, from, extent) {
            // A value without quotes ends with its word, its line or the mark that stands around it.
            let is_bare = !text[..value.start].ends_with(['"', '\'']);
            let end = match is_bare && extent == Extent::Text {
                true => end_of_line(text, value.start),
                false => value.end,
            };
            let secret = metadata_secret(&text[value.start..end]);
            found.extend(secret.map(|it| value.start + it.start..value.start + it.end));
        }
    }
    found
}

/// `authorization: SECRET` anywhere, to the end of the line or of the quotes around it. Ordinary sentences have colons too,
/// so the name must be one that only headers have.
pub(super) fn in_lines(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices(':') {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let is_other = |c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c));
        let name = text[..at].rsplit(is_other).next().unwrap_or_default();
        let gap = text[at + 1..].len() - text[at + 1..].trim_start_matches([' ', '\t']).len();
        if is_header_alone(name, gap > 0) {
            let start = at + 1 + gap;
            found.push(start..end_of_line(text, start));
        }
    }
    found
}

/// Whether a name before a colon is one of a header with a secret. `auth-token:8000` is a host.
fn is_header_alone(name: &str, has_gap: bool) -> bool {
    const NAMES: [&str; 5] = ["authorization", "cookie", "jwt", "bearer", "apikey"];
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['-', '_']).next().unwrap_or_default();
    NAMES.contains(&last) || (has_gap && name.contains('-') && names_secret(&name))
}

fn end_of_line(text: &str, from: usize) -> usize {
    let ends = |c: char| "\n\r\"'`".contains(c);
    text[from..].find(ends).map_or(text.len(), |length| from + length)
}
