//! The inputs of a target that are kept in the repository: a text file with one input a line, in which bytes that cannot
//! be read are written as in Rust's byte strings. Lines that begin with `#` are comments.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// The folder of all corpora.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"))
}

fn file(target: &str) -> PathBuf {
    folder().join(target).with_extension("txt")
}

/// The inputs of a target.
///
/// # Panics
/// When its file cannot be read, or has a line that is no input.
pub fn read(target: &str) -> Vec<Vec<u8>> {
    let file = file(target);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => panic!("cannot read {}: {error}", file.display()),
    };
    inputs(&text).unwrap_or_else(|line| panic!("{}:{line} is no input", file.display()))
}

/// The inputs of a corpus, or the number of a line that is none.
fn inputs(text: &str) -> Result<Vec<Vec<u8>>, usize> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(index, line)| input(line).ok_or(index + 1)).collect()
}

/// An input as a line of a corpus.
pub fn line(input: &[u8]) -> String {
    let mut line = String::new();
    for (at, byte) in input.iter().enumerate() {
        let is_last = at + 1 == input.len();
        match byte {
            b'#' if at == 0 => line.push_str("\\x23"),
            b' ' if is_last => line.push_str("\\x20"),
            b'\'' | b'"' => line.push(char::from(*byte)),
            _ => write!(line, "{}", byte.escape_ascii()).expect("a text takes every text"),
        }
    }
    line
}

/// The input that a line stands for.
fn input(line: &str) -> Option<Vec<u8>> {
    let mut bytes = line.bytes();
    let mut input = Vec::new();
    while let Some(byte) = bytes.next() {
        input.push(if byte == b'\\' { escaped(&mut bytes)? } else { byte });
    }
    Some(input)
}

/// The byte that the characters after a backslash stand for.
fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match bytes.next()? {
        b't' => b'\t',
        b'n' => b'\n',
        b'r' => b'\r',
        b'\\' => b'\\',
        b'x' => 16 * digit(bytes.next()?)? + digit(bytes.next()?)?,
        _ => return None,
    })
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_back() {
        let all: Vec<u8> = (0..=255).collect();
        let line = line(&all);
        assert!(line.is_ascii() && !line.contains(char::is_control), "{line}");
        assert_eq!(input(&line), Some(all));
    }

    #[test]
    fn an_input_is_never_a_comment_and_keeps_its_last_blank() {
        assert_eq!(line(b"# \"x\" "), "\\x23 \"x\"\\x20");
        assert_eq!(
            inputs("# why\n\\x23 \"x\"\\x20\n\n\\t\\\\"),
            Ok(vec![b"# \"x\" ".to_vec(), b"\t\\".to_vec()])
        );
    }

    #[test]
    fn a_line_that_is_no_input_is_named() {
        for line in ["\\", "\\q", "\\x", "\\x1", "\\xg0"] {
            assert_eq!(inputs(&format!("a\n{line}\n")), Err(2), "{line}");
        }
    }
}
