//! Changes of a text by its parts: words, quoted texts, groups in brackets, and members of lists. After most changes of
//! single bytes a text of JSON, TOML or SQL breaks off at once; after these a reader often goes on.

use std::ops::Range;

/// What may stand in place of a part: values of all kinds, nothing, marks, and a control character.
const INSTEAD: [&[u8]; 24] = [
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
    b"",
    b",",
    b":",
    b"=",
    b"]",
    b"}",
    b"\"",
    b"\x01",
];
/// What may come before a part.
const BEFORE: [&[u8]; 5] = [b" ", b"\t", b"\n", b"\r", b","];
/// The number of changes that need nothing but the part; [`changed_alone`] makes them.
const ALONE: usize = INSTEAD.len() + BEFORE.len() + 5;
/// How often a part is repeated. Sorting and maps of the standard library do more from 33 elements on than with fewer.
const MANY: usize = 40;

/// A text with one part changed: removed, doubled, repeated, put into a list, replaced, with something before it, or the end
/// of the text before it; or with a part of this text or of another in its place. `draw` gives a number below another one.
pub(crate) fn change(
    text: &[u8],
    others: &[Vec<u8>],
    draw: &mut impl FnMut(usize) -> usize,
) -> Vec<u8> {
    let part = random_part(text, draw);
    let other = match draw(4) {
        0 => text,
        1 => others.get(draw(others.len().max(1))).map_or(text, Vec::as_slice),
        _ => return changed_alone(text, part, draw(ALONE)),
    };
    let new = &other[random_part(other, draw)];
    [&text[..part.start], new, &text[part.end..]].concat()
}

/// Each change of one part that needs nothing but the part.
#[cfg(any(fuzzing, test))]
pub(crate) fn each_change(text: Vec<u8>) -> impl Iterator<Item = Vec<u8>> + Send {
    let tokens = tokens(&text);
    (0..tokens.len() * 2 * ALONE).map(move |number| {
        let (place, change) = (number / ALONE, number % ALONE);
        let part = part(&text, &tokens[place / 2..], place.is_multiple_of(2));
        changed_alone(&text, part, change)
    })
}

/// The text with one of the `ALONE` changes of a part.
fn changed_alone(text: &[u8], part: Range<usize>, change: usize) -> Vec<u8> {
    let (before, old, after) = (&text[..part.start], &text[part.clone()], &text[part.end..]);
    if let Some(new) = INSTEAD.get(change) {
        return [before, new, after].concat();
    }
    if let Some(new) = BEFORE.get(change - INSTEAD.len()) {
        return [before, new, old, after].concat();
    }
    match change - INSTEAD.len() - BEFORE.len() {
        0 => before.to_vec(),
        1 => [before, old, old, after].concat(),
        2 => [before, b"[", old, b"]", after].concat(),
        3 => [before, &many(old), after].concat(),
        _ => [before, &as_list(old), after].concat(),
    }
}

/// A member of a list many times, each with a name of its own, a group many times, or a long text.
fn many(part: &[u8]) -> Vec<u8> {
    let tokens = tokens(part);
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Vec::new() };
    let is_quoted = matches!(part[0], b'"' | b'\'' | b'`') && first.len() > 1;
    let name = if is_quoted { &part[..first.end - 1] } else { &part[first.clone()] };
    if first == last {
        // A text alone, whose quotes stay.
        let inner = &part[usize::from(is_quoted)..name.len()];
        return [&part[..name.len()], &inner.repeat(MANY - 1), &part[name.len()..]].concat();
    }
    let is_named = is_quoted || is_of_word(&part[0]);
    let separator: &[u8] = if is_separator(part[last.start]) { b"" } else { b"," };
    let copy = |number: usize| {
        let number = if is_named { number.to_string() } else { String::new() };
        [name, number.as_bytes(), &part[name.len()..], separator].concat()
    };
    (1..MANY).flat_map(copy).chain(part.iter().copied()).collect()
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'&' | b'\n')
}

