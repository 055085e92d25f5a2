//! Secrets in the words of a command line, where a value may contain spaces.

use super::known::BYTES_MIN;
use super::names::BLANK;
use super::places::{Extent, in_places, is_secret_argument};
use super::scrub_as;

/// Each word of a command line with its secrets blanked, also where they occur again in other words.
pub fn scrub_words(words: &[String]) -> Vec<String> {
    let mut secrets: Vec<&str> = Vec::new();
    let mut clean = Vec::new();
    let mut is_value_due = false;
    for word in words {
        // Another `-o` may come between an argument and its value: `-o arguments=--password -o arguments=x`.
        let is_flag = word.starts_with('-') && !word.contains('=');
        if is_value_due && !is_flag {
            let (key, value) = word.split_at(word.find('=').map_or(0, |equals| equals + 1));
            secrets.push(value);
            clean.push(format!("{key}{BLANK}"));
        } else {
            secrets.extend(in_places(word, Extent::Word).into_iter().map(|place| &word[place]));
            clean.push(scrub_as(word, Extent::Word));
        }
        is_value_due = is_secret_argument(word) || (is_value_due && is_flag);
    }
    // A value of letters only may also be a name: the user `sysbench` with the password `sysbench`.
    secrets.retain(|secret| {
        secret.len() >= BYTES_MIN && !secret.chars().all(|c| c.is_alphabetic() || c == '*')
    });
    let without =
        |word: String| secrets.iter().fold(word, |word, secret| word.replace(secret, BLANK));
    clean.into_iter().map(without).collect()
}
