//! The secret values of a plan, which are blanked wherever they occur later.

use toml_edit::{DocumentMut, Item, TableLike, Value};
use zeroize::Zeroize;

use crate::options::normal;
use crate::scrub::{BLANK, Extent, in_places, is_secret_argument, metadata_secret};
use crate::{Source, hide, names_secret, scrub};

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
    pub(crate) fn secrets(&self) -> Vec<String> {
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
        Value::String(text) if normal(key) == "metadata" => {
            let text = text.value();
            found.extend(metadata_secret(text).map(|secret| text[secret].to_owned()));
        }
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
