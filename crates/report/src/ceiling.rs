//! What the path to a system carries, and how near the trials came.

use analysis::{CeilingSummary, Interval95};
use measure::{Ceiling, CeilingLoad};

use crate::digest::{Digest, Trial};
use crate::number::{latency_ns, memory, number, percent, several};
use crate::table::Table;
use crate::wrap::fold;

/// A ceiling as text: the path, and a table of its loads; with a width, no line is wider.
pub fn ceiling(ceiling: &Ceiling, width: Option<usize>) -> String {
    let rounds = ceiling.loads.first().map_or(0, |load| load.rounds.len());
    let mut table = Table::new()
        .numbers("in flight on a connection")
        .group()
        .numbers("requests/s")
        .words("95 % interval")
        .group()
        .numbers("sent/s")
        .numbers("received/s")
        .group()
        .numbers("p50")
        .numbers("p99")
        .numbers("p99.9")
        .group()
        .numbers("client CPU, µs/request")
        .numbers("server CPU, µs/request");
    for load in &ceiling.loads {
        if let Some(summary) = analysis::ceiling(load) {
            table.row(row(load, &summary));
        }
    }
    let table = table.without_columns(|_, cells| cells.iter().all(|cell| cell.is_empty()));
    let path = format!(
        "echo at {}: {} over {}, {}",
        ceiling.address,
        sizes(ceiling),
        several(ceiling.connections as u64, "connection", "connections"),
        several(rounds as u64, "round", "rounds"),
    );
    format!("{}\n\n{}", fold(&path, width), table.text_within(width))
}

fn row(load: &CeilingLoad, summary: &CeilingSummary) -> Vec<String> {
    let round_trip = |get: fn(&measure::RoundTrips) -> u64| {
        load.round_trips.as_ref().map_or(String::new(), |trips| latency_ns(get(trips)))
    };
    let interval = |it: Interval95| format!("{} to {}", number(it.low), number(it.high));
    let cpu = |us: Option<f64>| us.map_or(String::new(), number);
    vec![
        load.in_flight.to_string(),
        number(summary.requests_per_s.median),
        summary.requests_per_s.interval.map_or(String::new(), interval),
        memory(summary.sent_bytes_per_s as u64),
        memory(summary.received_bytes_per_s as u64),
        round_trip(|trips| trips.p50_ns),
        round_trip(|trips| trips.p99_ns),
        round_trip(|trips| trips.p99_9_ns),
        cpu(summary.client_us_per_request),
        cpu(summary.server_us_per_request),
    ]
}

fn sizes(ceiling: &Ceiling) -> String {
    format!("requests of {} B, responses of {} B", ceiling.request_bytes, ceiling.response_bytes)
}

/// How the requests of a ceiling follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One request in flight on each connection.
    Single,
    Pipelined,
}

/// The requests a second that the path carried.
fn carried(ceiling: &Ceiling, mode: Mode) -> Option<f64> {
    let is_pipelined = mode == Mode::Pipelined;
    let load = ceiling.loads.iter().find(|load| (load.in_flight > 1) == is_pipelined)?;
    Some(analysis::ceiling(load)?.requests_per_s.median)
}

/// The queries a second of a trial, as a part of the requests a second that the path carried.
pub(crate) fn part(trial: &Trial<'_>, mode: Mode) -> Option<f64> {
    let carried = carried(trial.record.ceiling.as_ref()?, mode).filter(|rate| *rate > 0.0)?;
    Some(trial.summary.queries_per_s / carried)
}

pub(crate) const TITLE: &str = "What the paths to the systems carry";
/// Explains the table of [`by_trial`].
pub(crate) const NOTE: &str = "A path is measured by dyno's own load generator and echo server with requests and \
    responses of the trial's mean sizes, on as many connections: pipelined, and with one request in flight on each. It \
    shows what the network, both kernels and dyno carry when the server has nothing to do.";

