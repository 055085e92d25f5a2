//! The report as CSV: a row for each trial and each of its operations.

mod watch;

use analysis::{Latency, Summary};
use measure::OperationKind;
use record::Run;

use crate::digest::{Digest, Trial};
use crate::messages::{Messages, Way};
use crate::number::percentile_name;
use crate::tables::kind_name;
use crate::watch::{host_busy, server_figures};

pub use watch::watch_csv;

/// What stands in `operation` for all transactions of a trial together.
const ALL: &str = "(all transactions)";

/// A row for each trial with `operation` saying `(all transactions)`, then one for each of its
/// operations, which leaves the figures of a whole trial empty. Of a whole
/// trial `failed` counts time-outs too. Lines end as RFC 4180 says; numbers
/// are in full, units are in the heads.
pub fn csv(run: &Run) -> String {
    let digest = Digest::new(run);
    let mut out = line(&heads(&run.header.percentiles));
    for trial in &digest.trials {
        out.push_str(&line(&trial_row(trial)));
        for at in 0..trial.summary.operations.len() {
            out.push_str(&line(&operation_row(trial, at)));
        }
    }
    out
}

const LEAD: [&str; 13] = [
    "trial",
    "system",
    "product",
    "version",
    "storage",
    "workload",
    "kind",
    "clients",
    "repetition",
    "status",
    "operation",
    "operation_kind",
    "seconds",
];

const TRIAL: [&str; 35] = [
    "transactions_per_s",
    "queries",
    "queries_per_s",
    "reads",
    "writes",
    "others",
    "retries",
    "fairness_mean",
    "fairness_standard_deviation",
    "littles_law_clients",
    "throughput_variation",
    "client_user_us_per_query",
    "client_system_us_per_query",
    "client_switches_per_query",
    "sent_bytes_per_query",
    "received_bytes_per_query",
    "offered_per_s",
    "arrivals",
    "in_system",
    "generator_late_p99_ns",
    "sent_bytes_per_s",
    "received_bytes_per_s",
    "segments_sent_per_s",
    "data_segments_sent_per_s",
    "segments_received_per_s",
    "data_segments_received_per_s",
    "segments_retransmitted_per_s",
    "tcp_round_trip_s",
    "server_cpu_threads_mean",
    "server_cpu_threads_peak",
    "server_runnable_threads_mean",
    "server_runnable_threads_peak",
    "host_cpu_part_mean",
    "host_cpu_part_peak",
    "reason",
];

fn heads(percentiles: &[f64]) -> Vec<String> {
    let mut heads: Vec<String> = LEAD.iter().map(|head| (*head).to_owned()).collect();
    let figures = ["succeeded", "timed_out", "failed", "per_s", "mean_ns", "min_ns"];
    heads.extend(figures.map(str::to_owned));
    heads.extend(percentiles.iter().map(|percent| format!("{}_ns", percentile_name(*percent))));
    heads.push("max_ns".to_owned());
    heads.push("service_mean_ns".to_owned());
    let name = |percent: &f64| format!("service_{}_ns", percentile_name(*percent));
    heads.extend(percentiles.iter().map(name));
    heads.push("service_max_ns".to_owned());
    heads.extend(TRIAL.iter().map(|head| (*head).to_owned()));
    heads
}

