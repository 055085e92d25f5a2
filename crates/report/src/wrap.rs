//! Text in lines of a width. Widths are columns of a terminal: a wide character takes two.

use unicode_width::UnicodeWidthStr;

/// How much further the rest of a folded line is indented.
const HANG: usize = 2;

/// Breaks the lines that are wider than `width` at spaces and indents the rest of each. A word that is wider than a line,
/// such as a path, stays whole so that it can be copied. Without a width the text stays as it is.
pub fn fold(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => out.push_str(&format!("{}\n", folded(line, width))),
            None => out.push_str(&folded(line, width)),
        }
    }
    out
}

fn folded(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    let room = |indent: usize| width.saturating_sub(indent);
    let lines = fill(words(body), room(indent), room(indent + HANG));
    let rest = format!("\n{}", " ".repeat(indent + HANG));
    format!("{}{}", " ".repeat(indent), lines.join(&rest))
}

/// The lines of a cell, each at most `width` wide, broken at spaces. Words that are wider are broken too.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    fill(words(text).flat_map(|word| pieces(word, width)), width, width)
}

pub(crate) fn widest_word(text: &str) -> usize {
    words(text).map(UnicodeWidthStr::width).max().unwrap_or_default()
}

/// The words of a text, between single spaces. A per cent sign belongs to its number.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut spaces = text.match_indices(' ').map(|(at, _)| at);
        let end = spaces.find(|at| !text[at + 1..].starts_with('%'));
        rest = end.map(|at| &text[at + 1..]);
        Some(end.map_or(text, |at| &text[..at]))
    })
}

/// As many words as fit in each line: `first` wide, the others `rest`. There is at least one line.
fn fill<'t>(words: impl Iterator<Item = &'t str>, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let width = if lines.len() <= 1 { first } else { rest };
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            // Spaces at the end of a line.
            Some(_) if word.is_empty() => {}
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A word in pieces of at most `width`, which end in punctuation where possible. A piece has at least one character.
fn pieces(word: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.width() > width {
        let ends = rest.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
        let fitting: Vec<(usize, char)> =
            ends.take_while(|(end, _)| rest[..*end].width() <= width).collect();
        let punctuation = fitting.iter().rfind(|(_, c)| "_/-.,:=".contains(*c));
        let one = rest.chars().next().map_or(0, char::len_utf8);
        let end = punctuation.or(fitting.last()).map_or(one, |(end, _)| *end);
        let (piece, others) = rest.split_at(end);
        pieces.push(piece);
        rest = others;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_rest_of_a_line_is_indented_and_a_path_stays_whole() {
        let text = "- a b c d e\n    f g h i\nrecord  /a/path/without/end\nshort\n";
        assert_eq!(
            fold(text, Some(8)),
            "- a b c\n  d e\n    f g\n      h\n      i\nrecord\n  /a/path/without/end\nshort\n"
        );
        assert_eq!(fold(text, None), text);
    }

    #[test]
    fn words_that_are_too_wide_are_broken_after_punctuation() {
        assert_eq!(wrap("oltp_point_select x", 12), ["oltp_point_", "select x"]);
        assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap("", 4), [""]);
        // Spaces before a per cent sign are no place to break.
        assert_eq!(wrap("errors 0.1 %, p99", 10), ["errors", "0.1 %, p99"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("表表表", 5), ["表表", "表"]);
        assert_eq!(widest_word("µs 表表"), 4);
    }

    fn without_spaces(text: &str) -> String {
        text.split_whitespace().collect()
    }

    proptest! {
        #[test]
        fn a_wrapped_cell_fits_and_loses_nothing(text in "[a-z_µ表 ]{0,60}", width in 2_usize..40) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            prop_assert_eq!(without_spaces(&lines.concat()), without_spaces(&text));
        }

        #[test]
        fn folded_lines_fit_and_lose_no_word(text in "[a-z表 \n]{0,200}", width in 24_usize..60) {
            let short: Vec<&str> = text.split(' ').filter(|word| word.width() <= 8).collect();
            let text = short.join(" ");
            let folded = fold(&text, Some(width));
            let of_words = |line: &&str| !line.trim().is_empty();
            prop_assert!(folded.lines().filter(of_words).all(|it| it.width() <= width), "{folded}");
            prop_assert!(folded.split_whitespace().eq(text.split_whitespace()));
        }
    }
}
