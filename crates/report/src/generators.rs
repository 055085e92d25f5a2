//! The generators of a load side by side, and together: in tables, as CSV and JSON, and their losses in the plots
//! over time. Empty where the process of the run offered every load.

mod csv;
mod json;
mod part;

use measure::GeneratorClock;

use crate::digest::{Digest, Trial};
use crate::number::{TimeUnit, count, latency, latency_ns, number, percent, percentile_name};
use crate::svg::Moment;
use crate::table::Table;
use part::Part;

pub(crate) use csv::csv;
pub(crate) use json::{json, summary};

pub(crate) const TITLE: &str = "Generators";

/// Says how to read the tables.
pub(crate) const NOTE: &str = "\
    The row \"together\" is of all generators: its percentiles are those of all transactions, merged exactly, not means \
    of the percentiles above it. Late: how long after its time a transaction started though a client was idle, in 99 % of \
    the cases at most. Spread: the standard deviation of transactions over the clients of a generator, as a part of \
    their mean. Clocks are monotonic ones, which begin when a host starts, compared with that of the process of dyno \
    run before and after the load: known within is how far the true difference may be from the comparison, moved by \
    how much the difference changed.";

/// The hosts of the generators, each as it was at first; empty when none of them has told of its own.
pub(crate) fn hosts(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("generator")
        .words("host")
        .words("processor")
        .numbers("cores")
        .words("kernel")
        .words("dyno");
    let mut seen = Vec::new();
    for part in digest.trials.iter().flat_map(Part::of_trial) {
        let Some(host) = part.host.filter(|_| !seen.contains(&part.name)) else { continue };
        seen.push(part.name);
        let texts = [part.name, &host.host, &host.processor].map(str::to_owned);
        let mut row = Vec::from(texts);
        row.extend([host.cores.to_string(), host.kernel.clone(), host.build.clone()]);
        table.row(row);
    }
    table
}

/// The generators of each point's trial in the middle by throughput.
pub(crate) fn by_point(digest: &Digest<'_>) -> Table {
    let trials = digest.points.iter().filter_map(|point| digest.middle_trial(point));
    table(&trials.collect::<Vec<_>>(), &digest.run.header.percentiles)
}

pub(crate) fn of_trial(trial: &Trial<'_>, percentiles: &[f64]) -> Table {
    table(&[trial], percentiles).without_columns(|head, _| head == "load")
}

/// A row for each generator of each trial, and one for all of them together.
fn table(trials: &[&Trial<'_>], percentiles: &[f64]) -> Table {
    let rows: Vec<(String, Part<'_>)> = trials
        .iter()
        .flat_map(|trial| {
            let parts = Part::of_trial(trial);
            let together = (!parts.is_empty()).then(|| Part::together(trial));
            let name = trial.name();
            parts.into_iter().chain(together).map(move |part| (name.clone(), part))
        })
        .collect();
    let unit = TimeUnit::for_smallest(rows.iter().map(|(_, part)| part.latency.mean_ns));
    let mut table = Table::new().words("load").words("generator").group();
    for head in ["clients", "event loops", "tps"] {
        table = table.numbers(head);
    }
    table = table.numbers(format!("mean {}", unit.name()));
    for percent in percentiles {
        table = table.numbers(format!("{} {}", percentile_name(*percent), unit.name()));
    }
    table = table.group();
    for head in ["CPU threads busy", "timer lateness p99", "run-queue wait", "late", "spread"] {
        table = table.numbers(head);
    }
    table = table.group().numbers("clock off by").numbers("known within").numbers("moved by");
    table = table.remarks();
    for (name, part) in &rows {
        let mut row = vec![name.clone(), part.name.to_owned()];
        row.extend(load_cells(part, unit, percentiles));
        row.extend(own_cells(part));
        row.extend(clock_cells(part.clock));
        row.push(part.lost.map_or(String::new(), |lost| format!("lost at {}", at(lost.at_ns))));
        table.row(row);
    }
    table.without_columns(|_, cells| cells.iter().all(|cell| *cell == "-")).without_empty_remarks()
}

fn load_cells(part: &Part<'_>, unit: TimeUnit, percentiles: &[f64]) -> Vec<String> {
    let latency = part.latency.known();
    let show =
        |value: Option<(f64, bool)>| value.map_or("-".to_owned(), |value| unit.show_bounded(value));
    let mut cells = vec![
        count(part.clients as u64),
        count(part.workers as u64),
        number(part.transactions_per_s),
        show(latency.map(analysis::Latency::mean)),
    ];
    cells.extend(percentiles.iter().map(|it| show(latency.map(|known| known.percentile(*it)))));
    cells
}

/// What it took, and whether it ran when it had work to do.
fn own_cells(part: &Part<'_>) -> Vec<String> {
    let optional = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let p99 = |latency: &analysis::Latency| latency.known()?.percentile_ns(99.0).map(latency_ns);
    let workers = part.own.and_then(|own| own.workers);
    vec![
        optional(part.cpu_threads.map(number)),
        optional(part.own.and_then(|own| p99(&own.oversleep))),
        optional(workers.map(|workers| percent(workers.waiting_mean))),
        optional(part.lateness.and_then(p99)),
        optional(part.fairness.map(|fairness| percent(fairness.variation()))),
    ]
}

/// Its clock against that of the process of the run.
fn clock_cells(clock: Option<GeneratorClock>) -> [String; 3] {
    let Some(clock) = clock else { return ["-", "-", "-"].map(str::to_owned) };
    let within = latency_ns(clock.uncertainty_ns());
    let moved = clock.drift_ns().map_or("-".to_owned(), signed_time);
    [signed_time(clock.start.offset_ns), within, moved]
}

fn signed_time(time_ns: i64) -> String {
    let sign = if time_ns < 0 { "-" } else { "+" };
    format!("{sign}{}", latency(time_ns.unsigned_abs() as f64))
}

/// A point on the trial's clock.
fn at(at_ns: u64) -> String {
    format!("{:.3} s", at_ns as f64 / 1e9)
}

/// Losses of generators as moments of a plot that ends at `end`, s.
pub(crate) fn moments(trial: &Trial<'_>, end: f64) -> Vec<Moment> {
    let lost = Part::of_trial(trial).into_iter().filter_map(|part| Some((part.name, part.lost?)));
    let moments = lost.map(|(name, lost)| Moment {
        x: lost.at_ns as f64 / 1e9,
        label: format!("{name} lost"),
        note: format!("generator {name} lost at {}: {}", at(lost.at_ns), lost.reason),
    });
    moments.filter(|moment| moment.x <= end).collect()
}

#[cfg(test)]
mod tests;
