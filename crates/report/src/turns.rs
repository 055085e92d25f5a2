//! When each transaction of a trial ran, for workloads with so few of them that each is kept: as bands in the plots
//! over time, as a plot with a lane for each client, as a table and as JSON.

use measure::TimedTurn;
use serde_json::{Value, json};

use crate::digest::Trial;
use crate::member_exits;
use crate::number::{latency_ns, several};
use crate::svg::{Axis, Band, BandFill, Chart, Size, Width};
use crate::table::Table;

/// More lanes than this are not read.
const LANES_MAX: usize = 16;
/// The height of a lane, and of what is around them.
const LANE: f64 = 22.0;
const AROUND: f64 = 64.0;

/// All of a trial, by client and then in their order; empty when they were not kept.
fn of_trial(trial: &Trial<'_>) -> Vec<TimedTurn> {
    let end = trial.record.end.as_ref();
    let mut turns = end.map(|end| end.turns.clone()).unwrap_or_default();
    turns.sort_by_key(|turn| (turn.client, turn.start_ns));
    turns
}

fn name<'a>(trial: &'a Trial<'_>, turn: &TimedTurn) -> &'a str {
    let operation = trial.record.header.operations.get(usize::from(turn.operation.0));
    operation.map_or("", |operation| operation.name.as_str())
}

fn result(turn: &TimedTurn) -> &'static str {
    if turn.is_failed { "failed" } else { "" }
}

/// The bands of a trial with one client, to be drawn behind figures over time. Those of several clients overlap:
/// [`lanes`] has them.
pub(crate) fn bands(trial: &Trial<'_>) -> Vec<Band> {
    let turns = of_trial(trial);
    let is_single = trial.record.header.clients == 1;
    let turns = turns.iter().filter(|_| is_single).enumerate();
    turns.map(|(place, turn)| band(trial, turn, place, None)).collect()
}

fn band(trial: &Trial<'_>, turn: &TimedTurn, place: usize, lane: Option<f64>) -> Band {
    let (label, failed) = (name(trial, turn), if turn.is_failed { ", failed" } else { "" });
    let (from, to) = (seconds(turn.start_ns), seconds(turn.end_ns));
    let took = latency_ns(turn.length_ns());
    Band {
        from,
        to,
        lane,
        fill: match (turn.is_failed, place % 2) {
            (true, _) => BandFill::Failed,
            (false, 0) => BandFill::Even,
            (false, _) => BandFill::Odd,
        },
        label: label.to_owned(),
        note: format!("{label}: {took}, {from:.3} to {to:.3} s{failed}"),
    }
}

fn seconds(at_ns: u64) -> f64 {
    at_ns as f64 / 1e9
}

/// A plot with a lane for each client over the time of the trial, until `end`; `None` when nothing was kept.
pub(crate) fn lanes(trial: &Trial<'_>, end: f64) -> Option<Chart> {
    let turns = of_trial(trial);
    let clients = turns.last()?.client + 1;
    let shown = clients.min(LANES_MAX);
    // The first client is the topmost.
    let lane = |client: usize| (shown - 1 - client) as f64;
    let of_client = turns.chunk_by(|one, next| one.client == next.client).take(shown);
    let bands = of_client.flat_map(|turns| {
        let turns = turns.iter().enumerate();
        turns.map(|(place, turn)| band(trial, turn, place, Some(lane(turn.client))))
    });
    let names = (1..=shown).rev().map(|client| format!("client {client}")).collect();
    let left_out = clients - shown;
    let remark = if left_out > 0 {
        let more = several(left_out as u64, "more client has", "more clients have");
        format!("{more} no lane.")
    } else {
        String::new()
    };
    Some(Chart {
        title: format!("{}: transactions over time", trial.name()),
        subtitle: trial.record.header.identity.title(),
        description: format!(
            "A lane for each client, over {end:.1} s. A table has the times of each transaction; failed ones have a \
             dashed edge."
        ),
        remark,
        x: Axis::seconds(end),
        y: Axis::names("", names),
        series: Vec::new(),
        bands: bands.collect(),
        moments: member_exits::moments(trial, end),
        size: Size { width: Width::Row, height: AROUND + LANE * shown as f64 },
        ..Chart::default()
    })
}

pub(crate) fn table(trial: &Trial<'_>) -> Table {
    let mut table = Table::new()
        .numbers("client")
        .words("transaction")
        .numbers("from, s")
        .numbers("to, s")
        .numbers("took")
        .words("result");
    for turn in &of_trial(trial) {
        table.row(vec![
            (turn.client + 1).to_string(),
            name(trial, turn).to_owned(),
            format!("{:.3}", seconds(turn.start_ns)),
            format!("{:.3}", seconds(turn.end_ns)),
            latency_ns(turn.length_ns()),
            result(turn).to_owned(),
        ]);
    }
    table
}

/// The same as JSON; `None` when they were not kept.
pub(crate) fn json(trial: &Trial<'_>) -> Option<Value> {
    let turn = |turn: &TimedTurn| {
        json!({
            "client": turn.client,
            "operation": name(trial, turn),
            "start_ns": turn.start_ns,
            "end_ns": turn.end_ns,
            "is_failed": turn.is_failed,
        })
    };
    let turns = of_trial(trial);
    (!turns.is_empty()).then(|| Value::Array(turns.iter().map(turn).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;
    use crate::digest::Digest;
    use crate::sample;

    #[test]
    fn several_clients_have_a_lane_each_and_no_bands_in_other_plots() {
        let run = sample::kept_turns(3);
        let digest = Digest::new(&run);
        let trial = &digest.trials[0];
        assert_eq!(bands(trial), []);
        let lanes = lanes(trial, 4.0).unwrap();
        assert_eq!(lanes.bands.len(), 6);
        assert_eq!(lanes.y.ticks()[2].1, "client 1", "the topmost");
        assert_eq!(lanes.bands[0].lane, Some(2.0));
        assert_eq!(lanes.bands[5].fill, BandFill::Failed);
        assert_eq!(lanes.bands[5].note, "Q2: 1.00 s, 1.000 to 2.000 s, failed");
        let html = lanes.html("x");
        assert_eq!(html.matches("class=\"band-label\"").count(), 6, "{html}");
        assert!(!html.contains("<script"), "{html}");
        let many = sample::kept_turns(20);
        let digest = Digest::new(&many);
        let lanes = super::lanes(&digest.trials[0], 4.0).unwrap();
        assert_eq!(
            (lanes.bands.len(), lanes.remark.as_str()),
            (32, "4 more clients have no lane.")
        );
    }

    #[test]
    fn the_page_and_json_have_the_times_of_each() {
        let run = sample::kept_turns(1);
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let table = table(&digest.trials[0]).text();
        let row = table.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(row, ["1", "Q2", "1.000", "2.000", "1.00", "s", "failed"]);
        assert!(crate::whole_html(&reading).contains("When each transaction ran"));
        let json: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let turn = &json["trials"][0]["turns"][1];
        assert_eq!(turn["operation"], "Q2");
        assert_eq!(
            (&turn["end_ns"], &turn["is_failed"]),
            (&2_000_000_000_u64.into(), &true.into())
        );
    }

    #[test]
    fn a_trial_without_kept_transactions_has_neither_lanes_nor_bands() {
        let run = sample::watched();
        let digest = Digest::new(&run);
        let trial = &digest.trials[0];
        assert_eq!((bands(trial), lanes(trial, 4.0)), (Vec::new(), None));
        assert!(table(trial).is_empty());
    }
}
