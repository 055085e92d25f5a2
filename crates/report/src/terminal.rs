//! The summary at the end of a run: figures, answers, doubts, and where everything else is.

mod full;
mod paint;

use std::path::Path;

use unicode_width::UnicodeWidthStr;

use crate::comparison::Group;
use crate::conclusion::{Code, Conclusion};
use crate::digest::{Digest, Point};
use crate::document::Head;
use crate::fail_if;
use crate::figure::Figure;
use crate::front;
use crate::number::{count, duration, number, percentile_name};
use crate::reading::Reading;
use crate::table::Table;
use crate::visible::visible;
use crate::wrap::fold;

pub use full::full_summary;
pub(crate) use full::sections;
#[cfg(test)]
pub(crate) use full::terminal;
use paint::Paint;

/// Lines of a summary beside the rows of its table.
const LINES_MAX: usize = 12;
const DOUBTS_MAX: usize = 3;
const ANSWERS_MIN: usize = 2;
/// Lines around the answers and doubts: two empty ones, and two of paths.
const AROUND: usize = 4;
const FACTS_MAX: usize = 2;
/// A line of a summary has this width where that of its terminal is not known.
const WIDTH: usize = 100;
/// Columns of the table that are left out, the first ones first, where there is no room.
const LESS: [&str; 8] = ["max", "p95", "queries/s", "p99.9", "throughput", "95 %", "p50", "failed"];

/// The summary of a run within a width: at most so many lines as its table has rows and twelve more. `page` is `None` when
/// none was written.
pub fn summary(
    reading: &Reading<'_>,
    page: Option<&Path>,
    width: Option<usize>,
    has_colours: bool,
) -> String {
    let width = width.unwrap_or(WIDTH);
    let paint = Paint(has_colours);
    let lines = |text: &str| fold(&visible(text), Some(width)).trim_end().to_owned();
    let mut out = head(&crate::sections::head(reading), &lines, paint, width);
    let bounds = bounds(reading, &lines, paint);
    out.push_str(&bounds);
    if let Some(cause) = front::cause(&reading.digest) {
        out.push_str(&format!("\n{}\n", paint.bad(&lines(&cause))));
    } else {
        let (figures, rows) = figures(reading, width);
        if !figures.is_empty() {
            out.push_str(&format!("\n{}", paint.rows(&visible(&figures))));
        }
        let spent = (out.lines().count() + AROUND).saturating_sub(rows + bounds.lines().count());
        let answers = lines(&answers(reading));
        let doubts = front::care(reading).join(" ");
        let doubts = if doubts.is_empty() { doubts } else { lines(&format!("? {doubts}")) };
        // Answers have what doubts leave, which are told in a line at least.
        let room = LINES_MAX.saturating_sub(spent);
        let wanted = doubts.lines().count().min(DOUBTS_MAX);
        let for_answers = room.saturating_sub(wanted).max(answers.lines().count().min(ANSWERS_MIN));
        let answers = limited(&answers, for_answers, width);
        let left = room.saturating_sub(answers.lines().count());
        let doubts = limited(&doubts, wanted.min(left.max(1)), width);
        if !answers.is_empty() {
            out.push_str(&format!("\n{}\n", paint.bold(&answers)));
        }
        if !doubts.is_empty() {
            out.push_str(&format!("{}\n", paint.doubts(&doubts)));
        }
    }
    out.push('\n');
    let name = if page.is_some() { "report" } else { "record" };
    let path = page.unwrap_or(&reading.digest.run.folder);
    out.push_str(&format!("{name}  {}\n", visible(&path.display().to_string())));
    let more = format!("more    dyno report --full {}", reading.digest.run.folder.display());
    let more =
        if more.width() <= width { more } else { "more    dyno report --full FOLDER".to_owned() };
    out.push_str(&paint.dim(&visible(&more)));
    out.push('\n');
    out
}

fn head(head: &Head, lines: &dyn Fn(&str) -> String, paint: Paint, width: usize) -> String {
    let Head { title, under_test, machine, status, reason, trials, failed, took, .. } = head;
    let took = took.map(duration);
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let failed = if failed.is_empty() { String::new() } else { format!(", {failed}") };
    let is_whole = *status == "complete" && failed.is_empty();
    let ended = (!is_whole).then(|| format!("{status}{reason}, {trials}{failed}"));
    let facts = [ended, Some(under_test.clone()), Some(machine.clone()), took];
    let facts = facts.into_iter().flatten().filter(|fact| !fact.is_empty());
    let facts = facts.collect::<Vec<_>>().join(" \u{b7} ");
    // What ended early is told in full below.
    let facts = limited(&lines(&facts), FACTS_MAX, width);
    format!("{}\n{facts}\n", paint.bold(&limited(&lines(title), 1, width)))
}

