//! Latencies in JSON, and the names of those that are lower bounds.

use analysis::Latency;
use serde_json::{Value, json};

use crate::number::percentile_name;

/// A latency with its bounds; figures of an empty histogram are null.
pub(crate) fn latency(latency: &Latency) -> Value {
    let known = latency.known();
    let percentiles = latency.percentiles.iter();
    let mut value = json!({
        "count": latency.count,
        "mean_ns": known.map(|known| known.mean_ns),
        "min_ns": known.map(|known| known.min_ns),
        "max_ns": known.map(|known| known.max_ns),
        "percentiles": percentile_map(percentiles.map(|(at, it)| (*at, known.map(|_| it.least_ns)))),
    });
    if latency.unanswered > 0 {
        value["unanswered"] = latency.unanswered.into();
        value["at_least"] = lower_bounds(latency).into();
        let most = latency.percentiles.iter().filter(|(_, bounds)| !bounds.is_exact());
        value["at_most"] = percentile_map(most.map(|(at, bounds)| (*at, bounds.most_ns))).into();
    }
    value
}

pub(crate) fn lower_bounds(latency: &Latency) -> Vec<String> {
    let percentiles = latency.percentiles.iter().map(|(percent, _)| {
        (format!("{}_ns", percentile_name(*percent)), latency.percentile(*percent).1)
    });
    let others = [("mean_ns", latency.mean().1), ("max_ns", latency.max().1)];
    let all = others.map(|(name, is_bound)| (name.to_owned(), is_bound)).into_iter();
    all.chain(percentiles).filter(|(_, is_bound)| *is_bound).map(|(name, _)| name).collect()
}

/// Percentiles by their names; a value that is not known is null.
pub(crate) fn percentile_map(
    values: impl Iterator<Item = (f64, Option<u64>)>,
) -> serde_json::Map<String, Value> {
    values
        .map(|(percent, value)| (format!("{}_ns", percentile_name(percent)), Value::from(value)))
        .collect()
}
