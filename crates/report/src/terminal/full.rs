//! Every section of a report that is not for files alone, for a terminal.

use std::path::Path;

use crate::document::{Block, Content, Document, Head, Item, Section, Weight};
use crate::number::duration;
use crate::reading::Reading;
use crate::sections::document;
use crate::visible::visible;
use crate::wrap::fold;

/// Number of places of one finding that are named; the rest is counted.
const PLACES_MAX: usize = 3;

/// All figures, findings and answers of a run in words, and where the record and the page are; `page` is `None` when none was
/// written. With a width, no line is wider, unless a single word is.
pub fn full_summary(reading: &Reading<'_>, page: Option<&Path>, width: Option<usize>) -> String {
    let Document { head: of_run, sections: all } = document(reading);
    let mut out = head(&of_run);
    out.push_str(&sections(&all, Weight::Summary, width));
    out.push_str(&format!("record  {}\n", reading.digest.run.folder.display()));
    if let Some(page) = page {
        out.push_str(&format!("report  {}\n", page.display()));
    }
    fold(&visible(&out), width)
}

/// The summary of a run whose page is beside its record, in lines of any width.
#[cfg(test)]
pub(crate) fn terminal(reading: &Reading<'_>) -> String {
    full_summary(reading, Some(&reading.digest.run.folder.join(crate::write::PAGE)), None)
}

fn head(head: &Head) -> String {
    let Head { title, under_test, status, reason, trials, failed, took, .. } = head;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let took = took.map_or(String::new(), |took| format!(" in {}", duration(took)));
    let failed = if failed.is_empty() { String::new() } else { format!(", {failed}") };
    let under_test = if under_test.is_empty() { String::new() } else { format!("{under_test}\n") };
    format!("{title}\n{under_test}{status}{reason}{took}, {trials}{failed}\n\n")
}

/// The blocks of sections up to a weight, each section with an empty line below it.
pub(crate) fn sections(all: &[Section<'_>], most: Weight, width: Option<usize>) -> String {
    let mut out = String::new();
    for section in all {
        let shown: Vec<&Block<'_>> = section.blocks.iter().filter(|it| it.weight <= most).collect();
        let mut has_title = false;
        for Block { content, .. } in &shown {
            let is_titled = !matches!(content, Content::Table { caption: Some(_), .. });
            let is_fact = matches!(content, Content::Fact(_)) && most == Weight::Summary;
            if is_titled && !is_fact && !has_title {
                out.push_str(&format!("{}:\n\n", section.title));
                has_title = true;
            }
            out.push_str(&text(content, width));
        }
        if !shown.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
    }
    out
}

fn text(content: &Content<'_>, width: Option<usize>) -> String {
    match content {
        Content::Heading(text) => format!("{text}\n\n"),
        Content::Table { caption, table, .. } => {
            let caption = caption.as_ref().map_or(String::new(), |it| format!("{it}:\n\n"));
            format!("{caption}{}\n", table.text_within(width))
        }
        Content::Note(text) | Content::Fact(text) => format!("{}\n", fold(text, width)),
        Content::List(items) => items.iter().map(item).collect(),
        Content::Text { text, .. } => format!("{}\n", text.trim_end()),
        Content::Columns(columns) => {
            columns.iter().flatten().map(|block| self::text(&block.content, width)).collect()
        }
        Content::Cause(text) => format!("{}\n", fold(text, width)),
        Content::Care(lines) => {
            lines.iter().map(|line| format!("{}\n", fold(line, width))).collect()
        }
        Content::Cards(_) | Content::Charts { .. } | Content::Trials(_) => String::new(),
    }
}

/// A text whose further lines, as the message of a server has them, are that far in.
fn indented(text: &str, spaces: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(spaces)))
}

