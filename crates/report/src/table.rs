//! A table as a value, and its three formats: text, Markdown, HTML.

/// The column of what to know before the figures of a row are read.
const REMARKS: &str = "remarks";

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Columns with text up to this length are not wrapped.
const NAME_MAX: usize = 28;
/// CSS classes of cells.
const NUMBERS: &str = " class=\"n\"";
const NAMES: &str = " class=\"w\"";

/// Rows of text under column heads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a column of words.
    pub(crate) fn words(mut self, head: impl Into<String>) -> Self {
        self.heads.push((head.into(), Align::Left));
        self
    }

    /// Adds a column of numbers.
    pub(crate) fn numbers(mut self, head: impl Into<String>) -> Self {
        self.heads.push((head.into(), Align::Right));
        self
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.heads.len(), String::new());
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Removes the columns for which the condition holds: it gets the head and the cells of a column.
    pub(crate) fn without_columns(mut self, is_out: impl Fn(&str, &[&str]) -> bool) -> Self {
        for column in (0..self.heads.len()).rev() {
            let cells: Vec<&str> = self.rows.iter().map(|row| row[column].as_str()).collect();
            if is_out(&self.heads[column].0, &cells) {
                self.heads.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }

    /// As text, aligned with spaces.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths(|cell| cell.chars().count());
        let mut out = String::new();
        let heads: Vec<&str> = self.heads.iter().map(|(head, _)| head.as_str()).collect();
        for cells in std::iter::once(heads).chain(self.borrowed_rows()) {
            let padded: Vec<String> = cells
                .iter()
                .zip(&self.heads)
                .zip(&widths)
                .map(|((cell, (_, align)), width)| pad(cell, *align, *width))
                .collect();
            out.push_str(padded.join("  ").trim_end());
            out.push('\n');
        }
        out
    }

    /// As Markdown (GitHub's tables), aligned in the source too.
    pub(crate) fn markdown(&self) -> String {
        let escaped = self.escaped();
        let widths = escaped.widths(|cell| cell.chars().count().max(3));
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(
            escaped.heads.iter().zip(&widths).map(|((head, a), w)| pad(head, *a, *w)).collect(),
        );
        let rules = escaped.heads.iter().zip(&widths).map(|((_, align), width)| match align {
            Align::Left => "-".repeat(*width),
            Align::Right => format!("{}:", "-".repeat(width - 1)),
        });
        out.push_str(&line(rules.collect()));
        for row in &escaped.rows {
            let cells = row.iter().zip(&escaped.heads).zip(&widths);
            out.push_str(&line(cells.map(|((cell, (_, a)), w)| pad(cell, *a, *w)).collect()));
        }
        out
    }

    /// As HTML, with a caption unless it is empty.
    pub(crate) fn html(&self, caption: &str) -> String {
        let mut out = String::from("<div class=\"scroll\"><table>\n");
        if !caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>\n", escape(caption)));
        }
        out.push_str("<thead><tr>");
        for (head, align) in &self.heads {
            let class = if *align == Align::Right { NUMBERS } else { "" };
            out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(head)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let classes = self.classes();
        for row in &self.rows {
            out.push_str("<tr>");
            for (cell, class) in row.iter().zip(&classes) {
                out.push_str(&format!("<td{class}>{}</td>", escape(cell)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    /// The format of each column's cells: numbers, names that stay on one line, or text.
    fn classes(&self) -> Vec<&'static str> {
        let widths = self.widths(|cell| cell.chars().count());
        let class = |((_, align), width): (&(String, Align), &usize)| match align {
            Align::Right => NUMBERS,
            Align::Left if *width <= NAME_MAX => NAMES,
            Align::Left => "",
        };
        self.heads.iter().zip(&widths).map(class).collect()
    }

    /// Adds the column of what to know before the figures of a row are read.
    pub(crate) fn remarks(self) -> Self {
        self.words(REMARKS)
    }

    /// Removes that column when no row has a remark.
    pub(crate) fn without_empty_remarks(self) -> Self {
        let is_empty = |cells: &[&str]| cells.iter().all(|cell| cell.is_empty());
        self.without_columns(|head, cells| head == REMARKS && is_empty(cells))
    }

    fn borrowed_rows(&self) -> impl Iterator<Item = Vec<&str>> {
        self.rows.iter().map(|row| row.iter().map(String::as_str).collect())
    }

    fn widths(&self, width: impl Fn(&str) -> usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|(head, _)| width(head)).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(cell));
            }
        }
        widths
    }

    /// Escapes vertical bars and line ends, which would end a cell in Markdown.
    fn escaped(&self) -> Self {
        let cell = |text: &String| escape_markdown(text).replace('|', "\\|");
        Self {
            heads: self.heads.iter().map(|(head, align)| (cell(head), *align)).collect(),
            rows: self.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }
}

fn pad(cell: &str, align: Align, width: usize) -> String {
    match align {
        Align::Left => format!("{cell:<width$}"),
        Align::Right => format!("{cell:>width$}"),
    }
}

/// Escapes text for HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML does not allow these characters, even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for one line of Markdown: no markup, no line ends.
pub(crate) fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new().words("system").numbers("tps");
        table.row(vec!["a|b <i>".to_owned(), "1,234".to_owned()]);
        table.row(vec!["µ".to_owned(), "5".to_owned()]);
        table
    }

    #[test]
    fn text_is_aligned_by_characters() {
        insta::assert_snapshot!(sample().text(), @r"
        system     tps
        a|b <i>  1,234
        µ            5
        ");
    }

    #[test]
    fn markdown_escapes_what_would_end_a_cell() {
        insta::assert_snapshot!(sample().markdown(), @r"
        | system      |   tps |
        | ----------- | ----: |
        | a\|b &lt;i> | 1,234 |
        | µ           |     5 |
        ");
    }

    #[test]
    fn html_escapes_everything() {
        let html = sample().html("x & y");
        let row = "<td class=\"w\">a|b &lt;i&gt;</td><td class=\"n\">1,234</td>";
        assert!(html.contains(row), "{html}");
        assert!(html.contains("<caption>x &amp; y</caption>"));
        assert_eq!(escape("\u{1}\"'"), "\u{fffd}&quot;&#39;");
    }

    #[test]
    fn names_stay_on_one_line_and_sentences_may_be_broken() {
        let mut table = Table::new().words("name").words("value");
        let sentence = "closed loop, no think time, for 10 s";
        table.row(vec!["load".to_owned(), sentence.to_owned()]);
        let html = table.html("");
        let row = format!("<td class=\"w\">load</td><td>{sentence}</td>");
        assert!(html.contains(&row), "{html}");
    }

    #[test]
    fn empty_columns_are_removed() {
        let table = sample().without_columns(|head, _| head == "tps");
        assert_eq!(table.text(), "system\na|b <i>\nµ\n");
    }
}
