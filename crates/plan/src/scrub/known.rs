//! Finds secrets of the plan by their value, wherever they occur later: a server may repeat them in its messages, and
//! a build command may print them. Of each only its length and a hash are kept, with a key of this process.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{LazyLock, PoisonError, RwLock};

use toml_edit::{DocumentMut, Item, TableLike, Value};
use zeroize::{Zeroize, Zeroizing};

use super::places::{Extent, in_places, is_secret_argument};
use super::{BLANK, names_secret, scrub};
use crate::Source;

/// A shorter value is an ordinary word in too many texts: `root`, `test`.
pub(super) const BYTES_MIN: usize = 6;

/// The values passed to [`hide`].
static KNOWN: RwLock<Vec<Known>> = RwLock::new(Vec::new());

/// The key of all hashes. A text of the same length has the hash of a secret once in 2^64 times; then it is blanked.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A secret that is recognised, but not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    bytes: usize,
    hash: u64,
}

impl Known {
    fn of(secret: &str) -> Self {
        Self { bytes: secret.len(), hash: KEY.hash_one(secret.as_bytes()) }
    }

    /// Where it occurs in a text; no two places overlap.
    fn places(self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (at, window) in text.as_bytes().windows(self.bytes).enumerate() {
            let is_free = places.last().is_none_or(|last| last.end <= at);
            if is_free && text.is_char_boundary(at) && KEY.hash_one(window) == self.hash {
                places.push(at..at + self.bytes);
            }
        }
        places.retain(|place| text.is_char_boundary(place.end));
        places
    }
}

/// Makes [`scrub`] blank this value everywhere in a text, until the process ends. Values of less than six bytes are
/// not remembered.
pub fn hide(secret: &str) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let escaped = Zeroizing::new(secret.escape_debug().to_string());
    for form in [secret, &escaped] {
        let is_wanted = form.len() >= BYTES_MIN && !form.trim_matches('*').is_empty();
        let form = Known::of(form);
        if is_wanted && !known.contains(&form) {
            known.push(form);
        }
    }
}

/// All that is kept of the secrets.
#[cfg(test)]
pub(super) fn hidden() -> impl std::fmt::Debug {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Byte ranges of known secrets.
pub(super) fn in_text(text: &str) -> Vec<Range<usize>> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().flat_map(|secret| secret.places(text)).collect()
}

impl Source {
    /// Hides the secret values of the plan ([`hide`]), except for a word of letters only that the plan also uses
    /// elsewhere, such as the user `sysbench` with the password `sysbench`: blanking it would hide names and protect no
    /// secret.
    pub fn hide_secrets(&self) {
        for mut secret in self.secrets() {
            hide(&secret);
            secret.zeroize();
        }
    }

    /// The values that [`Source::hide_secrets`] hides.
    pub(super) fn secrets(&self) -> Vec<String> {
        let Ok(document) = self.text.parse::<DocumentMut>() else { return Vec::new() };
        let mut found = Vec::new();
        gather_table(document.as_table(), &mut found);
        let clean = scrub(&self.text);
        let is_a_name =
            |secret: &str| secret.chars().all(char::is_alphabetic) && clean.contains(secret);
        found.retain(|secret| secret != BLANK && !is_a_name(secret));
        found
    }
}

fn gather_table(table: &dyn TableLike, found: &mut Vec<String>) {
    for (key, item) in table.iter() {
        match item {
            Item::Value(value) => gather(key, value, found),
            Item::Table(table) => gather_table(table, found),
            Item::ArrayOfTables(tables) => {
                tables.iter().for_each(|table| gather_table(table, found));
            }
            Item::None => {}
        }
    }
}

fn gather(key: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if names_secret(key) => found.push(text.value().clone()),
        Value::String(text) => gather_text(text.value(), found),
        Value::Array(list) => {
            list.iter().for_each(|value| gather(key, value, found));
            let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            let pairs = words.windows(2).filter(|pair| is_secret_argument(pair[0]));
            found.extend(pairs.map(|pair| pair[1].to_owned()));
        }
        Value::InlineTable(table) => gather_table(table, found),
        other if names_secret(key) => found.push(other.to_string().trim().to_owned()),
        _ => {}
    }
}

/// Secrets within a text, such as the password of a URL; percent-encoding in URLs is decoded too.
fn gather_text(text: &str, found: &mut Vec<String>) {
    let is_url =
        text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(char::is_whitespace));
    let extent = if is_url { Extent::Word } else { Extent::Text };
    for place in in_places(text, extent) {
        let secret = &text[place];
        found.push(secret.to_owned());
        found.extend(percent_decoded(secret));
    }
}

/// `None` when nothing is encoded.
fn percent_decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok())?;
        bytes.push(code);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().filter(|decoded| decoded != text)
}
