//! Errors in an SQL file or a template, with their lines.

use plan::Problem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// Line of the file or the template, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// What is allowed, or what to do.
    pub(crate) help: String,
}

impl Diagnostic {
    pub(crate) fn new(line: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { line, message: message.into(), help: help.into() }
    }

    /// An unknown word of some kind, with the nearest known word.
    pub(crate) fn unknown(line: usize, kind: &str, word: &str, allowed: &[&str]) -> Self {
        let list = allowed.join(", ");
        let help = match plan::nearest(word, allowed) {
            Some(nearest) => format!("did you mean `{nearest}`? allowed: {list}"),
            None if allowed.is_empty() => "nothing is allowed here".to_owned(),
            None => format!("allowed: {list}"),
        };
        Self::new(line, format!("unknown {kind} `{word}`"), help)
    }

    /// A command of pgbench or of a client program that dyno does not have, with what to do instead; `None` for any
    /// other word.
    pub(crate) fn of_other_programs(line: usize, word: &str) -> Option<Self> {
        let help = match word {
            "setshell" | "shell" => {
                "no programs are run during the load: give a value by --define NAME=VALUE"
            }
            "g" | "G" | "gx" => "end the statement with ;",
            _ => return None,
        };
        Some(Self::new(line, format!("\\{word} is not offered"), help))
    }

    /// The error as a problem of the plan that names the file.
    pub(crate) fn of_file(self, file: &str) -> Problem {
        let message = format!("{file}:{}: {}", self.line, self.message);
        Problem { span: None, message, help: Some(self.help) }
    }
}
