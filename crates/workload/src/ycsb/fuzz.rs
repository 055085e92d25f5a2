//! A property of property files that holds for any text.

use std::fmt::Write as _;

use super::properties::parse;

fuzzing::targets! {
    ycsb_properties: properties;
}

/// Properties whose letters are all written as escapes are read as the same properties.
fn properties(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let pairs = |text: &str| {
        let all = parse(text).into_iter();
        all.map(|property| (property.name, property.value)).collect::<Vec<_>>()
    };
    let read = parse(&text);
    let lines = text.lines().count();
    assert!(read.iter().all(|property| (1..=lines).contains(&property.line)));
    let escaped: String =
        read.iter().map(|it| format!("{}={}\n", escaped(&it.name), escaped(&it.value))).collect();
    assert_eq!(pairs(&escaped), pairs(&text));
}

/// A letter that needs more than four digits has no escape.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        let _ = match u16::try_from(u32::from(letter)) {
            Ok(code) => write!(escaped, "\\u{code:04x}"),
            Err(_) => write!(escaped, "{letter}"),
        };
    }
    escaped
}