fn item(Item { head, text, places, .. }: &Item) -> String {
    let head = if head.is_empty() { String::new() } else { format!("{head}: ") };
    let mut out = format!("- {head}{}\n", indented(text, 2));
    let places: Vec<&String> = places.iter().filter(|place| !place.is_empty()).collect();
    let shown = places.len().min(PLACES_MAX);
    places[..shown].iter().for_each(|place| out.push_str(&format!("    {}\n", indented(place, 4))));
    if places.len() > shown {
        let more = places.len() - shown;
        out.push_str(&format!("    and {more} more, all of them in report.md\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use record::RunStatus;

    use super::*;
    use crate::sample;

    #[test]
    fn a_page_that_was_not_written_is_not_named() {
        let run = sample::run();
        let told = full_summary(&Reading::new(&run), None, None);
        assert!(told.ends_with(&format!("\nrecord  {}\n", run.folder.display())), "{told}");
    }

    #[test]
    fn a_line_break_of_a_message_keeps_the_indentation() {
        let place = "at 1 client:\nit broke".to_owned();
        let item = Item { text: "one\ntwo".to_owned(), places: vec![place], ..Item::default() };
        assert_eq!(super::item(&item), "- one\n  two\n    at 1 client:\n    it broke\n");
    }

    #[test]
    fn a_run_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Reading::new(&sample::run())));
    }

    #[test]
    fn a_trial_without_load_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Reading::new(&sample::failed())));
    }

    #[test]
    fn a_trial_of_only_time_outs_shows_percentiles() {
        let mut run = sample::failed();
        run.trials[0].total.operations[0].timed_out.record(500_000_000);
        let text = terminal(&Reading::new(&run));
        let row = text.lines().find(|line| line.starts_with("sqlite ")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[1..9], ["1", "0", "0", "500", "500", "500", "500", "500"], "{text}");
    }

    #[test]
    fn a_run_without_trials_has_no_empty_tables() {
        let mut run = sample::run();
        run.trials.clear();
        let text = terminal(&Reading::new(&run));
        let conclusions = "- No result: no trial was begun.\n\
                           - Of the run as a whole: trials are missing (8 of 8 did not run).\n";
        let whole = format!("0 of 8 trials\n\nConclusions:\n\n{conclusions}\nWarnings:");
        assert!(text.contains(&whole), "{text}");
    }

    #[test]
    fn an_open_loop_in_a_terminal() {
        insta::assert_snapshot!(terminal(&Reading::new(&sample::open())));
    }

    #[test]
    fn a_server_crash_is_reported_at_the_top() {
        let run = sample::variants();
        let text = terminal(&Reading::new(&run));
        let head = text.lines().nth(2).unwrap();
        assert!(head.ends_with("11 of 12 trials, 1 crashed"), "{head}");
        assert!(
            crate::whole_html(&Reading::new(&run))
                .contains("11 of 12 trials, <strong>1 crashed</strong>")
        );
    }

    #[test]
    fn a_cut_run_is_reported_as_cut() {
        let mut run = sample::run();
        run.status = RunStatus::Cut;
        run.ended = None;
        run.trials.truncate(1);
        run.trials[0].end = None;
        let text = terminal(&Reading::new(&run));
        assert!(text.contains("cut, 0 of 8 trials"), "{text}");
        assert!(text.contains("- Trials are missing"), "{text}");
        assert!(text.contains("- The trial was cut"), "{text}");
    }

    /// It was told to have taken 350,399 h.
    #[test]
    fn a_clock_that_was_set_back_tells_no_time() {
        let mut run = sample::run();
        run.ended = Some(run.header.started - jiff::SignedDuration::from_hours(350_400));
        let text = terminal(&Reading::new(&run));
        assert!(text.contains("complete, 8 of 8 trials"), "{text}");
    }

    #[test]
    fn a_run_without_trials_has_a_summary() {
        let mut run = sample::run();
        run.status = RunStatus::Failed("no server at 127.0.0.1:3306".to_owned());
        run.trials.clear();
        let text = terminal(&Reading::new(&run));
        assert!(text.contains("failed: no server at 127.0.0.1:3306"), "{text}");
        assert!(text.contains("no trial was begun"), "{text}");
    }
}