/// The bounds of the run, below an empty line; empty without any.
fn bounds(reading: &Reading<'_>, lines: &dyn Fn(&str) -> String, paint: Paint) -> String {
    let told: Vec<String> = fail_if::lines(&reading.checks).iter().map(|it| lines(it)).collect();
    match (told.join("\n"), reading.crossed()) {
        (told, _) if told.is_empty() => told,
        (told, Some(_)) => format!("\n{}\n", paint.bad(&told)),
        (told, None) => format!("\n{told}\n"),
    }
}

/// At most so many lines; dots say that there is more.
fn limited(text: &str, most: usize, width: usize) -> String {
    const MORE: &str = " ...";
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= most {
        return text.to_owned();
    }
    let kept = lines[..most].join("\n");
    let has_room = |at: &usize| {
        let last = kept[..*at].lines().last().unwrap_or_default();
        UnicodeWidthStr::width(last) + MORE.len() <= width
    };
    let ends = kept.rmatch_indices([' ', '\n']).map(|(at, _)| at);
    let end = std::iter::once(kept.len()).chain(ends).find(has_room).unwrap_or_default();
    format!("{}{MORE}", kept[..end].trim_end_matches([' ', ',', ';', ':', '\n']))
}

/// The table of loads, or of variants, and how many rows it has; of a single load, its figures in two lines.
fn figures(reading: &Reading<'_>, width: usize) -> (String, usize) {
    let digest = &reading.digest;
    if digest.run.header.seek.is_some() {
        return (String::new(), 0);
    }
    let groups = reading.groups();
    if !groups.is_empty() {
        let least = ["workload", "p95, of both", "p99, of both", "throughput, of both"];
        let forests: Vec<_> = groups.iter().map(Group::forest).collect();
        let texts = forests.iter().map(|forest| forest.text_without(&least, width));
        let rows = forests.iter().map(Table::rows).sum();
        return (texts.collect::<Vec<_>>().join("\n"), rows);
    }
    if let [point] = &digest.points[..] {
        return (fold(&only_load(digest, point), Some(width)), 1);
    }
    let table = front::loads_table(digest).without_columns(|head, cells| {
        head == "failed" && cells.iter().all(|cell| *cell == "\u{2013}")
    });
    (table.text_without(&LESS, width), table.rows())
}

fn only_load(digest: &Digest<'_>, point: &Point<'_>) -> String {
    let event = digest.event_of(point.workload).per_s();
    let [per_s, queries] = front::rates(digest, point);
    let interval = Figure::Throughput.interval(digest, point);
    let interval =
        interval.map_or(String::new(), |it| format!(" ({})", front::relative(&it, per_s)));
    let mut first = vec![format!("{} {event}{interval}", number(per_s))];
    if front::is_other(per_s, queries) {
        first.push(format!("{} queries/s", number(queries)));
    }
    first.push(format!(
        "failed {}",
        count(digest.sum(point, |summary| summary.failed_transactions))
    ));
    let shown = |name: String, of: &dyn Fn(&analysis::Summary) -> (f64, bool)| {
        Some(format!("{name} {}", front::shown(digest, point, of)?))
    };
    let mean = shown("mean".to_owned(), &|summary| summary.latency.mean());
    let percentiles = digest.run.header.percentiles.iter();
    let percentiles = percentiles.filter_map(|percent| {
        shown(percentile_name(*percent), &|it| it.latency.percentile(*percent))
    });
    let max = shown("max".to_owned(), &|summary| summary.latency.max());
    let second: Vec<String> = mean.into_iter().chain(percentiles).chain(max).collect();
    format!("  {}\n  {}\n", first.join("   "), second.join("   "))
}

/// Every answer in a few words; those of a table of loads with what they are about. What holds the systems back comes
/// last.
fn answers(reading: &Reading<'_>) -> String {
    let limits = reading.conclusions.iter().filter(|it| it.code == Code::Limit);
    let limits: Vec<String> = limits.map(Conclusion::text).collect();
    [vec![other_answers(reading)], limits].concat().join(" ").trim().to_owned()
}

