//! The first screen of a page: its head, what to know first, and cards.

use crate::document::{Card, Head, Place, Section};
use crate::number::several;
use crate::table::escape;

/// More cards than this are folded away.
const CARDS_MAX: usize = 6;
const VERDICTS: [(&str, &str); 3] = [("valid", "ok"), ("doubtful", "warn"), ("invalid", "bad")];

pub(super) fn head(head: &Head) -> String {
    let Head {
        title,
        under_test,
        whole_machine,
        status,
        reason,
        trials,
        failed,
        started,
        took,
        dyno,
        verdicts,
        ..
    } = head;
    let failed = match failed.as_str() {
        "" => String::new(),
        failed => format!(", <strong>{failed}</strong>"),
    };
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let took = took.map(crate::number::duration);
    let facts = [
        Some(under_test.clone()),
        Some(whole_machine.clone()),
        Some(started.strftime("%-d %b %Y %H:%M UTC").to_string()),
        took,
    ];
    let facts = facts.into_iter().flatten().filter(|fact| !fact.is_empty());
    let facts = facts.map(|fact| escape(&fact)).collect::<Vec<_>>().join(" \u{b7} ");
    let count = |(count, (name, class)): (&usize, (&str, &str))| {
        format!("<b class=\"{}\">{count}</b> {name} ", if *count > 0 { class } else { "none" })
    };
    if status.is_empty() {
        let head = format!(
            "<header>\n<h1>{}</h1>\n<p class=\"meta\">{}</p>\n</header>\n",
            escape(title),
            escape(under_test)
        );
        return head;
    }
    let verdicts: String = verdicts.iter().zip(VERDICTS).map(count).collect();
    format!(
        "<header>\n<div class=\"top\"><h1>{}</h1><p class=\"score\">{verdicts}</p></div>\n<p class=\"meta\">{facts}\
         </p>\n<p class=\"meta\"><span class=\"status {status}\">{status}</span>{} \u{b7} {trials}{failed} \u{b7} dyno \
         {}</p>\n</header>\n",
        escape(title),
        escape(&reason),
        escape(dyno),
    )
}

/// Links to the sections that exist; those of the first screen are one.
pub(super) fn navigation(sections: &[&Section<'_>]) -> String {
    let first = sections.first().map(|section| (section.id, section.title.as_str()));
    let folded = sections.iter().filter(|section| section.place != Place::Open);
    let folded = folded.map(|section| (section.id, section.title.as_str()));
    let has_notes = sections.iter().any(|section| section.has_notes());
    let method = has_notes.then_some(("method", "Method"));
    let links = first.into_iter().chain(folded).chain(method);
    let links = links.map(|(id, title)| format!("<a href=\"#{id}\">{}</a>", escape(title)));
    format!("<nav aria-label=\"Sections\">{}</nav>\n", links.collect::<Vec<_>>().join(" "))
}

pub(super) fn cause(text: &str) -> String {
    format!("<p class=\"cause\">{}</p>\n", escape(text))
}

pub(super) fn care(lines: &[String], has_warnings: bool) -> String {
    let link = if has_warnings { " <a href=\"#care\">All warnings</a>" } else { "" };
    let text = lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join(" ");
    format!("<p class=\"read-first\"><b>Read first.</b> {text}{link}</p>\n")
}

/// The plots of cards have ids that begin with `id`.
pub(super) fn cards(cards: &[Card], id: &str) -> String {
    let all = |cards: &[Card], first: usize| {
        let each =
            cards.iter().enumerate().map(|(at, it)| card(it, &format!("{id}-{}", first + at)));
        let class = if cards.len() == 1 { "cards one" } else { "cards" };
        format!("<div class=\"{class}\">\n{}</div>\n", each.collect::<String>())
    };
    let (shown, more) = cards.split_at(cards.len().min(CARDS_MAX));
    if more.is_empty() {
        return all(shown, 0);
    }
    let count = several(more.len() as u64, "more", "more");
    let more = all(more, CARDS_MAX);
    format!("{}<details><summary>{count}</summary>\n{more}</details>\n", all(shown, 0))
}

fn card(card: &Card, id: &str) -> String {
    let Card { title, system, verdict, figures, chart, answers, note } = card;
    let mut out = String::from("<article class=\"card\">\n");
    if !title.is_empty() {
        out.push_str(&format!("<header><h3>{}</h3>", escape(title)));
        if !system.is_empty() {
            out.push_str(&format!("<span class=\"hint\">{}</span>", escape(system)));
        }
        if !verdict.is_empty() {
            let class = if verdict.ends_with("invalid") { "bad" } else { "warn" };
            out.push_str(&format!(
                "<a class=\"pill {class}\" href=\"#care\">{}</a>",
                escape(verdict)
            ));
        }
        out.push_str("</header>\n");
    }
    let figure = |(value, what): &(String, String)| {
        format!("<span class=\"big\">{}<small>{}</small></span>", escape(value), escape(what))
    };
    if !figures.is_empty() {
        let figures: String = figures.iter().map(figure).collect();
        out.push_str(&format!("<p class=\"figures\">{figures}</p>\n"));
    }
    if let Some(chart) = chart {
        let (title, subtitle) = (escape(&chart.title), escape(&chart.subtitle));
        out.push_str(&format!(
            "<figure id=\"{id}\" data-title=\"{title}\" data-of=\"{subtitle}\">{}</figure>\n",
            chart.svg(id)
        ));
    }
    answers
        .iter()
        .for_each(|it| out.push_str(&format!("<p class=\"answer\">{}</p>\n", escape(it))));
    if !note.is_empty() {
        out.push_str(&format!("<p class=\"hint\">{}</p>\n", escape(note)));
    }
    out.push_str("</article>\n");
    out
}
