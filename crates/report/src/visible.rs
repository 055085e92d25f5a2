//! Makes control characters visible. Texts come from servers and from records of other people: a terminal would obey
//! them, and hide or invent what it shows.

use std::borrow::Cow;

use serde::Serialize;

/// A text with a sign in place of each control character, but line ends and tabs: `␛` for escape. Those without a
/// sign, and characters that change the direction of the text around them, become `\u{fffd}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| sign(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| sign(c).unwrap_or(c)).collect())
}

/// A value as JSON for people and programs, with the same characters written as `\u009b`: JSON escapes only the first 32
/// by itself. They are in its texts alone, so that it means the same.
pub(crate) fn pretty_json<T: Serialize>(value: &T) -> String {
    let json = serde_json::to_string_pretty(value);
    let json = json.expect("plain values with text keys always have a JSON form") + "\n";
    if json.chars().all(|c| sign(c).is_none()) {
        return json;
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        match sign(c) {
            Some(_) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            None => shown.push(c),
        }
    }
    shown
}

fn sign(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => None,
        // Unicode, Control Pictures.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        // Unicode Standard Annex 9, 2.1 to 2.5; line and paragraph separators.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_control_characters_means_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{7f}\u{1b}\n\"é";
        let json = pretty_json(&[text]);
        assert_eq!(json, "[\n  \"a\\u009b31m\\u202e\\u007f\\u001b\\n\\\"é\"\n]\n");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn control_characters_are_shown_as_signs() {
        assert_eq!(visible("\u{1b}]0;x\u{7}\r\u{8}\0\u{7f}"), "␛]0;x␇␍␈␀␡");
        // The 8-bit form of escape with a bracket, and a switch of the direction.
        assert_eq!(visible("\u{9b}31m \u{202e}x"), "\u{fffd}31m \u{fffd}x");
        let kept = "Ärger\n\tµs 日本 ␛";
        assert!(matches!(visible(kept), Cow::Borrowed(text) if text == kept));
    }
}
