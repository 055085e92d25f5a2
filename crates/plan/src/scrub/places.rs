//! Finds secrets by their place in a text.

mod headers;
mod quotes;
mod sql;

use std::ops::Range;

pub(crate) use headers::metadata_secret;
use quotes::{end_of_quoted, fence};

use super::names::{is_switch, names_secret};

/// The extent of a value without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// To the next space or separator.
    Text,
    /// To the end: the text is a single argument of a command line, or a single value of a plan.
    Word,
}

/// Byte ranges of secrets in any order; none is empty.
pub(crate) fn in_places(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found = url_passwords(text, extent);
    found.extend(bare_logins(text));
    found.extend(secret_values(text, extent));
    found.extend(secret_arguments(text));
    found.extend(sql::passwords(text));
    found.extend(headers::in_metadata(text, extent));
    found.extend(headers::in_lines(text));
    found.retain(|range| !range.is_empty());
    found
}

/// `scheme://user:PASSWORD@`: the last `@` ends the login, so that a password with `@`, `/` or
/// `:` in it is blanked whole.
fn url_passwords(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let address = &text[start..start + end_of_address(text, at, start, extent)];
        let Some(login_end) = address.rfind('@') else { continue };
        if let Some(colon) = address[..login_end].find(':') {
            found.push(start + colon + 1..start + login_end);
        }
    }
    found
}

/// `user:PASSWORD@host`, a URL whose scheme was forgotten.
fn bare_logins(text: &str) -> Vec<Range<usize>> {
    let begins = |c: char| c.is_whitespace() || "\"'`=,".contains(c);
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let login = text[..at].rsplit(begins).next().unwrap_or_default();
        let start = at - login.len();
        if let Some(colon) = login.find(':').filter(|_| !login.contains("://")) {
            found.push(start + colon + 1..at);
        }
    }
    found
}

/// An address in quotes ends at the closing quote, one that fills a whole word ends with the word, and any other at
/// the next space.
fn end_of_address(text: &str, mark: usize, start: usize, extent: Extent) -> usize {
    let is_scheme = |c: char| c.is_alphanumeric() || "+.-_".contains(c);
    let before = text[..mark].trim_end_matches(is_scheme);
    let rest = &text[start..];
    match before.chars().next_back() {
        Some(quote @ ('"' | '\'' | '`')) => {
            let quotes = before.len() - before.trim_end_matches(quote).len();
            let fence = if quotes >= 3 { 3 } else { 1 };
            end_of_quoted(rest, &before[before.len() - fence..])
        }
        _ if extent == Extent::Word && !before.contains(char::is_whitespace) => rest.len(),
        _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
    }
}

/// `password = "SECRET"` and similar forms in TOML, on a command line or in a URL's query, and `"password": "SECRET"`
/// in JSON.
fn secret_values(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, mark) in text.match_indices(['=', ':']) {
        let is_inside = found.last().is_some_and(|last| at < last.end);
        if !is_inside && key_before(text, at, mark).is_some_and(names_secret) {
            found.extend(values_after(text, at + 1, extent));
        }
    }
    found
}

/// The key that ends before a mark; before a colon it must be in quotes, because ordinary sentences contain colons.
fn key_before<'t>(text: &'t str, at: usize, mark: &str) -> Option<&'t str> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    if mark == ":" && !before.ends_with(['"', '\'']) {
        return None;
    }
    let before = before.trim_end_matches(['"', '\'', '\\', ':']);
    before.rsplit(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).next()
}

/// The value, or the values of a list, after a mark, without their quotes.
pub(super) fn values_after(text: &str, from: usize, extent: Extent) -> Vec<Range<usize>> {
    let start = from + text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len();
    let fence = fence(&text[start..]);
    if !fence.is_empty() {
        let inside = start + fence.len();
        return one(text, inside..inside + end_of_quoted(&text[inside..], fence));
    }
    if text[start..].starts_with(['[', '{']) {
        return items(text, start);
    }
    let in_query = text[..start].contains("://");
    let stops = |c: char| match extent {
        Extent::Text => c.is_whitespace() || "&,;}\"'`".contains(c),
        Extent::Word => in_query && c == '&',
    };
    let to_stop = |from: usize| from + text[from..].find(stops).unwrap_or(text[from..].len());
    let mut end = to_stop(start);
    // The credentials of HTTP follow the name of their scheme: `authorization=Bearer SECRET`.
    if headers::is_scheme(&text[start..end]) && text[end..].starts_with(' ') {
        end = to_stop(end + 1);
    }
    one(text, start..end)
}

/// A value that is not only a switch.
fn one(text: &str, value: Range<usize>) -> Vec<Range<usize>> {
    if is_switch(&text[value.clone()]) { Vec::new() } else { vec![value] }
}

/// Everything in a list or a table that begins here, with or without quotes.
fn items(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(next) = text[at..].chars().next() {
        let fence = fence(&text[at..]);
        if !fence.is_empty() {
            let inside = at + fence.len();
            let end = inside + end_of_quoted(&text[inside..], fence);
            found.push(inside..end);
            // Without a closing quote the value ends elsewhere.
            at = if text[end..].starts_with(fence) { end + fence.len() } else { end };
            continue;
        }
        let is_bare = |c: char| !(c.is_whitespace() || ",=:[]{}\"'".contains(c));
        let bare = text[at..].find(|c| !is_bare(c)).unwrap_or(text.len() - at);
        if bare > 0 {
            found.push(at..at + bare);
            at += bare;
            continue;
        }
        match next {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        at += next.len_utf8();
    }
    found
}

/// `--password SECRET` in a list of arguments: `["--password", "SECRET"]`, or with spaces.
fn secret_arguments(text: &str) -> Vec<Range<usize>> {
    let is_gap = |c: char| c.is_whitespace() || "\"'`,[]()\\".contains(c);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c| !is_gap(c)).map(|step| at + step) {
        let end = text[start..].find(is_gap).map_or(text.len(), |step| start + step);
        at = end;
        if is_secret_argument(&text[start..end]) {
            found.extend(argument_after(text, end));
        }
    }
    found
}

/// Whether a word is an argument whose value is a secret and is the next word.
pub(crate) fn is_secret_argument(word: &str) -> bool {
    let argument = word.rsplit('=').next().unwrap_or_default();
    argument.starts_with('-') && names_secret(argument)
}

/// The word after an argument that ends here: on the same line, or the next item of a list.
fn argument_after(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    let is_gap = |c: char| c.is_whitespace() || "\"'`,\\".contains(c);
    let gap = &rest[..rest.find(|c| !is_gap(c)).unwrap_or(rest.len())];
    if !gap.contains([' ', '\t', ',']) || (gap.contains('\n') && !gap.contains(',')) {
        return None;
    }
    let before_quotes = gap.trim_end_matches(['"', '\'', '`', '\\']);
    values_after(text, end + before_quotes.len(), Extent::Text).into_iter().next()
}
