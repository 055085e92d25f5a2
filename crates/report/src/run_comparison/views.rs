//! The comparison as text for a terminal, and as Markdown.

use super::RunComparison;
use super::blocks::{Block, blocks};
use crate::table::escape_markdown;
use crate::visible::visible;
use crate::wrap::fold;

impl RunComparison<'_, '_> {
    /// For a terminal; with a width, no line is wider.
    pub fn text(&self, width: Option<usize>) -> String {
        let block = |Block { title, table, notes }: Block| {
            let table = match table.is_empty() {
                true => String::new(),
                false => format!("{}\n", table.text_within(width)),
            };
            let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
            let notes = fold(&notes, width);
            let end = if notes.is_empty() { "" } else { "\n" };
            format!("{title}:\n\n{table}{notes}{end}")
        };
        let all: String = blocks(self).into_iter().map(block).collect();
        format!("{}\n", visible(all.trim_end()))
    }

    pub fn markdown(&self) -> String {
        let block = |Block { title, table, notes }: Block| {
            let table =
                if table.is_empty() { String::new() } else { format!("{}\n", table.markdown()) };
            let notes = notes.iter().map(|note| format!("{}\n\n", escape_markdown(note)));
            format!("## {title}\n\n{table}{}", notes.collect::<String>())
        };
        let all: String = blocks(self).into_iter().map(block).collect();
        format!("# Comparison\n\n{}\n", visible(all.trim_end()))
    }
}
