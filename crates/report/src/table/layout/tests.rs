//! Tables and summaries of made-up runs in lines of many widths.

use measure::{
    Condition, ConditionResult, ConditionSubject, Formula, OperationId, OperationKind, Rules,
    Score, Share,
};
use proptest::prelude::*;
use record::{CallsRecord, Run};
use unicode_width::UnicodeWidthChar;

use super::*;
use crate::Reading;
use crate::document::Content;
use crate::sections::document;
use crate::{sample, turns, watch};

/// Two kinds of transactions with a score, a mix and conditions.
fn of_rules() -> Run {
    let mut run = sample::run();
    run.trials.retain(|trial| trial.header.workload.name == "oltp_read_write");
    let share = |name: &str, operation, least_percent| {
        let operations = vec![OperationId(operation)];
        Share { name: name.to_owned(), operations, least_percent }
    };
    for trial in &mut run.trials {
        let operations = &mut trial.header.operations;
        operations[0].name = "new_order".to_owned();
        operations[1].name = "stock_level".to_owned();
        operations[1].kind = OperationKind::Transaction;
        trial.header.workload.rules = Rules {
            scores: vec![Score {
                name: "tpmX".to_owned(),
                meaning: "transactions a minute, which nobody has audited".to_owned(),
                operations: vec![OperationId(0)],
                period_s: 60,
                formula: Formula::Rate,
                most: None,
            }],
            shares: vec![share("new_order", 0, 50.0), share("stock_level", 1, 4.0)],
            ..Rules::default()
        };
        trial.conditions = vec![Condition {
            about: ConditionSubject::Data,
            name: "3.3.2.1".to_owned(),
            meaning: "the year-to-date amounts agree".to_owned(),
            verdict: ConditionResult::Unknown("the data was loaded by another program".to_owned()),
        }];
        trial.header.load.calls = Some(CallsRecord {
            method: Some("a.Greeter/SayHello".to_owned()),
            connections: 2,
            timeout_ns: Some(2_000_000_000),
        });
    }
    run
}

fn samples() -> Vec<(&'static str, Run)> {
    vec![
        ("run", sample::run()),
        ("repeated", sample::large()),
        ("variants", sample::variants()),
        ("open", sample::open()),
        ("seek", sample::sought(20e6, 1.0, 1_024.0)),
        ("rules", of_rules()),
        ("turns", sample::kept_turns(3)),
        ("stalled", sample::stalled()),
        ("failed", sample::failed()),
    ]
}

/// Every table of a report, and others of its first trial.
fn tables_of(reading: &Reading<'_>) -> Vec<Table> {
    let blocks = document(reading).sections.into_iter().flat_map(|section| section.blocks);
    let tables = blocks.filter_map(|block| match block.content {
        Content::Table { table, .. } => Some(table),
        _ => None,
    });
    let mut all: Vec<Table> = tables.collect();
    if let Some(trial) = reading.digest.trials.first() {
        all.push(turns::table(trial));
        all.extend(trial.hosts().iter().map(|host| watch::host(trial, host)));
    }
    all.retain(|table| !table.is_empty());
    all.iter().map(Table::drawn_with_letters).collect()
}

fn without_spaces<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.flat_map(str::split_whitespace).collect()
}

/// The part of a line from one column of the terminal to another.
fn slice(line: &str, from: usize, to: usize) -> String {
    let begins = line.chars().scan(0, |at, c| {
        *at += c.width().unwrap_or_default();
        Some((*at - c.width().unwrap_or_default(), c))
    });
    begins.filter(|(at, _)| (from..to).contains(at)).map(|(_, c)| c).collect()
}

