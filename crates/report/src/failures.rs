//! Why transactions failed or were tried again and why clients left: each kind of failure with its counts and an example.

use std::collections::BTreeMap;

use measure::{ErrorCounts, ErrorKey, Failure};
use serde_json::{Value, json};

use crate::digest::{Digest, Point, Trial};
use crate::number::count;
use crate::table::Table;
use crate::tables::{load_cells, load_columns, name_columns, names};

pub(crate) const NOTE: &str = "Failures by the class of dyno and the code of the system: retried ones are tries that were begun again, \
                               ignored ones failed their transaction, fatal ones ended their client. They are counted in the measured time; \
                               a kind without counts was only met before or after it.";

/// Longer examples are cut in a line of several kinds.
const EXAMPLE_CHARS: usize = 160;

type Kinds<'t> = BTreeMap<&'t ErrorKey, (ErrorCounts, Option<&'t Failure>)>;

/// Every kind of failure of some trials, with an example where one was kept.
fn kinds<'t>(trials: impl Iterator<Item = &'t Trial<'t>>) -> Kinds<'t> {
    let mut all = Kinds::new();
    for trial in trials {
        for (key, counts) in &trial.summary.errors {
            all.entry(key).or_default().0.add(*counts);
        }
        let kept = trial.record.end.iter().flat_map(|end| end.failures.iter());
        kept.for_each(|failure| {
            all.entry(&failure.key).or_default().1.get_or_insert(failure);
        });
    }
    all
}

fn of_point<'t>(digest: &'t Digest<'_>, point: &Point<'_>) -> Kinds<'t> {
    kinds(point.trials.iter().filter_map(|at| digest.trials.get(*at)))
}

fn columns(table: Table) -> Table {
    table
        .words("failure")
        .numbers("retried")
        .numbers("ignored")
        .numbers("fatal")
        .words("for example")
}

fn cells(key: &ErrorKey, counts: ErrorCounts, example: Option<&Failure>) -> Vec<String> {
    let counts = [counts.retried, counts.ignored, counts.fatal].map(count);
    let example = example.map_or_else(String::new, ToString::to_string);
    [vec![key.to_string()], counts.to_vec(), vec![example]].concat()
}

pub(crate) fn of_trial(trial: &Trial<'_>) -> Table {
    let mut table = columns(Table::new());
    for (key, (counts, example)) in kinds(std::iter::once(trial)) {
        table.row(cells(key, counts, example));
    }
    table
}

/// A row for each kind of failure of each point of a workload, over all its trials.
pub(crate) fn by_point(digest: &Digest<'_>, workload: &str) -> Table {
    let mut table = columns(load_columns(digest, name_columns(Some(workload))));
    for point in digest.points.iter().filter(|point| point.workload == workload) {
        for (key, (counts, example)) in of_point(digest, point) {
            let lead = [names(point, Some(workload)), load_cells(digest, point)].concat();
            table.row([lead, cells(key, counts, example)].concat());
        }
    }
    table
}

/// The kinds of failures that failed transactions or ended clients, the most frequent first, in a sentence; `None` when
/// all were tried again.
pub(crate) fn sentence(digest: &Digest<'_>) -> Option<String> {
    let mut kinds: Vec<_> = kinds(digest.trials.iter()).into_iter().collect();
    let failed = |counts: &ErrorCounts| counts.ignored.saturating_add(counts.fatal);
    kinds.retain(|(_, (counts, _))| failed(counts) > 0);
    kinds.sort_by_key(|(_, (counts, _))| std::cmp::Reverse(failed(counts)));
    let (first, (counts, example)) = kinds.first()?;
    let more = kinds.len() - 1;
    let more = if more > 0 { format!(" (and {more} more kinds)") } else { String::new() };
    let example = example.map_or(String::new(), |failure| format!(": {}", cut(&failure.message)));
    Some(format!("Failed: {first}, {} times{more}{example}.", count(failed(counts))))
}

