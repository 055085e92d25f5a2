//! The shape of a file: how it opens, how long it is, and whether it only declares.

use super::Finding;
use super::source::Source;

/// Lines of a file without its tests.
const FILE_LINES_MAX: usize = 500;
/// Lines of a function in a file that only declares: a line of work between two braces.
const DECLARATION_LINES_MAX: usize = 5;

/// Checks one file.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.text.starts_with("//! ") {
        let message = "open the file with a `//!` line that says what lives here and why";
        findings.push(source.finding(1, message));
    }
    let length = source.lines().count();
    if length > FILE_LINES_MAX {
        let message = format!(
            "{length} lines without tests, {FILE_LINES_MAX} are the most: a file is one idea, split it"
        );
        findings.push(source.finding(FILE_LINES_MAX, message));
    }
    if matches!(source.name(), "lib.rs" | "mod.rs") {
        findings.extend(functions(source));
    }
    findings
}

/// Functions with bodies worth a file of their own.
fn functions(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (line, text) in source.code() {
        match &open {
            None if opens_a_function(text) => {
                let indent = &text[..text.len() - text.trim_start().len()];
                open = Some((line, format!("{indent}}}")));
            }
            Some((start, end)) if text.trim_end() == end => {
                let length = line - start + 1;
                if length > DECLARATION_LINES_MAX {
                    let message = format!(
                        "{} holds documentation and declarations: move this function of {length} \
                         lines to a file with a name",
                        source.name()
                    );
                    findings.push(source.finding(*start, message));
                }
                open = None;
            }
            // A declaration without a body, as in a trait.
            Some((start, _))
                if *start < line && text.trim_end().ends_with(';') && is_signature(text) =>
            {
                open = None;
            }
            _ => {}
        }
    }
    findings
}

fn opens_a_function(text: &str) -> bool {
    let words = text.trim_start();
    let is_function = words.starts_with("fn ") || words.contains(" fn ");
    is_function && !text.trim_end().ends_with([';', '}'])
}

/// The last line of a signature that took several.
fn is_signature(text: &str) -> bool {
    text.trim_start().starts_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<String> {
        Source::new(file.to_owned(), text.to_owned()).found(check)
    }

    #[test]
    fn a_file_needs_an_opening_line() {
        assert_eq!(
            found("a.rs", "use std::fs;\n"),
            ["a.rs:1: open the file with a `//!` line that says what lives here and why"]
        );
    }

    #[test]
    fn a_long_file_is_to_be_split_but_tests_do_not_count() {
        let lines = |count| format!("//! Long.\n{}", "x();\n".repeat(count));
        assert!(found("a.rs", &lines(499)).is_empty());
        assert!(found("a.rs", &lines(500))[0].starts_with("a.rs:500: 501 lines without tests"));
        assert!(found("a/tests.rs", &lines(900)).is_empty());
    }

    #[test]
    fn a_library_file_declares_and_does_not_work() {
        let work = "//! A room.\npub fn work(\n    a: u8,\n) {\n    a();\n    b();\n    c();\n}\n";
        let found_work = found("lib.rs", work);
        assert!(
            found_work[0].starts_with("lib.rs:2: lib.rs holds documentation"),
            "{found_work:?}"
        );
        assert!(found("work.rs", work).is_empty());
        let declared =
            "//! A room.\ntrait A {\n    fn a(\n        &self,\n    );\n    fn b(&self);\n}\n";
        assert!(found("lib.rs", declared).is_empty());
        let small = "//! A room.\nfn small() -> u8 {\n    1\n}\n";
        assert!(found("mod.rs", small).is_empty());
    }
}
