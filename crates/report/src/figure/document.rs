//! The list of all figures, docs/figures.md, made from the tables of the code.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use analysis::{ConnectionFigure, CostFigure, HostFigure, ProcessFigure};

use super::Figure;
use super::catalogue::CATALOGUE;
use crate::csv::columns::columns;
use crate::schema::shapes::SHAPES;

/// Set to 1, it writes the list anew.
const WRITE: &str = "DYNO_WRITE_DOCUMENTS";
const HEAD: &str = "# All figures\n\n\
     What the files of a report have, made from the tables by which dyno writes them. What a figure means and how it can mislead is in\n\
     [METHODOLOGY.md](../METHODOLOGY.md) and [docs/statistics](statistics/README.md); the figures of a run while it goes on are in\n\
     [metrics.md](metrics.md).\n";
/// A plan's own percentiles stand in the place of these.
const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// The unit that a key ends with, or an empty text for a number and for words.
fn unit(key: &str) -> &'static str {
    let key = key.trim_end_matches("_low_95").trim_end_matches("_high_95");
    let units = [
        ("us_per_query", "µs"),
        ("bytes_per_query", "bytes"),
        ("kb_per_query", "kB"),
        ("bytes_per_s", "bytes/s"),
        ("_per_s", "1/s"),
        ("_ns", "ns"),
        ("_part", "part of 1"),
        ("_part_mean", "part of 1"),
        ("_part_peak", "part of 1"),
        ("_rate", "part of 1"),
        ("_threads_mean", "threads"),
        ("_threads_peak", "threads"),
        ("_waiting_mean", "part of 1"),
        ("_waiting_max", "part of 1"),
        ("_variation", "part of 1"),
        ("seconds", "s"),
        ("_s", "s"),
    ];
    let is_whole = |end: &str| key.trim_start_matches('_') == end.trim_start_matches('_');
    let found = units.iter().find(|(end, _)| key.ends_with(end) || is_whole(end));
    found.map_or("", |(_, unit)| unit)
}

/// Where a figure of report.csv is besides.
fn elsewhere(head: &str) -> String {
    let mut places = Vec::new();
    if let Some(entry) = CATALOGUE.iter().find(|entry| entry.key == head) {
        if entry.row.is_some() {
            places.push("trials of report.json, table of a trial".to_owned());
        }
        if entry.compare.is_some() {
            places.push(format!("`{}` of comparisons", Figure::Other(entry).key()));
        }
    }
    let compared = [Figure::Throughput, Figure::Queries, Figure::Mean].into_iter();
    let compared = compared.chain(PERCENTILES.map(Figure::Latency));
    let found = compared.into_iter().find(|figure| figure.column() == head);
    places.extend(found.map(|figure| format!("`{}` of comparisons", figure.key())));
    places.join("; ")
}

/// The forms of a value in words.
fn forms(forms: &str) -> String {
    let within = |form: &str, open, close| {
        let items = form.strip_prefix(open)?.strip_suffix(close)?;
        Some(items.replace('/', " or "))
    };
    let one = |form| match (within(form, '[', ']'), within(form, '{', '}')) {
        (Some(items), _) => format!("list of {items}"),
        (_, Some(items)) => format!("object of {items}"),
        _ => form.to_owned(),
    };
    forms.split('|').map(one).collect::<Vec<_>>().join(" or ")
}

fn figures() -> String {
    let mut out = HEAD.to_owned();
    out.push_str("\n## report.csv\n\n\
         A row for each trial, and one for each of its operations, in which the figures of a whole trial are empty.\n\n\
         | column | unit | what it is | where else |\n|---|---|---|---|\n");
    for column in columns(&PERCENTILES) {
        let (head, meaning) = (&column.head, &column.meaning);
        let (unit, places) = (unit(head), elsewhere(head));
        let _ = writeln!(out, "| `{head}` | {unit} | {meaning} | {places} |");
    }
    out.push_str("\n## report-watch.csv\n\n\
         A row for each figure and sample window, with its mean and its peak. Figures of servers' own metrics are\n\
         [panels](watching.md).\n");
    let connections = ConnectionFigure::ALL.iter().map(|it| it.metric());
    let connections = connections.map(|it| (it.key, it.unit, it.label)).collect::<Vec<_>>();
    let hosts = HostFigure::ALL.iter().map(|it| it.metric());
    let hosts = hosts.map(|it| (it.key, it.unit, it.label)).collect();
    let processes = ProcessFigure::ALL.iter().map(|it| it.metric());
    let processes = processes.map(|it| (it.key, it.unit, it.label)).collect();
    let costs = CostFigure::ALL.iter().map(|it| it.metric());
    let costs = costs.map(|it| (it.key, it.unit, it.label)).collect();
    for (title, figures) in [
        ("Of a host", hosts),
        ("Of a process", processes),
        ("Of dyno's connections", connections),
        ("Of servers, for each query", costs),
    ] {
        let _ = write!(out, "\n### {title}\n\n| figure | unit | what it is |\n|---|---|---|\n");
        for (key, unit, label) in figures {
            let _ = writeln!(out, "| `{key}` | {} | {label} |", unit.unit());
        }
    }
    out.push_str("\n## report.json\n\n\
         Its objects, beginning with the whole; `dyno schema report` prints the same for programs. A key with `?` may be absent;\n\
         `any` has a form of its own, which may change within a version.\n");
    for (name, fields) in SHAPES {
        let _ = write!(out, "\n### {name}\n\n| key | value | what it is |\n|---|---|---|\n");
        for (key, value, meaning) in *fields {
            let _ = writeln!(out, "| `{key}` | {} | {meaning} |", forms(value));
        }
        for entry in CATALOGUE.iter().filter(|it| *name == "trial" && it.row.is_some()) {
            let _ = writeln!(out, "| `{}` | number or null | {} |", entry.key, entry.label);
        }
    }
    out
}

#[test]
fn the_book_has_all_figures() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures.md");
    let figures = figures();
    if std::env::var_os(WRITE).is_some() {
        fs::write(path, figures).unwrap();
        return;
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, figures, "{WRITE}=1 writes docs/figures.md anew");
}
