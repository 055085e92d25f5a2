//! Changes of a text by its parts: words, quoted texts, groups in brackets, and members of lists. After most changes of
//! single bytes a text of JSON, TOML or SQL breaks off at once; after these a reader often goes on.

use std::ops::Range;

/// Values of all kinds, which may stand in place of another.
const VALUES: [&[u8]; 16] = [
    b"null",
    b"true",
    b"0",
    b"7",
    b"-1",
    b"1.5",
    b"1e999",
    b"18446744073709551615",
    b"18446744073709551616",
    b"\"\"",
    b"\"x\"",
    b"[]",
    b"[0,0]",
    b"{}",
    b"{\"x\":0}",
    b"\"3s\"",
];

/// A text with one part removed, doubled, put into a list, or replaced by a value or by a part of this text or of another.
/// `draw` gives a number below another one.
pub(crate) fn change(
    text: &[u8],
    others: &[Vec<u8>],
    draw: &mut impl FnMut(usize) -> usize,
) -> Vec<u8> {
    let part = random_part(text, draw);
    let old = &text[part.clone()];
    let new = match draw(7) {
        0 => Vec::new(),
        1 => [old, old].concat(),
        2 => [b"[", old, b"]"].concat(),
        3 | 4 => VALUES[draw(VALUES.len())].to_vec(),
        5 => text[random_part(text, draw)].to_vec(),
        _ => {
            let other = others.get(draw(others.len().max(1))).map_or(text, Vec::as_slice);
            other[random_part(other, draw)].to_vec()
        }
    };
    [&text[..part.start], &new, &text[part.end..]].concat()
}

fn random_part(text: &[u8], draw: &mut impl FnMut(usize) -> usize) -> Range<usize> {
    let tokens = tokens(text);
    match tokens.len() {
        0 => 0..0,
        count => part(text, &tokens[draw(count)..], draw(2) == 0),
    }
}

/// Quoted texts, words and numbers, runs of blanks, and single bytes.
fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = end_of_token(text, start);
        tokens.push(start..end);
        start = end;
    }
    tokens
}

/// The part that begins with the first of these tokens: to the bracket that closes it, or to the separator after its member
/// of a list.
fn part(text: &[u8], tokens: &[Range<usize>], is_member: bool) -> Range<usize> {
    let mut depth = 0_usize;
    let mut part = tokens[0].clone();
    for token in tokens {
        match text[token.start] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return part,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        let is_separator = matches!(text[token.start], b',' | b';' | b'&' | b'\n');
        part.end = token.end;
        if depth == 0 && (is_separator || !is_member) {
            return part;
        }
    }
    // A bracket that nothing closes.
    if is_member { part } else { tokens[0].clone() }
}

/// The end of the token that begins at `start`: a quoted text, a word or number, a run of blanks, or a byte.
fn end_of_token(text: &[u8], start: usize) -> usize {
    let run = |is_in: fn(&u8) -> bool| {
        start + text[start..].iter().position(|byte| !is_in(byte)).unwrap_or(text.len() - start)
    };
    match text[start] {
        b'"' | b'\'' | b'`' => end_of_quoted(text, start),
        byte if is_of_word(&byte) => run(is_of_word),
        b' ' => run(|byte| *byte == b' '),
        _ => start + 1,
    }
}

/// The end of a quoted text; of a quote alone when no other follows.
fn end_of_quoted(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == text[start] => return at + 1,
            _ => at += 1,
        }
    }
    start + 1
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.') || *byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_brackets_and_a_member_its_separator() {
        let text = r#"{"a": [1, {"b":"x,\"]"}], "c" : -1.5e3} ["#;
        let tokens = tokens(text.as_bytes());
        let parts = |is_member| {
            let part = |first| &text[part(text.as_bytes(), &tokens[first..], is_member)];
            (0..tokens.len()).map(part).collect::<Vec<_>>()
        };
        let (alone, members) = (parts(false), parts(true));
        assert_eq!(alone[0], &text[..text.len() - 2]);
        assert_eq!((alone[1], members[1]), (r#""a""#, r#""a": [1, {"b":"x,\"]"}],"#));
        for part in [r#"{"b":"x,\"]"}"#, r#""x,\"]""#, "-1.5e3", "}", "["] {
            assert!(alone.contains(&part) && members.contains(&part), "{part} in {alone:?}");
        }
        assert!(members.contains(&r#" "c" : -1.5e3"#), "{members:?}");
    }

    #[test]
    fn one_part_is_changed_and_the_rest_stays() {
        let (text, other) = (b"a=1;b=(2;3);c=4", b"d".to_vec());
        let changed = |draws: &[usize]| {
            let mut draws = draws.iter();
            let draw = &mut |below| *draws.next().expect("a draw") % below;
            String::from_utf8(change(text, std::slice::from_ref(&other), draw)).expect("a text")
        };
        // The member that begins with token 4, which is `b`.
        assert_eq!(changed(&[4, 0, 0]), "a=1;c=4");
        assert_eq!(changed(&[4, 0, 1]), "a=1;b=(2;3);b=(2;3);c=4");
        // The group that begins with token 6.
        assert_eq!(changed(&[6, 1, 2]), "a=1;b=[(2;3)];c=4");
        assert_eq!(changed(&[6, 1, 3, 0]), "a=1;b=null;c=4");
        assert_eq!(changed(&[6, 1, 5, 0, 1]), "a=1;b=a;c=4");
        assert_eq!(changed(&[6, 1, 6, 0, 0, 1]), "a=1;b=d;c=4");
        assert_eq!(change(b"", &[], &mut |_| 0), b"");
    }
}
