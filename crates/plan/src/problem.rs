//! What is wrong with a plan, and where.

use std::fmt;
use std::ops::Range;

/// One thing wrong, at one place of the plan's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Byte range in the source; `None` when the thing is missing altogether.
    pub span: Option<Range<usize>>,
    /// What was seen, in one line.
    pub message: String,
    /// What is allowed, the nearest right spelling, or what to do.
    pub help: Option<String>,
}

impl Problem {
    /// Text that is no TOML.
    pub(crate) fn syntax(error: &toml_edit::TomlError) -> Self {
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        let help = "a plan is TOML: key = value below [table] headers".to_owned();
        Self { span: error.span(), message, help: Some(help) }
    }
}

/// Everything wrong with a plan, ready to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// At least one.
    pub problems: Vec<Problem>,
    /// The plan's text with the places marked.
    pub rendered: String,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for Problems {}
