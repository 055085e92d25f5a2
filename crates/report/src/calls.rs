//! Calls of RPC services: connections, requests in flight, latency, and the lengths of requests and responses.

use record::CallsRecord;
use serde_json::{Value, json};

use crate::digest::{Digest, Trial};
use crate::messages::Messages;
use crate::number::{TimeUnit, latency, number, percentile_name};
use crate::table::Table;
use crate::tables::offered_in;

/// Says how to read the table.
pub(crate) const NOTE: &str = "In flight are the requests that had no answer yet, on average over all connections, by \
                               Little's law: throughput times mean latency. The idle round trip is that of the same \
                               call before the load, the median of 50. Lengths are those on the wire, without the \
                               headers of TCP and below.";

/// A row for each point whose clients call a service, from the repetition in the middle; empty without such points.
pub(crate) fn by_point(digest: &Digest<'_>) -> Table {
    let trials: Vec<(&Trial<'_>, &CallsRecord)> = digest
        .points
        .iter()
        .filter_map(|point| digest.middle_trial(point))
        .filter_map(|trial| Some((trial, trial.record.header.load.calls.as_ref()?)))
        .collect();
    let unit = TimeUnit::for_smallest(trials.iter().map(|(it, _)| it.summary.latency.mean_ns));
    let mut table =
        Table::new().words("system").words("method").numbers("connections").numbers("clients");
    if digest.is_open() {
        table = table.numbers("offered per s");
    }
    table =
        table.numbers("in flight").numbers("calls per s").numbers(format!("mean {}", unit.name()));
    for percent in &digest.run.header.percentiles {
        table = table.numbers(format!("{} {}", percentile_name(*percent), unit.name()));
    }
    table = table
        .numbers("idle round trip")
        .numbers("request B")
        .numbers("response B")
        .words("time-out")
        .remarks();
    for (trial, calls) in trials {
        let (header, summary) = (&trial.record.header, &trial.summary);
        let mut row = vec![
            header.system.clone(),
            calls.method.clone().unwrap_or_default(),
            calls.connections.to_string(),
            header.clients.to_string(),
        ];
        if digest.is_open() {
            row.push(offered_in(trial));
        }
        row.extend([
            in_flight(trial).map_or("-".to_owned(), number),
            number(summary.transactions_per_s),
            unit.show_bounded(summary.latency.mean()),
        ]);
        let percentiles = &digest.run.header.percentiles;
        row.extend(percentiles.iter().map(|it| unit.show_bounded(summary.latency.percentile(*it))));
        row.push(idle_ns(trial).map_or("-".to_owned(), latency));
        let lengths = Messages::of(trial).map(|it| [it.sent, it.received]);
        let shown = lengths.map(|ways| ways.map(|way| number(way.bytes_per_query)));
        row.extend(shown.unwrap_or_else(|| ["-".to_owned(), "-".to_owned()]));
        row.push(calls.timeout_ns.map_or("none".to_owned(), |ns| latency(ns as f64)));
        row.push(trial.remark().to_owned());
        table.row(row);
    }
    table.without_empty_remarks()
}

/// Requests without an answer, on average; `None` when Little's law is not known to hold.
fn in_flight(trial: &Trial<'_>) -> Option<f64> {
    let open = trial.summary.open.as_ref().map(|open| open.in_system);
    open.or(trial.summary.littles_law.map(|law| law.accounted_for))
}

fn idle_ns(trial: &Trial<'_>) -> Option<f64> {
    let idle = &trial.record.end.as_ref()?.idle_round_trips;
    (!idle.is_empty()).then(|| idle.percentile_ns(50.0) as f64)
}

/// The same of one trial; `None` when its clients call no service.
pub(crate) fn json(trial: &Trial<'_>) -> Option<Value> {
    let calls = trial.record.header.load.calls.as_ref()?;
    Some(json!({
        "method": calls.method,
        "connections": calls.connections,
        "timeout_ns": calls.timeout_ns,
        "in_flight": in_flight(trial),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;
    use crate::sample;

    #[test]
    fn calls_have_a_table_in_the_pages_and_an_object_in_json() {
        let mut run = sample::run();
        run.trials.truncate(2);
        assert!(by_point(&Digest::new(&run)).is_empty());
        for trial in &mut run.trials {
            trial.header.load.calls = Some(CallsRecord {
                method: Some("a.Greeter/SayHello".to_owned()),
                connections: 2,
                timeout_ns: Some(2_000_000_000),
            });
        }
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        insta::assert_snapshot!(by_point(digest).text());
        assert_eq!(json(&digest.trials[0]).unwrap()["connections"], 2);
        assert!(crate::markdown(&reading).contains("### Calls\n"));
        assert!(crate::whole_html(&reading).contains("<h3>Calls</h3>"));
    }
}
