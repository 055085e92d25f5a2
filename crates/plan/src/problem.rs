//! One problem of a plan, and its place.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Byte range in the source; `None` when something is missing from the plan.
    pub span: Option<Range<usize>>,
    pub message: String,
    /// The allowed values, the nearest valid spelling, or the remedy.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn syntax(error: &toml_edit::TomlError) -> Self {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        let help = "a plan is TOML: `key = value` below `[table]` headers".to_owned();
        Self { span: error.span(), message, help: Some(help) }
    }
}