/// Asserts that no line is wider, and that each column has the whole text of its cells.
fn check(table: &Table, width: usize) {
    let text = table.text_within(Some(width));
    assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
    let mut is_shown = vec![false; table.columns.len()];
    for part in table.parts(Some(width)) {
        let text = table.text_of(&part);
        let mut from = 0;
        for (column, columns) in part {
            let shown: Vec<String> =
                text.lines().map(|line| slice(line, from, from + columns)).collect();
            let cells = std::iter::once(table.columns[column].head.as_str());
            assert_eq!(
                without_spaces(shown.iter().map(String::as_str)),
                without_spaces(cells.chain(table.cells(column))),
                "{width}:\n{text}"
            );
            is_shown[column] = true;
            from += columns + GAP;
        }
    }
    assert!(is_shown.iter().all(|is| *is), "{width}:\n{text}");
}

#[test]
fn every_table_of_every_sample_fits_and_keeps_every_cell() {
    let mut most = 0;
    for (_, run) in samples() {
        for table in tables_of(&Reading::new(&run)) {
            (60..=140).for_each(|width| check(&table, width));
            most = most.max(table.text().lines().map(UnicodeWidthStr::width).max().unwrap());
        }
    }
    assert!(most > 140, "{most}: no table needs to be broken at the largest width");
}

#[test]
fn no_line_of_a_summary_is_wider_than_the_terminal() {
    for (name, run) in samples() {
        let reading = Reading::new(&run);
        let page = run.folder.join("report.html");
        for width in 60..=140 {
            for text in [
                crate::summary(&reading, Some(&page), Some(width), false),
                crate::full_summary(&reading, Some(&page), Some(width)),
            ] {
                let wide = text.lines().find(|line| line.width() > width);
                assert_eq!(wide, None, "{name} in {width} columns:\n{text}");
            }
        }
    }
}

#[test]
fn summaries_on_narrow_terminals() {
    let is_shown = |name: &str| ["repeated", "variants", "open", "seek", "rules"].contains(&name);
    for (name, run) in samples().into_iter().filter(|(name, _)| is_shown(name)) {
        for width in [80, 60] {
            let text = crate::full_summary(&Reading::new(&run), None, Some(width));
            insta::assert_snapshot!(format!("{name}_{width}"), text);
        }
    }
}

#[test]
fn every_part_of_a_broken_table_names_its_rows() {
    let mut table = Table::new().words("system").numbers("clients");
    table = table.group().numbers("throughput").numbers("queries").group().numbers("mean of all");
    table.row(["a_system", "16", "1,234", "5,678", "9.10"].map(str::to_owned).to_vec());
    insta::assert_snapshot!(table.text_within(Some(38)), @r"
    system    clients  throughput  queries
    a_system       16       1,234    5,678

    system    clients  mean of all
    a_system       16         9.10
    ");
    insta::assert_snapshot!(table.text_within(Some(29)), @r"
    system    clients  throughput
    a_system       16       1,234

    system    clients  queries
    a_system       16    5,678

                          mean of
    system    clients         all
    a_system       16        9.10
    ");
}

#[test]
fn sentences_are_broken_before_a_table_is() {
    let mut table = Table::new().words("name").words("meaning").numbers("value");
    let meaning = "what it is, in a sentence of many words";
    table.row(["x", meaning, "1,000"].map(str::to_owned).to_vec());
    table.row(["y", "short", "2"].map(str::to_owned).to_vec());
    insta::assert_snapshot!(table.text_within(Some(40)), @r"
    name  meaning                      value
    x     what it is, in a sentence    1,000
          of many words
    y     short                            2
    ");
}

proptest! {
    #[test]
    fn any_table_fits_and_keeps_every_cell(
        heads in prop::collection::vec(("[a-z]{1,12}( [a-z]{1,9}){0,2}", any::<[bool; 2]>()), 1..12),
        cells in prop::collection::vec("[a-z0-9_,.µ表]{0,24}( [a-z表]{1,14}){0,6}", 0..40),
        width in 60_usize..140,
    ) {
        let mut table = Table::new();
        for (at, (head, [is_number, begins])) in heads.iter().enumerate() {
            table = if *begins && (1..5).contains(&at) || at == 4 { table.group() } else { table };
            table = if *is_number { table.numbers(head) } else { table.words(head) };
        }
        cells.chunks(heads.len()).for_each(|row| table.row(row.to_vec()));
        check(&table, width);
    }
}