fn other_answers(reading: &Reading<'_>) -> String {
    let digest = &reading.digest;
    let [first, ..] = &digest.points[..] else {
        return sentences(reading, |code| code != Code::Limit);
    };
    if first.variant.is_some() || digest.run.header.seek.is_some() {
        return sentences(reading, |code| code != Code::Limit);
    }
    if digest.points.len() == 1 {
        return sentences(reading, |code| {
            !matches!(code, Code::Measured | Code::NotBelieved | Code::Limit)
        });
    }
    let has_systems = digest.points.iter().any(|point| point.system != first.system);
    let mut about: Vec<(&str, &str)> = Vec::new();
    for point in front::in_order(digest) {
        if !about.contains(&(point.workload, point.system)) {
            about.push((point.workload, point.system));
        }
    }
    // Answers that have something in common, and all others.
    let mut lists: Vec<(&str, Vec<String>)> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for (workload, system) in about {
        let mut found = reading.conclusions.iter().filter(|it| it.is_about(system, workload));
        let Some(found) = found.find(|it| it.code != Code::Measured) else { continue };
        let name =
            if has_systems { format!("{workload} on {system}") } else { workload.to_owned() };
        match found.listed() {
            None => others.push(format!("{name}: {}", front::in_a_sentence(&found.short()))),
            Some((common, rest)) => {
                let text = format!("{name} {rest}");
                match lists.iter_mut().find(|(known, _)| *known == common) {
                    Some((_, texts)) => texts.push(text),
                    None => lists.push((common, vec![text])),
                }
            }
        }
    }
    let is_other = |it: &&Conclusion| {
        let mut points = digest.points.iter();
        it.code.is_answer() && !points.any(|point| it.is_about(point.system, point.workload))
    };
    others.extend(reading.conclusions.iter().filter(is_other).map(Conclusion::short));
    let lists = lists.into_iter().map(|(common, texts)| format!("{common}: {}", texts.join(", ")));
    let others = others.iter().map(|text| text.trim_end_matches('.').to_owned());
    let texts: Vec<String> = lists.chain(others).collect();
    format!("{}.", texts.join(". "))
}

fn sentences(reading: &Reading<'_>, is_told: impl Fn(Code) -> bool) -> String {
    let told = reading.conclusions.iter().filter(|it| it.code.is_answer() && is_told(it.code));
    told.map(Conclusion::text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn samples() -> Vec<(&'static str, record::Run)> {
        vec![
            ("sweep", sample::quick()),
            ("systems", sample::run()),
            ("repeated", sample::large()),
            ("variants", sample::variants()),
            ("open", sample::open()),
            ("seek", sample::sought(20e6, 1.0, 1_024.0)),
            ("turns", sample::kept_turns(3)),
            ("failed", sample::failed()),
            ("stalled", sample::stalled()),
        ]
    }

    #[test]
    fn a_summary_has_its_rows_and_twelve_lines_in_any_width() {
        for (name, run) in samples() {
            let reading = Reading::new(&run);
            let page = run.folder.join(crate::write::PAGE);
            for width in [60, 80, 100, 120] {
                let text = summary(&reading, Some(&page), Some(width), false);
                let wide = text.lines().find(|line| line.width() > width);
                assert_eq!(wide, None, "{name} in {width} columns:\n{text}");
                let most = figures(&reading, width).1 + LINES_MAX;
                assert!(text.lines().count() <= most, "{name}: more than {most} lines:\n{text}");
            }
            insta::assert_snapshot!(
                format!("summary_of_{name}"),
                summary(&reading, Some(&page), Some(80), false)
            );
        }
    }

    #[test]
    fn colours_change_no_letter() {
        for (name, run) in samples() {
            let reading = Reading::new(&run);
            let [plain, coloured] =
                [false, true].map(|colours| summary(&reading, None, Some(80), colours));
            assert!(coloured.contains("\u{1b}[1m") && !plain.contains('\u{1b}'), "{name}");
            let mut stripped = String::new();
            for part in coloured.split('\u{1b}') {
                let letters = part.strip_prefix('[').and_then(|part| part.split_once('m'));
                stripped.push_str(letters.map_or(part, |(_, letters)| letters));
            }
            assert_eq!(stripped, plain, "{name}");
        }
    }
}
