//! Property files: the text format of Java's `Properties.load`, which YCSB's workload files use. A plan's options
//! override the files that it names, and the files override the preset.

use plan::declared::{Texts, texts};
use plan::{Files, Line, Options};

use super::preset::Preset;

/// The option that names property files.
pub(super) const PROPERTIES: Texts =
    texts("properties", "", "YCSB property files to read; options go before them");

/// Merges the plan's options, the properties of files and those of `preset`; earlier ones
/// override later ones. Also returns a message for each file that cannot be read.
pub(super) fn gather(preset: Preset, options: &Options, files: &Files) -> (Options, Vec<String>) {
    let mut lines: Vec<Line> =
        preset.properties().into_iter().map(|it| of_preset(preset, it)).collect();
    let mut unreadable = Vec::new();
    for file in PROPERTIES.read_list(&mut options.reader()) {
        match files.read_text(&file) {
            Ok(text) => lines.extend(parse(&text).into_iter().map(|it| it.in_file(&file))),
            Err(error) => {
                unreadable.push(format!("cannot read the properties of {file}: {error}"));
            }
        }
    }
    (options.clone().with_dotted_names().above(lines), unreadable)
}

fn of_preset(preset: Preset, (name, value): (&str, &str)) -> Line {
    let place = format!("ycsb/{}", preset.name());
    Line { name: name.to_owned(), value: value.to_owned(), place }
}

/// A property with the number of its first line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) line: usize,
}

impl Property {
    fn in_file(self, file: &str) -> Line {
        let place = format!("{file}:{}", self.line);
        Line { name: self.name, value: self.value, place }
    }
}

/// All properties of a file, in their order; a later one replaces an earlier one with the same name.
///
/// A line is `name=value`, `name: value` or `name value`. `#` and `!` begin comments, a backslash at the end
/// continues the line, and `\t`, `\n`, `\r`, `\f` and `\uXXXX` are escapes. Source: the documentation of
/// `java.util.Properties`.
pub(super) fn parse(text: &str) -> Vec<Property> {
    let mut all = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let mut whole = line.trim_start().to_owned();
        if whole.is_empty() || whole.starts_with(['#', '!']) {
            continue;
        }
        while goes_on(&whole) {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push_str(next.trim_start());
        }
        let (name, value) = split(&whole);
        all.push(Property { name: unescape(name), value: unescape(value), line: index + 1 });
    }
    all
}

/// Whether an odd number of backslashes ends the line; an even number stands for backslashes.
fn goes_on(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Splits at the first `=`, `:` or blank without a backslash before it.
fn split(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let end = line.char_indices().find(|(_, letter)| {
        let ends = !is_escaped && (matches!(letter, '=' | ':') || letter.is_ascii_whitespace());
        is_escaped = !is_escaped && *letter == '\\';
        ends
    });
    let Some((end, _)) = end else { return (line, "") };
    let rest = line[end..].trim_start();
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    // Java keeps blanks after a value, but they are never intended in a number or a word.
    (&line[..end], value.trim())
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a\\\\=: \t\nu0-9#!é\u{85}]*") {
            let all = parse(&text);
            prop_assert!(all.len() <= text.lines().count());
        }
    }

    #[test]
    fn property_files_are_read_as_java_does() {
        let text = "\u{feff}# a comment\n! another\n\nrecordcount=1000\r\n  operationcount : 3\ntable users\n\
                    long = one \\\n    two\nback=c:\\\\dir\\\\\na\\=b=c\\u0041\nempty\nlast=\\";
        let found: Vec<(String, String, usize)> =
            parse(text).into_iter().map(|one| (one.name, one.value, one.line)).collect();
        let expected = [
            ("recordcount", "1000", 4),
            ("operationcount", "3", 5),
            ("table", "users", 6),
            ("long", "one two", 7),
            ("back", "c:\\dir\\", 9),
            ("a=b", "cA", 10),
            ("empty", "", 11),
            ("last", "", 12),
        ];
        let expected =
            expected.map(|(name, value, line)| (name.to_owned(), value.to_owned(), line));
        assert_eq!(found, expected);
    }
}
