//! Generators as CSV: a row for each trial and generator.

use record::TrialHeader;

use super::part::Part;
use crate::csv::line;
use crate::digest::Digest;
use crate::number::percentile_name;

/// A generator of a trial.
struct Row<'t> {
    header: &'t TrialHeader,
    part: Part<'t>,
}

type Cell = fn(&Row<'_>) -> String;

/// The columns before the percentiles.
const LEAD: [(&str, Cell); 15] = [
    ("trial", |row| (row.header.index + 1).to_string()),
    ("system", |row| row.header.system.clone()),
    ("workload", |row| row.header.workload.name.clone()),
    ("clients", |row| row.header.clients.to_string()),
    ("repetition", |row| (row.header.repetition + 1).to_string()),
    ("generator", |row| row.part.name.to_owned()),
    ("host", |row| optional(row.part.host.map(|host| &host.host))),
    ("processor", |row| optional(row.part.host.map(|host| &host.processor))),
    ("cores", |row| optional(row.part.host.map(|host| host.cores))),
    ("generator_clients", |row| row.part.clients.to_string()),
    ("event_loops", |row| row.part.workers.to_string()),
    ("transactions", |row| optional(row.part.record.map(|record| record.transactions))),
    ("failed", |row| optional(row.part.record.map(|record| record.failed_transactions))),
    ("transactions_per_s", |row| row.part.transactions_per_s.to_string()),
    ("mean_ns", |row| optional(row.part.latency.known().map(|latency| latency.mean_ns))),
];

/// The columns after the percentiles.
const TAIL: [(&str, Cell); 14] = [
    ("max_ns", |row| optional(row.part.latency.known().map(|latency| latency.max_ns))),
    ("cpu_threads", |row| optional(row.part.cpu_threads)),
    ("oversleep_p99_ns", |row| {
        optional(row.part.own.and_then(|own| own.oversleep.known()?.percentile_ns(99.0)))
    }),
    ("stalled", |row| optional(row.part.own.map(|own| own.stalled))),
    ("workers_waiting_mean", |row| {
        optional(row.part.own.and_then(|own| own.workers).map(|it| it.waiting_mean))
    }),
    ("late_p99_ns", |row| {
        optional(row.part.lateness.and_then(|it| it.known()?.percentile_ns(99.0)))
    }),
    ("fairness_mean", |row| optional(row.part.fairness.map(|it| it.mean))),
    ("fairness_standard_deviation", |row| {
        optional(row.part.fairness.map(|it| it.standard_deviation))
    }),
    ("clock_offset_ns", |row| optional(row.part.clock.map(|clock| clock.start.offset_ns))),
    ("clock_uncertainty_ns", |row| optional(row.part.clock.map(|clock| clock.uncertainty_ns()))),
    ("clock_moved_ns", |row| optional(row.part.clock.and_then(|clock| clock.drift_ns()))),
    ("lost_at_ns", |row| optional(row.part.lost.map(|lost| lost.at_ns))),
    ("lost_reason", |row| optional(row.part.lost.map(|lost| &lost.reason))),
    ("kernel", |row| optional(row.part.host.map(|host| &host.kernel))),
];

/// A value that may be missing: an empty cell.
fn optional<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A row for each generator of each trial, in full and with units in the heads; `None` where the process of the run
/// offered every load.
pub(crate) fn csv(digest: &Digest<'_>) -> Option<String> {
    let percentiles = &digest.run.header.percentiles;
    let heads = percentiles.iter().map(|percent| format!("{}_ns", percentile_name(*percent)));
    let [lead, tail] = [&LEAD[..], &TAIL[..]]
        .map(|columns| columns.iter().map(|(head, _)| (*head).to_owned()).collect::<Vec<_>>());
    let mut out = line(lead.into_iter().chain(heads).chain(tail));
    let mut has_rows = false;
    for trial in &digest.trials {
        for part in Part::of_trial(trial) {
            let row = Row { header: &trial.record.header, part };
            let values = percentiles.iter().map(|percent| {
                optional(row.part.latency.known().and_then(|known| known.percentile_ns(*percent)))
            });
            let [lead, tail] = [&LEAD[..], &TAIL[..]]
                .map(|columns| columns.iter().map(|(_, cell)| cell(&row)).collect::<Vec<_>>());
            out.push_str(&line(lead.into_iter().chain(values).chain(tail)));
            has_rows = true;
        }
    }
    has_rows.then_some(out)
}
