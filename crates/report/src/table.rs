//! A table as a value, and its three formats: text, Markdown, HTML.

mod layout;
mod ratio;

use unicode_width::UnicodeWidthStr;

use crate::visible::visible;

pub(crate) use ratio::Ratio;
use ratio::RatioScale;

/// The column of what to know before the figures of a row are read.
const REMARKS: &str = "remarks";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    /// Parts of a whole in per cent, drawn as bars.
    Bar,
    /// Verdicts on the trials of a row, drawn as signs.
    Verdict,
    /// Ratios with their intervals, drawn beside 1 on one scale. See [`Ratio`].
    Ratio,
}

/// Length of the longest bar in a terminal.
const BLOCKS: usize = 10;
/// Columns with text up to this length are not wrapped.
const NAME_MAX: usize = 28;
/// CSS classes of cells.
const NUMBERS: &str = " class=\"n\"";
const NAMES: &str = " class=\"w\"";

/// Rows of text under column heads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// The group of the columns that are added next.
    group: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    head: String,
    align: Align,
    /// Columns of a group stay together where a table is broken into several.
    group: usize,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn words(self, head: impl Into<String>) -> Self {
        self.column(head.into(), Align::Left)
    }

    pub(crate) fn numbers(self, head: impl Into<String>) -> Self {
        self.column(head.into(), Align::Right)
    }

    pub(crate) fn bars(self, head: impl Into<String>) -> Self {
        self.column(head.into(), Align::Bar)
    }

    pub(crate) fn verdicts(self, head: impl Into<String>) -> Self {
        self.column(head.into(), Align::Verdict)
    }

    /// With cells from [`Ratio::cell`].
    pub(crate) fn ratios(self, head: impl Into<String>) -> Self {
        self.column(head.into(), Align::Ratio)
    }

    fn column(mut self, head: String, align: Align) -> Self {
        self.columns.push(Column { head, align, group: self.group });
        self
    }

    /// Begins a group of columns. A table that is too wide for its lines is broken into several: each has the columns of
    /// the first group, which name the rows, and as many other groups as fit. Without groups the first column names the
    /// rows, and each other column is a group.
    pub(crate) fn group(mut self) -> Self {
        self.group += 1;
        self
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells.iter().map(|cell| visible(cell).into_owned()).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Removes the columns for which the condition holds: it gets the head and the cells of a column.
    pub(crate) fn without_columns(mut self, is_out: impl Fn(&str, &[&str]) -> bool) -> Self {
        for column in (0..self.columns.len()).rev() {
            let cells: Vec<&str> = self.rows.iter().map(|row| row[column].as_str()).collect();
            if is_out(&self.columns[column].head, &cells) {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }

    /// The same with what is drawn on a page as letters: bars as blocks, and signs of verdicts without a head.
    fn drawn_with_letters(&self) -> Self {
        let mut drawn = self.clone();
        for (at, column) in drawn.columns.iter_mut().enumerate() {
            let cell: fn(&str) -> String = match column.align {
                Align::Left | Align::Right => continue,
                Align::Bar => blocks,
                Align::Verdict => |cell| sign(cell).to_owned(),
                Align::Ratio => |cell| Ratio::parse(cell).text(),
            };
            column.head =
                if column.align == Align::Ratio { column.head.clone() } else { String::new() };
            column.align = Align::Left;
            drawn.rows.iter_mut().for_each(|row| row[at] = cell(&row[at]));
        }
        // A row is one line, also with the text of a server that has several.
        for cell in drawn.rows.iter_mut().flatten().filter(|cell| cell.contains('\n')) {
            *cell = cell.replace('\n', " ");
        }
        drawn
    }

    /// As Markdown (GitHub's tables), aligned in the source too; without bars.
    pub(crate) fn markdown(&self) -> String {
        let mut shown = self.clone();
        for at in (0..shown.columns.len()).filter(|at| self.columns[*at].align == Align::Ratio) {
            shown.rows.iter_mut().for_each(|row| row[at] = Ratio::parse(&row[at]).text());
        }
        for at in (0..shown.columns.len()).rev().filter(|at| self.columns[*at].align == Align::Bar)
        {
            shown.columns.remove(at);
            shown.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        let escaped = shown.escaped();
        let columns: Vec<(Align, usize)> = (0..escaped.columns.len())
            .map(|at| (escaped.columns[at].align, escaped.width(at).max(3)))
            .collect();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let padded = |cells: Vec<&String>| {
            let cells = cells.into_iter().zip(&columns);
            line(cells.map(|(cell, (align, width))| pad(cell, *align, *width)).collect())
        };
        let mut out = padded(escaped.columns.iter().map(|column| &column.head).collect());
        let rules = columns.iter().map(|(align, width)| match align {
            Align::Right => format!("{}:", "-".repeat(width - 1)),
            _ => "-".repeat(*width),
        });
        out.push_str(&line(rules.collect()));
        escaped.rows.iter().for_each(|row| out.push_str(&padded(row.iter().collect())));
        out
    }

    /// As HTML, with a caption unless it is empty.
    pub(crate) fn html(&self, caption: &str) -> String {
        let label = if caption.is_empty() { "table" } else { caption };
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table>\n",
            escape(label)
        );
        if !caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>\n", escape(caption)));
        }
        out.push_str("<thead><tr>");
        for Column { head, align, .. } in &self.columns {
            let class = if *align == Align::Right { NUMBERS } else { "" };
            out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(head)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let classes = self.classes();
        let ratios = self.columns.iter().position(|column| column.align == Align::Ratio);
        let ratios = ratios.into_iter().flat_map(|at| self.cells(at)).map(Ratio::parse);
        let scale = RatioScale::of(ratios);
        // Where names are not repeated, a row with a name begins a group.
        let has_groups = self.columns.len() > 1 && self.cells(0).any(str::is_empty);
        for row in &self.rows {
            let is_first = has_groups && !row[0].is_empty();
            out.push_str(if is_first { "<tr class=\"first\">" } else { "<tr>" });
            for ((cell, class), column) in row.iter().zip(&classes).zip(&self.columns) {
                out.push_str(&match column.align {
                    Align::Left | Align::Right => format!("<td{class}>{}</td>", escape(cell)),
                    Align::Bar => format!(
                        "<td class=\"share\"><span style=\"width:{}%\"></span></td>",
                        cell.parse::<f64>().unwrap_or_default().clamp(0.0, 100.0)
                    ),
                    Align::Verdict => format!("<td>{}</td>", verdict(cell)),
                    Align::Ratio => {
                        format!("<td class=\"forest\">{}</td>", scale.svg(&Ratio::parse(cell)))
                    }
                });
            }
            out.push_str("</tr>\n");
        }
        if let Some(axis) = ratios_axis(&self.columns, &scale) {
            out.push_str(&axis);
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    /// The format of each column's cells: numbers, names that stay on one line, or text.
    fn classes(&self) -> Vec<&'static str> {
        let class = |(at, column): (usize, &Column)| match column.align {
            Align::Right => NUMBERS,
            Align::Bar | Align::Verdict | Align::Ratio => "",
            Align::Left if self.width(at) <= NAME_MAX => NAMES,
            Align::Left => "",
        };
        self.columns.iter().enumerate().map(class).collect()
    }

    /// Adds the column of what to know before the figures of a row are read.
    pub(crate) fn remarks(self) -> Self {
        let table = if self.group > 0 { self.group() } else { self };
        table.words(REMARKS)
    }

    /// Removes that column when no row has a remark.
    pub(crate) fn without_empty_remarks(self) -> Self {
        let is_empty = |cells: &[&str]| cells.iter().all(|cell| cell.is_empty());
        self.without_columns(|head, cells| head == REMARKS && is_empty(cells))
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row[column].as_str())
    }

    /// The width of a column that has its head and each cell on one line.
    fn width(&self, column: usize) -> usize {
        let cells = self.cells(column).map(UnicodeWidthStr::width);
        cells.fold(self.columns[column].head.width(), usize::max)
    }

    /// Escapes vertical bars and line ends, which would end a cell in Markdown.
    fn escaped(&self) -> Self {
        let cell = |text: &String| escape_markdown(text).replace('|', "\\|");
        let mut escaped = self.clone();
        escaped.columns.iter_mut().for_each(|column| column.head = cell(&column.head));
        escaped.rows.iter_mut().flatten().for_each(|text| *text = cell(text));
        escaped
    }
}

/// A last row with the ends of the scale of ratios.
fn ratios_axis(columns: &[Column], scale: &RatioScale) -> Option<String> {
    columns.iter().any(|column| column.align == Align::Ratio).then(|| {
        let cell = |column: &Column| match column.align {
            Align::Ratio => format!("<td class=\"forest\">{}</td>", scale.axis()),
            _ => "<td></td>".to_owned(),
        };
        format!("<tr class=\"axis\">{}</tr>\n", columns.iter().map(cell).collect::<String>())
    })
}

fn pad(cell: &str, align: Align, width: usize) -> String {
    let spaces = " ".repeat(width.saturating_sub(cell.width()));
    match align {
        Align::Right => format!("{spaces}{cell}"),
        _ => format!("{cell}{spaces}"),
    }
}

/// A part of a hundred as a bar of blocks, in eighths.
fn blocks(percent: &str) -> String {
    const EIGHTHS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let part = percent.parse::<f64>().unwrap_or_default().clamp(0.0, 100.0);
    let eighths = (part / 100.0 * BLOCKS as f64 * 8.0).round() as usize;
    format!("{}{}", "\u{2588}".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// The letter that stands for a verdict, which begins a remark.
fn sign(remark: &str) -> &'static str {
    match remark {
        "" | "valid" => "",
        _ if remark.split(", ").all(|part| part.ends_with("doubtful")) => "?",
        _ => "x",
    }
}

/// A verdict as a sign of a page: filled, hollow, or a cross.
fn verdict(remark: &str) -> String {
    let (class, text) = match sign(remark) {
        "" => ("ok", "valid"),
        "?" => ("warn", remark),
        _ => ("bad", remark),
    };
    format!(
        "<i class=\"v {class}\" role=\"img\" aria-label=\"{0}\" title=\"{0}\"></i>",
        escape(text)
    )
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // XML does not allow control characters, even escaped.
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
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
    fn a_line_break_in_a_cell_breaks_no_row_of_text() {
        let mut table = Table::new().words("for example").words("code");
        table.row(["one\ntwo", "13"].map(str::to_owned).to_vec());
        assert_eq!(table.text().lines().count(), 2, "{}", table.text());
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
        assert_eq!(escape("\u{1}\"'"), "␁&quot;&#39;");
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
