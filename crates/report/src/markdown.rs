//! The report as Markdown, for a repository or an issue.

use crate::document::{Block, Content, Document, Item, Link, Section, Weight};
use crate::reading::Reading;
use crate::sections::document;
use crate::table::{escape, escape_markdown};
use crate::visible::visible;

/// The whole report as Markdown (GitHub's tables).
pub fn markdown(reading: &Reading<'_>) -> String {
    of_document(&document(reading))
}

pub(crate) fn of_document(document: &Document<'_>) -> String {
    let head = &document.head;
    let mut out = format!("# {}\n\n", escape_markdown(&head.title));
    out.push_str(&format!("{}\n\n", escape_markdown(&head.under_test)));
    sections(&document.sections, &mut out);
    visible(out.trim_end()).into_owned() + "\n"
}

/// Appends sections; those whose blocks are the page's alone are left out.
pub(crate) fn sections(all: &[Section<'_>], out: &mut String) {
    for section in all {
        let mut body = String::new();
        section.blocks.iter().for_each(|it| block(it, all, &mut body));
        let is_shown = section
            .blocks
            .iter()
            .any(|it| it.weight <= Weight::Report && !matches!(it.content, Content::Note(_)));
        if is_shown {
            out.push_str(&format!("## {}\n\n{body}", escape_markdown(&section.title)));
        }
    }
}

fn block(block: &Block<'_>, all: &[Section<'_>], out: &mut String) {
    if block.weight > Weight::Report {
        return;
    }
    match &block.content {
        Content::Heading(text) => out.push_str(&format!("### {}\n\n", escape_markdown(text))),
        Content::Table { caption, table, .. } => {
            let caption = caption.as_deref().map(escape_markdown);
            let caption = caption.map_or(String::new(), |text| format!("{text}:\n\n"));
            out.push_str(&format!("{caption}{}\n", table.markdown()));
        }
        Content::Note(text) | Content::Fact(text) => {
            out.push_str(&format!("{}\n\n", escape_markdown(text)));
        }
        Content::List(items) => {
            items.iter().for_each(|it| out.push_str(&item(it, all)));
            out.push('\n');
        }
        Content::Text { title, language, text } => {
            let text = fenced(language, text);
            out.push_str(&match title {
                None => format!("{text}\n"),
                Some(title) => format!(
                    "<details><summary>{}</summary>\n\n{text}\n</details>\n\n",
                    escape(title)
                ),
            });
        }
        Content::Columns(columns) => {
            columns.iter().flatten().for_each(|it| self::block(it, all, out));
        }
        Content::Cause(text) => out.push_str(&format!("**{}**\n\n", escape_markdown(text))),
        Content::Care(lines) => {
            let line = |line: &String| format!("> {}\n", escape_markdown(line));
            out.push_str(&format!("{}\n", lines.iter().map(line).collect::<String>()));
        }
        Content::Cards(_) | Content::Charts { .. } | Content::Trials(_) => {}
    }
}

fn item(Item { head, text, places, link, .. }: &Item, all: &[Section<'_>]) -> String {
    let head = if head.is_empty() { String::new() } else { format!("**{head}**: ") };
    let link = link.as_ref().and_then(|link| anchor(link, all));
    let link = link.map_or(String::new(), |anchor| format!(" ([figures](#{anchor}))"));
    let places = places.iter().filter(|place| !place.is_empty());
    let places: String = places.map(|it| format!("  - {}\n", escape_markdown(it))).collect();
    format!("- {head}{}{link}\n{places}", escape_markdown(text))
}

/// The address of the section of a link, as GitHub makes it: of the letters, digits, hyphens and underscores of the
/// heading. `None` when the section is not there.
fn anchor(link: &Link, all: &[Section<'_>]) -> Option<String> {
    let section = all.iter().find(|section| section.id == link.section)?;
    let kept = |c: char| match c {
        ' ' => Some('-'),
        _ => (c.is_alphanumeric() || c == '-' || c == '_').then_some(c),
    };
    Some(section.title.to_lowercase().chars().filter_map(kept).collect())
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_markdown() {
        insta::assert_snapshot!(markdown(&Reading::new(&sample::run())));
    }

    #[test]
    fn a_code_fence_is_longer_than_fences_inside() {
        assert_eq!(fenced("", "a ``` b"), "````\na ``` b\n````\n");
    }
}
