//! The report as one self-contained page: no other file, and one script. The first screen reads and prints without it;
//! what is folded away as data is made by it when it is opened.

mod first;
mod frame;
mod history;
mod packed;

use crate::digest::titles::caption;
use crate::document::{
    Block, Content, Document, Fold, Head, Item, Place, Section, TrialPart, Trials,
};
use crate::number::several;
use crate::reading::Reading;
use crate::sections::document;
use crate::svg::Chart;
use crate::table::{Table, escape};

use frame::{closing, opening};

/// The trials of a run are open up to this number.
const OPEN_TRIALS_MAX: usize = 1;
/// Tables are long, and collapsed where they may be, from this number of rows on.
const OPEN_ROWS_MAX: usize = 12;
/// Places of one item are collapsed from this number on.
const OPEN_PLACES_MAX: usize = 4;

/// The sections of a run in which nothing was measured.
const OF_A_FAILURE: [&str; 5] = ["summary", "care", "trials", "machine", "again"];
const WITHOUT_SCRIPTS: &str = "Without scripts this page has its first screen, and what is folded in lines with a triangle. \
     `dyno report --plots FOLDER` writes every plot as a file, and report.md has the tables.";

/// The whole report as one page of HTML with inline SVG.
pub fn html(reading: &Reading<'_>) -> String {
    page(&document(reading))
}

/// The style of plots in files: that of pages, in light colours.
pub(crate) fn light_style() -> String {
    let style = frame::STYLE;
    let dark = style.find("@media (prefers-color-scheme: dark)").unwrap_or(style.len());
    let after = style[dark..].find("\n}\n").map_or(style.len(), |end| dark + end + 3);
    let light = format!("{}{}", &style[..dark], &style[after..]);
    // What is for narrow windows and for print is not for files.
    let end = light.find("/* Plots are smaller").unwrap_or(light.len());
    light[..end].replace("color-scheme: light dark;", "")
}

/// The page with everything that it makes when it is opened.
#[cfg(test)]
pub(crate) fn whole_html(reading: &Reading<'_>) -> String {
    let page = html(reading);
    let parts = packed::parts(&page).concat();
    let (before, after) = page.split_once("</main>").unwrap();
    let after = after.split_once("<script>").unwrap().1;
    format!("{before}{parts}</main>\n<script>{after}")
}

pub(crate) fn page(document: &Document<'_>) -> String {
    let Head { title, under_test, .. } = &document.head;
    let has_warnings = document.sections.iter().any(|section| section.id == "care");
    let out = opening(&escape(&caption(title, under_test)));
    let mut page = Page { under_test, has_warnings, out, ..Page::default() };
    page.out.push_str(&first::head(&document.head));
    let has_failed = document.sections.iter().any(Section::has_cause);
    let is_shown = |section: &&Section<'_>| !has_failed || OF_A_FAILURE.contains(&section.id);
    let sections: Vec<&Section<'_>> = document.sections.iter().filter(is_shown).collect();
    page.out.push_str(&first::navigation(&sections));
    page.out.push_str("<main>\n");
    sections.into_iter().for_each(|it| page.section(it));
    page.method();
    page.out.push_str(&format!(
        "<noscript><p class=\"note\">{}</p></noscript>\n",
        escape(WITHOUT_SCRIPTS)
    ));
    page.out.push_str("</main>\n");
    page.out.push_str(&packed::element(&page.parts));
    page.out.push_str(&closing());
    page.out
}

/// A page as it is written.
#[derive(Default)]
pub(super) struct Page<'p> {
    /// The systems under test, for tables without a caption of their own.
    under_test: &'p str,
    has_warnings: bool,
    out: String,
    /// What is made when it is opened.
    parts: Vec<String>,
    /// How to read the figures, with the titles of the sections that they are in.
    notes: Vec<(String, Vec<String>)>,
}

