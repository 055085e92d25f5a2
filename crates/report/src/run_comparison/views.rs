//! The comparison as text for a terminal, as Markdown and as a page.

use super::RunComparison;
use super::blocks::{document, sections};
use crate::document::Weight;
use crate::visible::visible;
use crate::{html, markdown, terminal};

impl RunComparison<'_, '_> {
    /// For a terminal; with a width, no line is wider.
    pub fn text(&self, width: Option<usize>) -> String {
        let all = terminal::sections(&sections(self), Weight::Report, width);
        format!("{}\n", visible(all.trim_end()))
    }

    /// As a page.
    pub fn html(&self) -> String {
        html::page(&document(self))
    }

    pub fn markdown(&self) -> String {
        let mut all = "# Comparison\n\n".to_owned();
        markdown::sections(&sections(self), &mut all);
        format!("{}\n", visible(all.trim_end()))
    }
}
