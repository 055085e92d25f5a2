//! The statistics of one trial in the format of sysbench, with its milliseconds and two decimals; times below a
//! millisecond have four, because the statements of an embedded database take microseconds.

use measure::OperationKind;

use crate::digest::Trial;

fn ms(value_ns: f64) -> String {
    match value_ns / 1e6 {
        ms if ms > 0.0 && ms < 1.0 => format!("{ms:.4}"),
        ms => format!("{ms:.2}"),
    }
}

/// The block of text; `percentile` is shown with min, avg and max.
pub(crate) fn statistics(trial: &Trial<'_>, percentile: Option<f64>) -> String {
    let summary = &trial.summary;
    let queries = summary.queries;
    let per_s =
        |count: u64| if summary.seconds > 0.0 { count as f64 / summary.seconds } else { 0.0 };
    let mut out = String::from("SQL statistics:\n    queries performed:\n");
    for (name, count) in [
        ("read", queries.read),
        ("write", queries.write),
        ("other", queries.other),
        ("total", queries.total()),
    ] {
        out.push_str(&format!("        {:<32} {count}\n", format!("{name}:")));
    }
    for (name, count) in [
        ("transactions", summary.transactions),
        ("queries", queries.total()),
        ("failed transactions", summary.failed_transactions),
        ("retries", summary.retries),
    ] {
        let rate = per_s(count);
        out.push_str(&format!("    {:<36} {count:<6} ({rate:.2} per sec.)\n", format!("{name}:")));
    }
    out.push_str(&format!(
        "\nGeneral statistics:\n    {:<36} {:.4}s\n    {:<36} {}\n",
        "total time:", summary.seconds, "total number of events:", summary.transactions
    ));
    out.push_str(&latencies(trial, percentile));
    if let Some(fairness) = summary.fairness {
        out.push_str(&format!(
            "\nClients fairness:\n    {:<36} {:.4}/{:.2}\n",
            "events (avg/stddev):", fairness.mean, fairness.standard_deviation
        ));
    }
    out
}

fn latencies(trial: &Trial<'_>, percentile: Option<f64>) -> String {
    let latency = &trial.summary.latency;
    let mut out = String::from("\nLatency (ms):\n");
    let mut line = |name: &str, (value_ns, is_bound): (f64, bool)| {
        let more = if is_bound { " or more" } else { "" };
        out.push_str(&format!("    {:<36} {}{more}\n", format!("{name}:"), ms(value_ns)));
    };
    line("min", (latency.min_ns as f64, false));
    line("avg", latency.mean());
    line("max", latency.max());
    if let Some(percent) = percentile {
        line(&format!("{percent}th percentile"), latency.percentile(percent));
    }
    line("sum", (trial.summary.busy_ns, false));
    out
}

/// The percentile that sysbench shows, 95, or the one nearest to it.
pub(crate) fn usual_percentile(trial: &Trial<'_>) -> Option<f64> {
    let distance = |percent: &f64| (percent - 95.0).abs();
    let percentiles = trial.summary.latency.percentiles.iter().map(|(percent, _)| *percent);
    percentiles.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

pub(crate) fn transaction_names(trial: &Trial<'_>) -> String {
    let operations = &trial.record.header.operations;
    let names: Vec<&str> = operations
        .iter()
        .filter(|operation| operation.kind == OperationKind::Transaction)
        .map(|operation| operation.name.as_str())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_microseconds_are_not_shown_as_nothing() {
        let shown = [0.0, 2_345.0, 999_900.0, 1e6, 12_345_678.0].map(ms);
        assert_eq!(shown, ["0.00", "0.0023", "0.9999", "1.00", "12.35"]);
    }
}