/// The cell of a trial in report.csv: `deadlock 1213 (retried 3): example; ...`.
pub(crate) fn csv_cell(trial: &Trial<'_>) -> String {
    let kind = |(key, (counts, example)): (&ErrorKey, (ErrorCounts, Option<&Failure>))| {
        let counted =
            [("retried", counts.retried), ("ignored", counts.ignored), ("fatal", counts.fatal)];
        let counted = counted.into_iter().filter(|(_, count)| *count > 0);
        let counted: Vec<_> = counted.map(|(name, count)| format!("{name} {count}")).collect();
        let example =
            example.map_or(String::new(), |failure| format!(": {}", cut(&failure.message)));
        let counted = match counted.is_empty() {
            true => "outside of the measured time".to_owned(),
            false => counted.join(", "),
        };
        format!("{key} ({counted}){example}")
    };
    kinds(std::iter::once(trial)).into_iter().map(kind).collect::<Vec<_>>().join("; ")
}

fn cut(message: &str) -> String {
    let message = message.trim_end_matches('.');
    match message.char_indices().nth(EXAMPLE_CHARS) {
        Some((end, _)) => format!("{} ...", &message[..end]),
        None => message.to_owned(),
    }
}

pub(crate) fn json(trial: &Trial<'_>) -> Vec<Value> {
    let errors = trial.summary.errors.iter();
    let error = errors.map(|(key, counts)| {
        json!({
            "class": key.class.name(),
            "code": key.code,
            "retried": counts.retried,
            "ignored": counts.ignored,
            "fatal": counts.fatal,
            "example": trial.failure(key).map(|failure| &failure.message),
        })
    });
    error.collect()
}

#[cfg(test)]
mod tests {
    use measure::{Disposition, ErrorClass, FailureExamples};

    use super::*;
    use crate::Reading;
    use crate::sample;

    fn failing() -> record::Run {
        let mut run = sample::quick();
        let trial = &mut run.trials[0];
        let message = "Duplicate entry '7' for key 'PRIMARY' (1062, SQLSTATE 23000)";
        let duplicate = Failure::new(ErrorClass::DuplicateKey, "1062", message);
        let changed = Failure::new(ErrorClass::Server, "1412", "Table definition has changed");
        let before = Failure::new(ErrorClass::Connection, "", "the server closed the connection");
        for (failure, disposition) in [
            (&duplicate, Disposition::Ignored),
            (&duplicate, Disposition::Ignored),
            (&changed, Disposition::Fatal),
            (&changed, Disposition::Retried),
        ] {
            trial.total.error(&failure.key, disposition);
        }
        let all = [&duplicate, &changed, &before];
        trial.end.as_mut().unwrap().failures = FailureExamples::from_iter(all);
        run
    }

    #[test]
    fn the_reason_of_failures_is_in_every_view() {
        let run = failing();
        let reading = Reading::new(&run);
        let views = [
            ("page", crate::whole_html(&reading)),
            ("markdown", crate::markdown(&reading)),
            ("full", crate::terminal::terminal(&reading)),
            ("csv", crate::csv(&reading)),
            ("summary", crate::summary(&reading, None, Some(120), false)),
        ];
        for (name, view) in views {
            let words = view.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("duplicate-key 1062"), "{name}: {view}");
            assert!(words.contains("Duplicate entry"), "{name}: {view}");
            let has_all = words.contains("server 1412") && words.contains("the server closed the");
            assert!(has_all || name == "summary", "{name}: {view}");
        }
        let digest = &reading.digest;
        let told = "Failed: duplicate-key 1062, 2 times (and 1 more kinds): Duplicate entry '7' for key 'PRIMARY' \
                    (1062, SQLSTATE 23000).";
        assert_eq!(sentence(digest).as_deref(), Some(told));
        let cell = csv_cell(&digest.trials[0]);
        assert!(cell.contains("server 1412 (retried 1, fatal 1): Table definition"), "{cell}");
    }
}
