//! Secrets in the words of a command line, where a space ends nothing.

use super::places::{Extent, is_secret_argument};
use super::{BLANK, scrub_as};

/// Each word of a command line with its secrets blanked.
pub fn scrub_words(words: &[String]) -> Vec<String> {
    let mut is_value_due = false;
    let scrub_word = |word: &String| {
        // Another `-o` may come between an argument and its value: `-o arguments=--password -o arguments=x`.
        let is_flag = word.starts_with('-') && !word.contains('=');
        let clean = if is_value_due && !is_flag {
            is_value_due = false;
            value_blanked(word)
        } else {
            scrub_as(word, Extent::Word)
        };
        is_value_due |= is_secret_argument(word);
        clean
    };
    words.iter().map(scrub_word).collect()
}

/// `x` or `arguments=x` without `x`.
fn value_blanked(word: &str) -> String {
    match word.split_once('=') {
        Some((key, _)) => format!("{key}={BLANK}"),
        None => BLANK.to_owned(),
    }
}