/// What the path carried at the sizes of each trial's messages, and the part of it that the trial reached.
pub(crate) fn by_trial(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("trial")
        .group()
        .numbers("request B")
        .numbers("response B")
        .numbers("queries/s")
        .group()
        .numbers("path/s, pipelined")
        .numbers("reached")
        .group()
        .numbers("path/s, one in flight")
        .numbers("reached");
    for trial in &digest.trials {
        let Some(ceiling) = &trial.record.ceiling else { continue };
        let mut cells = vec![
            trial.name(),
            ceiling.request_bytes.to_string(),
            ceiling.response_bytes.to_string(),
            number(trial.summary.queries_per_s),
        ];
        for mode in [Mode::Pipelined, Mode::Single] {
            cells.push(carried(ceiling, mode).map_or(String::new(), number));
            cells.push(part(trial, mode).map_or(String::new(), percent));
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use measure::{CeilingRound, RoundTrips, Traffic};

    use super::*;
    use crate::Reading;
    use crate::sample;

    /// A path that carries 1,000 and 4,000 requests a second at these sizes.
    fn path() -> Ceiling {
        let load = |in_flight: usize, requests: u64| {
            let traffic = Traffic { sent_bytes: requests * 122, received_bytes: requests * 27 };
            let round = |extra: u64| CeilingRound {
                length_ns: 1_000_000_000,
                requests: requests + extra,
                traffic,
                client_cpu_ns: Some(requests * 2_500),
                server_cpu_ns: (in_flight > 1).then_some(requests * 1_500),
            };
            let round_trips =
                Some(RoundTrips { p50_ns: 31_000, p99_ns: 90_000, p99_9_ns: 1_200_000 });
            CeilingLoad { in_flight, rounds: vec![round(0), round(10), round(0)], round_trips }
        };
        Ceiling {
            address: "127.0.0.1:4000".to_owned(),
            request_bytes: 122,
            response_bytes: 27,
            connections: 16,
            loads: vec![load(1, 1_000), load(16, 4_000)],
        }
    }

    #[test]
    fn a_ceiling_as_text() {
        insta::assert_snapshot!(ceiling(&path(), None), @"
        echo at 127.0.0.1:4000: requests of 122 B, responses of 27 B over 16 connections, 3 rounds

        in flight on a connection  requests/s  95 % interval    sent/s  received/s      p50      p99    p99.9  client CPU, µs/request  server CPU, µs/request
                                1       1,000  989 to 1,018    119 KiB    26.4 KiB  31.0 µs  90.0 µs  1.20 ms                    2.49
                               16       4,000  3,989 to 4,018  477 KiB     105 KiB  31.0 µs  90.0 µs  1.20 ms                    2.50                    1.50
        ");
    }

    #[test]
    fn every_view_tells_the_part_of_the_path_that_a_trial_reached() {
        let mut run = sample::run();
        run.trials[0].ceiling = Some(path());
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let trial = &digest.trials[0];
        let rate = trial.summary.queries_per_s;
        assert_eq!(part(trial, Mode::Single), Some(rate / 1_000.0));
        assert_eq!(part(trial, Mode::Pipelined), Some(rate / 4_000.0));
        assert_eq!(part(&digest.trials[1], Mode::Single), None);
        insta::assert_snapshot!(by_trial(digest).text(), @"
        trial                               request B  response B  queries/s  path/s, pipelined  reached  path/s, one in flight  reached
        sqlite oltp_point_select, 1 client        122          27        806              4,000     20 %                  1,000     81 %
        ");
        let row = by_trial(digest).text().lines().nth(1).unwrap().to_owned();
        assert!(crate::terminal(&reading).contains(&row));
        assert!(crate::markdown(&reading).contains("## What the paths to the systems carry"));
        assert!(crate::whole_html(&reading).contains("What the paths to the systems carry"));
        let json: serde_json::Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        assert_eq!(json["trials"][0]["ceiling_single_part"], rate / 1_000.0);
        assert_eq!(json["trials"][1]["ceiling_single_part"], serde_json::Value::Null);
        let csv = crate::csv(&reading);
        let head = csv.lines().next().unwrap();
        assert!(head.contains("ceiling_pipelined_part"), "{head}");
    }
}
