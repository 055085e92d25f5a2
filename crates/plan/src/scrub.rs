//! Passwords are blanked in everything that is written or shown.

use std::ops::Range;

/// What stands in a password's place.
const BLANK: &str = "***";

/// The text with the password of every URL blanked, `scheme://user:***@host`, and the value of
/// every key that is named like a secret.
pub fn scrub(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets(text) {
        clean.push_str(&text[from..secret.start]);
        clean.push_str(BLANK);
        from = secret.end;
    }
    clean.push_str(&text[from..]);
    clean
}

/// The value of an option, blanked when its key says that it is a secret.
pub(crate) fn value_of(key: &str, value: &str) -> String {
    if is_secret(key) { BLANK.to_owned() } else { scrub(value) }
}

/// Where a place of the text lies once the text is scrubbed.
pub(crate) fn moved(text: &str, place: &Range<usize>) -> Range<usize> {
    let secrets = secrets(text);
    let start = moved_offset(&secrets, place.start);
    start..moved_offset(&secrets, place.end).max(start)
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

/// Byte ranges of secrets, ascending and apart.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = url_passwords(text);
    found.extend(bare_logins(text));
    found.extend(secret_values(text));
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// `scheme://user:PASSWORD@`: the last `@` ends the login, so that a password with `@`, `/` or
/// `:` in it is blanked whole. Rather too much is blanked than too little.
fn url_passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let address = &text[start..start + end_of_address(text, at, start)];
        let Some(login_end) = address.rfind('@') else { continue };
        if let Some(colon) = address[..login_end].find(':') {
            found.push(start + colon + 1..start + login_end);
        }
    }
    found.retain(|range| !range.is_empty());
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
    found.retain(|range| !range.is_empty());
    found
}

/// An address in quotes ends with them, any other with the next space.
fn end_of_address(text: &str, mark: usize, start: usize) -> usize {
    let is_scheme = |c: char| c.is_alphanumeric() || "+.-_".contains(c);
    let before = text[..mark].trim_end_matches(is_scheme);
    let rest = &text[start..];
    match before.chars().next_back() {
        Some(quote @ ('"' | '\'' | '`')) => {
            let quotes = before.len() - before.trim_end_matches(quote).len();
            let fence = if quotes >= 3 { 3 } else { 1 };
            end_of_quoted(rest, &before[before.len() - fence..])
        }
        _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
    }
}

/// `password = "SECRET"` and its like, in TOML or in a URL's query.
fn secret_values(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (equals, _) in text.match_indices('=') {
        let before = text[..equals].trim_end_matches([' ', '\t', '"', '\'']);
        let key = before.rsplit(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).next();
        if key.is_some_and(is_secret) {
            found.extend(value_after(text, equals + 1));
        }
    }
    found
}

/// The value that begins behind an equals sign, without its quotes.
fn value_after(text: &str, from: usize) -> Option<Range<usize>> {
    let padding = text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len();
    let start = from + padding;
    let quote = text[start..].chars().next()?;
    if quote == '"' || quote == '\'' {
        let quotes = text[start..].len() - text[start..].trim_start_matches(quote).len();
        let fence = if quotes >= 3 { 3 } else { 1 };
        let inside = start + fence;
        let rest = &text[inside..];
        let end = end_of_quoted(rest, &text[start..inside]);
        return Some(inside..inside + end).filter(|range| !range.is_empty());
    }
    let stops = |c: char| c.is_whitespace() || "&,;}\"'`".contains(c);
    let end = text[start..].find(stops).unwrap_or(text[start..].len());
    Some(start..start + end).filter(|range| !range.is_empty())
}

/// Where a quoted text ends: at its fence, not escaped, or with its line when it never does.
fn end_of_quoted(rest: &str, fence: &str) -> usize {
    let escapes = fence.starts_with('"');
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with(fence) || (fence.len() == 1 && here.starts_with('\n')) {
            return at;
        }
        let step = if escapes && here.starts_with('\\') { 2 } else { 1 };
        at += here.chars().take(step).map(char::len_utf8).sum::<usize>();
    }
    rest.len()
}

