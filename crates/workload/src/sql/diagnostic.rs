//! Errors in an SQL file, with their lines.

use plan::Problem;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Diagnostic {
    /// Line of the file, from 1.
    pub(super) line: usize,
    /// The problem.
    pub(super) message: String,
    /// What is allowed, or what to do.
    pub(super) help: String,
}

impl Diagnostic {
    pub(super) fn new(line: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { line, message: message.into(), help: help.into() }
    }

    /// An unknown word of some kind, with the nearest known word.
    pub(super) fn unknown(line: usize, kind: &str, word: &str, allowed: &[&str]) -> Self {
        let list = allowed.join(", ");
        let help = match plan::nearest(word, allowed) {
            Some(nearest) => format!("did you mean `{nearest}`? allowed: {list}"),
            None if allowed.is_empty() => "nothing is allowed here".to_owned(),
            None => format!("allowed: {list}"),
        };
        Self::new(line, format!("unknown {kind} `{word}`"), help)
    }

    /// The error as a problem of the plan that names the file.
    pub(super) fn of_file(self, file: &str) -> Problem {
        let message = format!("{file}:{}: {}", self.line, self.message);
        Problem { span: None, message, help: Some(self.help) }
    }
}