impl Page<'_> {
    pub(super) fn section(&mut self, section: &Section<'_>) {
        let Section { id, title, place, hint, blocks } = section;
        self.notes.push((title.clone(), Vec::new()));
        let summary = format!(
            "<summary><h2>{}</h2> <span class=\"hint\">{}</span></summary>\n",
            escape(title),
            escape(hint)
        );
        match place {
            Place::Open => {
                self.out.push_str(&format!("<section id=\"{id}\">\n<h2>{}</h2>\n", escape(title)));
                self.blocks(blocks, id);
                self.out.push_str("</section>\n");
            }
            Place::Folded => {
                self.out.push_str(&format!("<details class=\"fold\" id=\"{id}\">{summary}"));
                self.blocks(blocks, id);
                self.out.push_str("</details>\n");
            }
            Place::Packed => {
                let part = self.packed(|page| page.blocks(blocks, id));
                self.out.push_str(&format!(
                    "<details class=\"fold\" id=\"{id}\" data-part=\"{part}\">{summary}</details>\n"
                ));
            }
        }
    }

    /// Makes a part that is not in the page until it is opened; returns its number.
    fn packed(&mut self, make: impl FnOnce(&mut Self)) -> usize {
        let before = std::mem::take(&mut self.out);
        make(self);
        self.parts.push(std::mem::replace(&mut self.out, before));
        self.parts.len() - 1
    }

    /// How to read the figures of all sections.
    fn method(&mut self) {
        let notes: Vec<_> = self.notes.iter().filter(|(_, notes)| !notes.is_empty()).collect();
        if notes.is_empty() {
            return;
        }
        let mut out = "<details class=\"fold\" id=\"method\"><summary><h2>Method</h2> <span class=\"hint\">what the \
                       figures are, and how they were computed</span></summary>\n"
            .to_owned();
        for (title, notes) in notes {
            out.push_str(&format!("<h3>{}</h3>\n", escape(title)));
            notes
                .iter()
                .for_each(|it| out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(it))));
        }
        self.out.push_str(&format!("{out}</details>\n"));
    }

    fn blocks(&mut self, blocks: &[Block<'_>], id: &str) {
        for Block { content, .. } in blocks {
            match content {
                Content::Heading(text) => {
                    self.out.push_str(&format!("<h3>{}</h3>\n", escape(text)));
                }
                Content::Cause(text) => self.out.push_str(&first::cause(text)),
                Content::Care(lines) => self.out.push_str(&first::care(lines, self.has_warnings)),
                Content::Cards(cards) => self.out.push_str(&first::cards(cards, id)),
                Content::Table { caption, table, fold } => {
                    let caption = caption.as_deref().unwrap_or(self.under_test);
                    self.out.push_str(&folded(table, caption, *fold));
                }
                Content::Charts { id, charts, fold } => {
                    self.out.push_str(&figures(charts, id, *fold));
                }
                Content::Note(text) => {
                    if let Some((_, notes)) = self.notes.last_mut() {
                        notes.push(text.clone());
                    }
                }
                Content::Fact(text) => {
                    self.out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(text)));
                }
                Content::List(items) => self.out.push_str(&list(id, items)),
                Content::Text { title, text, .. } => {
                    self.out.push_str(&source(title.as_deref(), text));
                }
                Content::Columns(columns) => self.side_by_side(columns, id),
                Content::Trials(trials) => self.trials(trials),
            }
        }
    }

    fn side_by_side(&mut self, columns: &[Vec<Block<'_>>; 2], id: &str) {
        self.out.push_str("<div class=\"side\">\n");
        for column in columns.iter().filter(|column| !column.is_empty()) {
            self.out.push_str("<div class=\"column\">\n");
            self.blocks(column, id);
            self.out.push_str("</div>\n");
        }
        self.out.push_str("</div>\n");
    }

    /// A table of all trials, each of which opens below its row.
    fn trials(&mut self, trials: &Trials<'_>) {
        self.out.push_str(TRIALS_HEAD);
        for at in 0..trials.count {
            let part = (trials.get)(at);
            let number = self.packed(|page| page.trial(&part));
            let TrialPart { name, status, validity, rate, p99, why, .. } = &part;
            let open = if trials.count <= OPEN_TRIALS_MAX { " data-open=\"1\"" } else { "" };
            self.out.push_str(&format!(
                "<tr data-part=\"{number}\" data-verdict=\"{validity}\"{open}><td><button type=\"button\" \
                 aria-expanded=\"false\">{}</button></td><td class=\"n\">{}</td><td><span class=\"status \
                 {status}\">{status}</span></td><td><span class=\"status {validity}\">{validity}</span></td>\
                 <td class=\"n\">{rate}</td><td class=\"n\">{p99}</td><td>{}</td></tr>\n",
                escape(name),
                at + 1,
                escape(why),
            ));
        }
        self.out.push_str("</tbody></table></div>\n");
    }

    fn trial(&mut self, trial: &TrialPart<'_>) {
        if let Some(reason) = trial.reason {
            self.out.push_str(&format!("<p class=\"reason\">{}</p>\n", escape(reason)));
        }
        self.blocks(&trial.blocks, "care");
    }
}

const TRIALS_HEAD: &str = "<p class=\"filter\" role=\"group\" aria-label=\"Filter by verdict\"></p>\n\
     <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Trials\"><table class=\"trials\">\n\
     <thead><tr><th scope=\"col\">trial</th><th scope=\"col\" class=\"n\">number</th><th scope=\"col\">status</th>\
     <th scope=\"col\">verdict</th><th scope=\"col\" class=\"n\">per s</th><th scope=\"col\" class=\"n\">p99</th>\
     <th scope=\"col\">why</th></tr></thead>\n<tbody>\n";

fn folded(table: &Table, caption: &str, fold: Fold) -> String {
    let is_open = caption.is_empty()
        || fold == Fold::Open
        || (fold == Fold::Long && table.rows() <= OPEN_ROWS_MAX);
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
    let item = |Item { head, text, rule, places: of_item, link }: &Item| {
        let head = match head.as_str() {
            "" => String::new(),
            head => format!("<strong>{}</strong>: ", escape(head)),
        };
        let link = link
            .as_ref()
            .map_or(String::new(), |link| format!(" <a href=\"#{}\">{}</a>", link.id, link.label));
        let rule = match rule.as_str() {
            "" => String::new(),
            rule => format!(
                "\n<details class=\"rule\"><summary>when this is said</summary>\n<p>When {}.</p>\n</details>\n",
                escape(rule)
            ),
        };
        format!("<li>{head}{}{link}{rule}{}</li>\n", escape(text), places(of_item))
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
        None => format!("<pre tabindex=\"0\"><code>{text}</code></pre>\n"),
        Some(title) => format!(
            "<details><summary>{}</summary>\n<pre tabindex=\"0\"><code>{text}</code></pre>\n</details>\n",
            escape(title)
        ),
    }
}

#[cfg(test)]
mod tests;
