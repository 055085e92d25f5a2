//! Properties of the views that hold for any record, and of what users write about them.

use std::fs;
use std::path::Path;

use record::Dyno;
use tempfile::TempDir;

use crate::csv::line;
use crate::verdict::Verdict;
use crate::{
    BestLoad, Reading, Threshold, csv, full_summary, json, markdown, open, sample, summary,
    visible, watch_csv, whole_html,
};

fuzzing::targets! {
    report_views: views;
    report_threshold: threshold;
    report_csv: cells;
    report_verdict: verdict;
}

/// The files of an input, in their order, each but the last with this byte behind it.
const FILES: [&str; 5] = [
    "run.json",
    "trials/0000/trial.json",
    "trials/0000/intervals.jsonl",
    "trials/0000/latency.hlog",
    "trials/0000/watch.jsonl",
];
const SEPARATOR: u8 = 0x1e;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("no folder for a record");
    /// The scripts in a page of the same dyno, with what it makes when it is opened.
    static SCRIPTS: usize = scripts(&whole_html(&Reading::new(&sample::run())));
}

fn scripts(page: &str) -> usize {
    page.to_ascii_lowercase().matches("<script").count()
}

/// A record of anybody has all views: no text of it controls the terminal or becomes a part of the page's markup.
fn views(bytes: &[u8]) -> Option<()> {
    let run = FOLDER.with(|folder| {
        write(folder.path(), bytes);
        open(folder.path()).ok()
    })?;
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    for text in [
        summary(&reading, None, Some(80), false),
        full_summary(&reading, None, None),
        markdown(&reading),
    ] {
        assert_eq!(visible(&text), text, "a control character is shown");
    }
    let _: serde_json::Value = serde_json::from_str(&json(&reading)).expect("the view is no JSON");
    for table in [csv(&reading), watch_csv(digest)] {
        let rows = rows(&table);
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "a row has other columns");
    }
    assert_eq!(
        scripts(&whole_html(&reading)),
        SCRIPTS.with(|scripts| *scripts),
        "a text is a script"
    );
    Some(())
}

#[test]
fn the_views_are_those_of_whole_records() {
    for input in &fuzzing::read("report_views")[..4] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), input);
        let run = open(folder.path()).unwrap();
        let trial = &run.trials[0];
        assert_eq!(trial.damage, None, "{}", fuzzing::line(input));
        assert!(!trial.intervals.is_empty() && !trial.watched.hosts.is_empty());
    }
}

fn write(folder: &Path, bytes: &[u8]) {
    fs::create_dir_all(folder.join("trials/0000")).expect("no folder for a record");
    let mut parts = bytes.splitn(FILES.len(), |byte| *byte == SEPARATOR);
    for name in FILES {
        let bytes = parts.next().unwrap_or_default();
        fs::write(folder.join(name), bytes).expect("a file of a record is not written");
    }
}

/// The rows of a table with their cells, as RFC 4180 has them.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![Vec::new()];
    let mut rest = text;
    while !rest.is_empty() {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted),
            None => {
                let end = rest.find([',', '\r']).expect("a line ends with \\r\\n");
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        rows.last_mut().expect("there is a row").push(cell);
        rest = after.strip_prefix(',').unwrap_or_else(|| {
            rows.push(Vec::new());
            after.strip_prefix("\r\n").expect("a line ends with \\r\\n")
        });
    }
    rows.pop();
    rows
}

/// A cell whose first quote was taken, and what comes after its last one.
fn quoted_cell(text: &str) -> (String, &str) {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"').expect("a quote ends");
        cell.push_str(before);
        let Some(more) = after.strip_prefix('"') else { return (cell, after) };
        cell.push('"');
        rest = more;
    }
}

/// The lines of a text as cells are read back, with signs for control characters, and none is a formula.
fn cells(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let cells: Vec<&str> = text.split('\n').collect();
    let rows = rows(&line(cells.iter().map(|cell| (*cell).to_owned())));
    let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
    assert_eq!(row.len(), cells.len());
    for (read, cell) in row.iter().zip(cells) {
        let shown = visible(cell);
        let kept = read.strip_prefix('\'').filter(|_| !shown.starts_with('\'')).unwrap_or(read);
        assert_eq!(kept, shown);
        let is_number = cell.parse::<f64>().is_ok();
        assert!(is_number || !read.trim_start().starts_with(['=', '+', '-', '@']), "{read:?}");
    }
}

/// The text of a threshold is read as the same threshold.
fn threshold(bytes: &[u8]) -> Option<()> {
    let threshold = Threshold::parse(&String::from_utf8_lossy(bytes)).ok()?;
    let text = threshold.text();
    let again = Threshold::parse(&text).map(Threshold::text);
    assert_eq!(again, Ok(text));
    Some(())
}

/// A verdict that is written and read again is the same, in the figures of its best load as they are shown. Its text
/// counts every trial of its record once, and names each dyno but the one that reads it.
fn verdict(bytes: &[u8]) -> Option<()> {
    let verdict = Verdict::parse(bytes)?;
    let json = verdict.json();
    let again = Verdict::parse(json.as_bytes()).expect("what was written is read");
    let shown = |verdict: &Verdict| {
        let others = Dyno { version: String::new(), build: String::new() };
        (verdict.trials(), verdict.text(&others), verdict.best().map(BestLoad::cells))
    };
    assert_eq!(shown(&again), shown(&verdict), "it is not written as it was read");
    let text = verdict.text(&verdict.dyno);
    let counts = text.split(", ").filter_map(|part| part.split(' ').next()?.parse::<usize>().ok());
    assert_eq!(counts.sum::<usize>(), verdict.record.trials, "{text}");
    let [_, _, tps, p99] = verdict.best().map(BestLoad::cells).unwrap_or_default();
    assert!(
        !tps.starts_with('-') && p99.strip_prefix('-').is_none_or(str::is_empty),
        "{tps} {p99}"
    );
    Some(())
}
