//! Finds the bounds of quoted text in TOML, in JSON, and in Rust's `Debug` output of both.

/// The opening quotes of a text, also escaped or triple quotes; empty when there are none.
pub(super) fn fence(text: &str) -> &str {
    let fences = [r#"\""#, r"\'", r#"""""#, "'''", "\"", "'"];
    let found = fences.into_iter().find(|fence| text.starts_with(fence));
    &text[..found.map_or(0, str::len)]
}

/// The end of a quoted text: at its unescaped fence, or at the end of the line if there is none.
pub(super) fn end_of_quoted(rest: &str, fence: &str) -> usize {
    let escapes = fence.starts_with('"');
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with(fence) || (fence.len() < 3 && here.starts_with('\n')) {
            return at;
        }
        let step = if escapes && here.starts_with('\\') { 2 } else { 1 };
        at += here.chars().take(step).map(char::len_utf8).sum::<usize>();
    }
    rest.len()
}
