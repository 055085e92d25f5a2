//! Passwords are blanked in everything that is written or shown.
//!
//! A secret is found in two ways: by its place (the password of a URL, the value of a key or of an argument that is
//! named like a secret, the password of an SQL statement), and by its value, once this is known ([`hide`]). In doubt,
//! text is blanked.

mod known;
mod names;
mod places;
mod words;

use std::ops::Range;

pub use known::hide;
pub(crate) use names::BLANK;
use names::is_switch;
pub use names::{names_secret, names_secret_header};
pub(crate) use places::{Extent, in_places, is_secret_argument, metadata_secret};
pub use words::scrub_words;

/// Limit of passes: blanking may reveal another secret, for example where one bracket of a list was blanked. Text that takes
/// more is blanked as a whole.
const PASSES_MAX: usize = 32;
/// The text with every secret blanked, as in `scheme://user:***@host`.
pub fn scrub(text: &str) -> String {
    scrub_as(text, Extent::Text)
}

/// The value of the setting `name`, blanked when the name is that of a secret.
pub fn scrub_setting(name: &str, value: &str) -> String {
    if names_secret(name) && !is_switch(value) { BLANK.to_owned() } else { scrub(value) }
}

/// The position of a place after the text is scrubbed.
pub(crate) fn moved(text: &str, place: &Range<usize>) -> Range<usize> {
    let mut place = place.clone();
    let pass = |secrets: &[Range<usize>]| {
        let start = moved_offset(secrets, place.start);
        place = start..moved_offset(secrets, place.end).max(start);
    };
    match blanked_in_passes(text, Extent::Text, pass) {
        Some(_) => place,
        None => 0..BLANK.len(),
    }
}

fn scrub_as(text: &str, extent: Extent) -> String {
    blanked_in_passes(text, extent, |_| ()).unwrap_or_else(|| BLANK.to_owned())
}

/// The text when no pass finds anything more, each of which has told what it blanks; `None` if it takes too many.
fn blanked_in_passes(
    text: &str,
    extent: Extent,
    mut pass: impl FnMut(&[Range<usize>]),
) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..PASSES_MAX {
        let secrets = secrets(&text, extent);
        let clean = blanked(&text, &secrets);
        if clean == text {
            return Some(text);
        }
        pass(&secrets);
        text = clean;
    }
    None
}

fn blanked(text: &str, secrets: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        clean.push_str(&text[from..secret.start]);
        clean.push_str(BLANK);
        from = secret.end;
    }
    clean.push_str(&text[from..]);
    clean
}

fn moved_offset(secrets: &[Range<usize>], offset: usize) -> usize {
    let mut moved = offset;
    for secret in secrets.iter().filter(|secret| secret.start < offset) {
        let passed = offset.min(secret.end) - secret.start;
        let kept = if offset >= secret.end { BLANK.len() } else { passed.min(BLANK.len()) };
        moved = moved - passed + kept;
    }
    moved
}

/// Byte ranges of secrets, ascending and disjoint.
fn secrets(text: &str, extent: Extent) -> Vec<Range<usize>> {
    let mut found = in_places(text, extent);
    found.extend(known::in_text(text));
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

#[cfg(test)]
mod tests;