/// Whether a key holds a secret itself, rather than the name of a place where one is.
fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase().replace('-', "_");
    ["password", "passwd", "pwd", "secret", "token"]
        .iter()
        .any(|word| key == *word || key.ends_with(&format!("_{word}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_space_of_several_bytes_before_a_login_is_no_panic() {
        assert_eq!(scrub("to\u{85}me:secret@host"), "to\u{85}me:***@host");
    }

    proptest! {
        #[test]
        fn no_password_is_left_and_toml_stays_toml(password in "[!-~]{5,12}", key in "url|use") {
            let mut document = toml_edit::DocumentMut::new();
            document[&key] = toml_edit::value(format!("mysql://u:{password}@h/d"));
            document["password"] = toml_edit::value(password.as_str());
            document["seed"] = toml_edit::value(1);
            let clean = scrub(&document.to_string());
            prop_assert!(!clean.contains(&password), "{clean}");
            let read = clean.parse::<toml_edit::DocumentMut>();
            prop_assert!(read.is_ok(), "{clean}");
            let url = read.unwrap()[&key].as_str().map(str::to_owned);
            prop_assert_eq!(url.as_deref(), Some("mysql://u:***@h/d"), "{}", clean);
        }

        #[test]
        fn scrubbing_twice_is_scrubbing_once(text in "[a-z:/@=\"' \n*p]{0,40}") {
            prop_assert_eq!(scrub(&scrub(&text)), scrub(&text));
        }
    }

    #[test]
    fn passwords_of_urls_are_blanked() {
        for (text, clean) in [
            ("mysql://root@h:3306/test", "mysql://root@h:3306/test"),
            ("mysql://h:3306/test", "mysql://h:3306/test"),
            ("mysql://u:p@h:3306/test", "mysql://u:***@h:3306/test"),
            ("mysql://u:@h", "mysql://u:@h"),
            ("x mysql://u:p@h y a@b", "x mysql://u:***@h y a@b"),
            (r#"url = "mysql://u:p@ss/w:d?x@h/t""#, r#"url = "mysql://u:***@h/t""#),
            (r#"url = "mysql://u:p'w \" q@h/t""#, r#"url = "mysql://u:***@h/t""#),
            (r#"["a://u:p@h", 'b://v:q@i']"#, r#"["a://u:***@h", 'b://v:***@i']"#),
            (r#"url = "mysql://u:p@h"#, r#"url = "mysql://u:***@h"#),
            (r#"["u:p@h:3306/t", 'u:p@tcp(h)/t']"#, r#"["u:***@h:3306/t", 'u:***@tcp(h)/t']"#),
            ("--system=u:p@x@h", "--system=u:***@h"),
            ("root@h:3306: denied for 'root'@'h'", "root@h:3306: denied for 'root'@'h'"),
        ] {
            assert_eq!(scrub(text), clean);
        }
    }

    #[test]
    fn values_of_secret_keys_are_blanked() {
        for (text, clean) in [
            ("password = \"p w\"\nx = 1", "password = \"***\"\nx = 1"),
            ("root-password='p'", "root-password='***'"),
            ("\"password\" = \"p\\\"q\" # p", "\"password\" = \"***\" # p"),
            ("password = \"\"\"p\nq\"\"\"", "password = \"\"\"***\"\"\""),
            ("mysql://h/t?password=p&x=1", "mysql://h/t?password=***&x=1"),
            ("password = \"p\nx = 1", "password = \"***\nx = 1"),
            ("password_file = \"f\"", "password_file = \"f\""),
            ("password_env = \"E\"", "password_env = \"E\""),
        ] {
            assert_eq!(scrub(text), clean);
        }
    }

    #[test]
    fn places_move_with_the_text() {
        let text = "url = \"m://u:secret@h\"\nkind = 4";
        let clean = scrub(text);
        let place = |text: &str, part: &str| {
            let start = text.find(part).expect("the part is there");
            start..start + part.len()
        };
        assert_eq!(moved(text, &place(text, "kind")), place(&clean, "kind"));
        assert_eq!(moved(text, &place(text, "url")), place(&clean, "url"));
        let quoted = moved(text, &place(text, "\"m://u:secret@h\""));
        assert_eq!(quoted, place(&clean, "\"m://u:***@h\""));
        assert_eq!(&clean[moved(text, &place(text, "secret"))], "***");
    }
}
