//! Watched data as JSON: means and peaks over the measured time.

use analysis::mean_peak;
use serde_json::{Value, json};

use super::listing::{Line, of_trial};
use crate::digest::Trial;
use crate::panels;

/// The watched hosts and servers, with all their known figures.
pub(crate) fn json(trial: &Trial<'_>) -> Value {
    let hosts = trial.hosts().into_iter().map(|host| {
        json!({
            "name": host.name,
            "cpu_threads": host.cpu_threads,
            "memory_bytes": host.memory_bytes,
        })
    });
    let servers = trial.record.watched.servers.iter().map(|server| {
        json!({
            "name": server.name,
            "url": server.url,
            "answers": server.answers_ns.len(),
            "gaps": server.gaps.len(),
            "last_gap": server.gaps.last().map(|gap| &gap.reason),
        })
    });
    let figures = of_trial(trial);
    json!({
        "hosts": hosts.collect::<Vec<_>>(),
        "servers": servers.collect::<Vec<_>>(),
        "figures": figures.iter().filter_map(|line| figure(trial, line)).collect::<Vec<_>>(),
        "absent": panels::of_trial(trial).absent,
    })
}

fn figure(trial: &Trial<'_>, line: &Line) -> Option<Value> {
    let figures = mean_peak(&line.sample_windows, trial.window())?;
    Some(json!({
        "of": line.subject.name(),
        "source": line.source,
        "part": line.part,
        "figure": line.key,
        "unit": line.quantity.unit(),
        "mean": figures.mean,
        "peak": figures.peak,
    }))
}
