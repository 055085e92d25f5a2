//! A Rust file as the checks see it: lines, and where its tests begin.

use super::Finding;

/// A Rust file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Path from the repository's root, with `/`.
    pub file: String,
    pub text: String,
    /// Whether all of it is test code.
    pub is_test: bool,
}

impl Source {
    pub(super) fn new(file: String, text: String) -> Self {
        let is_test = file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches"));
        Self { file, text, is_test }
    }

    /// The file's own name.
    pub(super) fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    /// Path prefixes of modules that it declares for its tests only.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let folder = match self.file.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
            _ => self.file.trim_end_matches(".rs"),
        };
        let lines = self.text.lines().zip(self.text.lines().skip(1));
        lines
            .filter(|(line, _)| line.trim() == "#[cfg(test)]")
            .filter_map(|(_, next)| next.trim().strip_suffix(';')?.rsplit_once("mod "))
            .map(|(_, name)| format!("{folder}/{name}"))
            .collect()
    }

    /// Its lines with their numbers, without its tests.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = if self.is_test { 0 } else { self.tests_begin() };
        self.text.lines().take(end).enumerate().map(|(index, line)| (index + 1, line))
    }

    /// As [`Source::lines`], without comments.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().map(|(line, text)| (line, without_comment(text)))
    }

    /// How many lines come before the tests at its end.
    fn tests_begin(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        let mut pairs = lines.windows(2);
        let tests = pairs.position(|it| it[0] == "#[cfg(test)]" && it[1].ends_with("mod tests {"));
        tests.unwrap_or(lines.len())
    }

    /// The violations that a check finds in it, as printed.
    #[cfg(test)]
    pub(super) fn found(&self, check: fn(&Self) -> Vec<Finding>) -> Vec<String> {
        check(self).iter().map(Finding::to_string).collect()
    }

    /// A violation on one of its lines.
    pub(super) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { file: self.file.clone(), line, message: message.into() }
    }
}

/// A line up to its `//`, unless the `//` is in a string such as a URL.
fn without_comment(line: &str) -> &str {
    let mut is_text = false;
    let mut previous = ' ';
    for (at, letter) in line.char_indices() {
        if letter == '/' && previous == '/' && !is_text {
            return &line[..at - 1];
        }
        is_text ^= letter == '"' && !matches!(previous, '\\' | '\'');
        previous = letter;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_comments_are_set_apart() {
        let text =
            "//! Opens.\nlet a = \"x://y\"; // why\n#[cfg(test)]\nmod tests {\n    x();\n}\n";
        for text in [text.to_owned(), text.replace("mod tests", "pub(super) mod tests")] {
            let source = Source::new("crates/plan/src/a.rs".to_owned(), text);
            let code: Vec<_> = source.code().collect();
            assert_eq!(code, [(1, ""), (2, "let a = \"x://y\"; ")]);
        }
    }

    #[test]
    fn modules_that_are_for_tests_only_are_known() {
        let text = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\npub(crate) mod c;\n";
        let modules = |file: &str| Source::new(file.to_owned(), text.to_owned()).test_modules();
        assert_eq!(modules("crates/x/src/lib.rs"), ["crates/x/src/b", "crates/x/src/c"]);
        assert_eq!(modules("crates/x/src/y.rs"), ["crates/x/src/y/b", "crates/x/src/y/c"]);
    }

    #[test]
    fn files_of_tests_have_no_lines_to_check() {
        for file in ["crates/plan/src/reader/tests.rs", "crates/cli/tests/it/main.rs"] {
            let source = Source::new(file.to_owned(), "dbg\n".to_owned());
            assert_eq!(source.lines().count(), 0, "{file}");
        }
    }
}
