//! What servers did from time to time beside a load, such as checkpoints: in the plots over time, as a table and as JSON.

use std::collections::BTreeMap;

use analysis::ServerAction;
use serde_json::{Value, json};

use crate::digest::Trial;
use crate::number::count;
use crate::svg::Moment;
use crate::table::Table;

/// Actions of one kind that are closer than this part of the plot have one mark: their labels cannot be told apart.
const APART: f64 = 0.02;

/// More rows than this are not read.
const ROWS_MAX: usize = 100;

fn of_trial<'a>(trial: &'a Trial<'_>) -> Vec<ServerAction<'a>> {
    analysis::server_actions(&trial.record.watched.servers, &trial.record.watched.kinds)
}

/// Marks in a plot that ends at `end`, s: each is in the middle between the two answers of the server.
pub(crate) fn moments(trial: &Trial<'_>, end: f64) -> Vec<Moment> {
    by_kind(trial, end).into_values().flat_map(|actions| together(&actions, end)).collect()
}

/// How many of each kind there are in such a plot, as sentences.
pub(crate) fn counts(trial: &Trial<'_>, end: f64) -> String {
    let of_kind = |(text, actions): (&str, Vec<ServerAction<'_>>)| {
        format!(" Marked, {text}: {}.", count(actions.iter().map(|action| action.count).sum()))
    };
    by_kind(trial, end).into_iter().map(of_kind).collect()
}

fn by_kind<'a>(trial: &'a Trial<'_>, end: f64) -> BTreeMap<&'a str, Vec<ServerAction<'a>>> {
    let mut kinds: BTreeMap<&str, Vec<ServerAction<'_>>> = BTreeMap::new();
    for action in of_trial(trial).into_iter().filter(|action| middle(action) <= end) {
        kinds.entry(action.text).or_default().push(action);
    }
    kinds
}

fn together(actions: &[ServerAction<'_>], end: f64) -> Vec<Moment> {
    let is_close =
        |one: &ServerAction<'_>, next: &ServerAction<'_>| middle(next) - middle(one) < end * APART;
    actions.chunk_by(is_close).filter_map(|actions| mark(actions, end)).collect()
}

fn mark(actions: &[ServerAction<'_>], end: f64) -> Option<Moment> {
    let (first, last) = (actions.first()?, actions.last()?);
    let sum: u64 = actions.iter().map(|action| action.count).sum();
    let label = named(first.text, sum);
    let to = actions.iter().map(|action| seconds(action.to_ns)).fold(0.0, f64::max);
    let note =
        format!("{}: {label} between {:.3} s and {to:.3} s", first.server, seconds(first.from_ns));
    Some(Moment { x: f64::midpoint(middle(first), middle(last)).min(end), label, note })
}

/// A row for each, on the clock of the plots over time.
pub(crate) fn table(trial: &Trial<'_>) -> Table {
    let mut table =
        Table::new().words("server").words("did").numbers("after").numbers("and before");
    let all = of_trial(trial);
    for action in all.iter().take(ROWS_MAX) {
        let at = |at_ns| format!("{:.3} s", seconds(at_ns));
        let did = named(action.text, action.count);
        table.row(vec![action.server.to_owned(), did, at(action.from_ns), at(action.to_ns)]);
    }
    table
}

pub(crate) fn json(trial: &Trial<'_>) -> Vec<Value> {
    let action = |action: ServerAction<'_>| {
        json!({
            "server": action.server,
            "did": action.text,
            "count": action.count,
            "from_ns": action.from_ns,
            "to_ns": action.to_ns,
        })
    };
    of_trial(trial).into_iter().map(action).collect()
}

fn named(text: &str, times: u64) -> String {
    if times == 1 { text.to_owned() } else { format!("{text} x {}", count(times)) }
}

fn middle(action: &ServerAction<'_>) -> f64 {
    f64::midpoint(seconds(action.from_ns), seconds(action.to_ns))
}

fn seconds(at_ns: u64) -> f64 {
    at_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use measure::{MetricFunction, MetricQuery, Series, Server, ServerKind, ServerMoment};

    use super::*;
    use crate::digest::Digest;
    use crate::plots::over_time;
    use crate::sample;

    /// A run whose server made checkpoints before each of these answers, one for each second.
    fn run(checkpoints: &[u64]) -> record::Run {
        let mut run = sample::run();
        let mut series = Series::parse("checkpoints");
        let mut sum = 0;
        for (second, count) in checkpoints.iter().enumerate() {
            sum += count;
            series.points.push((second as u64 * 1_000_000_000, sum as f64));
        }
        let watched = &mut run.trials[0].watched;
        watched.servers = vec![Server {
            name: "db".to_owned(),
            families: vec!["checkpoints".to_owned()],
            answers_ns: (0..checkpoints.len() as u64)
                .map(|second| second * 1_000_000_000)
                .collect(),
            series: vec![series],
            ..Server::default()
        }];
        watched.kinds = vec![ServerKind {
            moments: vec![ServerMoment {
                text: "checkpoint".to_owned(),
                counter: MetricQuery::new(MetricFunction::Rate, "checkpoints"),
            }],
            ..ServerKind::default()
        }];
        run
    }

    #[test]
    fn plots_over_time_mark_what_a_server_did_and_a_table_and_the_json_have_it() {
        let run = run(&[3, 0, 1, 0]);
        let digest = Digest::new(&run);
        let trial = &digest.trials[0];
        let charts = over_time::of_trial(&digest, trial);
        let chart = charts.first.iter().find(|it| it.title.contains("throughput")).unwrap();
        let [mark] = &chart.moments[..] else { panic!("{:?}", chart.moments) };
        assert_eq!((mark.x, mark.label.as_str()), (1.5, "checkpoint"));
        assert_eq!(mark.note, "db: checkpoint between 1.000 s and 2.000 s");
        assert!(chart.description.ends_with(" Marked, checkpoint: 1."), "{}", chart.description);
        let text = table(trial).markdown();
        let row: Vec<&str> = text.lines().nth(2).unwrap().split('|').map(str::trim).collect();
        assert_eq!(row[1..5], ["db", "checkpoint", "1.000 s", "2.000 s"]);
        assert_eq!(json(trial)[0]["from_ns"], 1_000_000_000);
    }

    #[test]
    fn marks_that_are_too_close_to_be_told_apart_are_one() {
        let run = run(&[0, 1, 2, 0, 0, 0, 1]);
        let digest = Digest::new(&run);
        let of = |end| {
            let marks = moments(&digest.trials[0], end).into_iter();
            marks.map(|mark| (mark.x, mark.label)).collect::<Vec<_>>()
        };
        assert_eq!(of(100.0), [(1.0, "checkpoint x 3".to_owned()), (5.5, "checkpoint".to_owned())]);
        assert_eq!(of(5.0), [(0.5, "checkpoint".to_owned()), (1.5, "checkpoint x 2".to_owned())]);
    }
}