fn lead(trial: &Trial<'_>, operation: &str, kind: &str) -> Vec<String> {
    let header = &trial.record.header;
    let identity = &header.identity;
    [
        header.index.to_string().as_str(),
        &header.system,
        &identity.product,
        &identity.version,
        &identity.storage,
        &header.workload.name,
        &header.workload.kind,
        &header.clients.to_string(),
        &header.repetition.to_string(),
        trial.status(),
        operation,
        kind,
        &trial.summary.seconds.to_string(),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Empty where there was nothing to time.
fn latency_cells(latency: &Latency) -> Vec<String> {
    let Some(known) = latency.known() else {
        return vec![String::new(); latency.percentiles.len() + 3];
    };
    let mut cells = vec![known.mean_ns.to_string(), known.min_ns.to_string()];
    cells.extend(known.percentiles.iter().map(|(_, value)| value.to_string()));
    cells.push(known.max_ns.to_string());
    cells
}

/// Empty where there was nothing to time, and where every start is as intended: there the latency is
/// the service time.
fn service_cells(service: Option<&Latency>, percentiles: usize) -> Vec<String> {
    let Some(service) = service.and_then(Latency::known) else {
        return vec![String::new(); percentiles + 2];
    };
    let mut cells = vec![service.mean_ns.to_string()];
    cells.extend(service.percentiles.iter().map(|(_, value)| value.to_string()));
    cells.push(service.max_ns.to_string());
    cells
}

fn trial_row(trial: &Trial<'_>) -> Vec<String> {
    let summary = &trial.summary;
    let mut row = lead(trial, ALL, "transaction");
    row.push(summary.transactions.to_string());
    row.push(timed_out(summary).to_string());
    row.push(summary.failed_transactions.to_string());
    row.push(summary.transactions_per_s.to_string());
    row.extend(latency_cells(&summary.latency));
    let open = summary.open.as_ref();
    let service = open.map(|open| &open.service);
    row.extend(service_cells(service, summary.latency.percentiles.len()));
    row.extend(trial_cells(trial));
    row
}

/// The figures of a whole trial.
fn trial_cells(trial: &Trial<'_>) -> Vec<String> {
    let summary = &trial.summary;
    let cost = summary.cost_per_query;
    let open = summary.open.as_ref();
    let arrivals = trial.record.header.load.open.as_ref().map(|open| open.arrivals.name());
    let late = open.and_then(|open| open.lateness.percentile_ns(99.0));
    let mut cells = vec![
        summary.transactions_per_s.to_string(),
        summary.queries.total().to_string(),
        summary.queries_per_s.to_string(),
        summary.queries.read.to_string(),
        summary.queries.write.to_string(),
        summary.queries.other.to_string(),
        summary.retries.to_string(),
        optional(summary.fairness.map(|fairness| fairness.mean)),
        optional(summary.fairness.map(|fairness| fairness.standard_deviation)),
        optional(summary.littles_law.map(|law| law.accounted_for)),
        optional(summary.throughput_variation),
        optional(cost.and_then(|cost| cost.user_us)),
        optional(cost.and_then(|cost| cost.system_us)),
        optional(cost.and_then(|cost| cost.switches)),
        optional(cost.map(|cost| cost.sent_bytes)),
        optional(cost.map(|cost| cost.received_bytes)),
        optional(open.map(|open| open.offered_per_s)),
        arrivals.unwrap_or_default().to_owned(),
        optional(open.map(|open| open.in_system)),
        late.map_or(String::new(), |late| late.to_string()),
    ];
    cells.extend(watched_cells(trial));
    cells.push(trial.reason().unwrap_or_default().to_owned());
    cells
}

/// What went over the wire, and what the servers and their host took; all of it over time is in
/// [`watch_csv`].
fn watched_cells(trial: &Trial<'_>) -> [String; 14] {
    let messages = Messages::of(trial);
    let tcp = messages.and_then(|it| it.tcp);
    let server = server_figures(trial);
    let host = host_busy(trial);
    let segments = |of: fn(&Messages) -> Way| messages.as_ref().and_then(|it| of(it).segments);
    let (sent, received) = (segments(|it| it.sent), segments(|it| it.received));
    [
        messages.map(|it| it.sent.bytes_per_s),
        messages.map(|it| it.received.bytes_per_s),
        sent.map(|it| it.per_s),
        sent.map(|it| it.with_data_per_s),
        received.map(|it| it.per_s),
        received.map(|it| it.with_data_per_s),
        tcp.map(|it| it.retransmitted_per_s),
        tcp.and_then(|it| it.round_trip_s),
        server.map(|it| it.cpu.mean),
        server.map(|it| it.cpu.peak),
        server.and_then(|it| it.runnable).map(|it| it.mean),
        server.and_then(|it| it.runnable).map(|it| it.peak),
        host.map(|it| it.mean),
        host.map(|it| it.peak),
    ]
    .map(optional)
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn timed_out(summary: &Summary) -> u64 {
    let operations = summary.operations.iter();
    let transactions = operations.filter(|operation| operation.kind == OperationKind::Transaction);
    transactions.map(|operation| operation.timed_out).sum()
}

fn operation_row(trial: &Trial<'_>, at: usize) -> Vec<String> {
    let operation = &trial.summary.operations[at];
    let mut row = lead(trial, &operation.name, kind_name(operation.kind));
    row.push(operation.succeeded.to_string());
    row.push(operation.timed_out.to_string());
    row.push(operation.failed.to_string());
    row.push(operation.per_s.to_string());
    row.extend(latency_cells(&operation.latency));
    row.extend(service_cells(operation.service.as_ref(), operation.latency.percentiles.len()));
    row.extend(TRIAL.map(|_| String::new()));
    row
}

fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
    format!("{}\r\n", quoted.join(","))
}

/// Source: RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe.
fn quote(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    let cell = match cell.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t') if !is_number => format!("'{cell}"),
        _ => cell.to_owned(),
    };
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_csv() {
        insta::assert_snapshot!(csv(&sample::run()).replace("\r\n", "\n"));
    }

    #[test]
    fn every_row_has_as_many_cells_as_the_head() {
        let run = sample::run();
        let digest = Digest::new(&run);
        let cells = heads(&run.header.percentiles).len();
        assert_eq!(trial_row(&digest.trials[0]).len(), cells);
        assert_eq!(operation_row(&digest.trials[0], 1).len(), cells);
    }

    #[test]
    fn what_was_never_measured_is_empty_and_not_nothing() {
        let run = sample::failed();
        let text = csv(&run);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let heads = lines.next().unwrap();
        for row in lines {
            let cell = |name: &str| row[heads.iter().position(|head| *head == name).unwrap()];
            assert_eq!((cell("seconds"), cell("succeeded"), cell("per_s")), ("0", "0", "0"));
            assert_eq!((cell("mean_ns"), cell("p99_ns"), cell("max_ns")), ("", "", ""));
        }
    }

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        assert_eq!(quote("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quote("=1+1"), "'=1+1");
        assert_eq!(quote("-1.5"), "-1.5");
    }
}
