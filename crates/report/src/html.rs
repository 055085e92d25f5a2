//! The report as one self-contained page: no other file, and no script but the few lines that show the values of plots
//! at the pointer. Without it, the page has the same content.

mod frame;
mod history;

use crate::digest::titles::caption;
use crate::document::{Block, Content, Document, Fold, Head, Item, Section, TrialPart, Trials};
use crate::number::several;
use crate::reading::Reading;
use crate::sections::document;
use crate::svg::Chart;
use crate::table::{Table, escape};

use frame::{closing, opening};

/// The trials of a run are open up to this number.
const OPEN_TRIALS_MAX: usize = 2;
/// Tables are long, and collapsed where they may be, from this number of rows on.
const OPEN_ROWS_MAX: usize = 12;
/// Places of one item are collapsed from this number on.
const OPEN_PLACES_MAX: usize = 4;

/// The whole report as one page of HTML with inline SVG.
pub fn html(reading: &Reading<'_>) -> String {
    page(&document(reading))
}

pub(crate) fn page(document: &Document<'_>) -> String {
    let Head { title, under_test, .. } = &document.head;
    let mut out = opening(&escape(&caption(title, under_test)));
    out.push_str(&head(document));
    out.push_str("<main>\n");
    document.sections.iter().for_each(|it| section(it, under_test, &mut out));
    out.push_str(&closing());
    out
}

fn head(document: &Document<'_>) -> String {
    let Head { title, under_test, status, reason, trials, failed, started, dyno, .. } =
        &document.head;
    let failed = match failed.as_str() {
        "" => String::new(),
        failed => format!(", <strong>{failed}</strong>"),
    };
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let links = document
        .sections
        .iter()
        .map(|Section { id, title, .. }| format!("<a href=\"#{id}\">{}</a>", escape(title)));
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"under-test\">{}</p>\n\
         <p class=\"meta\"><span class=\"status {status}\">{status}</span>{} · {trials}{failed} · \
         {started:.0} · dyno {}</p>\n<nav aria-label=\"Sections\">{}</nav>\n</header>\n",
        escape(title),
        escape(under_test),
        escape(&reason),
        escape(dyno),
        links.collect::<Vec<_>>().join(" "),
    )
}

/// Appends a section; the trials are nearly all of a large page, which is therefore not copied.
pub(super) fn section(section: &Section<'_>, under_test: &str, out: &mut String) {
    let Section { id, title, blocks: of_section } = section;
    out.push_str(&format!("<section id=\"{id}\">\n<h2>{}</h2>\n", escape(title)));
    blocks(of_section, id, under_test, out);
    out.push_str("</section>\n");
}

fn blocks(blocks: &[Block<'_>], id: &str, under_test: &str, out: &mut String) {
    for Block { content, .. } in blocks {
        match content {
            Content::Heading(text) => out.push_str(&format!("<h3>{}</h3>\n", escape(text))),
            Content::Table { caption, table, fold } => {
                out.push_str(&folded(table, caption.as_deref().unwrap_or(under_test), *fold));
            }
            Content::Charts { id, charts, fold } => out.push_str(&figures(charts, id, *fold)),
            Content::Note(text) | Content::Fact(text) => {
                out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(text)));
            }
            Content::List(items) => out.push_str(&list(id, items)),
            Content::Text { title, text, .. } => out.push_str(&source(title.as_deref(), text)),
            Content::Columns(columns) => side_by_side(columns, id, under_test, out),
            Content::Trials(trials) => all_trials(trials, under_test, out),
        }
    }
}

fn side_by_side(columns: &[Vec<Block<'_>>; 2], id: &str, under_test: &str, out: &mut String) {
    out.push_str("<div class=\"side\">\n");
    for column in columns.iter().filter(|column| !column.is_empty()) {
        out.push_str("<div class=\"column\">\n");
        blocks(column, id, under_test, out);
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n");
}

fn folded(table: &Table, caption: &str, fold: Fold) -> String {
    let is_open = fold == Fold::Open || (fold == Fold::Long && table.rows() <= OPEN_ROWS_MAX);
    if is_open {
        return table.html(caption);
    }
    format!("<details><summary>{}</summary>\n{}</details>\n", escape(caption), table.html(""))
}

fn figures(charts: &[Chart], id: &str, fold: Fold) -> String {
    let all = charts.iter().enumerate();
    let all: String = all.map(|(at, chart)| chart.html(&format!("{id}-{at}"))).collect();
    let all = format!("<div class=\"plots\">\n{all}</div>\n");
    if fold == Fold::Open {
        return all;
    }
    // What stands before the colon is the trial.
    let name = |chart: &Chart| match chart.title.split_once(": ") {
        Some((_, name)) => escape(name),
        None => escape(&chart.title),
    };
    let names: Vec<String> = charts.iter().map(name).collect();
    let count = several(charts.len() as u64, "more plot", "more plots");
    format!("<details><summary>{count}: {}</summary>\n{all}</details>\n", names.join("; "))
}

fn list(class: &str, items: &[Item]) -> String {
    let item = |Item { head, text, places: of_item, link }: &Item| {
        let head = match head.as_str() {
            "" => String::new(),
            head => format!("<strong>{}</strong>: ", escape(head)),
        };
        let link = link
            .as_ref()
            .map_or(String::new(), |link| format!(" <a href=\"#{}\">{}</a>", link.id, link.label));
        format!("<li>{head}{}{link}{}</li>\n", escape(text), places(of_item))
    };
    let items: String = items.iter().map(item).collect();
    format!("<ul class=\"{class}\">\n{items}</ul>\n")
}

/// Where an item was found, collapsed when it is in many places.
fn places(places: &[String]) -> String {
    if places.iter().all(String::is_empty) {
        return String::new();
    }
    let list: String = places.iter().map(|it| format!("<li>{}</li>\n", escape(it))).collect();
    let list = format!("<ul>\n{list}</ul>\n");
    match places.len() {
        count if count > OPEN_PLACES_MAX => {
            format!("\n<details><summary>{count} places</summary>\n{list}</details>\n")
        }
        _ => format!("\n{list}"),
    }
}

fn source(title: Option<&str>, text: &str) -> String {
    let text = escape(text);
    match title {
        None => format!("<pre><code>{text}</code></pre>\n"),
        Some(title) => format!(
            "<details><summary>{}</summary>\n<pre><code>{text}</code></pre>\n</details>\n",
            escape(title)
        ),
    }
}

fn all_trials(trials: &Trials<'_>, under_test: &str, out: &mut String) {
    let open = if trials.count <= OPEN_TRIALS_MAX { " open=\"open\"" } else { "" };
    for at in 0..trials.count {
        let TrialPart { name, status, validity, rate, reason, blocks: of_trial } = (trials.get)(at);
        out.push_str(&format!(
            "<details class=\"trial\"{open}>\n<summary><span>{}</span> <span class=\"status {status}\">\
             {status}</span> <span class=\"status {validity}\">{validity}</span> \
             <span class=\"rate\">{rate}</span></summary>\n",
            escape(&name),
        ));
        if let Some(reason) = reason {
            out.push_str(&format!("<p class=\"reason\">{}</p>\n", escape(reason)));
        }
        blocks(&of_trial, "care", under_test, out);
        out.push_str("</details>\n");
    }
}

#[cfg(test)]
mod tests;
