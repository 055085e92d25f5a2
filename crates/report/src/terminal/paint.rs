//! Colours of a terminal: of verdicts and emphasis alone, so that nothing is said by colour only.

/// Whether there are colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let line = |line: &str| format!("\u{1b}[{code}m{line}\u{1b}[0m");
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(super) fn doubts(self, text: &str) -> String {
        self.with("33", text)
    }

    /// The rows of a table, with the signs of their verdicts.
    pub(super) fn rows(self, table: &str) -> String {
        let row = |line: &str| {
            let marked = line.replacen(" ? ", &format!(" {} ", self.doubts("?")), 1);
            marked.replacen(" x ", &format!(" {} ", self.bad("x")), 1)
        };
        table.split('\n').map(row).collect::<Vec<_>>().join("\n")
    }
}