/// A group of named values as a list of the values alone, as some formats allow.
fn as_list(group: &[u8]) -> Vec<u8> {
    let mut list = Vec::with_capacity(group.len());
    let mut depth = 0_usize;
    for token in tokens(group) {
        let is_outside = depth <= 1;
        match group[token.start] {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match group[token.start] {
            b'{' if is_outside && list.is_empty() => list.push(b'['),
            b'}' if depth == 0 => list.push(b']'),
            // What comes before the mark is the name.
            b':' | b'=' if is_outside => {
                let end = list.iter().rposition(|byte| matches!(byte, b',' | b'['));
                list.truncate(end.map_or(0, |end| end + 1));
            }
            _ => list.extend_from_slice(&group[token]),
        }
    }
    list
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
        part.end = token.end;
        if depth == 0 && (is_separator(text[token.start]) || !is_member) {
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
        let removal = INSTEAD.iter().position(|new| new.is_empty()).expect("a removal");
        let end = INSTEAD.len() + BEFORE.len();
        // The member that begins with token 4, which is `b`.
        assert_eq!(changed(&[4, 0, 2, removal]), "a=1;c=4");
        assert_eq!(changed(&[4, 0, 2, end]), "a=1;");
        assert_eq!(changed(&[4, 0, 2, end + 1]), "a=1;b=(2;3);b=(2;3);c=4");
        // The group that begins with token 6.
        assert_eq!(changed(&[6, 1, 2, 0]), "a=1;b=null;c=4");
        assert_eq!(changed(&[6, 1, 3, INSTEAD.len() + 1]), "a=1;b=\t(2;3);c=4");
        assert_eq!(changed(&[6, 1, 2, end + 2]), "a=1;b=[(2;3)];c=4");
        assert_eq!(changed(&[6, 1, 0, 0, 1]), "a=1;b=a;c=4");
        assert_eq!(changed(&[6, 1, 1, 0, 0, 1]), "a=1;b=d;c=4");
        assert_eq!(change(b"", &[], &mut |_| 0), b"");
    }

    #[test]
    fn each_change_of_each_part_is_made_once() {
        let changed: Vec<_> = each_change(b"x y".to_vec()).collect();
        assert_eq!(changed.len(), 3 * 2 * ALONE);
        let expected: [&[u8]; 5] = [b"null y", b"x\n y", b"x", b"x[ ]y", b"x ,y"];
        assert!(expected.iter().all(|text| changed.iter().any(|it| it == text)), "{changed:?}");
    }

    #[test]
    fn a_repeated_part_has_names_of_its_own() {
        let many = |text: &str| String::from_utf8(many(text.as_bytes())).unwrap();
        let members = many(r#""a":{"b":1},"#);
        assert!(members.starts_with(r#""a1":{"b":1},"a2":{"b":1},"#), "{members}");
        assert!(members.ends_with(r#""a39":{"b":1},"a":{"b":1},"#), "{members}");
        assert_eq!(many("a=1").split(',').nth(38), Some("a39=1"));
        assert_eq!(many(r#"{"a":1}"#), [r#"{"a":1}"#; MANY].join(","));
        assert_eq!(many(r#""ab""#), format!("\"{}\"", "ab".repeat(MANY)));
        assert_eq!((many("7"), many("\"")), ("7".repeat(MANY), "\"".repeat(MANY)));
        assert_eq!(many(""), "");
    }

    #[test]
    fn a_group_becomes_the_list_of_its_values() {
        let list = |text: &str| String::from_utf8(as_list(text.as_bytes())).unwrap();
        assert_eq!(list(r#"{"a":1,"b":{"c":[2]},"d":"e"}"#), r#"[1,{"c":[2]},"e"]"#);
        assert_eq!(list("{}"), "[]");
        assert_eq!(list("a"), "a");
    }
}
